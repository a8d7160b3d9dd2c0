import argparse
import json
import pathlib
import runpy
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the text operations

RECIPE = pathlib.Path(__file__).parents[2] / "recipes" / "ptb_lm.py"
NOUNS = ("bank", "market", "company", "price", "board")
VERBS = ("sold", "raised", "closed", "said", "bought")


@pytest.fixture
def corpus(tmp_path):
    """Two hundred sentences."""
    rng = np.random.default_rng(0)
    lines = [
        f"the {rng.choice(NOUNS)} {rng.choice(VERBS)} a {rng.choice(NOUNS)}"
        for _ in range(200)
    ]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines), "utf-8")
    return path


def run(*arguments):
    return subprocess.run(
        [sys.executable, RECIPE, *map(str, arguments)],
        capture_output=True,
        text=True,
    )


def run_inside(monkeypatch, *arguments):
    """The same without the seconds that a new process takes."""
    monkeypatch.setattr(sys, "argv", [str(RECIPE), *map(str, arguments)])
    return runpy.run_path(str(RECIPE), run_name="__main__")


def small(corpus, output, *arguments):
    return (
        *("--corpus", corpus, "--preset", "phrasebook", "--units", 8),
        *("--batch-size", 4, "--epochs", 2, "--output", output, *arguments),
    )


def test_a_small_run_leaves_everything(corpus, tmp_path):
    output = tmp_path / "models" / "tiny"
    lines = corpus.read_text("utf-8").splitlines()
    lines[-1] = "the zebra slept"
    corpus.write_text("\n".join(lines), "utf-8")
    done = run(*small(corpus, output))
    assert done.returncode == 0, done.stderr
    assert "no test part" in done.stdout
    assert "'zebra', 'slept'" in done.stderr

    for name in ("training.png", "words.png"):
        assert (output / name).read_bytes().startswith(b"\x89PNG")
    assert (output / "model.keras").stat().st_size > 0

    card = json.loads((output / "card.json").read_text("utf-8"))
    assert card["lengths"]["train"]["lines"] == 180
    assert card["lengths"]["train"]["average"] == 5.0
    assert card["lengths"]["validation"]["minimum"] == 3
    scores = card["scores"]
    assert scores["validation"]["tokens"] == 19 * 6 + 4
    assert 1 < scores["validation"]["perplexity"] < 17
    assert 1 < scores["validation, dynamic"]["perplexity"] < 17
    assert card["history"]["tokens"] == [1080, 2160]
    assert len(card["samples"]) == 5

    served = tf.saved_model.load(output / "1").signatures
    assert served.keys() == {
        "serving_default",
        "score_ids",
        "generate",
        "step",
    }
    # The same figure, from raw text.
    text = "\n".join(lines[180:])
    found = served["serving_default"](text=tf.constant([text]))
    np.testing.assert_allclose(
        found["perplexity"], [scores["validation"]["perplexity"]], rtol=1e-4
    )


# The log of a killed run is closed by nobody.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow
def test_a_run_of_the_same_settings_goes_on_where_it_was(
    corpus, tmp_path, monkeypatch, capsys
):
    recipe = run_inside(monkeypatch, *small(corpus, tmp_path / "whole"))
    whole = json.loads((tmp_path / "whole" / "card.json").read_text("utf-8"))

    class Interrupted(Exception):
        pass

    validate = recipe["keras"].Model.evaluate
    done = []

    def interrupt(self, *args, **options):
        if done:
            raise Interrupted
        done.append(1)
        return validate(self, *args, **options)

    output = tmp_path / "interrupted"
    with monkeypatch.context() as context, pytest.raises(Interrupted):
        context.setattr(recipe["keras"].Model, "evaluate", interrupt)
        run_inside(context, *small(corpus, output))
    assert not (output / "card.json").exists()
    capsys.readouterr()
    run_inside(monkeypatch, *small(corpus, output))
    printed = capsys.readouterr().out
    assert "Epoch 2/2" in printed and "Epoch 1/2" not in printed
    resumed = json.loads((output / "card.json").read_text("utf-8"))
    assert resumed["history"]["tokens"] == whole["history"]["tokens"]
    assert resumed["history"]["loss"][0] == pytest.approx(
        whole["history"]["loss"][0]
    )


@pytest.mark.slow
def test_the_table_trains_what_is_not_on_disk(corpus, tmp_path, monkeypatch):
    output = tmp_path / "table"
    arguments = (
        *("--preset", "table", "--corpus", corpus, "--limit", 40),
        *("--epochs", 1, "--output", output),
    )
    run_inside(monkeypatch, *arguments)
    table = (output / "table.md").read_text("utf-8")
    assert len(table.splitlines()) == 2 + 7 + 4
    assert "gam-rhn-multi-head, 13" in table
    for metric in ("loss", "val_loss", "val_token_accuracy", "val_perplexity"):
        assert (output / f"{metric}.png").exists()

    card = output / "rhn-13" / "card.json"
    written = card.stat().st_mtime_ns
    run_inside(monkeypatch, *arguments)
    assert card.stat().st_mtime_ns == written


@pytest.mark.parametrize("cell", ["lstm", "gru", "gam_rhn"])
@pytest.mark.parametrize("attention", [None, "additive", "multi_head", "dot"])
def test_every_row_is_a_model(cell, attention, corpus, monkeypatch, tmp_path):
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    arguments = small(corpus, tmp_path, "--cell", cell)
    if attention:
        arguments += ("--attention", attention)
    monkeypatch.setattr(sys, "argv", [str(RECIPE), *map(str, arguments)])
    args = recipe["parse_args"]()
    lines = recipe["load_corpus"](args).train
    tokenizer = recipe["build_tokenizer"](args, lines)
    model = recipe["build_model"](args, tokenizer)
    logits = model(tokenizer.tokenize(lines[:3]).to_tensor())
    assert logits.shape == (3, 5, tokenizer.vocabulary_size)


def test_the_rows_of_the_table_have_five_million_weights():
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")

    class Vocabulary:
        vocabulary_size = 10_000

    for name, settings in recipe["ROWS"].items():
        args = argparse.Namespace(**settings)
        model = recipe["build_model"](args, Vocabulary)
        count = sum(np.prod(w.shape) for w in model.trainable_weights)
        assert 4_900_000 <= count <= 5_000_000, name


@pytest.mark.parametrize(
    "preset, types, least, most",
    [
        ("rhn", 10_000, 23_482_400, 23_482_400),
        ("gam-rhn-char", 50, 15_900_000, 16_000_000),
    ],
)
def test_the_presets_of_the_papers_have_their_weights(
    preset, types, least, most
):
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")

    class Vocabulary:
        vocabulary_size = types

    args = argparse.Namespace(**recipe["PRESETS"][preset])
    model = recipe["build_model"](args, Vocabulary)
    count = sum(np.prod(w.shape) for w in model.trainable_weights)
    assert least <= count <= most


@pytest.mark.parametrize(
    "content, message",
    [(b"", "empty"), (b"one", "line"), (b"caf\xe9 a\nb c\n", "UTF-8")],
)
def test_a_text_that_is_none(content, message, tmp_path, monkeypatch):
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        run_inside(monkeypatch, *small(path, tmp_path / "out"))


def test_a_missing_corpus_says_how_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="ptb.*How to get it"):
        run_inside(
            monkeypatch,
            *("--corpus", "ptb", "--data-dir", tmp_path),
            *("--output", tmp_path / "out"),
        )


def test_a_treebank_of_another_vocabulary(tmp_path, monkeypatch):
    for name in ("train", "valid"):
        (tmp_path / f"ptb.{name}.txt").write_text(" a b c \n b c \n")
    with pytest.raises(ValueError, match="10,000|10000"):
        run_inside(
            monkeypatch,
            *("--corpus", "ptb", "--data-dir", tmp_path),
            *("--output", tmp_path / "out"),
        )


def test_characters_of_the_same_files(corpus, monkeypatch, tmp_path):
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    arguments = ("--preset", "gam-rhn-char", "--corpus", corpus)
    arguments += ("--output", tmp_path / "out")
    monkeypatch.setattr(sys, "argv", [str(RECIPE), *map(str, arguments)])
    args = recipe["parse_args"]()
    tokenizer = recipe["build_tokenizer"](
        args, recipe["load_corpus"](args).train
    )
    assert " " in tokenizer.vocabulary
    assert max(map(len, tokenizer.vocabulary[2:])) == 1
    assert recipe["metrics"](args)[0].name == "bits_per_character"
