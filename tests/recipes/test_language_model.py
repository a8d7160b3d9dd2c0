import keras
import language_model
import numpy as np
import ptb_lm
import pytest
import tensorflow_text  # noqa: F401  registers the text operations

from kerasrnn import training
from kerasrnn.data import CorpusWarning
from tests import helpers
from tests.pipelines import small as pipelines_small
from tests.recipes import brief
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture

NOUNS = ("bank", "market", "company", "price", "board")
VERBS = ("sold", "raised", "closed", "said", "bought")
RNG = np.random.default_rng(0)
LINES = [
    f"the {RNG.choice(NOUNS)} {RNG.choice(VERBS)} a {RNG.choice(NOUNS)}"
    for _ in range(199)
] + ["the zebra slept"]


class Vocabulary:
    """As much of a tokenizer as a model asks for."""

    def __init__(self, size):
        self.vocabulary_size = size


def run(*flags):
    brief.run(ptb_lm, *flags)


def small(corpus, output, *flags):
    return (
        *("--corpus", corpus, "--preset", "phrasebook", "--units", 8),
        *("--batch-size", 4, "--epochs", 2, "--output", output, *flags),
    )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(LINES), "utf-8")
    return path


@pytest.mark.usefixtures("unlearnt")
def test_words_that_a_saved_model_lacks_are_told(corpus, tmp_path):
    """Also of the part that it is scored on, where they would flatter it."""
    saved = tmp_path / "language.keras"
    pipelines_small.language().save(saved)
    flags = ("--corpus", corpus, "--from", saved, "--output", tmp_path / "out")
    with pytest.warns(CorpusWarning, match="of validation are not"):
        language_model.run(settings(*flags))


def test_a_run_is_as_its_settings_say(corpus, tmp_path, unlearnt):  # noqa: F811
    others = [tmp_path / "dev.txt", tmp_path / "test.txt"]
    for path, count in zip(others, (5, 3), strict=True):
        lines = [line.replace("the", "a") for line in LINES[:count]]
        path.write_text("\n".join(lines), "utf-8")
    flags = "--dev", others[0], "--test", others[1]
    flags += "--limit", 80, "--seed", 3, "--clip", 2, "--window", 7
    flags += "--no-dynamic", "--recurrent-dropout", 0.125, "--uniform", 0.05
    flags += "--dropout", 0.25, "--word-dropout", 0.375, "--depth", 2
    flags += "--embedding-dim", 6, "--augmented-loss", 0.5
    flags += "--loss-temperature", 5, "--no-tie-embeddings"
    run(*small(corpus, tmp_path / "out", *flags))
    (language, parts, _), (_, scored, more) = unlearnt
    # Six tokens a line, in four rows of windows of seven.
    assert [*map(len, parts)] == [80, 5, -(-80 * 6 // 4 // 7)]
    assert [*map(len, scored)] == [5, 3]
    assert more["scoring"] == {"dynamic": False}
    assert more["showing"] == {"seed": 3}
    assert more["lengths"]["train"]["lines"] == 80
    model = language.model
    assert language.window == 7 and model.optimizer.global_clipnorm == 2
    assert model.cell.recurrent_dropout == 0.125 and model.cell.units == 8
    options = {"depth": 2, "dropout": 0.25, "word_dropout": 0.375}
    options |= {"embedding_dim": 6, "augmented_loss": 0.5, "batch_size": 4}
    options |= {"loss_temperature": 5, "tie_embeddings": False}
    assert brief.has(model, **options)
    assert helpers.schedule(model.optimizer)[0] == 2 * len(parts[2])
    table = model.embedding.embeddings.numpy()
    assert -0.05 <= table.min() < 0 < table.max() <= 0.05
    [bias] = (x for x in model.weights if x.path.endswith("output/bias"))
    assert np.ptp(bias) > 0  # the frequencies of the words


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_it_trains_on_jax_and_on_no_third_backend(
    backend, tmp_path, monkeypatch
):
    """It is asked before a corpus is looked for."""
    flags = ["--corpus", tmp_path / "none.txt", "--output", tmp_path]
    monkeypatch.setattr(keras.backend, "backend", lambda: backend)
    if backend == "jax":
        with pytest.raises(FileNotFoundError):
            language_model.run(settings(*flags))
    else:
        with pytest.raises(RuntimeError, match="tensorflow or jax"):
            language_model.run(settings(*flags))


def settings(*flags):
    flags = [*map(str, flags)]
    return training.read_settings(ptb_lm.PRESETS, args=flags)


@pytest.mark.parametrize(
    "flags, expected",
    [
        ((), "phrasebook"),
        (("--corpus", "ptb"), "best"),
        (("--corpus", "x.txt"), "own"),
        (("--corpus", "x.txt", "--preset", "5m"), "5m"),
    ],
)
def test_a_preset_goes_with_a_corpus(flags, expected):
    assert settings(*flags).preset == expected


@pytest.mark.parametrize("tokens", ["words", "characters", "subwords"])
@pytest.mark.parametrize(
    "flags",
    helpers.one_now(
        [
            "--cell mlstm --residual --depth 2",
            "--cell gam_rhn --micro-steps 2 --attention additive",
            "--cell rg_lru --residual --depth 2",
            "--cell rhn --attention transformer --memory 5 --blocks 2",
            "--cell rhn --attention sha --memory 5 --depth 2",
            "--cell gru --embedding-dim 3",
            "--cell gru --embedding-dim 3 --no-tie-embeddings",
        ]
    ),
)
def test_every_choice_is_a_model(flags, tokens, corpus, tmp_path):
    chosen = settings(
        *small(corpus, tmp_path, "--tokens", tokens, *flags.split()),
        *("--vocabulary-size", 60),
    )
    lines = language_model.load_corpus(chosen).train
    tokenizer = language_model.build_tokenizer(chosen, lines)
    keras.config.set_dtype_policy(chosen.dtype)
    model = language_model.build_model(chosen, tokenizer)
    ids = tokenizer.tokenize(lines[:3]).to_tensor()
    assert model(ids).shape == (*ids.shape, tokenizer.vocabulary_size)
    assert tokenizer.end_id >= 0
    if chosen.residual:
        assert model.cell.gate == (chosen.cell == "rg_lru")


def test_the_best_preset_has_its_weights():
    model = language_model.build_model(
        ptb_lm.PRESETS["best"], Vocabulary(10_000)
    )
    count = sum(np.prod(w.shape) for w in model.trainable_weights)
    assert count == 4_914_376


def test_the_built_in_sentences_have_parts_of_their_own(tmp_path):
    for name, value in (("test", tmp_path), ("text_column", "a")):
        with pytest.raises(ValueError, match=f"`{name}` needs a `corpus`.*Rec"):
            language_model.Settings(**{name: value})
    with pytest.raises(ValueError, match="too short to hold out a line"):
        run("--limit", 1, "--output", tmp_path / "out")


def test_a_treebank_of_another_vocabulary(tmp_path):
    for name in ("train", "valid"):
        (tmp_path / f"ptb.{name}.txt").write_text(" a b c \n b c \n")
    with pytest.raises(ValueError, match="10,000|10000"):
        run(
            *("--corpus", "ptb", "--data-dir", tmp_path),
            *("--output", tmp_path / "out"),
        )
