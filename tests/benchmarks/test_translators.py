import sys
import types

import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("recipes of translators need it", allow_module_level=True)

import packed_reviews
import translators
from packed_pairs import read_json
from packed_pairs import write_json
from packed_pairs import write_weights

from kerasrnn import data
from kerasrnn import pipelines
from kerasrnn import training
from kerasrnn.tokenizers import ReviewTokenizer

FLAGS = "--limit 60 --units 4 --epochs 2 --average 0 --dtype float32 --lexicon"


def run(monkeypatch, *flags):
    monkeypatch.setattr(sys, "argv", ["x", *map(str, flags)])
    translators.main()


def pack(monkeypatch, folder, *flags):
    given = *FLAGS.split(), "--output", folder / "recipe", *flags
    recipe = "nmt_vietnamese.py"
    run(monkeypatch, "pack", folder, recipe, "--corpus", "phrasebook", *given)


@pytest.mark.slow
def test_a_recipe_takes_what_was_trained_elsewhere(tmp_path, monkeypatch):
    policy = keras.config.dtype_policy()
    pack(monkeypatch, tmp_path)
    plan = read_json(tmp_path / "plan.json")
    model = translators.build(read_json(tmp_path / "plan.json"), tmp_path)
    keras.config.set_dtype_policy(policy)
    batches = translators.read_batches(plan, tmp_path, "dev")
    expected = model.evaluate(batches, verbose=0)
    log = {
        "files": write_weights(
            tmp_path, [x.numpy() for x in model.trainable_variables]
        ),
        "device": "another",
        "history": {"loss": [3.0, 2.0], "val_loss": [3.0, 4.0]},
    }
    write_json(tmp_path / "history.json", log)
    run(monkeypatch, "finish", tmp_path, "--beam-width", 2)
    card = read_json(tmp_path / "recipe/card.json")
    assert card["trained_on"] == {
        name: log[name] for name in ("device", "history")
    }
    translator = pipelines.TextTranslator.open(
        tmp_path / "recipe/translator.keras"
    )
    assert translator.search.beam_width == 2
    smoothing = model.loss.label_smoothing
    translator.compile("sgd", translator.default_loss(smoothing))
    found = translator.model.evaluate(batches, verbose=0)
    np.testing.assert_allclose(found, expected, rtol=1e-2)
    plan["data"] = "other"
    write_json(tmp_path / "plan.json", plan)
    with pytest.raises(ValueError, match="that were packed"):
        run(monkeypatch, "finish", tmp_path)


def test_a_reverse_translator_is_not_packed():
    with pytest.raises(ValueError, match="`--back-translate` cannot be"):
        translators.check(None, ["--back-translate", "text"])


@pytest.mark.slow
def test_what_is_not_packed_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="can be packed. Received: {'members"):
        pack(monkeypatch, tmp_path, "--members", 2)


def test_reviews_are_read_as_they_were_packed(tmp_path, monkeypatch):
    texts = ["a good film", "a bad film , a", "good", "bad"]
    tokenizer = ReviewTokenizer.train(texts, 20, specials=("<unk>", "<pad>"))
    labelled = data.LabelledTexts(texts[:2], [1, 0])
    corpus = data.LabelledCorpus(labelled, None, texts[2:3], ["neg", "pos"])
    dev = data.LabelledTexts(texts[3:], [0])
    settings = types.SimpleNamespace(max_tokens=3)
    monkeypatch.setattr(
        packed_reviews,
        "read_corpus",
        lambda _: (corpus, dev, tokenizer, settings),
    )
    packed_reviews.pack(types.SimpleNamespace(folder=tmp_path))
    found = packed_reviews.Reviews.read(tmp_path)
    for row, ids in zip(tokenizer.tokenize(texts), found.ids, strict=True):
        assert row.numpy().tolist() == ids.tolist()
    assert found.labels.tolist() == [1, 0, 0]
    assert found.train.tolist() == [0, 1, 2]
    assert found.held_out.tolist() == [3]
    assert found.lengths.tolist() == [3, 3, 1, 1]
    assert found.fingerprint == training.fingerprint(texts[2:3])
