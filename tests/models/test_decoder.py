import functools

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.layers import BahdanauAttention
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Lexicon
from kerasrnn.models import Translator
from kerasrnn.models import TranslatorEnsemble
from tests import helpers
from tests.models.small import DECODER_INPUTS as INPUTS
from tests.models.small import decoder as make
from tests.models.small import lexicon
from tests.models.small import translation_table


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


def test_tied_embeddings_share_the_table():
    decoder = make(attention_units=7, tie_embeddings=True)
    tables = [w for w in decoder.weights if 10 in w.shape and w.shape != (10,)]
    assert len(tables) == 1
    assert tables[0] is decoder.embedding.embeddings
    assert decoder.output_projection.tied_to is decoder.embedding


def test_dropout_is_on_the_embeddings_in_the_cell_and_of_its_outputs():
    for part in ("embeddings", "cell", "outputs", "none"):
        cell = GRUCell(4, dropout=0.5 if part == "cell" else 0.0)
        decoder = make(cell, dropout=0.5)
        if part != "embeddings":
            decoder.embedding.dropout = 0.0
        if part != "outputs":
            decoder.unit_dropout.rate = 0.0
        inference, training = (
            helpers.as_numpy(decoder(**INPUTS, training=training))
            for training in (False, True)
        )
        changed = np.abs(training - inference).max() > 1e-3
        assert changed == (part != "none"), part


def test_its_embedding_is_as_it_is_told():
    decoder = make(word_dropout=0.2, embedding_scale=3.0)
    assert decoder.embedding.word_dropout == 0.2
    table = decoder.embedding.get_weights()[0]
    helpers.assert_close(decoder.embed(INPUTS["ids"]), 3 * table[INPUTS["ids"]])


@pytest.mark.parametrize(
    "options",
    [
        {
            **{"depth": 2, "attention": "general", "attention_units": 5},
            **{"input_feeding": True, "tie_embeddings": True},
            **{"dropout": 0.1, "word_dropout": 0.2, "name": "speaker"},
        },
        {
            **{"placement": "before", "readout": True, "bridge": "copy"},
            **{"factorized": True, "embedding_scale": 3.0},
        },
    ],
    ids=["fed", "readout"],
)
def test_configuration_round_trip(options):
    decoder = make(**options)
    copy = helpers.copy_of(decoder)
    assert copy.get_config() == decoder.get_config()
    copy(**INPUTS)
    copy.set_weights(decoder.get_weights())
    helpers.assert_close(copy(**INPUTS), decoder(**INPUTS))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                functools.partial(
                    Decoder,
                    **{"vocabulary_size": 10, "cell": GRUCell(4)} | options,
                ),
                message,
            )
            for options, message in [
                ({"cell": None}, "Decoder expects `cell`.*Received: cell=None"),
                ({"vocabulary_size": -1}, "Received: vocabulary_size=-1"),
                ({"embedding_dim": 0}, "Received: embedding_dim=0"),
                ({"depth": 0}, "Received: depth=0"),
                ({"attention": "sharp"}, "Received: attention='sharp'"),
                ({"placement": "beside"}, "Received: placement='beside'"),
                ({"attention_units": 0}, "Received: units=0"),
                (
                    {"placement": "before", "input_feeding": True},
                    "Received: units=None, input_feeding=True",
                ),
                (
                    {"bridge": "rope"},
                    "'dense' or 'copy'. Received: bridge='rope'",
                ),
                (
                    {"lexicon": Lexicon(5, 9)},
                    "lexicon.target_size=9, vocabulary_size=10",
                ),
                ({"dropout": 1.0}, "Received: dropout=1.0"),
            ]
        ),
        (
            lambda: make(lexicon=lexicon(translation_table())),
            "Received: source=None",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


SOURCE = np.array([[3, 4, 5, 6, 2], [3, 2, 0, 0, 0]])


def test_a_lexicon_adds_the_translations_of_attended_words():
    table = translation_table()
    decoder = Decoder(10, GRUCell(4), embedding_dim=3, lexicon=lexicon(table))
    decoder(**INPUTS, source=SOURCE)
    helpers.randomize(decoder)
    outputs, weights = decoder.rnn(
        decoder.embedding(INPUTS["ids"]),
        INPUTS["memory"],
        INPUTS["memory_mask"],
        initial_state=decoder.bridge(INPUTS["final"]),
    )
    likely = helpers.as_numpy(weights) @ table[SOURCE]
    expected = helpers.as_numpy(decoder.output_projection(outputs))
    expected = expected + np.log(likely + 1e-3)
    helpers.assert_close(decoder(**INPUTS, source=SOURCE), expected)


def test_a_lexicon_is_no_trained_weight_and_is_part_of_the_configuration():
    decoder = Decoder(10, GRUCell(4), 3, lexicon=lexicon(translation_table()))
    decoder(**INPUTS, source=SOURCE)
    assert len(decoder.non_trainable_weights) == 2
    config = decoder.get_config()
    assert Decoder.from_config(config).lexicon.translations == 10


def test_without_attention_it_is_the_cell_from_the_final_states():
    decoder = make(attention=None, bridge="copy")
    x = decoder.embedding(INPUTS["ids"])
    loop = keras.layers.RNN(GRUCell(4), return_sequences=True)
    loop.build((2, 4, 3))
    loop.set_weights(decoder.rnn.get_weights())
    hidden = loop(x, initial_state=ops.convert_to_tensor(INPUTS["final"]))
    expected = decoder.output_projection(hidden)
    helpers.assert_close(decoder(**INPUTS), expected)
    other = decoder(**INPUTS | {"memory": helpers.random(2, 5, 5, seed=9)})
    helpers.assert_close(other, expected)


@pytest.mark.parametrize("tie_embeddings", [True, False])
def test_factorized_it_reads_and_writes_through_dense_layers(tie_embeddings):
    decoder = make(LSTMCell(8), factorized=True, tie_embeddings=tie_embeddings)
    assert decoder.input_projection.kernel.shape == (3, 8)
    assert decoder.output_projection.projection.kernel.shape == (8, 3)
    assert decoder.rnn.cell.cell.kernel.shape == (8, 32)
    tables = {w.shape for w in decoder.trainable_weights if 10 in w.shape}
    untied = set() if tie_embeddings else {(3, 10)}
    assert tables == {(10,), (10, 3)} | untied


@pytest.mark.slow_on_jax
def test_each_decoder_has_a_mechanism_of_its_own(tmp_path):
    """In an ensemble of two, which shared it and could not be loaded."""
    cell, attention = keras.layers.GRUCell(4), BahdanauAttention(5)
    model = TranslatorEnsemble(
        [
            Translator(Encoder(9, cell, 3), Decoder(9, cell, 3, attention=a))
            for a in (attention, attention)
        ]
    )
    first, second = (x.decoder.rnn.cell.attention for x in model.models)
    assert first is not second and not attention.built
    assert first.units == second.units == 5
    ids = {
        name: keras.Input((None,), dtype="int32", name=name)
        for name in ("source", "target")
    }
    model = keras.Model(ids, model(ids))
    arrays = dict.fromkeys(ids, np.array([[3, 4, 2]], "int32"))
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(arrays), model(arrays))


def test_a_batch_without_rows_has_a_lexicon():
    decoder = Decoder(10, GRUCell(4), 3, lexicon=lexicon(translation_table()))
    inputs = {name: x[:0] for name, x in INPUTS.items()}
    logits = decoder(**inputs, source=SOURCE[:0])
    assert logits.shape == (0, *INPUTS["ids"].shape[1:], 10)


# A decoder step by step, from what it has read.


READ = [INPUTS[name] for name in ("memory", "memory_mask", "final")]


@pytest.mark.slow_on_jax
def test_a_deep_decoder_starts_from_the_bridge():
    decoder = make(LSTMCell(3), depth=2)
    states, _ = decoder.start(*READ)
    keras.tree.assert_same_structure(
        states, decoder.rnn.cell.get_initial_state(2)
    )
    helpers.assert_close(
        keras.tree.flatten(states), decoder.bridge(INPUTS["final"])
    )


@pytest.mark.slow_on_jax
def test_the_copy_bridge_starts_from_the_final_states():
    decoder = make(LSTMCell(2), bridge="copy", input_feeding=True)
    (fed, (h, c)), _ = decoder.start(*READ)
    helpers.assert_close(fed, np.zeros((2, 2)))
    helpers.assert_close(ops.concatenate([h, c], -1), INPUTS["final"])


STARTS = {
    "plain": {},
    "lexicon": {"lexicon": True},
    "tied": {"lexicon": True, "tie_embeddings": True, "attention_units": 6},
    "factorized": {"factorized": True, "input_feeding": True},
}


@pytest.mark.parametrize("name", STARTS)
def test_a_step_for_a_few_words_has_their_logits(name):
    """Three hypotheses of each of two sentences, and their shortlists."""
    options = dict(STARTS[name])
    if options.pop("lexicon", False):
        options["lexicon"] = lexicon(translation_table())
    decoder = Decoder(10, GRUCell(4), embedding_dim=3, **options)
    decoder(INPUTS["ids"], *READ, source=SOURCE)
    helpers.randomize(decoder)
    words = np.array([[9, 2, 0, 5], [1, 2, 3, 4]])
    ids = np.array([1, 5, 8, 2, 2, 4])
    found = []
    for vocabulary in (None, words):
        states, memory = decoder.start(*READ, SOURCE, vocabulary)
        states = keras.tree.map_structure(
            lambda x: ops.repeat(x, 3, axis=0), states
        )
        found.append(decoder.step(ids, states, memory))
    (logits, *rest), (few, *same) = found
    assert logits.shape == (6, 10)
    helpers.assert_close(
        few, np.take_along_axis(helpers.as_numpy(logits), words.repeat(3, 0), 1)
    )
    helpers.assert_close(same, rest)
