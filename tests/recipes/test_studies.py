"""One tiny run of each study."""

import json
import shlex
import types

import classify
import numpy as np
import ptb_lm
import pytest
from studies import group_memory
from studies import imdb_self_training
from studies import ptb_table

from kerasrnn import training
from kerasrnn.layers import FastRNN
from kerasrnn.layers import GAMRHNCell
from kerasrnn.tokenizers import ReviewTokenizer
from tests import helpers
from tests.recipes import brief

# The report leaves stop words out, negations among them.
pytestmark = pytest.mark.filterwarnings("ignore:`stop_words` has negations")


@pytest.fixture
def unmeasured(monkeypatch):
    """A run ends with its training: the recipe's own tests see the rest."""
    monkeypatch.setattr(
        "kerasrnn.pipelines.Run.finish",
        lambda run, labeller, *_, **__: labeller,
    )


@pytest.fixture
def archive(tmp_path):
    return brief.write_reviews(tmp_path / "aclImdb_v1.tar.gz")


TINY = ("--cell", "rnn", "--units", 4, "--epochs", 1, "--vectors", "None")


def test_a_linear_model_weighs_words_and_their_pairs():
    tokenizer = ReviewTokenizer(["<pad>", "<unk>"])
    good, bad = ["a FINE film", "not dull at all"], ["a dull film", "not fine"]
    labeller = imdb_self_training.LinearLabeller(
        tokenizer, (good + bad) * 3, [1, 1, 0, 0] * 3
    )
    found = labeller.probabilities([*good, *bad, "a film"])
    assert (found[:2] > 0.55).all() and (found[2:4] < 0.45).all()
    assert 0.45 < found[4] < 0.55


@pytest.mark.thorough
@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("linear", [True, False])
def test_a_second_model_learns_from_the_answers_of_the_first(
    linear, archive, tmp_path, monkeypatch
):
    taught, real = [], classify.run

    def watched(settings, load_parts, *rest):
        labeller = real(settings, load_parts, *rest)
        taught.append((load_parts(settings)[0], labeller))
        return labeller

    monkeypatch.setattr(classify, "run", watched)
    flags = ("--corpus", archive, "--preset", "best", *TINY)
    flags += ("--linear" if linear else "--no-linear",)
    brief.run(imdb_self_training, *flags, "--output", tmp_path)
    (labelled, first), (answered, second) = taught
    count = len(labelled.train.texts)
    assert answered.train.texts == labelled.train.texts + labelled.unlabelled
    assert answered.train.labels[:count] == labelled.train.labels
    expected = first.probabilities(labelled.unlabelled)
    if linear:
        other = imdb_self_training.LinearLabeller(
            first.tokenizer, *labelled.train
        )
        expected = (expected + other.probabilities(labelled.unlabelled)) / 2
    np.testing.assert_allclose(
        answered.train.labels[count:], expected, rtol=1e-2
    )
    # Of all texts that it reads, also those without a label.
    known = set(first.tokenizer.vocabulary)
    assert set(second.tokenizer.vocabulary) > known


@pytest.fixture
def stand_in(monkeypatch):
    """Lets a study run a recipe that only checks its flags and writes a card.

    Called with the recipe and a function from settings to what its card
    contains, it returns the list of the settings of the runs to come.
    """

    def start(recipe, card):
        runs = []

        def pretend(command, check):
            file, *flags = map(str, command[1:])
            settings = training.read_settings(recipe.PRESETS, args=flags)
            runs.append(settings)
            settings.output.mkdir(parents=True, exist_ok=True)
            found = {
                "command": shlex.join(["python", file, *flags]),
                "parameters": 1234,
                **card(settings),
            }
            text = json.dumps(found)
            (settings.output / "card.json").write_text(text, "utf-8")

        # Not `subprocess.run` itself, which asks for the commit of a card.
        fake = types.SimpleNamespace(run=pretend)
        monkeypatch.setattr("studies.ptb_table.subprocess", fake)
        return runs

    return start


def card_of_text(settings):
    # The less dropout, the better.
    perplexity = 100 * (settings.dropout + 1)
    score = {"perplexity": perplexity, "token_accuracy": 0.25}
    names = ("loss", "val_loss", "val_token_accuracy", "val_perplexity")
    history = dict.fromkeys(names, [2.0, 1.5])
    speed = {"tokens": [90, 180], "cpu_seconds": [3.0, 2.0]}
    return {"scores": {"dev": score}, "history": history | speed}


def test_cells_of_equal_size_are_compared(stand_in, tmp_path, monkeypatch):
    runs = stand_in(ptb_lm, card_of_text)
    brief.run(ptb_table, "--limit", 9, "--output", tmp_path)
    assert len(runs) == 8 + 4 and {x.limit for x in runs} == {9}
    seeds = [x.seed for x in runs if x.cell == "rhn"]
    assert seeds == [13, 14, 15]
    table = (tmp_path / "table.md").read_text("utf-8").splitlines()
    assert table[2] == "| `lstm-13` | 1,234 | 1.500 | 120.00 | 0.250 | 36 |"
    assert len(table) == 2 + 12
    for name in ptb_table.CURVES:
        assert (tmp_path / f"{name}.png").exists()


def test_a_watched_group_memory_does_as_the_cell():
    cell = GAMRHNCell(3, depth=2, num_groups=5, group_size=4, head_units=6)
    x = helpers.random(2, 6, 7)
    layer = FastRNN(cell, return_sequences=True, return_state=True)
    outputs, _, memory = layer(x)
    watched = group_memory.WatchedCell.copy_of(cell, x.shape)
    writes, reads, states, memories = watched.watch(x)
    helpers.assert_close(states.swapaxes(0, 1), outputs)
    helpers.assert_close(memories[-1], memory)
    assert writes.shape == (6, 2, 5, 4) and reads.shape == (6, 2, 2, 5, 4)
    helpers.assert_close(writes.sum(-1), np.ones((6, 2, 5)))
    # What a slot takes of the candidate, all slots of a group together.
    before = np.concatenate([np.zeros((1, 2, 20)), memories[:-1]])
    before, after = (x.reshape(6, 2, 5, 4) for x in (before, memories))
    candidates = (after - (1 - writes) * before) / writes
    helpers.assert_close(candidates.std(-1), np.zeros((6, 2, 5)), atol=1e-4)


def test_what_a_group_memory_does_is_described():
    # One group of two slots: all is written to the first, read from both.
    writes = np.broadcast_to([0.99, 0.01], (4, 1, 1, 2))
    reads = np.full((4, 1, 1, 1, 2), 0.5)
    states = np.arange(1.0, 5).reshape(4, 1, 1)
    memory = np.broadcast_to([1.0, -1.0], (4, 1, 2))
    found = dict(group_memory.describe(writes, reads, states, memory))
    assert found["steps"] == "4"
    assert found["write weights"].startswith("0% under 0.01, 50% under 0.1")
    assert found["longest lifetime, steps"] == "99"
    assert found["entropy of read 1"] == "1.00"
    assert found["deviation between the slots of a group"] == "1.00 of all"
    assert found["change of the state in a step"] == "0.40 of its size"


def test_flags_that_the_rows_set_are_refused(stand_in, tmp_path, monkeypatch):
    runs = stand_in(ptb_lm, card_of_text)
    flags = ("--limit", 9, "--micro-steps=3", "--seed", 1)
    with pytest.raises(SystemExit, match="Received: --micro-steps=3, --seed$"):
        brief.run(ptb_table, *flags, "--output", tmp_path)
    assert not runs
