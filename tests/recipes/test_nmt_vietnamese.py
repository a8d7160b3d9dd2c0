import json
import pathlib
import runpy
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the text operations

RECIPE = pathlib.Path(__file__).parents[2] / "recipes" / "nmt_vietnamese.py"
ENGLISH = {"the cat": "con mèo", "a dog": "một con chó", "he": "anh ấy"}
VERBS = {"sleeps .": "ngủ .", "isn &apos;t here .": "không ở đây ."}
WORDS = ["<unk>", "<s>", "</s>"]


@pytest.fixture
def corpus(tmp_path):
    """Files as those of the corpus, with twelve pairs, one of them long."""
    pairs = [
        (f"{who} {does}", f"{ai} {lam}")
        for who, ai in ENGLISH.items()
        for does, lam in VERBS.items()
    ] * 2
    pairs[5] = ("cat " * 70, "mèo")
    folder = tmp_path / "en_vi"
    folder.mkdir()
    for side, language in enumerate(("en", "vi")):
        texts = [pair[side] for pair in pairs]
        words = sorted({word for text in texts for word in text.split()})
        for name, lines in {
            "train": texts,
            "tst2012": [texts[0], texts[3]],
            "vocab": [*WORDS, *words],
        }.items():
            path = folder / f"{name}.{language}"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def parsed(recipe, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(RECIPE), *map(str, arguments)])
    return recipe["parse_args"]()


@pytest.fixture(scope="module")
def recipe():
    return runpy.run_path(str(RECIPE), run_name="recipe")


def test_a_small_run_leaves_everything(corpus, tmp_path):
    output = tmp_path / "out"
    done = subprocess.run(
        [
            *(sys.executable, RECIPE, "--corpus", corpus / "train.en"),
            *("--preset", "word", "--units", "8", "--epochs", "2"),
            *("--batch-size", "2", "--output", output),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # Those of the validation set, and the long one, are left out.
    assert "7 training pairs, 2 validation pairs" in done.stdout
    for name in ("attention", "attention_and_padding", "training"):
        png = (output / f"{name}.png").read_bytes()
        assert png.startswith(b"\x89PNG")
    card = json.loads((output / "card.json").read_text("utf-8"))
    assert set(card["scores"]) == {
        "greedy",
        "beam 10",
        "beam 10, ensemble of epochs",
    }
    for scores in card["scores"].values():
        assert 0 <= scores["bleu"] <= 100
        assert "tok:none" in scores["bleu_signature"]
        assert scores["length_ratio"] >= 0
        assert "tok:13a" in scores["plain_text"]["bleu_signature"]
    assert card["attention_on_padding"] == 0
    assert len(card["history"]["val_loss"]) == 2
    assert len(card["history"]["val_bleu"]) == 2
    assert len(card["samples"]) == 2

    model = tf.saved_model.load(output / "1")
    assert set(model.signatures) == {
        "serving_default",
        "translate_ids",
        "attend",
    }
    found = model.signatures["serving_default"](
        text=tf.constant(["The cat isn't here.", ""])
    )
    assert found["translation"].shape == (2,)
    assert found["translation"][1] == b""


@pytest.mark.parametrize(
    "preset",
    ["laird", "laird-hour", "sutskever", "luong", "luong-hour", "gam-rhn"],
)
def test_published_models_are_built_and_learn(
    preset, recipe, corpus, tmp_path, monkeypatch
):
    args = parsed(
        recipe,
        monkeypatch,
        *("--preset", preset, "--corpus", corpus / "train.en"),
        *("--units", 8, "--output", tmp_path / "out"),
    )
    train, dev, vocabularies = recipe["load_pairs"](args)
    tokenizers = recipe["build_tokenizers"](args, train, vocabularies)
    assert tokenizers[1].special_ids == {
        "start_id": 1,
        "end_id": 2,
        "pad_id": -1,
    }
    model = recipe["build_model"](args, *tokenizers)
    loss = keras.losses.MeanSquaredError()
    model.compile(recipe["build_optimizer"](args, 2), loss)
    source, target = (
        tokenizer.tokenize([pair[side] for pair in train]).to_tensor(-1)
        for side, tokenizer in enumerate(tokenizers)
    )
    inputs = {"source": source, "target": target}
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(inputs, training=True) ** 2)
    weights = [weight.value for weight in model.trainable_weights]
    gradients = tape.gradient(loss, weights)
    pairs = zip(model.trainable_weights, gradients, strict=True)
    assert [w.path for w, gradient in pairs if gradient is None] == []
    depth = {"luong": 2, "luong-hour": 2, "gam-rhn": 1}.get(preset, 4)
    norms = recipe["decoder_gradients"](
        model, inputs, tf.zeros((*target.shape, tokenizers[1].vocabulary_size))
    )()
    assert list(norms) == [f"layer {i + 1}" for i in range(depth)]
    assert all(norm > 0 for norm in norms.values())


def test_the_seed_has_as_many_weights_as_it_says(recipe, tmp_path, monkeypatch):
    """Embeddings of 256, four layers of 512 a side, factorized output."""
    args = parsed(
        recipe, monkeypatch, "--preset", "laird", "--output", tmp_path / "out"
    )

    class Sized:
        def __init__(self, size):
            self.vocabulary_size, self.pad_id = size, -1

    model = recipe["build_model"](args, Sized(17191), Sized(7709))
    lstm = 4 * 512 * (512 + 512 + 1)
    side = 256 * 512 + 512 + 4 * lstm
    output = 512 * 256 + 256 + 256 * 7709 + 7709
    expected = (17191 + 7709) * 256 + 2 * side + 2 * 512 * 512 + output
    assert model.count_params() == expected


def test_what_is_not_masked_is_looked_at(recipe, corpus, tmp_path, monkeypatch):
    weights = {}
    for preset in ("laird", "laird-unmasked"):
        args = parsed(
            recipe,
            monkeypatch,
            *("--preset", preset, "--corpus", corpus / "train.en"),
            *("--units", 8, "--output", tmp_path / "out"),
        )
        train, dev, vocabularies = recipe["load_pairs"](args)
        tokenizers = recipe["build_tokenizers"](args, train, vocabularies)
        model = recipe["build_model"](args, *tokenizers)
        translators = recipe["build_translators"](args, tokenizers, model)
        found, source, target = recipe["look_at_padding"](translators["greedy"])
        assert len(source) == found.shape[1]
        # Only what is not masked has to have the length of the training.
        length = 31 if preset == "laird-unmasked" else 27
        assert len(source) == length
        assert source.count("<pad>") == length - 14
        ids = tokenizers[0].pad_id, tokenizers[0].unknown_id
        assert ids == ((13, 0) if preset == "laird-unmasked" else (-1, 0))
        is_padding = [token == "<pad>" for token in source]
        weights[preset] = found[:, is_padding].sum(axis=1)
    assert not weights["laird"].any()
    assert (weights["laird-unmasked"] > 0.1).all()


def test_an_unknown_word_is_one_token(recipe):
    tokenizer = recipe["WordTokenizer"](
        [*WORDS, "con", "mèo"], lowercase=False, separate_punctuation=True
    )
    score = recipe["score"]
    found = score(tokenizer, ["con <unk> mèo , ."], ["con chó mèo , ."])
    assert found["length_ratio"] == 1.0
    same = score(tokenizer, ["con xyz mèo , ."], ["con chó mèo , ."])
    assert found["bleu"] == pytest.approx(same["bleu"])
    # Nor is it the word "unk".
    assert score(tokenizer, ["<unk>"], ["unk"])["chrf"] == 0


def test_what_is_held_out_is_not_learnt(recipe, corpus, tmp_path, monkeypatch):
    args = parsed(
        recipe,
        monkeypatch,
        *("--corpus", corpus / "train.en", "--output", tmp_path / "out"),
    )
    train, dev, _ = recipe["load_pairs"](args)
    held_out, vietnamese = train[0]
    (corpus / "tst2013.en").write_text(held_out + "\n", "utf-8")
    (corpus / "tst2013.vi").write_text(vietnamese + "\n", "utf-8")
    fewer, same, _ = recipe["load_pairs"](args)
    assert same == dev
    assert fewer == [pair for pair in train if pair[0] != held_out] != train
    args.limit = 1
    (corpus / "tst2012.en").write_text("a\nb\n", "utf-8")
    assert len(recipe["load_pairs"](args)[1]) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--preset", "laird"), "needs the vocabularies.*--corpus en_vi"),
        (("--preset", "best"), "No pair is left"),
    ],
)
def test_what_cannot_be_learnt_from(
    arguments, message, recipe, tmp_path, monkeypatch
):
    args = parsed(recipe, monkeypatch, *arguments, "--output", tmp_path / "out")
    args.corpus, args.max_length = "phrasebook", 0
    with pytest.raises(ValueError, match=message):
        recipe["load_pairs"](args)


@pytest.mark.parametrize("peak", [1.0, 1e-3])
def test_the_rate_of_the_note_falls_to_a_400th(
    peak, recipe, tmp_path, monkeypatch
):
    args = parsed(
        recipe,
        monkeypatch,
        *("--preset", "laird", "--learning-rate", peak),
        *("--output", tmp_path / "out"),
    )
    optimizer = recipe["build_optimizer"](args, 10)
    rates = []
    for epoch in (0, 9, 12, 17, 200):
        optimizer.iterations.assign(10 * epoch + 1)
        rates.append(float(optimizer.learning_rate) / peak)
    np.testing.assert_allclose(rates, [1, 1, 0.75, 0.5625, 0.0025], rtol=1e-5)


def test_the_built_in_phrasebook_needs_no_file(recipe, tmp_path, monkeypatch):
    args = parsed(
        recipe, monkeypatch, "--limit", 200, "--output", tmp_path / "out"
    )
    assert args.preset == args.corpus == "phrasebook"
    train, dev, vocabularies = recipe["load_pairs"](args)
    assert (len(train), len(dev), vocabularies) == (180, 20, None)
    assert not {english for english, _ in train} & {text for text, _ in dev}


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("train.vi", lambda lines: lines[1:], "Received: 12 and 11 lines"),
        ("train.vi", lambda lines: [], "is empty"),
        ("vocab.vi", lambda lines: lines[:1] + lines[2:], "lacks '<s>'"),
    ],
)
def test_faulty_files_are_named(
    name, change, message, recipe, corpus, tmp_path, monkeypatch
):
    lines = (corpus / name).read_text("utf-8").splitlines()
    (corpus / name).write_text("\n".join(change(lines)) + "\n", "utf-8")
    args = parsed(
        recipe,
        monkeypatch,
        *("--preset", "luong", "--corpus", corpus / "train.en"),
        *("--output", tmp_path / "out"),
    )
    with pytest.raises(ValueError, match=message):
        recipe["load_pairs"](args)
