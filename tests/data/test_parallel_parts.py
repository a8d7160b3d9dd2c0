import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import ParallelParts
from kerasrnn.data import add_synthetic
from kerasrnn.data import mix_parts
from kerasrnn.data import read_parallel_parts

OLD = [(f"old {i}", f"alt {i}") for i in range(30)]
NEW = [(f"new {i}", f"neu {i}") for i in range(10)]


def write(path, pairs):
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    return [path]


def test_a_tenth_is_held_out_at_most_and_one_at_least(tmp_path):
    train = write(tmp_path / "train.tsv", OLD)
    for size, expected in ((2, 2), (500, 3)):
        parts = read_parallel_parts(train, dev_size=size)
        assert (len(parts.dev), len(parts.test)) == (expected, 0)
        assert sorted(parts.train + parts.dev) == sorted(OLD)
    few = read_parallel_parts(train, limit=4)
    assert len(few.dev) == 1 and sorted(few.train + few.dev) == OLD[:4]


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_what_is_held_out_or_tested_is_not_trained_on(tmp_path):
    parts = read_parallel_parts(
        write(tmp_path / "train.tsv", [(b, a) for a, b in OLD]),
        write(tmp_path / "dev.tsv", [("x", "OLD 1!")]),
        write(tmp_path / "test.tsv", [("y", "old 2")]),
        columns=(2, 1),
    )
    assert parts == (OLD[:1] + OLD[3:], [("OLD 1!", "x")], [("old 2", "y")])


@pytest.mark.parametrize("oversample, times", [(None, 3), (5, 5)])
def test_each_new_pair_weighs_more(oversample, times, capsys):
    old = ParallelParts(OLD[3:], OLD[:3], [])
    new = ParallelParts(NEW[1:], NEW[:1], NEW[:1])
    parts = mix_parts(new, old, oversample)
    assert sorted(parts.train) == sorted(old.train + times * new.train)
    assert sorted(parts.dev) == sorted(old.dev + new.dev)
    assert parts.test == {"new": new.dev, "old": old.dev, "test": new.test}
    assert f"27 old pairs once, and 9 new pairs {times} times" in (
        capsys.readouterr().out
    )


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_what_either_holds_out_is_not_trained_on():
    old = ParallelParts([*OLD[1:], NEW[0]], OLD[:1], [])
    new = ParallelParts([*NEW[1:], OLD[0]], NEW[:1], [])
    parts = mix_parts(new, old, 1)
    assert sorted(parts.train) == sorted([*OLD[1:], *NEW[1:]])


@pytest.mark.filterwarnings("ignore:1 of 21 pairs.*targets are held out")
@pytest.mark.parametrize("oversample, times", [(None, 2), (1, 1)])
def test_synthetic_pairs_are_trained_on_beside_the_true(oversample, times):
    """But for those whose target is held out; they are not validated on."""
    synthetic = [("<BT> x", f"{i}") for i in range(20)]
    parts = ParallelParts(NEW[1:], NEW[:1], [("y", "z")])
    found = add_synthetic(parts, [*synthetic, ("w", "NEU 0!")], oversample)
    assert sorted(found.train) == sorted(synthetic + times * NEW[1:])
    assert found[1:] == parts[1:]


def test_alignments_are_of_what_is_trained_on(tmp_path):
    links = tmp_path / "links"
    links.write_text("".join(f"0-{i % 2}\n" for i in range(30)))
    train = write(tmp_path / "train.tsv", OLD)
    parts = read_parallel_parts(train, alignments=links)
    expected = {pair: f"0-{i % 2}" for i, pair in enumerate(OLD)}
    assert all(expected[a, b] == links for a, b, links in parts.train)
    assert set(parts.dev) < set(OLD)
    mixed = mix_parts(parts, ParallelParts(NEW, [], []), 1)
    assert {len(pair) for pair in mixed.train} == {2, 3}


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_what_is_tested_is_not_validated_on(tmp_path):
    train = write(tmp_path / "train.tsv", OLD)
    test = write(tmp_path / "test.tsv", OLD[:25])
    parts = read_parallel_parts(train, (), test)
    assert {*parts.train, *parts.dev} == {*OLD[25:]}


@pytest.mark.filterwarnings("ignore:.*are not trained on")
@pytest.mark.filterwarnings("ignore:.*are held out")
def test_named_tests_are_not_trained_on():
    tests = {"news": [("new 0", "neu 0")]}
    old = ParallelParts(OLD, [("x", "X")], tests)
    mixed = mix_parts(ParallelParts(NEW, [("y", "Y")], []), old)
    assert ("new 0", "neu 0") not in mixed.train
    assert mixed.test["news"] == tests["news"]
    tested = ParallelParts(NEW, [("y", "Y")], [("z", "Z")])
    found = mix_parts(tested, old._replace(test=[("v", "V")])).test
    assert (found["test"], found["old test"]) == ([("z", "Z")], [("v", "V")])
    more = [("<BT> a", "neu 0"), ("<BT> b", "neu 1")]
    assert more[0] not in add_synthetic(old, more).train


@pytest.mark.parametrize("oversample", [-1, 0])
def test_pairs_occur_at_least_once(oversample):
    parts = ParallelParts([("a", "A")], [], [])
    with pytest.raises(ValueError, match=f"oversample={oversample}"):
        add_synthetic(parts, [("x", "X")], oversample)


def test_there_must_be_true_pairs():
    with pytest.raises(CorpusError, match="true pairs.*none, and 1 synthetic"):
        add_synthetic(ParallelParts([], [], []), [("x", "X")])
