import random
import tracemalloc

import numpy as np
import pytest

from kerasrnn.data import CorpusWarning
from kerasrnn.data import StoredRows
from kerasrnn.data import read_parallel_corpus
from kerasrnn.data import read_parallel_parts
from kerasrnn.data import read_text_corpus
from kerasrnn.data import sample_rows
from kerasrnn.data import split_by_source
from kerasrnn.data import stored_rows
from kerasrnn.data import text_windows
from kerasrnn.data import translation_batches
from kerasrnn.data.batches import length_batches
from kerasrnn.data.reading import delimited
from kerasrnn.data.stored_rows import StoredIds
from kerasrnn.data.stored_rows import select_rows
from kerasrnn.data.stored_rows import store_rows
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import fingerprint

TEXTS = ["a", "", "दो शब्द", "line\nbreak", "\u2028", "end"]
PAIRS = [(f"{text} source", f"target {text}") for text in TEXTS]


@pytest.fixture
def on_disk(monkeypatch):
    """Lets four rows be many, of which two are read together."""
    monkeypatch.setattr(stored_rows, "IN_MEMORY", 4)
    monkeypatch.setattr(stored_rows, "_AT_ONCE", 2, raising=False)


@pytest.mark.parametrize("rows", [TEXTS, PAIRS])
def test_rows_on_disk_are_read_as_a_list(on_disk, rows):
    assert store_rows(rows[:3]) == rows[:3]
    stored = store_rows(iter(rows))
    assert isinstance(stored, StoredRows) and len(stored) == len(rows)
    assert list(stored) == rows and list(stored + stored) == rows + rows
    assert list(rows[:1] + stored) == rows[:1] + rows
    assert stored[-2] == rows[-2] and stored[1:3] == rows[1:3]
    with pytest.raises(IndexError):
        stored[len(rows)]
    chosen = select_rows(stored, [5, 1, 1, 0, 2])
    assert isinstance(chosen, StoredRows)
    assert list(chosen) == [rows[index] for index in (5, 1, 1, 0, 2)]
    assert list(chosen[1:][::-1]) == [rows[index] for index in (2, 0, 1, 1)]
    assert sample_rows(stored, 3) == sample_rows(stored, 4) == rows[::2]
    others = stored[::-1], stored + rows[:1], rows[-1:] + stored[1:]
    marks = {fingerprint([x]) for x in (stored, *others)}
    assert len(marks) == 4 and fingerprint([store_rows(rows)]) in marks


def test_ids_on_disk_are_read_by_slices():
    ids = StoredIds(np.arange(n, n + 5) for n in range(0, 15, 5))
    assert len(ids) == 15 and ids[3:7].tolist() == [3, 4, 5, 6]
    assert ids[12:99].tolist() == [12, 13, 14]
    assert np.concatenate(list(ids)).tolist() == list(range(15))
    for batch_size, window in ((1, 4), (4, 3), (7, 2)):
        for one, other in zip(
            text_windows(ids, batch_size, window, 77),
            text_windows(np.arange(15), batch_size, window, 77),
            strict=True,
        ):
            assert str(one) == str(other)


def corpus(write):
    rng = random.Random(1)
    pairs = [
        (f"s{n} {rng.randrange(30)}" + n % 9 * " x", f"t{n} y" + n % 7 * " z")
        for n in range(60)
    ]
    return write("\n".join(map("\t".join, pairs + pairs[:9])), "a.tsv")


def parts_and_batches(path):
    parts = read_parallel_parts([path], dev_size=9)
    sides = zip(*parts.train, strict=True)
    both = [WordTokenizer.train(side) for side in sides]
    batches = translation_batches(parts.train, *both, 4, seed=2)
    path.with_suffix(".txt").write_bytes(path.read_bytes())
    lines = read_text_corpus(path.with_suffix(".txt"))
    return [list(map(list, (*parts[:2], *lines[:2])))] + [
        [str(batch) for batch in batches] for _ in range(2)
    ]


def test_a_corpus_on_disk_has_the_same_splits_and_batches(write, monkeypatch):
    path = corpus(write)
    expected = parts_and_batches(path)
    monkeypatch.setattr(stored_rows, "IN_MEMORY", 20)
    kept = read_parallel_parts([path], dev_size=9)
    assert isinstance(kept.train, StoredRows) and isinstance(kept.dev, list)
    assert parts_and_batches(path) == expected
    assert expected[1] != expected[2]


def test_a_corpus_takes_little_memory(write, monkeypatch):
    """Of three megabytes of texts, there is never one in memory."""
    lines = (f"{n} {'x' * 150}\t{n} {'y' * 150}" for n in range(10_000))
    path = write("\n".join(lines), "a.tsv")
    monkeypatch.setattr(stored_rows, "IN_MEMORY", 500)
    monkeypatch.setattr(delimited, "_LOOKED_AT", 500)
    read_parallel_corpus(path, limit=1)
    tracemalloc.start()
    train, _ = split_by_source(read_parallel_corpus(path).pairs, 1000, 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(train) == 9000 and peak < 1.5 * 2**20


def test_whole_groups_are_those_of_lists():
    """Numbers in arrays are shuffled as the lists of rows were."""
    keys = [random.Random(n).randrange(25) for n in range(90)]
    groups: dict[int, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(key, []).append(index)
    rng = random.Random(5)
    members, train, held_out = list(groups.values()), [], []
    rng.shuffle(members)
    for member in members:
        fits = len(held_out) + len(member) <= 20
        (held_out if fits else train).extend(member)
    rng.shuffle(train)
    rng.shuffle(held_out)
    pairs = [(str(key), str(n)) for n, key in enumerate(keys)]
    found = split_by_source(pairs, 20, 5)
    expected = ([pairs[n] for n in part] for part in (train, held_out))
    assert found == tuple(expected)


def test_many_indices_are_shuffled_anew_in_each_epoch(monkeypatch):
    monkeypatch.setattr("kerasrnn.data.batches._IN_BUFFER", 10)

    def epochs():
        def encode(indices):
            return indices * 0, indices

        dataset = length_batches(64, encode, 4, seed=3)
        return [batch.numpy().tolist() for batch in dataset.repeat(2)]

    found = epochs()
    assert found == epochs() and found[:16] != found[16:]
    for half in (found[:16], found[16:]):
        assert sorted(sum(half, [])) == list(range(64)) != sum(half, [])


SHARDS = {
    "tsv": ("red\trot\nblue\tblau\n", "no tab\nnew\tneu\n"),
    "csv": (
        "id,source,target\n1,red,rot\n2,blue,blau",
        "target,source\nneu,new",
    ),
    "jsonl": (
        '{"en": "red", "de": "rot"}\n{"en": "blue", "de": "blau"}',
        '{"de": "neu", "en": "new"}',
    ),
}


@pytest.mark.parametrize("kind", SHARDS)
def test_a_folder_of_shards_is_read(tmp_path, kind):
    for number, content in enumerate(SHARDS[kind]):
        (tmp_path / f"part-{number}.{kind}").write_text(content)
    (tmp_path / "_SUCCESS").write_text("")
    names = ("en", "de") if kind == "jsonl" else ()
    if kind == "tsv":
        with pytest.warns(CorpusWarning, match="1 malf.*of 4 .*part-1.tsv"):
            pairs, malformed = read_parallel_corpus(tmp_path)
        assert malformed == [("part-1.tsv, line 1", "no tab between columns")]
    else:
        pairs = read_parallel_corpus(tmp_path, *names).pairs
    assert pairs == [("red", "rot"), ("blue", "blau"), ("new", "neu")]
    (tmp_path / "README.md").write_text("")
    with pytest.raises(IsADirectoryError, match="one of its files"):
        read_parallel_corpus(tmp_path)


def test_lines_of_shards_are_read(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(f"a {number}\n\nb {number}\n")
    corpus = read_text_corpus(tmp_path)
    assert corpus.train == ["a 0", "b 0", "a 1", "b 1", "a 2"]
    assert corpus.validation == ["b 2"]


def test_a_data_set_may_be_streamed():
    datasets = pytest.importorskip("datasets")
    rows = [{"text": f"line {n}", "en": "a", "de": f"b{n}"} for n in range(4)]
    stream = datasets.Dataset.from_list(rows).to_iterable_dataset()
    assert read_text_corpus(stream).train == [f"line {n}" for n in range(3)]
    pairs = read_parallel_corpus(stream.map(dict), "en", "de").pairs
    assert pairs == [("a", f"b{n}") for n in range(4)]
