import itertools

import keras
import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import ZoneoutCell
from kerasrnn.layers.recurrent.clone_cell import clone_cell
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import Translator
from tests import helpers


def test_a_clone_has_the_configuration_but_not_the_weights():
    cell = LSTMCell(3, activation="relu", dropout=0.2, name="first")
    cell.build((None, 2))
    clone = clone_cell(cell)
    assert not clone.built
    for name in cell.get_config():
        if not name.endswith("initializer"):
            assert clone.get_config()[name] == cell.get_config()[name]
    clone.build((None, 2))
    assert np.any(clone.get_weights()[0] != cell.get_weights()[0])


def test_a_clone_may_have_another_dtype():
    ones = keras.initializers.Constant(np.ones((2, 12)))
    cell = ZoneoutCell(GRUCell(4, bias_initializer=ones), 0.1)
    clone = clone_cell(cell, dtype="mixed_bfloat16")
    for each in (clone, clone.cell):
        assert each.compute_dtype == "bfloat16"
        assert each.variable_dtype == "float32"
    clone.build((None, 3))
    assert any(np.all(x == 1) for x in clone.get_weights())
    assert clone_cell(clone).compute_dtype == "bfloat16"


def test_clones_of_a_seeded_cell_draw_different_numbers():
    cell = LSTMCell(
        3,
        dropout=0.5,
        seed=4,
        kernel_initializer=keras.initializers.GlorotUniform(seed=7),
    )
    clones = [clone_cell(cell, i) for i in (0, 0, 1)]
    for clone in clones:
        clone.build((None, 50))
    same, again, other = (clone.get_weights()[0] for clone in clones)
    assert np.all(same == again) and np.all(same != other)
    ones = np.ones((1, 50))
    same, again, other = (
        keras.ops.convert_to_numpy(clone.get_dropout_mask(ones))
        for clone in clones
    )
    assert np.all(same == again) and np.any(same != other)


@pytest.mark.parametrize("new", [LSTMCell, RHNCell])
def test_the_layers_of_a_model_start_from_different_kernels(new):
    """No kernel of a layer is a kernel of another one, or of another model."""
    seeded = keras.initializers.Orthogonal(seed=7)
    depth = {"depth": 3} if new is RHNCell else {}
    cell = new(4, recurrent_initializer=seeded, **depth)
    language = LanguageModel(9, cell, depth=2)
    language.build((None, None))
    translator = Translator(
        Encoder(9, cell, depth=2), Decoder(9, cell, depth=2)
    )
    kernels = [
        helpers.as_numpy(weight.value)
        for model in (language, translator.encoder, translator.decoder)
        for weight in model.weights
        if "recurrent_kernel" in weight.name
    ]
    assert len(kernels) == (2 + 4 + 2) * (3 if depth else 1)
    for one, other in itertools.combinations(kernels, 2):
        assert np.all(np.any(one != other, axis=-1))


def test_encoder_and_decoder_draw_different_masks():
    cell = LSTMCell(4, dropout=0.5, seed=0)
    encoder = Encoder(9, cell, bidirectional=False)
    masks = [
        helpers.as_numpy(each.get_dropout_mask(np.ones((8, 50))))
        for each in (encoder.cell, Decoder(9, cell).cell)
    ]
    assert 0.3 < (masks[0] == masks[1]).mean() < 0.7


def test_a_clone_of_a_wrapper_that_ran_fits_any_width():
    cell = ZoneoutCell(LSTMCell(3), 0.1)
    keras.layers.RNN(cell)(np.ones((1, 2, 5)))
    clone = clone_cell(cell)
    assert keras.layers.RNN(clone)(np.ones((1, 2, 7))).shape == (1, 3)


def test_a_configuration_that_forgets_an_argument_is_told():
    class Forgetful(RHNCell):
        def __init__(self, units=3, **kwargs):
            super().__init__(units, **kwargs)

        def get_config(self):
            config = super().get_config()
            return {name: config[name] for name in ("name", "dtype")}

    with pytest.raises(ValueError, match=r"Forgetful.get_config.*\(3, \[3\]\)"):
        clone_cell(Forgetful(4))


@pytest.mark.slow_on_jax
def test_copies_made_while_a_file_is_loaded_share_nothing(tmp_path):
    """Keras takes two objects for one if they had the same address."""
    seeded = keras.initializers.GlorotUniform(seed=7)
    cell = FastLSTMCell(4, kernel_initializer=seeded)
    inputs = keras.Input((None,), dtype="int32")
    model = keras.Model(inputs, LanguageModel(9, cell, depth=3)(inputs))
    loaded = helpers.reloaded(model, tmp_path).layers[-1]
    found = [x for x in loaded._flatten_layers() if isinstance(x, FastLSTMCell)]
    initializers = [x.kernel_initializer for x in found]
    assert len({id(x) for x in initializers}) == 3
    assert len({x.seed for x in initializers}) == 3
