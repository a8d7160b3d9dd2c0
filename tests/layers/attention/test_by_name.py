import keras
import pytest

from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers.attention.by_name import copy_of_attention
from kerasrnn.layers.attention.by_name import get_attention
from kerasrnn.layers.attention.by_name import mechanisms_by_name
from tests import helpers
from tests.layers.attention.small_mechanisms import NAMES


@pytest.mark.parametrize("name", mechanisms_by_name())
def test_names_that_people_type(name):
    mechanism, attributes = NAMES[name]
    found = get_attention(name, 8, "mixed_bfloat16")
    assert type(found) is mechanism
    assert found.compute_dtype == "bfloat16"
    assert {key: getattr(found, key) for key in attributes} == attributes
    config = keras.saving.serialize_keras_object(found)
    assert get_attention(config, 3).get_config() == found.get_config()
    assert get_attention(found, 3) is found


def test_a_narrow_cell_has_heads_of_width_one():
    assert get_attention("multi_head", 3).head_dim == 1


@pytest.mark.parametrize("bad", ["sharp", keras.layers.Attention()])
def test_an_unknown_one_is_told_the_names(bad):
    with pytest.raises(ValueError, match="'dot'.*'monotonic'.*Received"):
        get_attention(bad, 8)


@pytest.mark.slow
def test_a_mechanism_in_use_is_copied(tmp_path):
    """Shared, it was loaded with weights missing, and not cloned."""
    attention = BahdanauAttention(5)
    sequence, memory = keras.Input((None, 8)), keras.Input((None, 6))
    outputs = sequence
    for _ in range(2):
        cell = AttentionCell(keras.layers.GRUCell(8), attention)
        outputs = AttentionRNN(cell)(outputs, memory)
    model = keras.Model([sequence, memory], outputs)
    assert cell.attention is not attention
    assert cell.attention.get_config()["units"] == 5
    clone = keras.models.clone_model(model)
    assert clone.count_params() == model.count_params()
    arrays = [helpers.random(2, 3, 8), helpers.random(2, 4, 6)]
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(arrays), model(arrays))


def test_two_cells_of_one_mechanism_do_not_share_it():
    """Even if neither has been built, and whichever comes first."""
    attention = BahdanauAttention(5)
    first = AttentionCell(keras.layers.GRUCell(8), attention)
    second = SelfAttentionCell(keras.layers.GRUCell(8), attention)
    assert first.attention is attention
    assert second.attention is second.attending.attention
    assert second.attention is not attention


def test_a_mechanism_built_by_hand_keeps_its_weights():
    attention = BahdanauAttention(5)
    attention.build((None, None, 8), (None, None, 6))
    cell = AttentionCell(keras.layers.GRUCell(8), attention)
    assert cell.attention is attention


def test_a_copy_has_no_weights():
    attention = BahdanauAttention(5, normalize=True)
    attention.build((None, None, 8), (None, None, 6))
    copy = copy_of_attention(attention)
    assert not copy.built
    assert copy.get_config() == attention.get_config()
    assert copy_of_attention("dot") == "dot"
    assert copy_of_attention(None) is None
