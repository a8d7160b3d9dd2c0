import json
import pathlib
import runpy
import subprocess
import sys

import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the text operations

RECIPE = pathlib.Path(__file__).parents[2] / "recipes" / "nmt_hindi.py"

SUBJECTS = {"i": "मैं", "we": "हम", "they": "वे", "you": "आप", "he": "वह"}
PLACES = {"home": "घर", "school": "स्कूल", "market": "बाज़ार", "city": "शहर"}
VERBS = {"go to": "जाना", "see the": "देखना", "know the": "जानना"}


@pytest.fixture
def corpus(tmp_path):
    """Sixty pairs, and a line that is not UTF-8."""
    lines = [
        f"{subject} {verb} {place}!\t{hindi} {where} {what} है।".encode()
        for subject, hindi in SUBJECTS.items()
        for place, where in PLACES.items()
        for verb, what in VERBS.items()
    ]
    path = tmp_path / "corpus.tsv"
    path.write_bytes(b"\n".join([*lines[:30], b"caf\xe9\t\xff", *lines[30:]]))
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
    runpy.run_path(str(RECIPE), run_name="__main__")


def test_a_small_run_leaves_everything(corpus, tmp_path):
    output = tmp_path / "models" / "tiny"
    done = run(
        *("--corpus", corpus, "--units", 8, "--epochs", 1),
        *("--limit", 60, "--output", output),
    )
    assert done.returncode == 0, done.stderr
    assert "54 training pairs, 6 held-out pairs" in done.stdout
    assert "line 31" in done.stderr

    assert {path.name for path in output.iterdir()} >= {
        "1",
        "attention.png",
        "card.json",
        "training.png",
    }
    for name in ("attention.png", "training.png"):
        assert (output / name).read_bytes().startswith(b"\x89PNG")

    card = json.loads((output / "card.json").read_text("utf-8"))
    assert card["settings"]["units"] == 8
    assert card["pairs"] == {"train": 54, "dev": 6}
    for search in ("greedy", "beam 5"):
        scores = card["scores"][search]
        assert 0 <= scores["bleu"] <= 100
        assert 0 <= scores["chrf"] <= 100
        assert "version:" in scores["bleu_signature"]
    assert len(card["samples"]) == 6
    assert len(card["history"]["loss"]) == 1

    model = tf.saved_model.load(output / "1")
    assert set(model.signatures) == {
        "serving_default",
        "translate_ids",
        "attend",
    }
    found = model.signatures["serving_default"](
        text=tf.constant(["we go to school", ""])
    )
    assert found["translation"].shape == (2,)
    assert found["translation"][1] == b""


def test_what_is_trained_is_not_trained_again(corpus, tmp_path, monkeypatch):
    # An export takes seconds, and is not what this is about.
    monkeypatch.setattr(
        "kerasrnn.pipelines.export_saved_model", lambda *_: None
    )
    output = tmp_path / "out"
    histories = []
    for path in (output, tmp_path / "elsewhere" / ".." / "out"):
        run_inside(
            monkeypatch,
            *("--corpus", corpus, "--units", 8, "--limit", 24),
            *("--epochs", 1, "--output", path),
        )
        card = json.loads((output / "card.json").read_text("utf-8"))
        histories.append(card["history"])
    assert histories[0] == histories[1]
    assert len(histories[1]["loss"]) == 1
    assert len(list(output.glob("training-*"))) == 1


def test_a_missing_corpus_ends_the_run(tmp_path):
    missing = tmp_path / "missing.tsv"
    done = run("--corpus", missing, "--output", tmp_path / "out")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("FileNotFoundError: ")
    assert str(missing) in last
    assert "does not exist" in last


def test_a_named_corpus_that_is_missing(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="'hin.txt'.*How to get it"):
        run_inside(
            monkeypatch,
            *("--corpus", "tatoeba", "--data-dir", tmp_path),
            *("--output", tmp_path / "out"),
        )


def test_a_corpus_without_a_usable_line(tmp_path, monkeypatch):
    path = tmp_path / "corpus.tsv"
    path.write_bytes(b"no tab\n\n\xff\tx\n")
    with pytest.raises(ValueError, match="no usable line"):
        run_inside(monkeypatch, "--corpus", path, "--output", tmp_path / "out")


def test_an_output_that_cannot_be_written(corpus, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OSError, match="can be made and written.*Received"):
        run_inside(
            monkeypatch,
            *("--corpus", corpus, "--output", tmp_path / "file" / "out"),
        )


def test_the_seeds_preset_is_closed_over_the_words_of_the_corpus(
    corpus, tmp_path, monkeypatch
):
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    monkeypatch.setattr(
        sys,
        "argv",
        [
            *(str(RECIPE), "--preset", "guha", "--corpus", str(corpus)),
            *("--units", "8", "--output", str(tmp_path / "out")),
        ],
    )
    args = recipe["parse_args"]()
    assert (args.limit, args.batch_size, args.epochs) == (100, 64, 100)
    with pytest.warns(UserWarning, match="malformed"):
        train, dev = recipe["load_pairs"](args)
    assert train == dev
    assert len(train) == 60
    more = tmp_path / "more.tsv"
    more.write_text("who knows\tकिसे पता\nI go to home\tमैं घर\n", "utf-8")
    args.corpus += f"+{more}"
    with pytest.warns(UserWarning, match="malformed"):
        assert recipe["load_pairs"](args) == (
            [*train, ("who knows", "किसे पता")],
            dev,
        )
    english, hindi = zip(*train, strict=True)
    source = recipe["build_tokenizer"](args, english, specials=())
    target = recipe["build_tokenizer"](args, hindi, specials=("<s>", "</s>"))
    assert source.unknown_id == source.pad_id == -1
    assert target.vocabulary[:2] == ("<s>", "</s>")
    model = recipe["build_model"](args, source, target)
    logits = model(
        {
            "source": source.tokenize(english).to_tensor(-1),
            "target": target.tokenize(hindi).to_tensor(-1),
        }
    )
    assert logits.shape[0] == 60
    assert logits.shape[2] == target.vocabulary_size
