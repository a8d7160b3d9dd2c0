"""What every recipe's run does; the recipes' own tests run it whole."""

import contextlib
import csv
import dataclasses
import json

import filelock
import keras
import numpy as np
import pytest
import tensorflow as tf
from matplotlib.figure import Figure

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import LabelledTexts
from kerasrnn.data import read_series
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import PianoRollModel
from kerasrnn.pipelines import MusicPipeline
from kerasrnn.pipelines import Run
from kerasrnn.pipelines import Task
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import run as run_module
from kerasrnn.plots import training_figure
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.training import Settings
from kerasrnn.training import fingerprint
from tests.pipelines import small
from tests.pipelines.small import PAIRS

X, Y = np.linspace(-1, 1, 8).reshape(8, 1), np.ones((8, 1))
BATCHES = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Small(Settings):
    epochs: int = 3
    batch_size: int = 4
    learning_rate: float = 0.1
    xla: bool = False


def new_model(rate=0.1, **options):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
    optimizer = keras.optimizers.SGD(rate, **options)
    model.compile(optimizer, "mse", run_eagerly=True)
    return model


class Weights(keras.callbacks.Callback):
    """Keeps the weights of every epoch, and the kernel after every batch."""

    def __init__(self):
        super().__init__()
        self.kept, self.steps = [], []

    def on_train_batch_end(self, batch, logs=None):
        self.steps.append(self.model.get_weights()[0])

    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.model.get_weights())


class Pipeline:
    """Stands for a pipeline that is saved and exported."""

    xla, usual_shapes = None, "shapes"

    def __init__(self, model, tokenizers=()):
        self.model = model
        self.tokenizers = list(tokenizers)
        self.asked = []

    def task(self):
        return Toy(self)

    def save(self, path):
        path.write_text("saved")

    def export(self, path, card):
        path.mkdir()


class Toy(Task):
    """A task whose rows are counted and otherwise ignored."""

    file_name = "thing"
    speed_unit = "rows"

    @property
    def tokenizers(self):
        return self.pipeline.tokenizers

    def sizes(self, rows):
        return {"rows": len(rows)}

    def texts_of(self, rows):
        return [rows] * len(self.tokenizers)

    def row_batches(self, rows, batch_size, seed=None):
        self.pipeline.asked.append((rows, batch_size, seed))
        return BATCHES

    def row_scores(self, rows, more=0):
        return {"bleu": 1.23456 + more}

    def headline(self, scores):
        return f"BLEU {scores['bleu']:.1f}"

    def report(self, rows, folder, seed=0):
        return {"seen": [len(rows), seed]}, {"more": Figure()}


def fit(run, model, rows=(1,), tokenizers=(), dev=(1,), **kwargs):
    return run.fit(Pipeline(model, tokenizers), rows, dev, **kwargs)


@pytest.fixture
def as_it_is(monkeypatch):
    """A pipeline that is none of Keras's is not copied in float32."""
    monkeypatch.setattr(run_module, "in_float32", lambda pipeline: pipeline)


@pytest.mark.parametrize(
    "options, count, epochs",
    [({}, 3, [0]), ({"average": 2}, 3, [1, 2]), ({"patience": 1}, 2, [0])],
)
def test_it_ends_with_the_best_weights_or_averaged_ones(
    tmp_path, options, count, epochs
):
    """At a negative rate every epoch is worse than the one before."""
    model, weights = new_model(-0.1), Weights()
    with Run(Small(output=tmp_path)) as run:
        history = fit(run, model, [1] * 9, callbacks=[weights], **options)
    assert len(history["val_loss"]) == count
    assert history["rows"] == [9, 18, 27][:count]
    expected = [weights.kept[epoch] for epoch in epochs]
    for found, values in zip(
        model.get_weights(), zip(*expected, strict=True), strict=True
    ):
        np.testing.assert_allclose(found, np.mean(values, axis=0), rtol=1e-6)
    assert (run._chosen is None) == ("average" in options)


def test_a_moving_average_of_the_weights_is_validated_and_kept(tmp_path):
    model, weights = new_model(use_ema=True, ema_momentum=0.75), Weights()
    with Run(Small(output=tmp_path)) as run:
        history = fit(run, model, callbacks=[weights])
    average, *others = weights.steps
    for kernel in others:
        average = 0.75 * average + 0.25 * kernel
    np.testing.assert_allclose(model.get_weights()[0], average, rtol=1e-5)
    loss = model.evaluate(X, Y, verbose=0)
    assert loss == pytest.approx(history["val_loss"][-1], rel=1e-5)


def test_a_training_is_another_by_its_settings_and_facts(tmp_path):
    def trained(rows=(1,), words=(), epochs=1, seed=13, preset="", **facts):
        given = {"epochs": epochs, "seed": seed, "preset": preset}
        words = words and [WordTokenizer([*SPECIALS, *words])]
        with Run(Small(output=tmp_path, **given)) as run:
            history = fit(run, new_model(), rows, words, **facts)
        assert len(history["loss"]) == epochs
        return len(list(tmp_path.glob("training-*")))

    # Arrays count by what is in them, wherever one ends and in any layout.
    rolls = [np.eye(3), np.eye(3)]
    for options, count in (
        ({}, 1),
        ({"epochs": 2, "preset": "other"}, 1),
        ({"rows": [2]}, 2),
        ({"dev": [2]}, 3),
        ({"seed": 14}, 4),
        ({"start": "abc"}, 5),
        ({"member": 1}, 6),
        ({"rows": rolls}, 7),
        ({"rows": [np.asfortranarray(x) for x in rolls]}, 7),
        ({"rows": [np.concatenate(rolls)]}, 8),
        # With another vocabulary, ids stand for other words.
        ({"words": ["red", "blue"]}, 9),
        ({"words": ["blue", "red"]}, 10),
    ):
        assert trained(**options) == count


def of_several_labels():
    one = small.labeller()
    parts = one.model, one.tokenizer, one.labels, one.max_length
    return TextLabeller(*parts, multi_label=True)


def music():
    return MusicPipeline(PianoRollModel(FastGRUCell(4), keys=4))


REVIEWS = LabelledTexts(small.REVIEWS, [2, 0, 1, 0])
TASKS = {
    "translator": (
        *(small.translator, ["source_tokenizer", "target_tokenizer"]),
        *(("val_bleu", "max"), PAIRS, {"pairs": 8}),
        {"beam": {"bleu": 12.34, "chrf": 56.78}, "greedy": {}},
        "BLEU 12.3, chrF 56.8",
    ),
    # Three words of a text are read.
    "labeller": (
        *(small.labeller, ["tokenizer"], ("val_loss", "min")),
        *(REVIEWS, {"texts": 4, "words": 3 + 1 + 3 + 3}),
        {"accuracy": 0.876, "macro_f1": 0.543},
        "accuracy 87.6 %, macro F1 54.3",
    ),
    "several labels": (
        *(of_several_labels, ["tokenizer"], ("val_loss", "min")),
        *(REVIEWS, {"texts": 4, "words": 10}),
        {"micro_f1": 0.123, "macro_f1": 0.456, "subset_accuracy": 0.789},
        "micro F1 12.3, macro F1 45.6, subset accuracy 78.9 %",
    ),
    "language model": (
        *(small.language, ["tokenizer"], ("val_perplexity", "min")),
        *(["the red book.", "who?"], {"lines": 2, "tokens": 4 + 2}),
        {"perplexity": 12.34, "bits_per_byte": 1.2346},
        "perplexity 12.3 per token, 1.235 bits per byte",
    ),
    "tagger": (
        *(small.tagger, ["words", "characters"], ("val_f1", "max")),
        *(small.SENTENCES, {"sentences": 12, "words": 60}),
        {"f1": 0.25, "accuracy": 0.5},
        "span F1 25.0, tag accuracy 50.0 %",
    ),
    "tagger of words": (
        *(lambda: small.tagger(None), ["words", "characters"]),
        *(("val_accuracy", "max"), small.SENTENCES[:1]),
        *({"sentences": 1, "words": 6}, {"accuracy": 0.5}),
        "tag accuracy 50.0 %",
    ),
    "forecaster": (
        *(small.forecaster, [], ("val_loss", "min")),
        *(read_series(small.series(30), "date"), {"series": 1, "steps": 30}),
        {"mse": 0.1234, "mae": 0.5678, "mase": 0.987},
        "MSE 0.123, MAE 0.568 (in standard deviations of the training data), "
        "MASE 0.99",
    ),
    "music": (
        *(music, [], ("val_nll", "min")),
        *([np.eye(5, 4), np.eye(3, 4)], {"pieces": 2, "steps": 8}),
        *({"nll": 6.789}, "negative log-likelihood 6.79 nats per time step"),
    ),
}


@pytest.mark.parametrize("kind", TASKS)
def test_what_a_run_asks_of_a_task(kind):
    make, names, best, rows, sizes, scores, said = TASKS[kind]
    pipeline = make()
    task = pipeline.task()
    assert task.tokenizers == [getattr(pipeline, name) for name in names]
    assert (task.monitor, task.mode) == best
    assert task.sizes(rows) == sizes and task.headline(scores) == said


def test_a_corpus_has_labels_by_number_whatever_their_names():
    pipeline = small.labeller()
    stars = ["1", "2", "3"]
    pipeline = TextLabeller(pipeline.model, pipeline.tokenizer, stars)
    texts = LabelledTexts(["a", "a film", "a film a"], [1, 2, 0])
    [(_, labels)] = pipeline.task().row_batches(texts, 4)
    assert labels.numpy().ravel().tolist() == [1, 2, 0]


def test_tensorboard_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="Expected: pip install tensorboa"):
        Run(Small(output=tmp_path, tensorboard=True))


def test_the_seed_is_set(tmp_path):
    drawn = []
    for seed in (1, 1, 2):
        with Run(Small(output=tmp_path, seed=seed)):
            drawn.append(keras.random.SeedGenerator().state.numpy().tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_precision_is_set_and_set_back(tmp_path):
    with Run(Small(output=tmp_path, dtype="mixed_bfloat16")):
        assert keras.layers.Dense(1).compute_dtype == "bfloat16"
    assert keras.layers.Dense(1).compute_dtype == "float32"


def test_a_saved_pipeline_has_its_own_precision_and_words(tmp_path):
    saved, words = tmp_path / "it.keras", [WordTokenizer([*SPECIALS, "red"])]
    saved.touch()
    settings = Small(
        output=tmp_path / "out", dtype="mixed_bfloat16", start_from=saved
    )
    with Run(settings) as run:
        assert keras.config.dtype_policy().name == "float32"
        with pytest.warns(CorpusWarning, match="training set.*'blue'"):
            fit(run, new_model(), ["red blue"], words)
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
    assert "has different settings: dtype." in capsys.readouterr().out
    # What is given is the same as what is found to be faster.
    with Run(Small(output=tmp_path, dtype="float32")) as run:
        fit(run, new_model())
    assert "3 epochs are done" in capsys.readouterr().out


def test_other_workers_train_but_write_nothing(tmp_path, monkeypatch):
    for module in (
        "kerasrnn.pipelines.run",
        "kerasrnn.distribute.workers",
    ):
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


@pytest.mark.usefixtures("as_it_is")
def test_the_files_of_a_run(tmp_path, capsys, monkeypatch):
    marked = []

    def figure(history, chosen):
        marked.append((np.argmin(history["val_loss"]) + 1, chosen))
        return training_figure(history, chosen)

    monkeypatch.setattr("kerasrnn.plots.training_figure", figure)
    given = {"data_license": "MIT", "xla": True}
    with Run(Small(output=tmp_path / "new" / "out", **given)) as run:
        pipeline = Pipeline(new_model(), [WordTokenizer([*SPECIALS, "a"])])
        run.fit(pipeline, [1, 2, 3], [1], member=2)
        options = {"scoring": {"more": 1}, "showing": {"seed": 5}}
        options["pictures"] = {"mine": Figure()}
        parts = {"first": [2], "none": []}
        found = run.finish(pipeline, [1], parts, **options, note="x")
    assert found is pipeline and found.xla == "shapes"
    # Members of an ensemble see the rows in other orders.
    assert pipeline.asked == [([1, 2, 3], 4, 13 + 2), ([1], 4, None)]
    ((best, chosen),) = marked
    assert chosen == best
    assert {path.name for path in run.output.iterdir()} >= {
        *(".lock", "1", "card.json", "more.png", "mine.png", "thing.keras"),
        "training.png",
    }
    card = json.loads((run.output / "card.json").read_text("utf-8"))
    assert card["settings"]["learning_rate"] == 0.1
    assert card["parameters"] == 2
    assert len(card["history"]["loss"]) == 3
    assert card["wall_seconds"] >= 0
    assert card["device"]["processor"]
    assert {"tensorflow", "tensorflow-text", "kerasrnn"} < {*card["versions"]}
    assert card["data"] == {
        "fingerprint": fingerprint([[1, 2, 3], [1]]),
        **{"license": "MIT", "train": {"rows": 3}, "dev": {"rows": 1}},
    }
    assert (card["seen"], card["note"]) == ([1, 5], "x")
    assert card["dtype"] == "float32"
    assert card["vocabulary_sizes"] == [5]
    # Whole in the card, rounded for people.
    assert card["scores"] == dict.fromkeys(["dev", "first"], {"bleu": 2.23456})
    printed = capsys.readouterr().out
    for line in (
        *("Training set: 3 rows.", "Validation set: 1 row."),
        *("Member 3 of", "Warning: only 3 rows to train on."),
        "Model: 2 parameters, vocabulary of 5.",
        "Epochs: 3, of 2 steps each.",
        *("dev: bleu 2.235", "Result (dev): BLEU 2.2."),
        *("the SavedModel 1/ for XLA,", "thing.keras", "kerasrnn-serve"),
    ):
        assert line in printed


@pytest.mark.usefixtures("as_it_is")
def test_a_fine_tuned_pipeline_is_scored_beside_what_it_was(tmp_path, capsys):
    class Scored(Toy):
        def row_scores(self, rows):
            return {"bleu": self.pipeline.bleu[rows[0]]}

        def is_much_worse(self, before, now):
            return now["bleu"] < before["bleu"]

    class Tuned(Pipeline):
        bleu = {"new": 75.0, "old": 80.0}

        def task(self):
            return Scored(self)

        @classmethod
        def open(cls, path):
            saved = cls(new_model())
            saved.bleu = {"new": 1.0, "old": 100.0}
            return saved

    saved = tmp_path / "thing.keras"
    saved.touch()
    settings = Small(output=tmp_path / "out", start_from=saved, epochs=1)
    worse = pytest.warns(UserWarning, match="much worse on: old")
    with worse, Run(settings) as run:
        pipeline = Tuned(new_model())
        run.fit(pipeline, ["new"], ["new"])
        run.finish(pipeline, ["new"], {"old": ["old"]})
    card = json.loads((run.output / "card.json").read_text("utf-8"))
    assert card["before"] == {"dev": {"bleu": 1.0}, "old": {"bleu": 100.0}}
    assert card["scores"] == {"dev": {"bleu": 75.0}, "old": {"bleu": 80.0}}
    table = [
        *("Result  before      now", "dev     BLEU 1.0    BLEU 75.0"),
        *("old     BLEU 100.0  BLEU 80.0",),
    ]
    assert "\n".join(table) in capsys.readouterr().out


@pytest.mark.usefixtures("as_it_is")
def test_a_failed_export_leaves_the_pipeline_and_no_card(tmp_path):
    class Unexported(Pipeline):
        def export(self, path, card):
            raise OSError("disk full")

    with Run(Small(output=tmp_path)) as run:
        fit(run, new_model())
        with pytest.raises(OSError, match="disk full"):
            run.finish(Unexported(new_model()), [1])
    assert (tmp_path / "thing.keras").read_text() == "saved"
    assert not (tmp_path / "card.json").exists()


def test_what_is_wrong_with_a_corpus_names_flags(tmp_path):
    said = "lacks `batch_size`, as `datasets` have it"
    with (
        pytest.raises(CorpusError, match="lacks --batch-size, as `datasets`"),
        Run(Small(output=tmp_path)),
    ):
        raise CorpusError(said)


def test_an_interruption_says_how_to_go_on(tmp_path):
    with (
        pytest.raises(KeyboardInterrupt, match="The same command resumes"),
        Run(Small(output=tmp_path)),
    ):
        raise KeyboardInterrupt


def test_a_run_that_writes_nothing_leaves_no_folder(tmp_path):
    with contextlib.suppress(KeyError), Run(Small(output=tmp_path / "out")):
        raise KeyError
    assert not (tmp_path / "out").exists()


def test_a_run_that_cannot_begin_releases_the_folder(tmp_path, monkeypatch):
    def fails():
        raise MemoryError

    monkeypatch.setattr("kerasrnn.pipelines.run.faster_dtype", fails)
    run = Run(Small(output=tmp_path, dtype="auto"))
    with pytest.raises(MemoryError):
        run.__enter__()
    lock = filelock.FileLock(tmp_path / ".lock", timeout=0, is_singleton=True)
    assert not lock.is_locked


# Of translators.


@pytest.fixture
def translator(monkeypatch):
    """One that says what it is given, in capitals if it is greedy."""

    def translate(self, texts, batch_size=64, greedy=False):
        return [text.upper() if greedy else text for text in texts]

    def alignments(self, texts):
        return [
            (np.ones((1, len(text[:1]))), [text][: len(text)], ["b"])
            for text in texts
        ]

    def export(self, path, card):
        path.mkdir()

    for function in (translate, alignments, export):
        monkeypatch.setattr(TextTranslator, function.__name__, function)
    keras.config.set_dtype_policy("mixed_bfloat16")
    return small.translator()


def test_a_translator_is_scored_and_shown(translator, tmp_path, capsys):
    test = [("who knows?", "who knows?"), ("a blue house.", "a blue house.")]
    with Run(Small(output=tmp_path)) as run:
        run.histories = [{"loss": [2.0]}, {"loss": [1.0]}]
        # Some pairs have alignments of their words.
        run.finish(translator, [*PAIRS[:-1], (*PAIRS[-1], "0-0")], test)
    card = json.loads((tmp_path / "card.json").read_text("utf-8"))
    assert set(card["scores"]) == {"dev", "test"}
    for scores in card["scores"].values():
        assert set(scores) == {"greedy", "beam"}
    assert card["scores"]["test"]["beam"]["chrf"] == 100
    assert card["scores"]["test"]["greedy"]["chrf"] < 100
    assert card["scores"]["dev"]["beam"]["chrf"] < 100
    samples = [[*pair, pair[0]] for pair in PAIRS]
    assert card["samples"] == samples
    table = (tmp_path / "hypotheses.tsv").read_text("utf-8").splitlines()
    head, *rows = csv.reader(table, "excel-tab")
    assert head == ["chrf", "source", "reference", "hypothesis"]
    assert sorted(row[1:] for row in rows) == sorted(samples)
    scores = [float(row[0]) for row in rows]
    assert scores == sorted(scores) and scores[0] < scores[-1]
    assert card["worst"][0] == rows[0][1:]
    # Of an ensemble, the log of each member; as that of the run, of the last.
    assert card["members"] == run.histories
    assert card["history"] == {"loss": [1.0]}
    assert (tmp_path / "attention.png").exists()
    printed = capsys.readouterr().out
    assert f"{PAIRS[0][1]}   (reference)" in printed
    assert "Result (test): BLEU 100.0, chrF 100.0." in printed
    opened = keras.saving.load_model(tmp_path / "translator.keras")
    assert translator.model.compute_dtype == "bfloat16"
    assert opened.model.compute_dtype == "float32"
    np.testing.assert_array_equal(
        opened.get_weights()[0], translator.get_weights()[0]
    )


@pytest.mark.usefixtures("as_it_is")
def test_a_part_without_rows_has_no_score(tmp_path):
    """Also one whose length is not that of its rows."""

    class Pairs(Toy):
        def sizes(self, rows):
            return {"rows": len(rows.texts)}

    pipeline = Pipeline(new_model())
    pipeline.task = lambda: Pairs(pipeline)
    rows, none = LabelledTexts(["a"], [0]), LabelledTexts([], [])
    with Run(Small(output=tmp_path)) as run:
        run.fit(pipeline, rows, rows)
        run.finish(pipeline, rows, none)
    card = json.loads((tmp_path / "card.json").read_text("utf-8"))
    assert list(card["scores"]) == ["dev"]


def test_without_words_there_is_no_picture_of_attention(translator, tmp_path):
    _, pictures = translator.task().report([("", "?")], tmp_path)
    assert not pictures


def test_a_translator_that_lost_a_tenth_of_its_bleu_is_much_worse(translator):
    def scores(bleu):
        return {"beam": {"bleu": bleu}, "greedy": {"bleu": 0.0}}

    worse = translator.task().is_much_worse
    assert worse(scores(50.0), scores(44.0))
    assert not worse(scores(50.0), scores(46.0))
    assert not worse(scores(0.0), scores(0.0))


def test_an_epoch_is_scored_by_greedy_search(translator):
    logs = {}
    [scores] = translator.task().epoch_scores(PAIRS * 40)
    found = list(zip(scores.inputs, scores.references, strict=True))
    assert found == PAIRS * 25
    scores.references = [text.upper() for text in scores.inputs]
    scores.on_epoch_end(0, logs)
    assert logs["val_bleu"] == pytest.approx(100)


def test_it_finishes_what_it_has_trained(tmp_path):
    run = Run(Small(output=tmp_path))
    with pytest.raises(RuntimeError, match="inside the `with` block"):
        fit(run, new_model())
    with run, pytest.raises(RuntimeError, match="Received: no call of `fit`"):
        run.finish(Pipeline(new_model()), [1])


def test_the_validation_part_has_a_name_of_its_own(tmp_path, as_it_is):
    with Run(Small(output=tmp_path)) as run:
        fit(run, new_model())
        with pytest.raises(ValueError, match="Received: 'dev'"):
            run.finish(Pipeline(new_model()), [1], {"dev": [2]})
        with pytest.raises(ValueError, match="Received: average=-1"):
            fit(run, new_model(), average=-1)
