import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.layers import RHNCell
from kerasrnn.models import Decoder
from tests import helpers

INPUTS = {
    "ids": np.array([[1, 5, 6, 7], [1, 4, 0, 0]], "int32"),
    "memory": helpers.random(2, 5, 5),
    "memory_mask": np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], bool),
    "final": helpers.random(2, 4),
}


def make(cell=None, **kwargs):
    decoder = Decoder(10, cell or GRUCell(4), embedding_dim=3, **kwargs)
    decoder(**INPUTS)
    helpers.randomize(decoder)
    return decoder


@pytest.mark.parametrize(
    "kwargs",
    [
        {"placement": "before"},
        {"placement": "after", "attention_units": 7, "depth": 2},
        {"input_feeding": True, "tie_embeddings": True},
    ],
)
def test_shapes(kwargs):
    decoder = make(**kwargs)
    assert decoder(**INPUTS).shape == (2, 4, 10)
    model = helpers.functional(decoder, INPUTS)
    assert model.output.shape == (None, None, 10)


def test_the_dense_bridge_is_a_tanh_of_the_final_states():
    decoder = make(LSTMCell(3), depth=2)
    kernel, bias = decoder.bridge_projection.get_weights()
    states = decoder.initial_state(ops.convert_to_tensor(INPUTS["final"]))
    keras.tree.assert_same_structure(
        states, decoder.rnn.cell.get_initial_state(2)
    )
    joined = ops.concatenate(keras.tree.flatten(states), axis=-1)
    assert joined.shape == (2, 12)
    helpers.assert_close(joined, np.tanh(INPUTS["final"] @ kernel + bias))


def test_the_copy_bridge_starts_from_the_final_states():
    decoder = make(LSTMCell(2), bridge="copy", input_feeding=True)
    fed, (h, c) = decoder.initial_state(INPUTS["final"])
    helpers.assert_close(fed, np.zeros((2, 2)))
    helpers.assert_close(ops.concatenate([h, c], -1), INPUTS["final"])


def test_the_copy_bridge_wants_equal_widths():
    with pytest.raises(
        ValueError, match="bridge='copy'.*Expected: 5. Received: 4"
    ):
        make(GRUCell(5), bridge="copy")


@pytest.mark.parametrize("units, projected", [(3, False), (7, True)])
def test_tied_embeddings_share_the_table(units, projected):
    decoder = make(attention_units=units, tie_embeddings=True)
    tables = [w for w in decoder.weights if 10 in w.shape and w.shape != (10,)]
    assert len(tables) == 1
    assert tables[0] is decoder.embedding.embeddings
    outputs = helpers.random(2, 4, units)
    expected = outputs
    if projected:
        expected = outputs @ decoder.output_projection.get_weights()[0]
    table, bias = tables[0].value, decoder.output_bias.value
    table, bias = helpers.as_numpy((table, bias))
    assert np.any(bias)
    helpers.assert_close(decoder.logits(outputs), expected @ table.T + bias)
    assert decoder.output_projection.count_params() == projected * 7 * 3


def test_dropout_is_for_training():
    decoder = make(dropout=0.5)
    helpers.assert_close(decoder(**INPUTS), make()(**INPUTS))
    first, second = (
        helpers.as_numpy(decoder(**INPUTS, training=True)) for _ in range(2)
    )
    assert np.any(first != second)


def test_configuration_round_trip():
    decoder = make(
        depth=2,
        attention="general",
        attention_units=5,
        input_feeding=True,
        bridge="dense",
        tie_embeddings=True,
        dropout=0.1,
        word_dropout=0.2,
        name="speaker",
    )
    copy = helpers.copy_of(decoder)
    assert copy.get_config() == decoder.get_config()
    copy(**INPUTS)
    copy.set_weights(decoder.get_weights())
    helpers.assert_close(copy(**INPUTS), decoder(**INPUTS))


@pytest.mark.parametrize(
    "kwargs, message",
    [
        ({"cell": None}, "Decoder expects `cell`.*Received: cell=None"),
        ({"vocabulary_size": -1}, "Received: vocabulary_size=-1"),
        ({"embedding_dim": 0}, "Received: embedding_dim=0"),
        ({"depth": 0}, "Received: depth=0"),
        ({"attention": "luong"}, "Received: attention='luong'"),
        ({"placement": "beside"}, "Received: placement='beside'"),
        ({"attention_units": 0}, "Received: units=0"),
        (
            {"placement": "before", "input_feeding": True},
            "Received: units=None, input_feeding=True",
        ),
        ({"bridge": "rope"}, "'dense' or 'copy'. Received: bridge='rope'"),
        ({"dropout": 1.0}, "Received: dropout=1.0"),
    ],
)
def test_bad_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        Decoder(**{"vocabulary_size": 10, "cell": GRUCell(4)} | kwargs)


def lexicon_inputs():
    return INPUTS | {"source": np.array([[3, 4, 5, 6, 2], [3, 2, 0, 0, 0]])}


def test_a_lexicon_adds_what_the_attended_words_may_become():
    inputs = lexicon_inputs()
    decoder = Decoder(10, GRUCell(4), embedding_dim=3, lexicon_size=7)
    decoder(**inputs)
    helpers.randomize(decoder)
    lexicon = np.random.default_rng(1).dirichlet(np.ones(10), size=7)
    decoder.lexicon.assign(np.zeros((7, 10)))
    without = helpers.as_numpy(decoder(**inputs)) - np.log(1e-3)
    decoder.lexicon.assign(lexicon)
    _, weights = decoder.rnn(
        decoder.embedding(inputs["ids"]),
        inputs["memory"],
        inputs["memory_mask"],
        initial_state=decoder.initial_state(inputs["final"]),
    )
    likely = helpers.as_numpy(weights) @ lexicon[inputs["source"]]
    expected = without + np.log(likely + 1e-3)
    helpers.assert_close(decoder(**inputs), expected)


def test_a_lexicon_is_no_trained_weight_and_is_saved(tmp_path):
    decoder = Decoder(10, GRUCell(4), embedding_dim=3, lexicon_size=7)
    decoder(**lexicon_inputs())
    assert all(w is not decoder.lexicon for w in decoder.trainable_weights)
    assert any(w is decoder.lexicon for w in decoder.weights)
    assert Decoder.from_config(decoder.get_config()).lexicon_size == 7


def test_without_attention_it_is_the_cell_from_the_final_states():
    decoder = make(attention=None, bridge="copy")
    x = decoder.embedding(INPUTS["ids"])
    loop = keras.layers.RNN(GRUCell(4), return_sequences=True)
    loop.build((2, 4, 3))
    loop.set_weights(decoder.rnn.get_weights())
    hidden = loop(x, initial_state=ops.convert_to_tensor(INPUTS["final"]))
    kernel, bias = decoder.output_projection.get_weights()
    expected = helpers.as_numpy(hidden) @ kernel + bias
    helpers.assert_close(decoder(**INPUTS), expected)
    other = decoder(**INPUTS | {"memory": helpers.random(2, 5, 5, seed=9)})
    helpers.assert_close(other, expected)


@pytest.mark.parametrize("tie_embeddings", [True, False])
def test_factorized_it_reads_and_writes_through_dense_layers(tie_embeddings):
    decoder = make(LSTMCell(8), factorized=True, tie_embeddings=tie_embeddings)
    assert decoder.input_projection.kernel.shape == (3, 8)
    assert decoder.narrowing.kernel.shape == (8, 3)
    assert decoder.rnn.cell.cell.kernel.shape == (8, 32)
    tables = {w.shape for w in decoder.trainable_weights if 10 in w.shape}
    untied = set() if tie_embeddings else {(3, 10)}
    assert tables == {(10,), (10, 3)} | untied
    outputs = helpers.random(2, 4, 8)
    kernel, bias = decoder.narrowing.get_weights()
    helpers.assert_close(
        decoder.predict(outputs), decoder.logits(outputs @ kernel + bias)
    )


@pytest.mark.parametrize("options", [{}, {"input_feeding": True}, {"depth": 2}])
def test_the_clock_of_zoneout_starts_at_zero(options):
    decoder = make(RHNCell(4, zoneout=0.1), **options)
    states = decoder.initial_state(INPUTS["final"])
    flat = helpers.as_numpy(keras.tree.flatten(states))
    clocks = [x for x in flat if x.shape == (2, 1)]
    assert len(clocks) == decoder.depth
    assert all((clock == 0).all() for clock in clocks)
    assert decoder.state_sizes == [4] * decoder.depth


def test_a_lexicon_needs_the_source():
    with pytest.raises(ValueError, match="Received: source=None"):
        make(lexicon_size=6).entries(None)
