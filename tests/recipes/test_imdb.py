import json
import pathlib
import runpy
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the text operations

RECIPE = pathlib.Path(__file__).parents[2] / "recipes" / "imdb.py"


def run_inside(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(RECIPE), *map(str, arguments)])
    return runpy.run_path(str(RECIPE), run_name="__main__")


@pytest.fixture
def unexported(monkeypatch):
    """For runs of which no test serves the model: an export takes seconds."""
    monkeypatch.setattr(
        "kerasrnn.pipelines.export_saved_model", lambda *_: None
    )


@pytest.fixture
def archive(tmp_path):
    """The official layout, without a test part."""
    import io
    import tarfile

    path = tmp_path / "aclImdb_v1.tar.gz"
    words = {"pos": "a fine film", "neg": "a dull film", "unsup": "a film"}
    with tarfile.open(path, "w:gz") as tar:
        for label, text in words.items():
            for number in range(30):
                content = f"{text}<br />number {number}".encode()
                info = tarfile.TarInfo(f"aclImdb/train/{label}/{number}_1.txt")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


def test_a_small_run_leaves_everything(tmp_path):
    output = tmp_path / "models" / "tiny"
    done = subprocess.run(
        [
            *(sys.executable, RECIPE, "--limit", "300", "--units", "8"),
            *("--epochs", "2", "--output", output),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "no test part" in done.stdout
    for name in ("training", "hidden_states", "word_map", "words"):
        picture = output / f"{name}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")

    card = json.loads((output / "card.json").read_text("utf-8"))
    assert card["reviews"] == {"train": 240, "validation": 60}
    assert 0.4 < card["scores"]["validation"]["accuracy"] <= 1.0
    assert len(card["history"]["val_loss"]) == 2
    assert min(card["gradient_norms"]) >= 0

    served = tf.saved_model.load(output / "1").signatures
    assert served.keys() == {"serving_default", "label_ids", "explain"}
    found = served["serving_default"](
        text=tf.constant(["the plot was good", "", "<br />", "🙂" * 9])
    )
    assert found["probability"].shape == (4,)
    assert set(found["label"].numpy()) <= {b"positive", b"negative"}


@pytest.mark.usefixtures("unexported")
def test_the_archive_with_word_vectors(archive, tmp_path, monkeypatch):
    output = tmp_path / "out"
    run_inside(
        monkeypatch,
        *("--corpus", archive, "--preset", "best", "--units", 4),
        *("--epochs", 1, "--output", output),
    )
    card = json.loads((output / "card.json").read_text("utf-8"))
    assert card["reviews"] == {"train": 48, "validation": 12}
    [vectors] = output.glob("skip-gram-*")
    assert vectors.read_text("utf-8").splitlines()[0].endswith(" 100")


def test_vectors_may_come_from_any_file(archive, tmp_path, monkeypatch):
    path = tmp_path / "glove.txt"
    path.write_text("film 1 0 2\nfine -1 0.5 3\n", "utf-8")
    output = tmp_path / "out"
    recipe = run_inside(
        monkeypatch,
        *("--corpus", archive, "--preset", "one-way", "--units", 4),
        *("--epochs", 1, "--vectors", path, "--output", output),
    )
    assert (output / "1").is_dir()
    args, words = recipe["parse_args"](), ("film", "fine")
    tokenizer = recipe["ReviewTokenizer"].train(["a fine film"])
    vectors = recipe["load_vectors"](args, tokenizer, [])
    model = recipe["start"](args, tokenizer, [], vectors)
    assert model.encoder.embedding_dim == 3
    table = model.encoder.embedding.embeddings.numpy()
    film, fine = (table[tokenizer.vocabulary.index(x)] for x in words)
    np.testing.assert_allclose(film / film[0], [1, 0, 2], rtol=1e-5)
    np.testing.assert_allclose(fine / film[0], [-1, 0.5, 3], rtol=1e-5)


def test_other_vectors_are_another_start(archive, tmp_path, monkeypatch):
    """The same path, and a file that was replaced."""
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    path = tmp_path / "glove.txt"
    arguments = (
        *("imdb.py", "--corpus", archive, "--preset", "one-way", "--units", 4),
        *("--vectors", path, "--output", tmp_path / "out"),
    )
    monkeypatch.setattr(sys, "argv", [*map(str, arguments)])
    args = recipe["parse_args"]()
    train = recipe["LabelledTexts"](["a fine film", "a dull film"], [1, 0])
    tokenizer = recipe["build_tokenizer"](args, train.texts)
    seen = []

    class Stop(Exception):
        pass

    def watched(args, model, tokenizer, train, validation, facts):
        seen.append(recipe["fingerprint"](facts))
        raise Stop

    learn = recipe["learn"]
    monkeypatch.setitem(learn.__globals__, "fit", watched)
    for number in (1, 1, 2):
        path.write_text(f"film {number} 0\nfine 0 1\n", "utf-8")
        with pytest.raises(Stop):
            learn(args, tokenizer, train, [], train)
    assert seen[0] == seen[1] != seen[2]


def test_vectors_are_of_the_texts_that_they_were_trained_on(
    archive, tmp_path, monkeypatch
):
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    arguments = ("--corpus", archive, "--preset", "one-way", "--output")
    monkeypatch.setattr(
        sys, "argv", [*map(str, ("imdb.py", *arguments, tmp_path / "out"))]
    )
    args = recipe["parse_args"]()
    tokenizer = recipe["ReviewTokenizer"].train(["a fine film"])
    for texts in (["a fine film"] * 5, ["a dull film"] * 5) * 2:
        recipe["load_vectors"](args, tokenizer, texts)
    assert len(list(args.output.glob("skip-gram-*"))) == 2


def test_a_folder_is_a_corpus(archive, tmp_path, monkeypatch):
    import tarfile

    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "here", filter="data")
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    monkeypatch.setattr(
        sys,
        "argv",
        [
            *("imdb.py", "--corpus", str(tmp_path / "here" / "aclImdb")),
            *("--output", str(tmp_path / "out")),
        ],
    )
    corpus = recipe["load_corpus"](recipe["parse_args"]())
    assert len(corpus.train.texts) == 60 and len(corpus.unlabelled) == 30


def test_what_is_held_out_stands_nowhere_else():
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    texts = recipe["LabelledTexts"]
    without, held_out = recipe["without"], texts(["a", "b"], [1, 0])
    found = without(held_out, texts(["c", "b", "d", "a", "c"], [1, 0, 0, 1, 1]))
    assert found == texts(["c", "d", "c"], [1, 0, 1])
    assert without(held_out, ["b", "e"]) == ["e"]


@pytest.mark.usefixtures("unexported")
def test_other_data_are_learnt_anew(tmp_path, monkeypatch):
    """The same settings, and words that have changed places."""
    corpus, output = tmp_path / "reviews.tsv", tmp_path / "out"
    accuracies = []
    for good, bad in (("good", "bad"), ("bad", "good")):
        rows = [f"{good} {i}\t1" for i in range(40)]
        rows += [f"{bad} {i}\t0" for i in range(80)]
        corpus.write_text("\n".join(["text\tlabel", *rows]), "utf-8")
        run_inside(
            monkeypatch,
            *("--corpus", corpus, "--preset", "no-vectors", "--units", 4),
            *("--epochs", 3, "--batch-size", 4, "--learning-rate", 0.05),
            *("--output", output),
        )
        card = json.loads((output / "card.json").read_text("utf-8"))
        accuracies.append(card["scores"]["validation"]["accuracy"])
    assert accuracies == [1.0, 1.0]


@pytest.mark.usefixtures("unexported")
def test_a_language_model_starts_the_encoder(archive, tmp_path, monkeypatch):
    output = tmp_path / "out"
    arguments = (
        *("--corpus", archive, "--preset", "pretrained", "--units", 4),
        *("--epochs", 1, "--output", output),
    )
    recipe = run_inside(monkeypatch, *arguments)
    trained = [x for x in output.iterdir() if x.name.startswith("training-")]
    assert len(trained) == 2  # the language model and the classifier
    # What the language model learnt is what the encoder starts from.
    args = recipe["parse_args"]()
    train = recipe["load_corpus"](args).train
    train = recipe["hold_out"](train, 12, args.seed)[0].texts
    tokenizer = recipe["build_tokenizer"](args, train)
    model = recipe["build_model"](args, tokenizer)
    before = model.encoder.forward_rnns[0].get_weights()
    recipe["pretrain"](args, model, tokenizer, train, None)
    after = model.encoder.forward_rnns[0].get_weights()
    assert all((a != b).any() for a, b in zip(after, before, strict=True))
    # From other vectors it is another language model.
    trained = set(output.glob("training-*"))
    for vectors in (np.ones((2, 3)), np.ones((2, 3)), np.zeros((2, 3))):
        recipe["pretrain"](args, model, tokenizer, train, vectors)
    assert len(set(output.glob("training-*")) - trained) == 2


def test_folds(archive, tmp_path, monkeypatch):
    output = tmp_path / "out"
    run_inside(
        monkeypatch,
        *("--corpus", archive, "--preset", "no-vectors", "--units", 4),
        *("--folds", 2, "--epochs", 1, "--output", output),
    )
    folds = json.loads((output / "folds.json").read_text("utf-8"))
    assert len(folds["accuracies"]) == 2
    assert folds["mean"] == pytest.approx(sum(folds["accuracies"]) / 2)
    assert (output / "fold-1").is_dir() and (output / "fold-2").is_dir()


def test_a_second_model_learns_from_the_answers_of_the_first(
    archive, tmp_path, monkeypatch
):
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")
    monkeypatch.setattr(
        sys,
        "argv",
        [
            *("imdb.py", "--corpus", str(archive), "--preset", "best"),
            *("--units", "4", "--epochs", "1", "--output", str(tmp_path)),
        ],
    )
    args = recipe["parse_args"]()
    args.vectors = None
    corpus = recipe["load_corpus"](args)
    train, validation = recipe["hold_out"](corpus.train, 12, args.seed)
    tokenizer = recipe["build_tokenizer"](args, train.texts)
    seen = []
    fit = recipe["fit"]

    def watched(args, model, tokenizer, train, validation, facts):
        seen.append((model, train, facts))
        return fit(args, model, tokenizer, train, validation, facts)

    learn = recipe["learn"]
    monkeypatch.setitem(learn.__globals__, "fit", watched)
    model, _, seconds = learn(
        args, tokenizer, train, corpus.unlabelled, validation
    )
    assert seconds > 0
    (first, labelled, _), (second, answered, _) = seen
    assert model.dtype == "float32" and second.compute_dtype == "bfloat16"
    for own, learnt in zip(model.weights, second.weights, strict=True):
        np.testing.assert_array_equal(own, learnt)
    assert answered.texts == labelled.texts + corpus.unlabelled
    assert answered.labels[: len(labelled.labels)] == labelled.labels
    answers = recipe["TextLabeller"](first, tokenizer, max_length=400)
    np.testing.assert_allclose(
        answered.labels[len(labelled.labels) :],
        answers.probabilities(corpus.unlabelled),
        rtol=1e-3,
    )


@pytest.mark.slow
# The report leaves stop words out, negations among them.
@pytest.mark.filterwarnings("ignore:`stop_words` has negations")
def test_the_models_of_the_report_are_compared(archive, tmp_path, monkeypatch):
    output = tmp_path / "report"
    arguments = (
        *("--corpus", archive, "--preset", "report", "--limit", 40),
        *("--epochs", 1, "--output", output),
    )
    run_inside(monkeypatch, *arguments)
    table = (output / "table.md").read_text("utf-8")
    assert len(table.splitlines()) == 2 + 11
    for name in ("val_accuracy", "val_loss", "gradients"):
        assert (output / f"{name}.png").exists()
    card = output / "lstm" / "card.json"
    written = card.stat().st_mtime_ns
    run_inside(monkeypatch, *arguments)
    assert card.stat().st_mtime_ns == written
    run_inside(monkeypatch, *arguments, "--units", 7)
    assert card.stat().st_mtime_ns > written
    settings = json.loads(card.read_text("utf-8"))["settings"]
    assert (settings["units"], settings["cell"]) == (7, "lstm")


def test_the_presets_are_models(monkeypatch):
    recipe = runpy.run_path(str(RECIPE), run_name="recipe")

    class Vocabulary:
        vocabulary_size = 20
        pad_id = 1

    for name, settings in recipe["PRESETS"].items():
        args = recipe["argparse"].Namespace(**settings)
        model = recipe["build_model"](args, Vocabulary)
        assert model(tf.constant([[2, 3, 1]])).shape == (1, 1), name


def test_a_missing_corpus_says_how_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="imdb.*How to get it"):
        run_inside(
            monkeypatch,
            *("--corpus", "imdb", "--data-dir", tmp_path),
            *("--output", tmp_path / "out"),
        )
