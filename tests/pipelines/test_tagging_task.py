import dataclasses
import json

import keras
import numpy as np
import pytest

from kerasrnn import training
from kerasrnn.pipelines import Run
from tests.pipelines import small


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.Settings):
    """Those that all recipes have."""


def test_a_report_shows_the_errors(tmp_path):
    tagger = small.tagger()
    task, rows = tagger.task(), small.SENTENCES[:2]
    words, true = ([[x[n] for x in row] for row in rows] for n in (0, 1))
    found = tagger.tag_tokens(words)
    facts, pictures = task.report(rows, tmp_path)
    assert facts["samples"] == [
        "Anna Maria lives in Rome .",
        " ".join(words[1]),
    ]
    pairs = [list(zip(*x, strict=True)) for x in zip(true, found, strict=True)]
    wrong = [sum(a != b for a, b in row) for row in pairs]
    worst = sorted((n for n in (0, 1) if wrong[n]), key=lambda n: -wrong[n])
    assert facts["worst"] == [
        {"words": words[n], "true": true[n], "found": found[n]} for n in worst
    ]
    kinds, counts = ["O", "PER", "LOC"], np.zeros((3, 3))
    for row in pairs:
        places = [[kinds.index(x.split("-")[-1]) for x in pair] for pair in row]
        np.add.at(counts, tuple(np.transpose(places)), 1)
    confusions, transitions = (
        pictures[name].axes[0].images[0].get_array()
        for name in ("confusions", "transitions")
    )
    np.testing.assert_allclose(confusions, counts / counts.sum(1)[:, None])
    # From outside, no phrase goes on.
    hidden = np.ma.getmaskarray(transitions)[0].tolist()
    assert hidden == [tag.startswith("I") for tag in small.TAGS]


@pytest.mark.slow
def test_a_pipeline_is_trained_scored_shown_and_saved(tmp_path, capsys):
    settings = Settings(
        output=tmp_path / "run", epochs=12, batch_size=4, learning_rate=0.05
    )

    def train(tagger):
        with Run(settings) as run:
            tagger.compile(keras.optimizers.Adam(settings.learning_rate))
            run.fit(tagger, small.SENTENCES, small.SENTENCES[:2])
            return run.finish(tagger, small.SENTENCES[:2])

    with Run(settings):
        tagger = small.tagger()
    saved = train(tagger)
    printed = capsys.readouterr().out
    assert "Training set: 12 sentences, 60 words." in printed
    assert "Warning: only 12 sentences to train on." in printed
    assert "Result (dev): span F1 100.0, tag accuracy 100.0 %" in printed
    card = json.loads((settings.output / "card.json").read_text("utf-8"))
    assert card["scores"]["dev"]["f1"] == 1
    assert set(card["history"]) >= {"val_f1", "val_accuracy", "loss", "words"}
    for name in ("tagger.keras", "1", "confusions.png", "transitions.png"):
        assert (settings.output / name).exists()
    assert saved.tag(["Bob"])[0][0].label == "PER"
    # Words with other numbers are another training.
    folders = list(settings.output.glob("training-*"))
    with Run(settings):
        other = small.tagger(more=["another"])
    train(other)
    assert len(list(settings.output.glob("training-*"))) == len(folders) + 1
