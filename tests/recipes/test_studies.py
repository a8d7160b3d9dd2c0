"""One tiny run of each study."""

import dataclasses
import json
import shlex
import sys
import types

import classify
import forecast
import imdb
import keras
import language_model
import music
import numpy as np
import ptb_lm
import pytest
import tag
import translate
from studies import data_diversification
from studies import group_memory
from studies import hybrid_table
from studies import imdb_ensemble
from studies import imdb_folds
from studies import imdb_models
from studies import imdb_parts
from studies import imdb_self_training
from studies import music_table
from studies import ptb_dynamic
from studies import ptb_table
from studies import ptb_tuned
from studies import ptb_words
from studies import series_table
from studies import tag_table

from kerasrnn import data
from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import training
from kerasrnn.layers import FastRNN
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import MultiScaleAttention
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import TransformerCell
from kerasrnn.tokenizers import ReviewTokenizer
from kerasrnn.tokenizers import WordTokenizer
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


def run(study, monkeypatch, *flags):
    monkeypatch.setattr(sys, "argv", [study.__name__, *map(str, flags)])
    study.main()


TINY = ("--cell", "rnn", "--units", 4, "--epochs", 1, "--vectors", "None")


@pytest.mark.thorough
@pytest.mark.usefixtures("unmeasured")
def test_folds(archive, tmp_path, monkeypatch):
    flags = ("--corpus", archive, "--preset", "best", *TINY, "--folds", 2)
    run(imdb_folds, monkeypatch, *flags, "--output", tmp_path / "out")
    folds = json.loads((tmp_path / "out" / "folds.json").read_text("utf-8"))
    assert len(folds["accuracies"]) == 2
    assert folds["mean"] == pytest.approx(sum(folds["accuracies"]) / 2)
    assert len(list(tmp_path.glob("out/fold-?/training-*"))) == 2


@pytest.mark.parametrize("flags", [(), ("--no-by-group",)])
def test_folds_of_groups(tmp_path, flags):
    path = tmp_path / "reviews.csv"
    rows = [f"text {n},{n % 2},{n % 7 // 2}\n" for n in range(28)]
    path.write_text("text,label,film\n" + "".join(rows), "utf-8")
    flags += ("--corpus", str(path), "--group-column", "film", "--folds", "2")
    settings = training.read_settings(
        imdb_folds.PRESETS, imdb.preset_for, args=flags
    )
    corpus = classify.load_corpus(settings)
    for fold, held_out in imdb_folds.folds_of(corpus, settings):
        inside, outside = (
            set(corpus.groups_of(part.texts)) for part in (fold.train, held_out)
        )
        assert inside.isdisjoint(outside) == settings.by_group
        assert len(held_out.texts) + len(fold.train.texts) == 28


def test_one_fold_is_refused(monkeypatch):
    with pytest.raises(SystemExit):
        run(imdb_folds, monkeypatch, "--folds", 1)


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
    run(imdb_self_training, monkeypatch, *flags, "--output", tmp_path)
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


def test_saved_classifiers_teach_a_second_model(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(imdb_self_training.pipelines.TextLabeller, "open", str)
    seen = []

    def taught(settings, load_parts, *_):
        seen.append((settings.output.name, load_parts(settings)[0].train))

    def teacher(labellers, *_):
        assert labellers == list(map(str, paths))
        return lambda texts: np.full(len(texts), 0.25)

    monkeypatch.setattr(classify, "run", taught)
    monkeypatch.setattr(imdb_self_training, "teacher", teacher)
    paths = tmp_path / "a.keras", tmp_path / "b.keras"
    for path in paths:
        path.touch()
    flags = ("--corpus", archive, "--preset", "best", *TINY)
    flags += ("--teachers", *paths, "--output", tmp_path)
    run(imdb_self_training, monkeypatch, *flags)
    ((name, train),) = seen
    assert name == "second" and 0.25 in train.labels


@pytest.mark.slow
def test_saved_classifiers_are_joined(archive, tmp_path, monkeypatch, capsys):
    tokenizer = ReviewTokenizer.train(["a fine film", "a dull film"])
    paths = []
    for summary in ("attention", "pooled"):
        encoder = models.Encoder(
            tokenizer.vocabulary_size,
            keras.layers.GRUCell(4),
            pad_id=tokenizer.pad_id,
        )
        model = models.TextClassifier(encoder, summary)
        model.build((None, None))
        labeller = pipelines.TextLabeller(model, tokenizer, ["neg", "pos"])
        paths.append(tmp_path / f"{summary}.keras")
        labeller.save(paths[-1])
    folder = tmp_path / "joined"
    flags = "--corpus", archive, "--output", folder
    run(imdb_ensemble, monkeypatch, *paths, *flags)
    printed = capsys.readouterr().out
    assert printed.count("  dev: ") == 3 and "All of them, at the" in printed
    opened = pipelines.TextLabeller.open(folder / "labeller.keras")
    members = [pipelines.TextLabeller.open(path) for path in paths]
    _, dev = classify.load_parts(
        dataclasses.replace(imdb.PRESETS["best"], corpus=str(archive))
    )
    assert opened.model.temperatures == [
        member.task().calibrate(dev) for member in members
    ]
    assert opened.task().calibrate(dev) == opened.temperature
    card = json.loads((folder / "1" / "card.json").read_text())
    assert card["scores"]["dev"]["loss"] > 0
    flags = "--corpus", archive, "--output", tmp_path
    for wrong in (paths[:1], [*paths, tmp_path / "labeller.keras"]):
        with pytest.raises(SystemExit):
            run(imdb_ensemble, monkeypatch, *wrong, *flags)
    flags = "--corpus", "generated", "--output", tmp_path
    with pytest.raises(data.CorpusError, match=r"Expected: .*'negative'"):
        run(imdb_ensemble, monkeypatch, *paths, *flags)


@pytest.fixture
def translators(monkeypatch):
    """What translators were trained on, and teachers that say their names."""
    seen = []

    class Teacher:
        def __init__(self, path):
            self.name = path.parent.name.partition("-")[0]

        def translate(self, texts):
            return [f"{self.name} {text}" for text in texts]

    def trained(settings, load_pairs, languages):
        settings.output.mkdir(parents=True, exist_ok=True)
        for name in ("card.json", "translator.keras"):
            (settings.output / name).touch()
        seen.append((settings, load_pairs(settings), languages))

    monkeypatch.setattr(translate, "run", trained)
    monkeypatch.setattr(pipelines.TextTranslator, "open", Teacher)
    return seen


@pytest.mark.parametrize("which", ["both", "forward", "backward"])
def test_a_translator_learns_what_two_others_translate(
    which, translators, tmp_path, monkeypatch
):
    corpus = tmp_path / "pairs.tsv"
    pairs = [(f"the house {n}", f"घर {n}") for n in range(30)]
    pairs += [("a \u2028 b", "और")]  # a line break
    text = "".join("\t".join(pair) + "\n" for pair in pairs)
    corpus.write_text(text, "utf-8")
    flags = ("--corpus", corpus, "--epochs", 3, "--teacher-epochs", 2)
    flags += ("--translations", which, "--output", tmp_path / "out")
    run(data_diversification, monkeypatch, *flags)
    names = ("forward", "backward") if which == "both" else (which,)
    *teachers, (settings, (pairs, dev, _), languages) = translators
    assert settings.output.name == "last" and settings.epochs == 3
    assert languages == ("English", "Hindi")
    expected = []
    for name, (own, (train, held_out, _), languages) in zip(
        names, teachers, strict=True
    ):
        assert own.output.name.startswith(name) and own.epochs == 2
        assert own.units == settings.units  # chosen by the pairs that are real
        step = 1 if name == "forward" else -1
        assert languages == ("English", "Hindi")[::step]
        assert [pair[::step] for pair in held_out] == dev
        real = [pair[::step] for pair in train]
        for source, target in real:
            if name == "forward":
                text = " ".join(source.split())
                expected.append((text, f"forward {text}"))
            else:
                expected.append((f"<BT> backward {target}", target))
    assert pairs == expected + real


def test_teachers_are_trained_once_for_the_same_settings_and_pairs(
    translators, tmp_path, monkeypatch
):
    def teachers(*flags):
        before = len(translators)
        flags += ("--limit", 40, "--output", tmp_path)
        run(data_diversification, monkeypatch, *flags)
        return len(translators) - before - 1

    assert teachers() == 2
    assert teachers("--epochs", 9) == 0
    assert teachers("--teacher-epochs", 9) == 2
    assert teachers("--members", 2, "--translations", "backward") == 1
    assert teachers("--seed", 14) == 2  # other pairs are held out


def test_the_other_direction_has_the_word_vectors_of_its_languages(
    translators, tmp_path, monkeypatch
):
    for name in ("en.vec", "hi.vec"):
        (tmp_path / name).touch()
    flags = ("--tokenizer", "word", "--limit", 40, "--output", tmp_path)
    flags += ("--source-vectors", tmp_path / "en.vec")
    flags += ("--target-vectors", tmp_path / "hi.vec")
    run(data_diversification, monkeypatch, *flags)
    (one, *_), (other, *_), (last, *_) = translators
    assert last.source_vectors.name == one.source_vectors.name == "en.vec"
    assert other.source_vectors.name == one.target_vectors.name == "hi.vec"


@pytest.mark.parametrize(
    "flags, said",
    [
        (("--model", "guha"), "model"),
        (("--distribute", "workers"), "one process"),
        (("--from", __file__), "from"),
    ],
)
def test_what_three_translators_cannot_be(flags, said, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(data_diversification, monkeypatch, *flags)
    assert said in capsys.readouterr().err


def test_answers_of_a_file_teach_a_model(archive, tmp_path, monkeypatch):
    seen = []

    def taught(settings, load_parts, *_):
        seen.append(load_parts(settings)[0].train.labels)

    monkeypatch.setattr(classify, "run", taught)
    path, flags = tmp_path / "answers.npz", ("--corpus", archive, *TINY)
    flags += ("--preset", "best", "--answers", path, "--output", tmp_path)
    answers, texts = np.linspace(0, 1, 30), []
    np.savez(path, answers=answers, fingerprint="other")
    with pytest.raises(ValueError, match=r"Expected: .* of 30 texts"):
        run(imdb_self_training, monkeypatch, *flags)
    real = imdb_self_training.read_answers

    def read(path, given):
        texts.extend(given)
        own = training.fingerprint(given)
        np.savez(path, answers=answers, fingerprint=own)
        return real(path, given)

    monkeypatch.setattr(imdb_self_training, "read_answers", read)
    run(imdb_self_training, monkeypatch, *flags)
    assert len(texts) == 30 and seen[0][-30:] == answers.tolist()


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
            settings = training.read_settings(
                recipe.PRESETS, recipe.preset_for, args=flags
            )
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
        monkeypatch.setattr("studies.rows.subprocess", fake)
        return runs

    return start


def card_of_reviews(settings):
    if settings.vectors == "skip-gram":
        path = settings.output / "skip-gram-1.txt"
        path.write_text("film 1 2", "utf-8")
    names = ("loss", "val_loss", "val_accuracy", "cpu_seconds")
    return {
        "scores": {"dev": {"accuracy": 0.5, "loss": 0.25}},
        "history": dict.fromkeys(names, [0.5, 0.25]),
        "gradient_norms": [0.0, 1.0],
    }


def test_the_models_of_the_report_are_compared(stand_in, tmp_path, monkeypatch):
    runs = stand_in(imdb, card_of_reviews)
    run(imdb_models, monkeypatch, "--limit", 40, "--output", tmp_path)
    commands = {settings.output.name: settings for settings in runs}
    assert len(commands) == 11
    assert {settings.limit for settings in commands.values()} == {40}
    assert commands["lstm2"].cell == "lstm" and commands["lstm2"].depth == 2
    table = (tmp_path / "table.md").read_text("utf-8")
    assert len(table.splitlines()) == 2 + 11
    assert "| `lstm2` | 50.0 | 82.5 | 1,234 | 1 |" in table
    for name in ("val_accuracy", "val_loss", "gradients"):
        assert (tmp_path / f"{name}.png").exists()


def test_the_parts_share_their_word_vectors(stand_in, tmp_path, monkeypatch):
    runs = stand_in(imdb, card_of_reviews)
    run(imdb_parts, monkeypatch, "--seed", 5, "--output", tmp_path)
    commands = {settings.output.name: settings for settings in runs}
    assert commands["best"].vectors == "skip-gram"
    vectors = {name: x.vectors for name, x in commands.items()}
    assert (vectors["cbow"], vectors["no-vectors"]) == ("cbow", None)
    assert vectors["middle"] == tmp_path / "best" / "skip-gram-1.txt"
    assert {settings.seed for settings in commands.values()} == {5}
    table = (tmp_path / "table.md").read_text("utf-8")
    assert "| `short` | 50.0 | 0.250 | 1 |" in table


def test_the_parts_have_one_file_of_vectors(tmp_path, monkeypatch):
    (tmp_path / "best").mkdir()
    for i in range(2):
        (tmp_path / "best" / f"skip-gram-{i}.txt").touch()
    monkeypatch.setattr(imdb_parts, "run_rows", lambda *args: {})
    with pytest.raises(SystemExit, match="skip-gram-0.txt, skip-gram-1.txt"):
        run(imdb_parts, monkeypatch, "--output", tmp_path)


def test_flags_that_the_rows_set_are_refused(stand_in, tmp_path, monkeypatch):
    runs = stand_in(imdb, card_of_reviews)
    for study, flags, said in (
        (imdb_parts, ["--bidirectional", "--limit", 9], "--bidirectional$"),
        (imdb_parts, ["--embedding-dim", 50], "--embedding-dim$"),
        (imdb_models, ["--preset=rnn"], "--preset=rnn$"),
        (music_table, ["--corpus", "jsb", "--seed", 1], "--corpus, --seed$"),
        (series_table, ["--horizon", 24], "--horizon$"),
        (tag_table, ["--no-crf"], "--no-crf$"),
    ):
        with pytest.raises(SystemExit, match=f"Received: {said}"):
            run(study, monkeypatch, *flags, "--output", tmp_path)
    assert not runs


SCORES_OF_MUSIC = (
    *("nll", "nll_by_piece"),
    *("nll_without_first", "nll_by_piece_without_first"),
)


def card_of_music(settings):
    value = settings.seed + (8.0 if settings.cell == "gru" else 9.0)
    names = {name for _, name in music_table.COLUMNS.values()}
    assert names <= {*SCORES_OF_MUSIC}
    scores = dict.fromkeys(names, value)
    return {
        "scores": {"dev": scores, "test": scores},
        "history": {"cpu_seconds": [4.0, 3.0]},
    }


def test_the_table_of_music_has_the_mean_over_seeds(
    stand_in, tmp_path, monkeypatch
):
    runs = stand_in(music, card_of_music)
    flags = ("--sets", "jsb", "--cells", "gru", "best", "--limit", 9)
    for seeds in ((0, 1), (0, 1, 2)):
        run(
            *(music_table, monkeypatch, *flags, "--seeds", *seeds),
            *("--output", tmp_path),
        )
    # What was done is not repeated.
    assert [x.seed for x in runs] == [0, 1, 0, 1, 2, 2]
    assert {(x.corpus, x.limit) for x in runs} == {("jsb", 9)}
    table = (tmp_path / "table.md").read_text("utf-8").splitlines()
    means = " | ".join(5 * ["9.00 ± 1.00"])
    assert table[2] == f"| jsb, `gru` | 1,234 | {means} | 8.54 | 7 |"
    assert table[3].startswith("| jsb, `best` |") and table[3].count("|") == 10


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
    run(ptb_table, monkeypatch, "--limit", 9, "--output", tmp_path)
    assert len(runs) == 11 + 4 and {x.limit for x in runs} == {9}
    seeds = [x.seed for x in runs if x.cell == "rhn"]
    assert seeds == [13, 14, 15]
    table = (tmp_path / "table.md").read_text("utf-8").splitlines()
    assert table[2] == "| `lstm-13` | 1,234 | 1.500 | 120.00 | 0.250 | 36 |"
    assert len(table) == 2 + 15
    for name in ptb_table.CURVES:
        assert (tmp_path / f"{name}.png").exists()


def test_words_and_parts_of_speech_are_counted(tmp_path, monkeypatch, capsys):
    text = tmp_path / "text.txt"
    text.write_text("the bank sold a house\n" * 20, "utf-8")
    monkeypatch.delenv("KERASRNN_DATA", raising=False)
    flags = ("--corpus", text, "--output", tmp_path / "out")
    run(ptb_words, monkeypatch, *flags)
    assert (tmp_path / "out" / "words.png").exists()
    assert "No picture of parts of speech." in capsys.readouterr().out


def test_all_rows_are_tuned_alike(stand_in, tmp_path, monkeypatch):
    runs = stand_in(ptb_lm, card_of_text)
    flags = ("--rows", "lstm", "rhn", "--limit", 9, "--output", tmp_path)
    for count in (2, 3):
        run(ptb_tuned, monkeypatch, *flags, "--tries", count)
    # More tries add to earlier ones.
    assert [x.cell for x in runs] == 3 * ["lstm", "rhn"]
    names = "learning_rate", "dropout", "recurrent_dropout", "frequencies"
    tried = [[getattr(x, name) for name in names] for x in runs]
    assert tried[::2] == tried[1::2]
    assert len({*map(tuple, tried)}) == 3
    rates, dropout, state, _ = zip(*tried, strict=True)
    assert 5e-4 <= min(rates) and max(rates) <= 8e-3
    assert max(dropout) <= 0.4 and max(state) <= 0.3
    table = (tmp_path / "table.md").read_text("utf-8").splitlines()
    best, *others = sorted(100 * (x + 1) for x in dropout[::2])
    assert f"| `lstm` | 1,234 | {best:.2f} | `--learning-rate" in table[2]
    assert f"--dropout {min(dropout):.2f} " in table[2]
    assert table[3].endswith(f"| {others[0]:.1f} | {others[1]:.1f} |")


def test_a_table_needs_a_try(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(ptb_tuned, monkeypatch, "--tries", 0)
    assert "at least 1. Received: 0" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_memory_is_made_longer_after_training(
    stand_in, tmp_path, monkeypatch
):
    path = tmp_path / "text.txt"
    path.write_text("the bank sold a house\n" * 20, "utf-8")

    def card(settings):
        lines = language_model.load_corpus(settings).train
        tokenizer = language_model.build_tokenizer(settings, lines)
        model = language_model.build_model(settings, tokenizer)
        helpers.randomize(model)
        pipelines.TextLanguageModel(model, tokenizer, settings.window).save(
            settings.output / "language.keras"
        )
        score = {"perplexity": 8.0 + settings.seed}
        speed = {"tokens": [90, 180], "cpu_seconds": [3.0, 2.0]}
        return {"scores": {"dev": score}, "history": speed}

    runs = stand_in(ptb_lm, card)
    small = {"none": "--units 4", "sha": "--units 4 --attention sha --memory 3"}
    monkeypatch.setattr(hybrid_table, "ROWS", small)
    for seeds in ((0,), (0, 2)):
        flags = ("--corpus", path, "--seeds", *seeds, "--output", tmp_path)
        run(hybrid_table, monkeypatch, *flags)
    trained = [settings.output.name for settings in runs]
    assert trained == ["none-0", "sha-0", "none-2", "sha-2"]
    table = (tmp_path / "table.md").read_text("utf-8").splitlines()
    assert table[2] == "| `none` | 1,234 | 9.00 ± 1.41 | 36 |  |  |"
    *_, twice, four = table[3].strip("| ").split(" | ")
    assert all(x[0] in "+-" and " ± " in x for x in (twice, four))


@pytest.mark.slow
@pytest.mark.parametrize("name", helpers.one_now([*hybrid_table.ROWS]))
def test_the_rows_have_five_million_weights(name):
    flags = ["--preset", "5m", *hybrid_table.ROWS[name].split()]
    settings = training.read_settings(
        ptb_lm.PRESETS, ptb_lm.preset_for, args=flags
    )
    words = types.SimpleNamespace(vocabulary_size=10_000)
    model = language_model.build_model(settings, words)
    count = sum(np.prod(weight.shape) for weight in model.trainable_weights)
    assert 4_900_000 <= count <= 5_000_000


def test_a_reach_is_multiplied_wherever_it_is_set():
    heads = MultiScaleAttention((1, 2), 3, blocks=5)
    attending = SelfAttentionCell(RHNCell(4), heads, window=7)
    stack = keras.layers.StackedRNNCells([attending, TransformerCell(4)])
    config = hybrid_table.farther(stack.get_config(), 2)
    first, second = keras.layers.StackedRNNCells.from_config(config).cells
    assert (first.window, first.attention.blocks) == (14, 10)
    assert (first.attention.spans, second.memory) == ((1, 2), 256)


@pytest.mark.thorough
def test_a_row_is_trained(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(imdb_models, "REPORTED", {"rnn": "65"})
    monkeypatch.setattr(imdb_models, "OURS", ())
    monkeypatch.setattr(imdb_models, "GRADIENTS", ("rnn",))
    flags = ("--corpus", archive, "--limit", 40, "--epochs", 1, "--units", 4)
    run(imdb_models, monkeypatch, *flags, "--output", tmp_path / "out")
    table = (tmp_path / "out" / "table.md").read_text("utf-8")
    assert len(table.splitlines()) == 2 + 1


@pytest.mark.slow
def test_dynamic_evaluation_learns_from_what_it_scores(
    tmp_path, monkeypatch, capsys
):
    text, saved = tmp_path / "text.txt", tmp_path / "language.keras"
    lines = [f"a {'b ' * (i % 3)}c d" for i in range(80)]
    text.write_text("\n".join(lines), "utf-8")
    tokenizer = WordTokenizer.train(lines, specials=("</s>", "<unk>"))
    model = models.LanguageModel(tokenizer.vocabulary_size, RHNCell(4))
    model.build()
    language = pipelines.TextLanguageModel(model, tokenizer)
    language.save(saved)
    scored = data.read_text_corpus(text).validation[:5]
    count = len(language.ids(scored))

    def perplexity(rate):
        run(
            *(ptb_dynamic, monkeypatch, saved, "--corpus", text),
            *("--learning-rate", rate, "--window", 5, "--tokens", count),
        )
        return json.loads(capsys.readouterr().out)["perplexity"]

    expected = language.evaluate(scored)["perplexity"]
    assert perplexity(0) == pytest.approx(expected, rel=1e-4)
    assert perplexity(0.01) < 0.999 * expected


def card_of_series(settings):
    errors = {"mse": 0.35 + settings.seed / 100, "mae": 0.4}
    parts = {"dev": errors, "test": errors}
    return {
        "scores": parts,
        "beside": {"naive": parts},
        "parameters": 1000,
        "cpu_seconds": 120.0,
    }


def test_the_table_of_series_has_what_needs_no_network(
    stand_in, tmp_path, monkeypatch
):
    runs = stand_in(forecast, card_of_series)
    flags = ("--horizons", 96, "--cells", "gru", "rhn", "--seeds", 1, 3)
    run(series_table, monkeypatch, *flags, "--output", tmp_path)
    assert {(x.corpus, x.horizon) for x in runs} == {("etth1", 96)}
    assert len(runs) == 4
    table = (tmp_path / "table.md").read_text("utf-8").splitlines()
    assert table[2] == "| 96, naive |  | 0.360 / 0.400 | 0.360 / 0.400 |  |  |"
    scores = "0.370 ± 0.014 / 0.400"
    assert table[3] == (
        f"| 96, gru | 1,000 | {scores} | {scores} | 2 | 0.351 / 0.392 |"
    )


def card_of_tags(settings):
    f1 = 0.9 + 0.02 * settings.crf + 0.01 * bool(settings.characters)
    return {
        "scores": {"dev": {"f1": f1, "accuracy": 0.95}},
        "parameters": 1000,
        "cpu_seconds": 120.0,
    }


def test_the_table_of_taggers_has_all_that_is_compared(
    stand_in, tmp_path, monkeypatch
):
    runs = stand_in(tag, card_of_tags)
    flags = ("--cells", "lstm", "rhn", "--character-units", 16)
    run(tag_table, monkeypatch, *flags, "--output", tmp_path)
    assert len(runs) == 8 and {x.epochs for x in runs} == {8}
    assert {x.character_units for x in runs if x.characters} == {16}
    table = (tmp_path / "table.md").read_text("utf-8").splitlines()
    assert table[2:6] == [
        "| lstm, words, softmax | 1,000 | 90.0 | 95.0 | 2.0 |",
        "| lstm, words, crf | 1,000 | 92.0 | 95.0 | 2.0 |",
        "| lstm, characters, softmax | 1,000 | 91.0 | 95.0 | 2.0 |",
        "| lstm, characters, crf | 1,000 | 93.0 | 95.0 | 2.0 |",
    ]


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
