import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import SimpleRNNCell

from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import RHNCell
from kerasrnn.models import AttentionSummary
from kerasrnn.models import ClassifierEnsemble
from kerasrnn.models import DecoderSummary
from kerasrnn.models import Encoder
from kerasrnn.models import TextClassifier
from tests import helpers
from tests.models.small import SOURCE
from tests.reference.attention import attend_as

WORDS = 9
LENGTHS = [5, 3, 1]
MASK = SOURCE != 0

ENCODERS = {
    "simple": {"cell": SimpleRNNCell(4), "bidirectional": False},
    "deep_lstm": {"cell": LSTMCell(4), "depth": 2},
    "deep_forth": {"cell": LSTMCell(4), "depth": 2, "bidirectional": False},
    "deep_back": {
        "cell": GRUCell(4),
        "depth": 2,
        "bidirectional": False,
        "go_backwards": True,
    },
    "rhn": {"cell": RHNCell(4, depth=2)},
    "gam_rhn": {"cell": GAMRHNCell(4, 1, 2, 3, 5), "bidirectional": False},
    "lexical": {"cell": GRUCell(4), "lexical": True},
    "stacked": {
        "cell": keras.layers.StackedRNNCells([GRUCell(3), LSTMCell(4)]),
        "bidirectional": False,
    },
}
SUMMARIES = {
    "last": lambda cell: "last",
    "pooled": lambda cell: "pooled",
    "additive": lambda cell: "attention",
    "general": lambda cell: AttentionSummary("general"),
    "multi_head": lambda cell: AttentionSummary("multi_head", units=4),
    "multi_scale": lambda cell: AttentionSummary("multi_scale", units=4),
    "decoder": lambda cell: "decoder",
    "attending_decoder": lambda cell: DecoderSummary(cell, "additive"),
}
ATTENDING = {
    "additive",
    "general",
    "multi_head",
    "multi_scale",
    "attending_decoder",
}
# Every summary, and every encoder with those that it may trouble.
PAIRS = [
    *[("simple", summary) for summary in SUMMARIES],
    ("deep_lstm", "last"),
    ("deep_lstm", "pooled"),
    ("deep_back", "pooled"),
    ("deep_forth", "attending_decoder"),
    ("rhn", "general"),
    ("gam_rhn", "last"),
    ("lexical", "pooled"),
    ("stacked", "decoder"),
]

# Every summary, and the encoders that end elsewhere.
every_pair = pytest.mark.parametrize(
    "encoder, summary",
    helpers.some_now(
        PAIRS,
        [
            *PAIRS[: len(SUMMARIES)],
            ("deep_lstm", "last"),
            ("deep_back", "pooled"),
        ],
    ),
)
few_pairs = pytest.mark.parametrize(
    "encoder, summary",
    helpers.one_now(
        [
            ("deep_forth", "attending_decoder"),
            ("simple", "last"),
            ("simple", "general"),
            ("rhn", "pooled"),
        ]
    ),
)


def encoder_of(name, **options):
    return Encoder(WORDS, embedding_dim=3, **ENCODERS[name] | options)


def classifier(encoder="simple", summary="last", dropout=0.0, **options):
    """A model of 9 words, weights at random."""
    encoder = encoder_of(encoder, **options)
    summary = SUMMARIES[summary](encoder.cell)
    model = TextClassifier(encoder, summary, dropout=dropout)
    model.build((None, None))
    helpers.randomize(model)
    return model


def classified(model, ids):
    """Logits and weights."""
    return model.classify(*model.encoder(ids))


@pytest.mark.slow_on_jax
@every_pair
def test_padding_has_no_part_in_it(encoder, summary):
    model = classifier(encoder, summary)
    logits, weights = classified(model, SOURCE)
    alone, alone_weights = classified(model, SOURCE[1:2, :3])
    helpers.assert_close(logits[1], alone[0])
    # They do depend on the words.
    assert logits.shape == (3, 1)
    assert len(np.unique(helpers.as_numpy(logits))) == 3
    if summary not in ATTENDING:
        assert weights is None
    else:
        weights = helpers.as_numpy(weights)
        assert weights.shape == SOURCE.shape
        assert (weights[~MASK] == 0).all()
        assert (weights[MASK] > 0).all()
        np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)
        helpers.assert_close(weights[1, :3], alone_weights[0])


def padded(positions):
    """The sources with their words at other positions of seven."""
    ids = np.zeros((len(SOURCE), 7), "int32")
    for row, source, length in zip(ids, SOURCE, LENGTHS, strict=True):
        row[positions[-length:]] = source[:length]
    return ids


@helpers.slow_on_jax
@every_pair
def test_padding_may_be_anywhere(encoder, summary):
    """As in front, where `keras.utils.pad_sequences` puts it."""
    model = classifier(encoder, summary)
    expected, weights = classified(model, SOURCE)
    for positions in (np.arange(2, 7), np.array([0, 2, 3, 5, 6])):
        ids = padded(positions)
        logits, found = classified(model, ids)
        helpers.assert_close(logits, expected)
        if weights is not None:
            found, expected_weights = helpers.as_numpy((found, weights))
            helpers.assert_close(found[ids != 0], expected_weights[MASK])
            assert np.all(found[ids == 0] == 0)


def read(model, ids=SOURCE):
    """Memory and final states in NumPy."""
    memory, _, final = helpers.as_numpy(model.encoder(ids))
    return memory, final


def projected(model, summary):
    kernel, bias = model.output_projection.get_weights()
    return summary @ kernel + bias


def last_outputs(memory, backward, mask=MASK):
    """Last real outputs forth, in order, then the first back."""
    places = [np.flatnonzero(row)[[0, -1]] for row in mask]
    first, last = np.transpose(places)
    forth = memory[range(3), last]
    if not backward:
        return forth[:, :4]
    back = memory[range(3), first]
    return np.concatenate([forth[:, :4], back[:, 4:8]], axis=-1)


@helpers.slow_on_jax
@pytest.mark.parametrize(
    "encoder",
    helpers.some_now(
        ["simple", "deep_lstm", "deep_forth", "rhn", "gam_rhn"],
        ["deep_lstm", "deep_forth", "gam_rhn"],
    ),
)
def test_last_is_what_each_way_ends_with(encoder):
    model = classifier(encoder, "last")
    memory, _ = read(model)
    last = last_outputs(memory, model.encoder.bidirectional)
    helpers.assert_close(model(SOURCE), projected(model, last))
    # Outputs of padding, also before a text, may be anything.
    memory = helpers.random(3, 7, memory.shape[-1])
    mask = padded(np.arange(2, 7)) != 0
    last = last_outputs(memory, model.encoder.bidirectional, mask)
    logits, _ = model.classify(memory, mask, memory[:, -1])
    helpers.assert_close(logits, projected(model, last))


@pytest.mark.parametrize(
    "encoder", helpers.one_now(["deep_lstm", "simple", "gam_rhn"])
)
def test_pooled_is_last_and_max_and_mean_of_the_words(encoder):
    model = classifier(encoder, "pooled")
    memory, _ = read(model)
    rows = [row[:n] for row, n in zip(memory, LENGTHS, strict=True)]
    pooled = [
        last_outputs(memory, model.encoder.bidirectional),
        np.array([row.max(0) for row in rows]),
        np.array([row.mean(0) for row in rows]),
    ]
    expected = projected(model, np.concatenate(pooled, axis=-1))
    helpers.assert_close(model(SOURCE), expected)


@helpers.slow_on_jax
@pytest.mark.parametrize(
    "encoder, summary",
    [
        ("deep_lstm", "additive"),
        ("lexical", "general"),
        ("deep_lstm", "multi_head"),
    ],
)
def test_attention_is_the_mean_weighted_by_its_query(encoder, summary):
    model = classifier(encoder, summary)
    memory, _ = read(model)
    query = np.tile(
        helpers.as_numpy(model.summary_layer.query.value), (3, 1, 1)
    )
    context, weights = attend_as(
        model.summary_layer.attention, query, memory, MASK
    )
    found = classified(model, SOURCE)
    helpers.assert_close(
        found, (projected(model, context[:, 0]), weights[:, 0])
    )


GOING_FORTH = ["simple", "deep_forth", "gam_rhn"]


def final_of_last_layer(model):
    """Final states of the last layer, as its cell takes them."""
    _, final = read(model)
    sizes = keras.tree.flatten(model.encoder.cell.state_size)
    final = final[:, -sum(sizes) :]
    return np.split(final, np.cumsum(sizes)[:-1], axis=-1)


@helpers.slow_on_jax
@pytest.mark.parametrize(
    "encoder", helpers.some_now(GOING_FORTH, ["deep_forth", "gam_rhn"])
)
def test_a_decoder_makes_one_step_from_the_final_states(encoder):
    model = classifier(encoder, "decoder")
    start = np.tile(
        helpers.as_numpy(model.summary_layer.start.value)[0], (3, 1)
    )
    states = [ops.convert_to_tensor(x) for x in final_of_last_layer(model)]
    output, _ = model.summary_layer.cell(ops.convert_to_tensor(start), states)
    expected = projected(model, helpers.as_numpy(output))
    helpers.assert_close(model(SOURCE), expected)


@helpers.slow_on_jax
@pytest.mark.parametrize(
    "encoder", helpers.some_now(GOING_FORTH, ["deep_forth"])
)
def test_a_decoder_summary_attends_with_the_last_output(encoder):
    """The cell of the decoder reads the start beside what it attends to."""
    model = classifier(encoder, "attending_decoder")
    memory, _ = read(model)
    states = final_of_last_layer(model)
    query = last_outputs(memory, False)[:, None]
    helpers.assert_close(states[0], query[:, 0])
    context, weights = attend_as(
        model.summary_layer.attention, query, memory, MASK
    )
    start = np.tile(
        helpers.as_numpy(model.summary_layer.start.value)[0], (3, 1)
    )
    x = np.concatenate([start, context[:, 0]], axis=-1).astype("float32")
    states = [ops.convert_to_tensor(x) for x in states]
    output, _ = model.summary_layer.cell(ops.convert_to_tensor(x), states)
    expected = projected(model, helpers.as_numpy(output)), weights[:, 0]
    helpers.assert_close(classified(model, SOURCE), expected)


LABELS = np.array([[1.0], [0.0], [1.0]])


def compiled(model):
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    accuracy = keras.metrics.BinaryAccuracy("accuracy", threshold=0.0)
    model.compile("sgd", loss, metrics=[accuracy])
    return model


@pytest.mark.slow
@few_pairs
def test_a_text_without_a_word_trains(encoder, summary):
    model = classifier(encoder, summary)
    ids = np.where([[True], [True], [False]], SOURCE, 0)
    logits, weights = classified(model, ids)
    assert np.isfinite(helpers.as_numpy(logits)).all()
    if weights is not None:
        assert (helpers.as_numpy(weights)[2] == 0).all()
    before = model.get_weights()
    compiled(model).train_on_batch(ids, LABELS)
    changed = [
        np.any(old != new)
        for old, new in zip(before, model.get_weights(), strict=True)
    ]
    assert all(np.isfinite(w).all() for w in model.get_weights())
    assert any(changed)


@few_pairs
def test_a_compiled_graph_gives_the_same(encoder, summary):
    model = classifier(encoder, summary)
    helpers.assert_close(model.predict_on_batch(SOURCE), model(SOURCE))


def test_attention_may_give_another_width():
    encoder = Encoder(WORDS, GRUCell(4), 3, bidirectional=False)
    attention = MultiHeadDotAttention(2, 3, units=6)
    classifier = TextClassifier(encoder, AttentionSummary(attention))
    assert classifier(SOURCE).shape == (3, 1)
    # It is a template.
    assert classifier.summary_layer.attention is not attention
    assert not attention.built


@pytest.mark.parametrize("summary", ["decoder", "attending_decoder"])
def test_the_decoder_has_a_cell_of_its_own(summary):
    model = classifier("deep_forth", summary)
    assert model.summary_layer.cell is not model.encoder.cell
    assert len({id(w) for w in model.weights}) == len(model.weights)


@pytest.mark.parametrize("name", ["last", "pooled", "attention", "decoder"])
def test_a_summary_by_name_is_like_its_encoder(name):
    cell = GRUCell(4, dtype="mixed_bfloat16")
    model = TextClassifier(Encoder(WORDS, cell, bidirectional=False), name)
    assert model.summary_layer.compute_dtype == "bfloat16"
    assert getattr(model.summary_layer, "units", 4) == 4


def test_any_layer_may_sum_up():
    class First(keras.layers.Layer):
        def call(self, memory, mask, final, training=False):
            return memory[:, 0]

    model = TextClassifier(encoder_of("deep_lstm"), First(), num_classes=3)
    memory, mask, final = model.encoder(SOURCE)
    expected = model.output_projection(memory[:, 0])
    logits, weights = model.classify(memory, mask, final)
    assert logits.shape == (3, 3) and weights is None
    helpers.assert_close(logits, expected)


@helpers.slow_on_jax
@pytest.mark.parametrize(
    "encoder, summary",
    helpers.one_now([("rhn", "pooled"), ("deep_forth", "attending_decoder")]),
)
def test_mixed_precision(encoder, summary):
    keras.config.set_dtype_policy("mixed_bfloat16")
    cell = type(ENCODERS[encoder]["cell"])(4)
    model = classifier(encoder, summary, cell=cell)
    compiled(model).train_on_batch(SOURCE, LABELS)
    logits, weights = classified(model, SOURCE)
    assert {w.dtype for w in model.weights} == {"float32"}
    assert all(np.isfinite(w).all() for w in model.get_weights())
    assert keras.backend.standardize_dtype(logits.dtype) == "bfloat16"
    assert np.isfinite(helpers.as_numpy(ops.cast(logits, "float32"))).all()
    if weights is not None:
        weights = helpers.as_numpy(ops.cast(weights, "float32"))
        np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-2)


IDS = SOURCE.astype("int32")


def member(cell, summary, num_classes=3, **options):
    encoder = Encoder(9, cell, embedding_dim=3, **options)
    model = TextClassifier(encoder, summary, num_classes)
    model.build((None, None))
    helpers.randomize(model)
    return model


@pytest.fixture(scope="module")
def members():
    return [
        member(GRUCell(4), "attention"),
        member(LSTMCell(5), "pooled", bidirectional=False),
    ]


def logits_of_each(models):
    return [helpers.as_numpy(model(IDS)) for model in models]


def test_its_logits_are_the_mean_of_those_of_its_members(members):
    first, second = logits_of_each(members)
    helpers.assert_close(ClassifierEnsemble(members)(IDS), (first + second) / 2)
    helpers.assert_close(
        ClassifierEnsemble(members, [2, 0.5])(IDS), first / 4 + second
    )
    assert np.abs(first - second).max() > 0.1


def test_it_has_a_configuration(members):
    ensemble = ClassifierEnsemble(members, [1.5, 0.5])
    copy = ClassifierEnsemble.from_config(ensemble.get_config())
    assert copy.num_classes == 3
    copy(IDS)
    copy.set_weights(ensemble.get_weights())
    helpers.assert_close(copy(IDS), ensemble(IDS))


def test_embeddings_are_classified_as_their_tokens(members):
    ensemble = ClassifierEnsemble(members)
    for logits, weights in (
        ensemble.classify_ids(IDS),
        ensemble.classify_embedded(ensemble.embed(IDS), IDS),
    ):
        helpers.assert_close(logits, ensemble(IDS))
        assert weights is None


@helpers.slow_on_jax
def test_its_attention_is_the_mean_of_that_of_its_members(members):
    models = [members[0], member(GRUCell(3), "attention")]
    ensemble = ClassifierEnsemble(models)
    of_each = [helpers.as_numpy(model.classify_ids(IDS)[1]) for model in models]
    for _, weights in (
        ensemble.classify_ids(IDS),
        ensemble.classify_embedded(ensemble.embed(IDS), IDS),
    ):
        helpers.assert_close(weights, sum(of_each) / 2)
    assert np.abs(of_each[0] - of_each[1]).max() > 0.01


@helpers.slow_on_jax
def test_each_member_keeps_its_own_mask(members):
    careless = member(GRUCell(4), "last", mask_padding=False)
    models = [members[0], careless]
    ensemble = ClassifierEnsemble(models)
    logits, _ = ensemble.classify_embedded(ensemble.embed(IDS), IDS)
    first, second = logits_of_each(models)
    helpers.assert_close(logits, (first + second) / 2)
    for both in (models, models[::-1]):
        assert helpers.as_numpy(ClassifierEnsemble(both).mask(IDS)).all()
    alone = ClassifierEnsemble(members).mask(IDS)
    np.testing.assert_array_equal(helpers.as_numpy(alone), SOURCE != 0)


def test_its_hidden_states_are_those_of_all(members):
    states = helpers.as_numpy(ClassifierEnsemble(members).hidden_states(IDS))
    assert states.shape == (*IDS.shape, 8 + 5)
    helpers.assert_close(states[..., :8], members[0].encoder(IDS)[0])
    helpers.assert_close(states[..., 8:], members[1].encoder(IDS)[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda options=options: TextClassifier(
                    **{"encoder": encoder_of("simple")} | options
                ),
                message,
            )
            for options, message in [
                (
                    {"encoder": "gru"},
                    "must be of class `Encoder`.*encoder='gru'",
                ),
                (
                    {"summary": "mean"},
                    "one of 'last', 'pooled', 'attention', 'decoder'"
                    ".*summary='mean'",
                ),
                (
                    {"summary": "decoder", "encoder": encoder_of("rhn")},
                    "bidirectional=False.*Received: bidirectional=True",
                ),
                ({"num_classes": 0}, "Received: num_classes=0"),
                ({"dropout": 1.0}, "Received: dropout=1.0"),
            ]
        ),
        (lambda: ClassifierEnsemble([]), "0 models"),
        (
            lambda: ClassifierEnsemble(
                [member(GRUCell(4), "last", num_classes=n) for n in (3, 1)]
            ),
            r"2 models, with \[1, 3\] logits",
        ),
        # Keras would save models that share layers, but could not load them.
        (
            lambda: ClassifierEnsemble(
                [
                    TextClassifier(encoder, "last", 3)
                    for encoder in [encoder_of("simple")] * 2
                ]
            ),
            "must not share layers.*embedding",
        ),
        # A model may be there twice.
        *(
            (
                lambda temperatures=temperatures: ClassifierEnsemble(
                    [member(GRUCell(4), "last")] * 2, temperatures
                ),
                "`temperatures` must be",
            )
            for temperatures in ([1.0], [1.0, 0.0], [1, "2"], 2.0)
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
