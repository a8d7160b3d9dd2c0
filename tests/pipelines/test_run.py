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
from kerasrnn.data import LabelledTexts
from kerasrnn.pipelines import Run
from kerasrnn.pipelines import Task
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import run as run_module
from kerasrnn.plots import training_figure
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

    @property
    def tokenizers(self):
        return self.pipeline.tokenizers

    def sizes(self, rows):
        return {"rows": len(rows)}

    def row_batches(self, rows, batch_size, seed=None):
        self.pipeline.asked.append((rows, batch_size, seed))
        return BATCHES

    def row_scores(self, rows):
        return {"bleu": 1.23456}

    def headline(self, scores):
        return f"BLEU {scores['bleu']:.1f}"

    def report(self, rows, folder):
        return {"seen": len(rows)}, {"more": Figure()}


def fit(run, model, rows=(1,), tokenizers=(), **kwargs):
    return run.fit(Pipeline(model, tokenizers), rows, rows, **kwargs)


@pytest.fixture
def as_it_is(monkeypatch):
    """A pipeline that is none of Keras's is not copied in float32."""
    monkeypatch.setattr(run_module, "in_float32", lambda pipeline: pipeline)


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
    def trained(rows=(1,), epochs=1, seed=13, **facts):
        settings = Small(output=tmp_path, epochs=epochs, seed=seed)
        with Run(settings) as run:
            history = fit(run, new_model(), rows, **facts)
        assert len(history["loss"]) == epochs
        return len(list(tmp_path.glob("training-*")))

    assert trained() == 1
    assert trained(epochs=2) == 1
    assert trained([2]) == 2
    assert trained(seed=14) == 3
    assert trained(start="abc") == 4
    assert trained(member=1) == 5
    # Arrays count by what is in them, wherever one ends and in any layout.
    rolls = [np.eye(3), np.eye(3)]
    assert trained(rolls) == 6
    assert trained([np.asfortranarray(x) for x in rolls]) == 6
    assert trained([np.concatenate(rolls)]) == 7


def test_a_training_is_another_by_its_vocabularies(tmp_path):
    def trained(*tokenizers):
        with Run(Small(output=tmp_path, epochs=1)) as run:
            fit(run, new_model(), tokenizers=tokenizers)
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
    "pipeline, names",
    [
        (small.translator, ["source_tokenizer", "target_tokenizer"]),
        (small.labeller, ["tokenizer"]),
        (small.language, ["tokenizer"]),
        (small.tagger, ["words", "characters"]),
    ],
)
def test_every_task_says_its_vocabularies(pipeline, names):
    pipeline = pipeline()
    found = pipeline.task().tokenizers
    assert found == [getattr(pipeline, name) for name in names]


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
    settings = Small(output=tmp_path / "new" / "out")
    with Run(settings) as run:
        pipeline = Pipeline(new_model(), [WordTokenizer([*SPECIALS, "a"])])
        run.fit(pipeline, [1, 2, 3], [1], member=2)
        found = run.finish(pipeline, [1], {"first": [2], "none": []}, note="x")
    assert found is pipeline
    # Members of an ensemble see the rows in other orders.
    assert pipeline.asked == [([1, 2, 3], 4, 13 + 2), ([1], 4, None)]
    ((best, chosen),) = marked
    assert chosen == best
    assert {path.name for path in run.output.iterdir()} >= {
        *(".lock", "1", "card.json", "more.png", "thing.keras", "training.png"),
    }
    card = json.loads((run.output / "card.json").read_text("utf-8"))
    assert card["settings"]["learning_rate"] == 0.1
    assert card["parameters"] == 2
    assert len(card["history"]["loss"]) == 3
    assert card["wall_seconds"] >= 0
    assert card["device"]["processor"]
    assert {"tensorflow", "tensorflow-text", "kerasrnn"} < {*card["versions"]}
    assert card["data"]["train"] == {"rows": 3}
    assert (card["seen"], card["note"]) == (1, "x")
    assert card["vocabulary_sizes"] == [5]
    # Whole in the card, rounded for people.
    assert card["scores"] == dict.fromkeys(["dev", "first"], {"bleu": 1.23456})
    printed = capsys.readouterr().out
    for line in (
        *("Training set: 3 rows.", "Validation set: 1 row."),
        *("Member 3 of", "Warning: only 3 rows to train on."),
        "Model: 2 parameters, vocabulary of 5.",
        "Epochs: 3, of 2 steps each.",
        *("dev: bleu 1.235", "Result (dev): BLEU 1.2."),
        *("the SavedModel 1/,", "thing.keras", "kerasrnn-serve"),
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


def test_the_best_epoch_is_that_of_bleu(translator):
    task, logs = translator.task(), {}
    assert (task.monitor, task.mode) == ("val_bleu", "max")
    [scores] = task.epoch_scores(PAIRS * 40)
    assert len(scores.inputs) == 200
    scores.on_epoch_end(0, logs)
    assert 0 <= logs["val_bleu"] < 100


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
