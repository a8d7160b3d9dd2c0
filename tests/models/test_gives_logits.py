import keras
import pytest

from kerasrnn.layers import CRF
from kerasrnn.layers import CRFLoss
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import PianoRollModel
from kerasrnn.models import Tagger
from kerasrnn.models import TextClassifier
from kerasrnn.models import Translator
from kerasrnn.training import TokenCrossentropy
from tests import helpers

CELL = FastGRUCell(4)
MODELS = {
    "classifier": lambda: TextClassifier(Encoder(9, CELL)),
    "language": lambda: LanguageModel(9, CELL),
    "piano": lambda: PianoRollModel(CELL, 3),
    "tagger": lambda: Tagger(9, 3, CELL, 4),
    "translator": lambda: Translator(Encoder(9, CELL), Decoder(9, CELL)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("loss", "found"),
    [
        ("binary_crossentropy", "binary_crossentropy"),
        ("SparseCategoricalCrossentropy", "SparseCategoricalCrossentropy"),
        (keras.losses.sparse_categorical_crossentropy, "sparse_categorical"),
        (keras.losses.BinaryFocalCrossentropy(), "BinaryFocalCrossentropy"),
    ],
)
def test_a_loss_of_probabilities_is_refused(name, loss, found):
    model = MODELS[name]()
    with pytest.raises(
        ValueError, match=f"`from_logits=True`.*Received: loss={found}"
    ):
        model.compile("adam", loss)


@pytest.mark.parametrize(
    "loss",
    [
        None,
        "mse",
        keras.losses.BinaryCrossentropy(from_logits=True),
        TokenCrossentropy(),
        lambda y_true, y_pred: y_pred,
    ],
)
def test_any_other_loss_passes(loss):
    model = MODELS["language"]()
    model.compile("adam", loss)
    assert model.loss is loss


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_compiled(name, tmp_path):
    """Which Keras does not do if `compile` is overridden."""
    model = MODELS[name]()
    model.build((None, None))
    model.compile("adam", TokenCrossentropy(-1), metrics=["accuracy"])
    model.optimizer.build(model.trainable_variables)
    loaded = helpers.reloaded(model, tmp_path)
    assert loaded.compiled and loaded.optimizer.built
    assert loaded.loss.pad_id == -1


def test_a_file_with_another_loss_opens_without_it(tmp_path, monkeypatch):
    model = LanguageModel(9, CELL)
    with monkeypatch.context() as patch:
        patch.setattr(LanguageModel, "check_loss", lambda *_: None)
        model.compile("adam", "sparse_categorical_crossentropy")
    model.build()
    model.save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="`compile=False` opens the file"):
        keras.saving.load_model(tmp_path / "model.keras")
    keras.saving.load_model(tmp_path / "model.keras", compile=False)


def test_a_tagger_with_a_crf_has_the_loss_of_its_layer():
    model = Tagger(9, 3, CELL, 4, crf=CRF())
    model.compile("adam", model.crf_loss())
    for loss in (
        "sparse_categorical_crossentropy",
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        TokenCrossentropy(-1),
    ):
        with pytest.raises(ValueError, match="Expected: `model.crf_loss()"):
            model.compile("adam", loss)


@pytest.mark.parametrize("crf", [True, False])
def test_a_tagger_has_no_loss_of_another_crf(crf):
    model = Tagger(9, 3, CELL, 4, crf=CRF() if crf else None)
    message = "another `CRF`.*crf='other'" if crf else "has no `CRFLoss`"
    with pytest.raises(ValueError, match=message):
        model.compile("adam", CRFLoss(CRF(name="other")))
