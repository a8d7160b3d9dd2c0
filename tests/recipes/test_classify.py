import json
import sys

import classify
import imdb
import numpy as np
import pytest
import tensorflow_text  # noqa: F401  registers the text operations

from kerasrnn import data
from kerasrnn import training
from kerasrnn.layers import DotAttention
from tests import helpers
from tests.pipelines import small
from tests.recipes import brief
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture


@pytest.fixture
def archive(tmp_path):
    return brief.write_reviews(tmp_path / "aclImdb_v1.tar.gz")


def settings_of(*flags):
    settings = training.read_settings(
        imdb.PRESETS, args=[str(flag) for flag in flags]
    )
    return training.by_size(settings, 60, classify.SIZES)


def test_the_built_in_reviews():
    corpus, dev = classify.load_parts(settings_of("--limit", 100))
    assert (len(corpus.train.texts), len(dev.texts)) == (80, 20)
    assert corpus.label_names == ["negative", "positive"] and not corpus.test


def test_a_saved_labeller_reads_fewer_words_and_classes(tmp_path):
    saved, path = tmp_path / "labeller.keras", tmp_path / "more.tsv"
    labeller = small.labeller()
    labeller.save(saved)
    path.write_text("text\tlabel\na fine film\tgood\n", "utf-8")
    settings = settings_of("--corpus", path, "--from", saved)
    corpus = classify.load_corpus(settings)
    assert corpus.train == (["a fine film"], [2])
    found = classify.build_labeller(settings, corpus)
    assert found.tokenizer.vocabulary == labeller.tokenizer.vocabulary
    with pytest.raises(data.CorpusError, match="Received: .'dull', 'good'., F"):
        other = corpus._replace(label_names=["dull", "good"])
        classify.build_labeller(settings, other)


def test_stars_are_calibrated(tmp_path, unlearnt):  # noqa: F811
    """Labels whose names are numbers, others than those that they have."""
    paths = [tmp_path / "stars.csv", tmp_path / "test.csv"]
    for path in paths:
        rows = [f"text {n},{path.stem} {n},{n % 3 + 1}\n" for n in range(15)]
        path.write_text("number,note,stars\n" + "".join(rows), "utf-8")

    settings = settings_of(
        *("--corpus", paths[0], "--test", paths[1], "--limit", 12),
        *("--text-column", "note", "--label-column", "stars"),
        *("--cell", "rnn", "--units", 4, "--summary", "last"),
        *("--no-bidirectional", "--output", tmp_path / "out"),
        *("--label-smoothing", 0.25, "--class-weight", "balanced"),
        *("--clip", 3, "--max-tokens", 7, "--dropout", 0.125),
        *("--word-dropout", 0.25, "--embedding-dim", 5),
        *("--vocabulary-size", 9, "--special", "drop"),
    )
    labeller = classify.run(settings)
    assert labeller.labels == ("1", "2", "3")
    assert labeller.temperature != 1 and labeller.max_length == 7
    model = labeller.model
    assert (model.dropout, model.encoder.dropout) == (0.125, 0.0)
    encoder = {"embedding_dim": 5, "word_dropout": 0.25, "depth": 1}
    assert brief.has(model.encoder, **encoder, bidirectional=False)
    assert model.encoder.cell.units == 4
    words = {"lowercase": False, "special": "drop"}
    assert brief.has(labeller.tokenizer, **words)
    assert labeller.tokenizer.vocabulary_size == 9
    assert model.loss.get_config()["label_smoothing"] == 0.25
    assert model.optimizer.global_clipnorm == 3
    # Nine texts are one batch of up to sixteen.
    assert helpers.schedule(model.optimizer)[0] == settings.epochs
    (_, (train, dev), weights), (_, (scored, test), facts) = unlearnt
    assert [len(x.texts) for x in (train, dev, test)] == [9, 3, 12]
    assert scored is dev and test.texts[0] == "test 0"
    assert weights["class_weight"] == "balanced" and "unlabelled" in weights
    assert facts["held_out"] == {"by": "text"}


@pytest.mark.parametrize("flags", [(), ("--no-calibrate",)])
def test_it_is_calibrated_on_texts_held_out(
    flags,
    tmp_path,
    monkeypatch,
    unlearnt,  # noqa: F811
):
    used, path = [], tmp_path / "tags.jsonl"
    for name in "calibrate", "tune_thresholds":
        monkeypatch.setattr(
            f"kerasrnn.pipelines.labelling_task.MultiLabelTask.{name}",
            lambda task, rows: used.append(rows),
        )
    rows = [{"text": f"text {n}", "label": ["ab"[n % 2]]} for n in range(15)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    more = "--multi-label", "--tune-thresholds", "--units", 4, "--cell", "rnn"
    output = "--output", tmp_path / "out"
    classify.run(settings_of("--corpus", path, *more, *output, *flags))
    (_, (_, dev), _), _ = unlearnt
    assert [x is dev for x in used] == [True] * (2 - len(flags))


def test_the_archive_with_word_vectors(archive, tmp_path):
    settings = settings_of(
        *("--corpus", archive, "--preset", "best", "--output", tmp_path)
    )
    corpus = classify.load_corpus(settings)
    assert len(corpus.train.texts) == 60 and len(corpus.unlabelled) == 30
    labeller = classify.build_labeller(settings, corpus)
    assert labeller.model.encoder.embedding_dim == 100
    [vectors] = tmp_path.glob("skip-gram-*")
    assert vectors.read_text("utf-8").splitlines()[0].endswith(" 100")


def test_vectors_may_come_from_any_file(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("film 1 0 2\nfine -1 0.5 3\n", "utf-8")
    settings = settings_of("--vectors", path, "--no-train-vectors")
    corpus = classify.load_corpus(settings)
    texts = corpus.train._replace(texts=["a fine film"], labels=[1])
    labeller = classify.build_labeller(settings, corpus._replace(train=texts))
    embedding = labeller.model.encoder.embedding
    assert embedding.embedding_dim == 3 and not embedding.trainable_variables
    table = embedding.embeddings.numpy()
    words = labeller.tokenizer.vocabulary
    film, fine = (table[words.index(x)] for x in ("film", "fine"))
    np.testing.assert_allclose(film / film[0], [1, 0, 2], rtol=1e-5)
    np.testing.assert_allclose(fine / film[0], [-1, 0.5, 3], rtol=1e-5)
    # The same path, and a file that was replaced.
    before = training.identity(settings)
    path.write_text("film 2 0 0\nfine 0 1 1\n", "utf-8")
    assert training.identity(settings) != before


def test_n_grams_of_what_is_read_have_embeddings(capsys):
    flags = "--ngrams", 40, "--max-tokens", 3, "--attention", "dot"
    settings = settings_of(*flags, "--summary", "attention")
    corpus = classify.load_corpus(settings)
    texts = ["a fine film at last"] * 5 + ["a dull film"] * 4
    texts = corpus.train._replace(texts=texts, labels=[1] * 5 + [0] * 4)
    labeller = classify.build_labeller(settings, corpus._replace(train=texts))
    assert labeller.model.encoder.ngrams.size == 40
    assert isinstance(labeller.model.summary_layer.attention, DotAttention)
    # "a fine", "fine film" and the three words.
    found = "\n3 pairs and triples of words have embeddings.\n"
    assert found in f"\n{capsys.readouterr().out}"


def test_a_text_of_your_own_keeps_its_words():
    settings = settings_of("--corpus", __file__)
    assert settings.preset == "own"
    tokenizer = classify.build_tokenizer(settings, ["u"])
    assert tokenizer.normalize_all(["U can't <b>win</b>, Sir!"]) == [
        "U can ' t < b > win < / b > , Sir !"
    ]
    settings = settings_of("--preset", "best", "--drop-stop-words")
    with pytest.warns(UserWarning, match="contains negations"):
        tokenizer = classify.build_tokenizer(settings, ["u"])
    assert tokenizer.normalize_all(["U <b>and</b> I win!"]) == ["win !"]


@pytest.mark.parametrize(
    "flags, problem",
    [
        (("--dropuot", "0.1"), "dropuot"),
        (("--attention", "None"), "Expected: an --attention"),
        (("--test", "."), "--test needs a --corpus"),
        (("--group-column", "film"), "--group-column needs a --corpus"),
        (("--multi-label",), "--multi-label needs a --corpus"),
        (
            ("--corpus", ".", "--label-column", "a", "b"),
            "--label-column need --multi-label",
        ),
        (("--from", "absent.keras"), "absent.keras"),
    ],
)
def test_a_wrong_setting_is_refused_at_once(
    monkeypatch, capsys, flags, problem
):
    monkeypatch.setattr(classify, "load_corpus", pytest.fail)
    monkeypatch.setattr(sys, "argv", ["classify.py", *flags])
    with pytest.raises(SystemExit) as stop:
        classify.main()
    assert stop.value.code == 2
    found = capsys.readouterr()
    assert problem in found.out + found.err
