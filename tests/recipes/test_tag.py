import runpy
import sys
import types

import keras
import pytest
import tag
import tensorflow_text  # noqa: F401  registers the text operations
from corpora.tagged_sentences import tagged_sentences

import kerasrnn.pipelines  # noqa: F401  registers the pipelines
from kerasrnn import data
from kerasrnn.tokenizers import split_into_words
from tests import helpers
from tests.pipelines import small
from tests.pipelines import small_backbone
from tests.recipes import brief
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture


def run(monkeypatch, *flags):
    monkeypatch.setattr(sys, "argv", ["tag.py", *map(str, flags)])
    runpy.run_path(tag.__file__, run_name="__main__")


SMALL = ("--units", 16, "--character-units", 8, "--batch-size", 16)


def test_no_words_are_both_trained_on_and_held_out():
    """Also with other tags."""
    sentences = [[(word, name)] for word in "abcdefgh" for name in "XYZ"]
    held_out = set()
    for seed in 1, 2, 3:
        settings = types.SimpleNamespace(dev_size=9, seed=seed)
        train, dev = (
            {sentence[0][0] for sentence in part}
            for part in tag.hold_out(sentences, settings)
        )
        assert len(train) == 7 and len(dev) == 1 and not train & dev
        held_out |= dev
    assert len(held_out) > 1


def test_a_run_is_as_its_settings_say(tmp_path, unlearnt):  # noqa: F811
    sentences = tagged_sentences(37, seed=1)
    paths = [tmp_path / name for name in ("train.conll", "test.conll")]
    for path, part in zip(paths, (sentences[:30], sentences[30:]), strict=True):
        brief.write_columns(path, part)
    flags = "--corpus", paths[0], "--test", paths[1], "--dev-size", 5
    flags += "--no-crf", "--class-weight", "balanced", "--no-bidirectional"
    flags += "--depth", 2, "--dropout", 0.25, "--word-dropout", 0.125
    flags += "--cell", "gru", "--units", 4, "--character-units", 2
    flags += "--clip", 3, "--epochs", 2, "--output", tmp_path / "out"
    brief.run(tag, *flags)
    (tagger, (train, dev), weights), (_, (scored, test), _) = unlearnt
    assert (len(train), len(dev), len(test)) == (25, 5, 7) and scored is dev
    words = [[word for word, _ in row] for row in sentences[30:]]
    assert [[word for word, _ in row] for row in test] == words
    assert weights == {"class_weight": "balanced"}
    options = {"depth": 2, "dropout": 0.25, "word_dropout": 0.125}
    assert brief.has(tagger.model, **options, bidirectional=False)
    reader = tagger.model.characters
    assert brief.has(reader, dropout=0.125)
    assert [x.units for x in (tagger.model.cell, reader.cell)] == [4, 2]
    assert tagger.scheme == "BIOES" and tagger.model.crf is None
    # Two batches of up to sixteen.
    assert helpers.schedule(tagger.model.optimizer)[0] == 2 * 2


def test_parts_of_speech_are_no_phrases(tmp_path, capsys):
    corpus = tmp_path / "tagged.tsv"
    lines = [f"the\tDET\n{name}{name}\tNOUN\n" for name in "abcdefgh"]
    corpus.write_text("\n".join(lines), "utf-8")
    settings = tag.Settings(corpus=str(corpus), output=tmp_path / "out")
    (train, dev, _), scheme = tag.load_parts(settings)
    assert (scheme, len(train), len(dev)) == (None, 7, 1)
    assert "tags belong to single words" in capsys.readouterr().out
    # A sentence is not on both sides, so that one alone cannot be divided.
    corpus.write_text(3 * lines[0], "utf-8")
    with pytest.raises(ValueError):
        tag.load_parts(settings)


def test_generated_sentences_differ_and_are_tagged():
    sentences = tagged_sentences(500, seed=3)
    assert sentences == tagged_sentences(500, seed=3)
    assert sentences != tagged_sentences(500, seed=4)
    texts = {" ".join(word for word, _ in row) for row in sentences}
    assert len(texts) == 500
    # As text, they are split into the same words.
    split, *_ = split_into_words(list(texts))
    assert {b" ".join(row).decode() for row in split.to_list()} == texts
    tags = [[name for _, name in row] for row in sentences]
    assert data.tag_scheme(tags) == "IOB2"
    kinds = {phrase.label for row in tags for phrase in data.phrases_of(row)}
    assert kinds == {"PER", "LOC", "ORG", "DATE"}


def test_a_saved_tagger_keeps_its_scheme(tmp_path):
    corpus = brief.write_columns(tmp_path / "eng.train", small.SENTENCES)
    saved = tmp_path / "tagger.keras"
    small.tagger("IOB2").save(saved)
    settings = tag.Settings(
        corpus=str(corpus), start_from=saved, output=tmp_path / "out"
    )
    (train, dev, _), scheme = tag.load_parts(settings)
    names = [[name for _, name in row] for row in train + dev]
    assert scheme == data.tag_scheme(names) == "IOB2"


def test_tags_that_break_their_scheme_are_mended_and_counted(tmp_path, capsys):
    """A `CRF` that knows the scheme would have a loss of 10,000 for each."""
    lines = [f"w{n} S-A\nx B-A\ny I-A\n" for n in range(9)]
    corpus = tmp_path / "tagged.conll"
    corpus.write_text("\n".join(lines), "utf-8")
    settings = tag.Settings(corpus=str(corpus), output=tmp_path / "out")
    (train, _, _), scheme = tag.load_parts(settings)
    assert scheme == "BIOES"
    assert [name for _, name in train[0]] == ["S-A", "B-A", "E-A"]
    assert "because they break BIOES: 9." in capsys.readouterr().out


def test_each_file_has_a_scheme_and_a_kind_of_tags(tmp_path, capsys):
    paths = []
    for name, tag_of in ("train", "B-X"), ("dev", "NOUN"):
        paths.append(tmp_path / f"{name}.conll")
        paths[-1].write_text(f"one {tag_of}\ntwo {tag_of}\n\n" * 3, "utf-8")
    given = tag.Settings(
        corpus=str(paths[0]), dev=paths[1], output=tmp_path / "out"
    )
    with pytest.raises(data.CorpusError, match="Received: .'IOB2', 'none'"):
        tag.load_parts(given)
    paths[1].write_text("one I-X\ntwo I-X\nthree B-X\n", "utf-8")
    (_, dev, _), scheme = tag.load_parts(given)
    assert [name for _, name in dev[0]] == ["B-X", "E-X", "S-X"]
    assert "break" not in capsys.readouterr().out
    # One without phrases may be of either kind.
    paths[1].write_text("one O\ntwo O\n", "utf-8")
    (_, dev, _), scheme = tag.load_parts(given)
    assert scheme == "BIOES" and dev == [[("one", "O"), ("two", "O")]]
    # Or of another scheme.
    paths[1].write_text("one S-X\ntwo O\n", "utf-8")
    (train, dev, _), scheme = tag.load_parts(given)
    assert train[0] == [("one", "S-X"), ("two", "S-X")]
    assert scheme == "BIOES" and dev == [[("one", "S-X"), ("two", "O")]]


def test_columns_need_a_file():
    with pytest.raises(ValueError, match="`tag_column` needs a `corpus`.*='2'"):
        tag.Settings(tag_column="2")


def test_a_table_may_have_a_word_in_each_row(tmp_path):
    path = tmp_path / "ner.csv"
    rows = "1,a,Anna,B-PER,z", ",b,sings,O,z", "2,c,Bo,B-PER,z", "3,d,Cy,O,z"
    path.write_text("\n".join(["id,lemma,Word,Tag,more", *rows]))
    columns = {"sentence_column": "id", "word_column": "Word"}
    columns |= {"tag_column": "Tag", "output": tmp_path / "out"}
    given = tag.Settings(corpus=str(path), **columns, limit=2)
    sentences, scheme = tag.read(path, given)
    assert scheme == "IOB2"
    assert sentences == [[("Anna", "B-PER"), ("sings", "O")], [("Bo", "B-PER")]]


@pytest.mark.parametrize("others", [True, False])
def test_a_tagger_is_built_as_the_settings_say(tmp_path, others):
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\nAnna 1 2 3\nsings 4 5 6\n")
    sentences = [
        [("Anna", "S-PER"), ("sings", "O"), ("New York", "O")],
        [("anna", "B-LOC"), ("New York", "E-LOC"), ("sings", "O")],
    ]
    more = {"characters": "convolution", "lowercase": False, "vectors": path}
    more = more if others else {"characters": None, "crf": False}
    options = {"units": 4, "character_units": 2, "embedding_dim": 5}
    settings = tag.Settings(output=tmp_path / "out", **options | more)
    dev = [[("Bo", "S-ORG")]]
    tagger = tag.build_tagger(settings, sentences, [None, dev], "BIOES")
    model = tagger.model
    assert tagger.tags == ("O", "B-LOC", "E-LOC", "S-ORG", "S-PER")
    if not others:
        assert tagger.words.vocabulary[2:] == ("anna", "sings", "new york")
        assert (tagger.characters, model.characters, model.crf) == 3 * (None,)
        assert model.embedding_dim == 5
        return
    assert tagger.words.vocabulary[2:] == ("sings", "New York")
    vector = model.embedding.weights[0].numpy()[2]
    assert vector / vector[0] == pytest.approx([1, 1.25, 1.5])
    assert model.characters.filters == 4 and model.crf.scheme == "BIOES"
    assert {"N", "Y"} < {*tagger.characters.vocabulary}


@pytest.mark.slow
def test_a_backbone_of_a_folder_is_read(monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    small_backbone.backbone().save_to_preset(tmp_path / "bert")
    small_backbone.tokenizer().save_to_preset(tmp_path / "bert")
    corpus = brief.write_columns(tmp_path / "eng.train", small.SENTENCES[:2])
    dev = brief.write_columns(tmp_path / "eng.dev", small.SENTENCES[:2])
    flags = ("--corpus", corpus, "--dev", dev, "--backbone", tmp_path / "bert")
    flags += ("--backbone-layers", 2, "--epochs", 1, *SMALL)
    for rate in ("None", 1e-4):
        more = ("--backbone-rate", rate, "--output", tmp_path / f"{rate}")
        run(monkeypatch, *flags, *more)
        tagger = keras.saving.load_model(tmp_path / f"{rate}" / "tagger.keras")
        assert tagger.model.factorized
        assert tagger.model.backbone.backbone.trainable == (rate != "None")
