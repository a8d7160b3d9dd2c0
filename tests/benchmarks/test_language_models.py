import json
import sys

import keras
import language_model
import language_models
import numpy as np
import ptb_lm
import pytest
import treebank_ids

from kerasrnn.layers import RHNCell
from kerasrnn.models import LanguageModel

LINES = [" the bank <unk>  sold N shares ", "the price rose", "", "a rosé sank"]


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    for part in ("train", "valid"):
        lines = "\n".join(LINES * 5)
        (tmp_path / f"ptb.{part}.txt").write_text(lines, "utf-8")
    monkeypatch.setenv("KERASRNN_DATA", str(tmp_path))
    return tmp_path


def run(*flags):
    """Runs the benchmark in this process."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(sys, "argv", ["language_models.py", *map(str, flags)])
        language_models.main()


@pytest.mark.usefixtures("treebank")
@pytest.mark.parametrize("tokens", ["words", "characters"])
def test_it_trains_on_the_batches_of_the_recipe(tokens, monkeypatch):
    pytest.importorskip("tensorflow_text")
    from kerasrnn.pipelines import TextLanguageModel

    flags = ["x", "--tokens", tokens, "--vocabulary-size", "9"]
    monkeypatch.setattr(sys, "argv", flags)
    _, settings = language_models.read_arguments()
    text = treebank_ids.read_text(settings)
    lines = LINES * 5
    tokenizer = language_model.build_tokenizer(settings, lines)
    assert text.vocabulary_size == tokenizer.vocabulary_size == 9
    model = LanguageModel(9, RHNCell(2), batch_size=4)
    language = TextLanguageModel(model, tokenizer, window=5)
    x, y = treebank_ids.windows(text.train, batch_size=4, window=5)
    found = {**x, "labels": y}
    batches = language.batches(lines).as_numpy_iterator()
    expected = [{**inputs, "labels": labels} for inputs, labels in batches]
    for name, rows in found.items():
        joined = np.concatenate([batch[name] for batch in expected])
        np.testing.assert_array_equal(rows, joined)


@pytest.mark.thorough
@pytest.mark.usefixtures("treebank")
def test_a_small_model_is_trained_and_timed(tmp_path, capsys):
    card = tmp_path / "card.json"
    flags = "--row", "lstm", "--small", "--run-epochs", 2, "--card", card
    run(*flags, "--batch-size", 2, "--window", 4)
    found = json.loads(card.read_text("utf-8"))
    assert found["corpus"] == "Penn Treebank"
    assert found["history"]["steps"] == [found["steps_an_epoch"]] * 2
    assert found["history"]["val_loss"][1] < found["history"]["val_loss"][0]
    assert 0 < found["step_seconds"] < found["first_step_seconds"]
    assert found["all_epochs"] == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("| 2 |")]


def test_it_stops_when_its_time_is_over():
    clock = language_models.Clock(limit=0.0)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    x = np.ones((64, 1), "float32")
    history = model.fit(x, x, batch_size=1, verbose=0, callbacks=[clock])
    (steps,) = history.history["steps"]
    assert 1 <= steps < 64


def test_a_data_folder_without_the_treebank(tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold ptb.train.txt and"):
        run("--preset", "best", "--data-dir", tmp_path)


def test_what_the_benchmark_does_not_train_is_refused(tmp_path):
    path = tmp_path / "language.keras"
    path.touch()
    for flags, said in (
        (("phrasebook", "--corpus", "phrasebook"), "of the Penn Treebank"),
        (("best", "--from", path), "`--from` has no effect"),
    ):
        with pytest.raises(ValueError, match=said):
            run("--preset", *flags)


def test_an_empty_variable_is_no_data_folder(monkeypatch):
    monkeypatch.setenv("KERASRNN_DATA", "")
    assert treebank_ids.find_treebank(ptb_lm.PRESETS["best"]) is None
