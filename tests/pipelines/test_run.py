"""What every recipe's run does; the recipes' own tests run it whole."""

import dataclasses
import json
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf
from matplotlib.figure import Figure

from kerasrnn.data import LabelledCorpus
from kerasrnn.data import LabelledTexts
from kerasrnn.data import TextCorpus
from kerasrnn.pipelines import LabellingRun
from kerasrnn.pipelines import LanguageRun
from kerasrnn.pipelines import Run
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import TranslationRun
from kerasrnn.pipelines import run as run_module
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.training import Settings
from tests.pipelines import small
from tests.pipelines.small import PAIRS

X, Y = np.linspace(-1, 1, 8).reshape(8, 1), np.ones((8, 1))
BATCHES = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Small(Settings):
    epochs: int = 3
    batch_size: int = 4
    learning_rate: float = 0.1
    average: int = 0


def new_model(rate=0.1):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
    model.compile(keras.optimizers.SGD(rate), "mse", run_eagerly=True)
    return model


class Weights(keras.callbacks.Callback):
    """Keeps the weights of every epoch."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.model.get_weights())


class Pipeline:
    """Stands for a pipeline that is saved and exported."""

    def __init__(self, model):
        self.model = model

    def save(self, path):
        path.write_text("saved")

    def export(self, path, card):
        path.mkdir()


def fit(run, model, **kwargs):
    return run.fit(model, BATCHES, BATCHES, "val_loss", **kwargs)


@pytest.mark.parametrize("average, epochs", [(0, [0]), (2, [1, 2])])
def test_it_ends_with_the_best_weights_or_averaged_ones(
    tmp_path, average, epochs
):
    """At a negative rate every epoch is worse than the one before."""
    model, weights = new_model(-0.1), Weights()
    with Run(Small(output=tmp_path)) as run:
        history = fit(run, model, average=average, callbacks=[weights])
    assert len(history["val_loss"]) == 3
    expected = [weights.kept[epoch] for epoch in epochs]
    for found, values in zip(
        model.get_weights(), zip(*expected, strict=True), strict=True
    ):
        np.testing.assert_allclose(found, np.mean(values, axis=0), rtol=1e-6)


def test_a_training_is_another_by_its_settings_and_facts(tmp_path):
    def trained(epochs=1, seed=13, **facts):
        settings = Small(output=tmp_path, epochs=epochs, seed=seed)
        with Run(settings) as run:
            history = fit(run, new_model(), **facts)
        assert len(history["loss"]) == epochs
        return len(list(tmp_path.glob("training-*")))

    assert trained(data=[1]) == 1
    assert trained(epochs=2, data=[1]) == 1
    assert trained(data=[2]) == 2
    assert trained(seed=14, data=[1]) == 3


class Board(keras.callbacks.Callback):
    """Stands for TensorBoard, which is not installed with TensorFlow."""

    def __init__(self, folder, write_graph):
        super().__init__()
        self.folder = folder

    def on_epoch_end(self, epoch, logs=None):
        self.folder.mkdir(exist_ok=True)
        (self.folder / str(epoch)).write_text(" ".join(sorted(logs)))


class Score(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logs["val_bleu"] = 1.0


def test_tensorboard_is_shown_what_is_logged(tmp_path, monkeypatch):
    settings = Small(output=tmp_path, epochs=2, tensorboard=True)
    monkeypatch.setattr(run_module, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="Expected: the package tensorboa"):
        Run(settings)
    monkeypatch.setattr(run_module, "find_spec", lambda name: name)
    monkeypatch.setattr(keras.callbacks, "TensorBoard", Board)
    with Run(Small(output=tmp_path, epochs=1)) as run:
        fit(run, new_model())
    with Run(settings) as run:
        fit(run, new_model(), callbacks=[Score()])
    # It is the same training, and continues.
    assert len([*tmp_path.glob("training-*")]) == 1
    [path] = (tmp_path / "tensorboard").iterdir()
    assert path.name == "1"
    assert path.read_text() == "loss val_bleu val_loss"


def test_a_training_is_another_by_its_vocabularies(tmp_path):
    def trained(*tokenizers):
        with Run(Small(output=tmp_path, epochs=1)) as run:
            fit(run, new_model(), tokenizers=tokenizers, data=[1])
        return len(list(tmp_path.glob("training-*")))

    words = [*SPECIALS, "red", "blue"]
    assert trained(WordTokenizer(words)) == 1
    assert trained(WordTokenizer(words, name="other")) == 1
    # Renumbered, read in another way, or of another side.
    assert trained(WordTokenizer([*words[:4], "blue", "red"])) == 2
    assert trained(WordTokenizer(words, lowercase=False)) == 3
    assert trained(CharacterTokenizer(words)) == 4
    assert trained(*[WordTokenizer(words)] * 2) == 5
    pieces = SentencePieceTokenizer.train(["red blue", "blue bed"], 16)
    assert trained(pieces) == 6
    assert trained(SentencePieceTokenizer(pieces.proto)) == 6


@pytest.mark.parametrize(
    "run, pipeline, names",
    [
        (
            TranslationRun,
            small.translator,
            ["source_tokenizer", "target_tokenizer"],
        ),
        (LabellingRun, small.labeller, ["tokenizer"]),
        (LanguageRun, small.language, ["tokenizer"]),
    ],
)
def test_every_run_says_its_vocabularies(
    run, pipeline, names, tmp_path, monkeypatch
):
    given = {}
    monkeypatch.setattr(
        Run, "fit", lambda *args, **kwargs: given.update(kwargs)
    )
    pipeline = pipeline()
    pipeline.compile("sgd")
    texts = LabelledTexts(["a film", "dull"], [0, 1])
    corpus = LabelledCorpus(
        train=texts,
        test=None,
        unlabelled=[],
        label_names=["bad", "fair", "good"],
    )
    lines = TextCorpus(small.SOURCES, small.SOURCES, [])
    data = {
        TranslationRun: (PAIRS, PAIRS),
        LabellingRun: (corpus, texts),
        LanguageRun: (tf.data.Dataset.range(1), lines),
    }
    run(Small(output=tmp_path)).fit(pipeline, *data[run])
    assert given["tokenizers"] == [getattr(pipeline, x) for x in names]


def test_a_corpus_has_labels_by_number_whatever_their_names(
    tmp_path, monkeypatch
):
    given = []
    monkeypatch.setattr(Run, "fit", lambda *args, **_: given.extend(args))
    pipeline = small.labeller()
    stars = ["1", "2", "3"]
    pipeline = TextLabeller(pipeline.model, pipeline.tokenizer, stars)
    texts = LabelledTexts(["a", "a film", "a film a"], [1, 2, 0])
    corpus = LabelledCorpus(texts, None, [], stars)
    LabellingRun(Small(output=tmp_path)).fit(pipeline, corpus, texts)
    [(_, labels)] = given[3]
    assert labels.numpy().ravel().tolist() == [1, 2, 0]


def test_the_seed_is_set(tmp_path):
    drawn = []
    for seed in (1, 1, 2):
        with Run(Small(output=tmp_path, seed=seed)):
            drawn.append(float(keras.random.normal(())))
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_precision_is_set_and_set_back(tmp_path):
    with Run(Small(output=tmp_path, dtype="mixed_bfloat16")):
        assert keras.layers.Dense(1).compute_dtype == "bfloat16"
    assert keras.layers.Dense(1).compute_dtype == "float32"


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_auto_is_the_precision_that_this_device_is_faster_in(
    dtype, tmp_path, monkeypatch
):
    monkeypatch.setattr("kerasrnn.pipelines.run.faster_dtype", lambda: dtype)
    with Run(Small(output=tmp_path, dtype="auto")) as run:
        assert keras.config.dtype_policy().name == run.dtype == dtype
        assert run.settings.dtype == "auto"


def test_the_precision_of_a_saved_pipeline_is_its_own(tmp_path):
    saved = tmp_path / "it.keras"
    saved.touch()
    settings = Small(
        output=tmp_path / "out", dtype="mixed_bfloat16", start_from=saved
    )
    with Run(settings) as run:
        assert keras.config.dtype_policy().name == "float32"
        fit(run, new_model())
        assert run.dtype == "float32"


def test_a_training_does_not_resume_in_another_precision(
    tmp_path, monkeypatch, capsys
):
    for dtype in ("float32", "mixed_bfloat16", "float32"):
        monkeypatch.setattr(
            "kerasrnn.pipelines.run.faster_dtype", lambda name=dtype: name
        )
        with Run(Small(output=tmp_path, dtype="auto")) as run:
            fit(run, new_model())
    assert len(list(tmp_path.glob("training-*"))) == 2
    assert "has other settings: dtype." in capsys.readouterr().out
    # What is given is the same as what is found to be faster.
    with Run(Small(output=tmp_path, dtype="float32")) as run:
        fit(run, new_model())
    assert "3 epochs are done" in capsys.readouterr().out


def test_other_workers_train_but_write_nothing(tmp_path, monkeypatch):
    for module in ("kerasrnn.pipelines.run", "kerasrnn.distribute.workers"):
        monkeypatch.setattr(f"{module}.is_first_worker", lambda: False)
    weights = Weights()
    with Run(Small(output=tmp_path / "out")) as run:
        fit(run, new_model(), callbacks=[weights])
        pytest.fail("`fit` must end the block.")
    assert len(weights.kept) == 3
    assert not run.output.exists() and not list(tmp_path.iterdir())


def test_a_run_can_be_distributed(tmp_path):
    settings = Small(output=tmp_path, distribute="mirrored", devices=1)
    with Run(settings) as run:
        model = new_model()
        assert type(model.distribute_strategy).__name__ == "Mirrored"
        fit(run, model)
        # What is built after the training is for this device alone.
        assert not tf.distribute.has_strategy()


def test_the_files_of_a_run(tmp_path, capsys):
    settings = Small(output=tmp_path / "new" / "out")
    with Run(settings) as run:
        model = new_model()
        run.finish(
            run.save(Pipeline(model), "thing"),
            {"loss": [2.0, 1.0], "wall_seconds": [1.0, 1.0]},
            {"more": Figure()},
            scores={"bleu": 1.5},
        )
    assert {path.name for path in run.output.iterdir()} == {
        *(".lock", "1", "card.json", "more.png", "thing.keras", "training.png"),
    }
    card = json.loads((run.output / "card.json").read_text("utf-8"))
    assert card["settings"]["learning_rate"] == 0.1
    assert card["parameters"] == 2
    assert card["history"]["loss"] == [2.0, 1.0]
    assert card["wall_seconds"] >= 0
    assert card["device"]["processor"]
    assert {"tensorflow", "tensorflow-text", "kerasrnn"} < {*card["versions"]}
    printed = capsys.readouterr().out
    assert '"bleu": 1.5' in printed and "thing.keras" in printed


def test_a_file_that_fails_leaves_the_older_one(tmp_path):
    class Torn(Pipeline):
        def save(self, path):
            path.write_text("half")
            raise OSError("disk full")

    with Run(Small(output=tmp_path)) as run:
        run.save(Pipeline(new_model()), "thing")
        with pytest.raises(OSError, match="disk full"):
            run.save(Torn(new_model()), "thing")
    assert (tmp_path / "thing.keras").read_text() == "saved"


def test_a_failed_export_leaves_the_pipeline_and_no_card(tmp_path):
    class Unexported(Pipeline):
        def export(self, path, card):
            raise OSError("disk full")

    with Run(Small(output=tmp_path)) as run:
        pipeline = run.save(Unexported(new_model()), "thing")
        with pytest.raises(OSError, match="disk full"):
            run.finish(pipeline, {"loss": [1.0]})
    assert (tmp_path / "thing.keras").read_text() == "saved"
    assert not (tmp_path / "card.json").exists()


def test_an_error_inside_releases_the_folder(tmp_path):
    with pytest.raises(KeyError):
        with Run(Small(output=tmp_path)):
            raise KeyError
    with Run(Small(output=tmp_path)) as run:
        assert run.output == pathlib.Path(tmp_path)


# Of translators.


@pytest.fixture
def translator(monkeypatch):
    """One that says what it is given, and is exported as nothing."""

    def translate(self, texts, batch_size=64, greedy=False):
        return list(texts)

    def alignments(self, texts):
        return [
            (np.ones((1, len(text[:1]))), [text][: len(text)], ["b"])
            for text in texts
        ]

    def export(self, path, card):
        path.mkdir()

    for function in (translate, alignments, export):
        monkeypatch.setattr(TextTranslator, function.__name__, function)
    return small.translator()


def test_the_files_of_a_translation_run(translator, tmp_path, capsys):
    test = [("who knows?", "who knows?"), ("a blue house.", "a blue house.")]
    with TranslationRun(Small(output=tmp_path)) as run:
        run.pairs, run.history = {"train": 8}, {"loss": [1.0]}
        run.finish(translator, PAIRS, test, more="fact")
    card = json.loads((tmp_path / "card.json").read_text("utf-8"))
    assert set(card["scores"]) == {"dev", "test"}
    for scores in card["scores"].values():
        assert set(scores) == {"greedy", "beam"}
    assert card["scores"]["test"]["beam"]["chrf"] == 100
    assert card["scores"]["dev"]["beam"]["chrf"] < 100
    assert (card["more"], card["pairs"]) == ("fact", {"train": 8})
    assert card["samples"] == [[*pair, pair[0]] for pair in PAIRS]
    assert (tmp_path / "attention.png").exists()
    assert f"{PAIRS[0][1]}   (reference)" in capsys.readouterr().out
    opened = keras.saving.load_model(tmp_path / "translator.keras")
    np.testing.assert_array_equal(
        opened.get_weights()[0], translator.get_weights()[0]
    )


def test_without_words_there_is_no_picture_of_attention(translator, tmp_path):
    with TranslationRun(Small(output=tmp_path)) as run:
        run.pairs, run.history = {"train": 8}, {"loss": [1.0]}
        run.finish(translator, [("", "?")])
    assert (tmp_path / "card.json").exists()
    assert not (tmp_path / "attention.png").exists()


def test_parts_are_scored_by_their_names(translator, tmp_path):
    parts = {"first": PAIRS[:1], "second": [("?", "?")]}
    with TranslationRun(Small(output=tmp_path)) as run:
        run.pairs, run.history = {"train": 8}, {"loss": [1.0]}
        run.finish(translator, PAIRS, parts)
    scores = json.loads((tmp_path / "card.json").read_text("utf-8"))["scores"]
    assert list(scores) == ["dev", "first", "second"]
    assert scores["first"]["beam"]["chrf"] < 100
    assert scores["second"]["beam"]["chrf"] == 100


def test_the_best_epoch_is_that_of_bleu(translator, tmp_path, monkeypatch):
    said = []

    def watched(self, model, batches, validation, monitor, mode, average, **kw):
        said.append((monitor, mode, average, kw["data"], kw["start"]))
        [scores] = kw["callbacks"]
        logs = {}
        scores.on_epoch_end(0, logs)
        return logs

    monkeypatch.setattr(Run, "fit", watched)
    dev = PAIRS * 40
    with TranslationRun(Small(output=tmp_path, average=2)) as run:
        run.fit(translator, PAIRS, dev, start="abc")
        assert run.pairs == {"train": len(PAIRS), "dev": len(dev)}
    assert said == [("val_bleu", "max", 2, [PAIRS, dev], "abc")]
    assert 0 <= run.history["val_bleu"] < 100
