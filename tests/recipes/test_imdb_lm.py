import dataclasses

import classify
import imdb
import imdb_lm
import keras
import numpy as np
import pytest

from kerasrnn import training
from kerasrnn.data import CorpusError
from tests.recipes import brief
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture

FLAGS = ("--limit", "60", "--epochs", "1", "--seed", "2")
SMALL = (*FLAGS, "--units", "6", "--batch-size", "4", "--window", "20")


def settings_of(*flags):
    flags = [str(flag) for flag in flags]
    return training.read_settings(imdb.PRESETS, args=flags)


def test_it_reads_what_the_classifier_does_not_hold_out(tmp_path):
    archive = brief.write_reviews(tmp_path / "aclImdb_v1.tar.gz")
    settings = training.read_settings(
        imdb_lm.PRESETS, args=["--corpus", "imdb"]
    )
    settings = dataclasses.replace(settings, corpus=str(archive))
    corpus = imdb_lm.load_corpus(settings)
    labelled, dev = classify.load_parts(settings_of("--corpus", archive))
    assert corpus.validation == dev.texts and corpus.test is None
    assert corpus.train == labelled.train.texts + labelled.unlabelled
    assert labelled.unlabelled


def test_a_model_that_becomes_another_is_not_overwritten(tmp_path):
    path = tmp_path / "language.keras"
    path.touch()
    settings = imdb_lm.PRESETS["generated"]
    with pytest.raises(ValueError, match="`output` must not be the folder"):
        dataclasses.replace(settings, backwards_of=path, output=tmp_path)
    other = dataclasses.replace(settings, backwards_of=path)
    idle = other.without_effect()
    assert "cell" in idle and "backwards_of" not in idle
    assert "cell" not in settings.without_effect()


@pytest.mark.filterwarnings("ignore:.*are not in the vocabulary")
def test_a_classifier_starts_from_the_model(tmp_path, monkeypatch, unlearnt):  # noqa: F811
    path, backwards = tmp_path / "a.keras", tmp_path / "b.keras"
    brief.run(imdb_lm, *SMALL, "--output", tmp_path / "a")
    unlearnt[0][0].save(path)
    output = "--output", tmp_path / "b"
    brief.run(imdb_lm, *FLAGS, "--backwards-of", path, *output)
    unlearnt[2][0].save(backwards)
    with pytest.raises(CorpusError, match="must read forwards"):
        brief.run(imdb_lm, *FLAGS, "--backwards-of", backwards, *output)
    flags = *FLAGS, "--preset", "pretrained", "--corpus", "generated"
    flags += "--language-model", path, "--backwards-model", backwards
    settings = settings_of(*flags, *output)
    assert "units" not in settings.in_force()
    corpus, _ = classify.load_parts(settings)
    labeller = classify.build_labeller(settings, corpus)
    language, encoder = unlearnt[0][0], labeller.model.encoder
    assert labeller.tokenizer.vocabulary == language.tokenizer.vocabulary
    assert encoder.bidirectional
    for name in ("embedding", "stack"):
        learnt, taken = (
            getattr(part, name).get_weights()
            for part in (language.model, encoder)
        )
        # Those of the other direction follow.
        for old, new in zip(learnt, taken, strict=False):
            np.testing.assert_array_equal(old, new)
    # The saved model has float32, the run perhaps another precision.
    dtype = keras.dtype_policies.get("mixed_bfloat16")
    with monkeypatch.context() as patch:
        patch.setattr(keras.config, "dtype_policy", lambda: dtype)
        _, encoder = classify.learnt_encoder(settings, corpus.train.texts)
    assert encoder.cell.compute_dtype == "bfloat16"
    for name, file in (
        ("language_model", backwards),
        ("backwards_model", path),
    ):
        swapped = dataclasses.replace(settings, **{name: file})
        with pytest.raises(CorpusError, match="must read forwards"):
            classify.build_labeller(swapped, corpus)
