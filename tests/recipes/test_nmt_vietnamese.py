import nmt_vietnamese
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.training import read_settings
from tests.helpers import one_now
from tests.recipes import brief
from tests.recipes.brief import untranslated  # noqa: F401  a fixture


def settings(*arguments):
    return read_settings(
        nmt_vietnamese.PRESETS,
        nmt_vietnamese.preset_for,
        args=map(str, arguments),
    )


@pytest.fixture
def corpus(tmp_path):
    return brief.write_vietnamese_corpus(tmp_path / "en_vi")


@pytest.mark.slow
@pytest.mark.usefixtures("untranslated")
@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_a_published_model_learns_the_corpus(corpus, tmp_path, capsys):
    output = tmp_path / "out"
    brief.run(
        nmt_vietnamese,
        *("--preset", "luong", "--corpus", corpus / "train.en"),
        *("--units", 4, "--epochs", 2, "--batch-size", 4, "--dtype", "float32"),
        *("--output", output),
    )
    # Those of the validation set, and the long one, are left out.
    assert "To train on: 7 pairs." in capsys.readouterr().out
    found = brief.card(output)
    for scores in found["scores"]["dev"].values():
        assert "tok:13a" in scores["bleu_signature"]
        assert "tok:none" in scores["tokenized_bleu_signature"]
    assert len(found["history"]["val_loss"]) == 2
    assert len(found["samples"]) == 2


PUBLISHED = ["laird", "gam-rhn", "luong", "laird-hour", "luong-hour"]


@pytest.mark.parametrize("preset", one_now([*PUBLISHED, "sutskever"]))
@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_published_models_are_built_and_learn(preset, corpus):
    options = settings(
        *("--preset", preset, "--corpus", corpus / "train.en", "--units", 8)
    )
    train, _, _ = nmt_vietnamese.load_pairs(options)
    tokenizers = nmt_vietnamese.published_tokenizers(options, train)
    assert tokenizers[1].special_ids == {
        "start_id": 1,
        "end_id": 2,
        "pad_id": -1,
    }
    model = nmt_vietnamese.published_model(options, *tokenizers)
    source, target = (
        tokenizer.tokenize([pair[side] for pair in train[:3]]).to_tensor(-1)
        for side, tokenizer in enumerate(tokenizers)
    )
    with tf.GradientTape() as tape:
        logits = model({"source": source, "target": target}, training=True)
        loss = tf.reduce_mean(logits**2)
    weights = model.trainable_weights
    gradients = tape.gradient(loss, [weight.value for weight in weights])
    missing = zip(weights, gradients, strict=True)
    assert [w.path for w, gradient in missing if gradient is None] == []
    optimizer = nmt_vietnamese.build_optimizer(options, 12)
    assert optimizer.global_clipnorm == options.clip
    parts = options, model, *tokenizers, train
    translator = nmt_vietnamese.translate.build_translator(*parts)
    assert translator.copy_unknown == (preset != "sutskever")


class Sized:
    """Stands for a tokenizer where nothing is tokenized."""

    def __init__(self, size):
        self.vocabulary_size, self.pad_id = size, -1


def test_the_model_of_the_note_has_as_many_weights_as_it_says():
    """Embeddings of 256, four layers of 512 a side, factorized output."""
    model = nmt_vietnamese.published_model(
        settings("--preset", "laird"), Sized(17191), Sized(7709)
    )
    lstm = 4 * 512 * (512 + 512 + 1)
    side = 256 * 512 + 512 + 4 * lstm
    output = 512 * 256 + 256 + 256 * 7709 + 7709
    expected = (17191 + 7709) * 256 + 2 * side + 2 * 512 * 512 + output
    assert model.count_params() == expected


def rates(preset, steps, at):
    options = settings("--preset", preset)
    optimizer = nmt_vietnamese.build_optimizer(options, steps)
    found = []
    for step in at:
        optimizer.iterations.assign(step)
        found.append(float(optimizer.learning_rate) / options.learning_rate)
    return found


def test_the_rate_of_the_note_falls_to_a_400th():
    steps = 10 * settings("--preset", "laird").epochs
    found = rates("laird", steps, [1, 91, 121, 171, 2001])
    np.testing.assert_allclose(found, [1, 1, 0.75, 0.5625, 0.0025], rtol=1e-5)


def test_the_rate_of_luong_is_halved_in_the_last_third():
    found = rates("luong", 120, [1, 79, 81, 91, 101, 111, 500])
    expected = [1, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_an_hour_is_along_a_cosine():
    found = rates("luong-hour", 12_000, [400, 6200, 12_000])
    np.testing.assert_allclose(found, [1, 0.5, 0], atol=0.02)


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_held_out_texts_are_not_trained_on(corpus):
    options = settings("--corpus", corpus / "train.en")
    assert options.preset == "own"
    train, dev, _ = nmt_vietnamese.load_pairs(options)
    assert [source for source, _ in dev] == [
        "the cat sleeps .",
        "a dog isn &apos;t here .",
    ]
    assert not {source for source, _ in train} & {source for source, _ in dev}
    held_out, vietnamese = train[0]
    (corpus / "tst2013.en").write_text(held_out + "\n", "utf-8")
    (corpus / "tst2013.vi").write_text(vietnamese + "\n", "utf-8")
    fewer, same, _ = nmt_vietnamese.load_pairs(options)
    assert same == dev
    assert fewer == [pair for pair in train if pair[0] != held_out] != train
    few = settings("--corpus", corpus / "train.en", "--limit", 3)
    assert [len(x) for x in nmt_vietnamese.load_pairs(few)] == [1, 2, 0]


def test_a_table_is_a_corpus_too(tmp_path):
    path = tmp_path / "mine.tsv"
    pairs = [(f"a house {i}", f"một ngôi nhà {i}") for i in range(20)]
    path.write_text("\n".join(map("\t".join, pairs)), "utf-8")
    train, dev, _ = nmt_vietnamese.load_pairs(settings("--corpus", path))
    assert (len(train), len(dev)) == (18, 2)
    assert sorted(train + dev) == sorted(pairs)


def test_the_built_in_phrasebook_needs_no_file():
    options = settings("--limit", 200)
    assert options.preset == options.corpus == "phrasebook"
    train, dev, _ = nmt_vietnamese.load_pairs(options)
    assert (len(train), len(dev)) == (180, 20)
    assert not {source for source, _ in train} & {source for source, _ in dev}


def test_a_published_model_needs_the_vocabularies(corpus):
    (corpus / "vocab.vi").unlink()
    options = settings("--preset", "luong", "--corpus", corpus / "train.en")
    with pytest.raises(FileNotFoundError, match="vocab.vi"):
        nmt_vietnamese.published_tokenizers(options, [])
    options = settings("--preset", "luong", "--corpus", "phrasebook")
    with pytest.raises(ValueError, match="Expected: --corpus en_vi"):
        nmt_vietnamese.published_tokenizers(options, [])


def test_a_corpus_with_a_validation_set_holds_nothing_out(capsys):
    with pytest.raises(SystemExit):
        settings("--corpus", "en_vi", "--dev-size", 100)
    assert "Received: --dev-size" in capsys.readouterr().err
    assert settings("--corpus", "x.tsv", "--dev-size", 100).dev_size == 100


def test_settings_of_a_published_model(corpus, capsys):
    with pytest.raises(SystemExit):
        settings("--preset", "luong", "--lexicon", "--warmup", 9)
    assert "Received: --lexicon, --warmup" in capsys.readouterr().err
    options = settings(
        *("--preset", "luong", "--corpus", corpus / "train.en"),
        *("--lowercase", "--word-dropout", 0.5, "--units", 4),
    )
    tokenizers = nmt_vietnamese.published_tokenizers(options, [])
    [ids] = tokenizers[0].tokenize(["The CAT"]).to_list()
    assert [tokenizers[0].vocabulary[i] for i in ids] == ["the", "cat"]
    model = nmt_vietnamese.published_model(options, *tokenizers)
    assert model.encoder.word_dropout == model.decoder.word_dropout == 0.5


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("train.vi", lambda lines: lines[1:], "12 and 11 lines"),
        ("train.vi", lambda lines: [], "train.vi has no usable sentence"),
        ("vocab.vi", lambda lines: lines[:1] + lines[2:], "lacks '<s>'"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_faulty_files_are_named(name, change, message, corpus):
    lines = (corpus / name).read_text("utf-8").splitlines()
    (corpus / name).write_text("\n".join(change(lines)) + "\n", "utf-8")
    options = settings("--preset", "luong", "--corpus", corpus / "train.en")
    with pytest.raises(ValueError, match=message):
        nmt_vietnamese.load_pairs(options)
        nmt_vietnamese.published_tokenizers(options, [])
