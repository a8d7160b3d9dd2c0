import functools
import re

import numpy as np
import pytest

from kerasrnn import arguments
from kerasrnn import layers
from kerasrnn import metrics
from kerasrnn import models
from kerasrnn import training

SHARE = functools.partial(arguments.number, above=0, maximum=1)


@pytest.mark.parametrize(
    "check, given, expected",
    [
        (arguments.integer, ["end_id", -3], -3),
        (arguments.integer, ["beam_width", np.int64(1), 1], 1),
        (arguments.integer, ["steps", 3, 0, 3], 3),
        (arguments.number, ["length_penalty", 0], 0.0),
        (arguments.number, ["temperature", np.float32(0.5), 0], 0.5),
        (arguments.number, ["transform_bias", -2], -2.0),
        (SHARE, ["top_p", 1], 1.0),
        (arguments.integers, ["forbidden_ids", np.array([5, 6])], (5, 6)),
        (arguments.positive_integer, ["units", 3], 3),
        (arguments.rate, ["dropout", 0.0], 0.0),
        (arguments.rate, ["dropout", 0.99], 0.99),
        (arguments.optional_positive_integer, ["limit", None], None),
        (arguments.optional_positive_integer, ["limit", np.int64(1)], 1),
        (arguments.instance, ["name", "text", str], "text"),
        (arguments.one_of, ["kind", None, ("a", None)], None),
        (arguments.string_list, ["words", np.array(["a", "b"])], ["a", "b"]),
    ],
)
def test_good_arguments_come_back(check, given, expected):
    """As numbers of Python, also where they are NumPy's."""
    found = check(*given)
    assert found == expected and type(found) is type(expected)


CHECKS = {
    "`x` must be an integer >= 1. Received: x=": (
        lambda bad: arguments.positive_integer("x", bad),
        [0, -1, 1.0, True, None, "3"],
    ),
    "`y` must be an integer >= 1. Received: y=": (
        lambda bad: arguments.optional_positive_integer("y", bad),
        [0, -1, 1.5, "1", True],
    ),
    "`x` must be an integer >= 0 and <= 3. Received: x=": (
        lambda bad: arguments.integer("x", bad, 0, 3),
        [-1, 4, 2.0, True, None, "3"],
    ),
    "`x` must be in [0, 1). Received: x=": (
        lambda bad: arguments.rate("x", bad),
        [-0.1, 1.0, 2, None, "0.1", []],
    ),
    "`x` must be a finite number >= 0. Received: x=": (
        lambda bad: arguments.number("x", bad, 0),
        [-0.1, True, None, "1", np.nan, np.inf],
    ),
    "`x` must be a finite number > 0 and <= 1. Received: x=": (
        lambda bad: arguments.number("x", bad, above=0, maximum=1),
        [0, 1.5],
    ),
    "`x` must be a finite number. Received: x=": (
        lambda bad: arguments.number("x", bad),
        ["x"],
    ),
    "`x` must be of class `str`. Received: x=": (
        lambda bad: arguments.instance("x", bad, str),
        [1],
    ),
    "`x` must be a list of integers. Received: x=": (
        lambda bad: arguments.integers("x", bad),
        [3, [3, 4.5], [True], None],
    ),
    "`x` must be 'a' or 'b'. Received: x=": (
        lambda bad: arguments.one_of("x", bad, ("a", "b")),
        ["c", None, 1, ["a"], np.array(["a", "b"])],
    ),
    "`x` must be 'a'. Received: x=": (
        lambda bad: arguments.one_of("x", bad, ("a",)),
        ["b"],
    ),
}


@pytest.mark.parametrize("message", CHECKS)
def test_what_is_wrong_is_named(message):
    check, values = CHECKS[message]
    for bad in values:
        with pytest.raises(ValueError, match=re.escape(f"{message}{bad!r}")):
            check(bad)


@pytest.mark.parametrize(
    "bad", ["ab", b"ab", {"a": 1}, {"a"}, 3, None, np.array([["a"]]), ["a", 3]]
)
def test_what_is_no_list_of_strings_is_named(bad):
    with pytest.raises(ValueError, match="`words` must be a list of strings"):
        arguments.string_list("words", bad)


def test_a_list_of_strings_may_be_too_short():
    with pytest.raises(ValueError, match="at least 2. Received: 1"):
        arguments.string_list("words", ["a"], minimum=2)


def translator(**options):
    cell = layers.FastGRUCell(4)
    decoder = models.Decoder(9, cell, embedding_dim=3)
    return models.Translator(models.Encoder(9, cell, 3), decoder, **options)


def with_cell(model, *sizes):
    """A function of the other arguments of a model that has a cell."""
    return lambda **options: model(*sizes, layers.FastGRUCell(4), **options)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (layers.FastRNN, "cell", []),
        (lambda **x: layers.RHNCell(3, **x), "transform_bias", None),
        (lambda **x: layers.CoverageAttention(3, **x), "fertility", np.nan),
        (lambda **x: layers.MonotonicAttention(3, **x), "noise", np.nan),
        (lambda **x: layers.MonotonicAttention(3, **x), "energy_bias", "-4"),
        (translator, "alignment_weight", -1),
        (models.TranslatorEnsemble, "models", [1]),
        (models.ClassifierEnsemble, "models", [1]),
        (layers.CRF, "labels", 17),
        (models.DynamicEvaluation, "model", None),
        (models.ForecastStream, "model", "forecaster.keras"),
        (lambda **x: models.Lexicon(3, 4, **x), "epsilon", 0),
        (with_cell(models.Encoder, 9), "pad_id", None),
        (with_cell(models.Encoder, 9), "embedding_scale", -1),
        (with_cell(models.Decoder, 9), "lexicon", "words.tsv"),
        (with_cell(models.Tagger, 9, 2), "crf", True),
        (with_cell(models.Tagger, 9, 2), "characters", 30),
        (lambda **x: with_cell(models.Forecaster)(horizon=2, **x), "known", []),
        (with_cell(models.LanguageModel, 9), "augmented_loss", None),
        (models.RMSDynamicEvaluation, "epsilon", -1),
        (training.TokenCrossentropy, "pad_id", None),
        (metrics.Perplexity, "pad_id", "<pad>"),
    ],
)
def test_nonsense_is_refused_where_it_is_given(make, name, value):
    """Not by a message of a library, or steps later, or never."""
    found = value[0] if name == "models" else value
    with pytest.raises(ValueError) as error:
        make(**{name: value})
    assert f"`{name}`" in str(error.value)
    assert (
        str(error.value)
        .partition("Received: ")[2]
        .startswith(f"{name}={found!r}")
    )


class MatrixCell(layers.RecurrentCell):
    output_size, state_size = 3, [3, (2, 3)]


@pytest.mark.parametrize(
    "make",
    [
        layers.SelfAttentionCell,
        lambda cell: models.LanguageModel(9, cell),
        lambda cell: models.Encoder(9, cell),
        lambda cell: models.Decoder(9, cell),
    ],
)
def test_states_that_are_not_vectors_are_refused_where_they_are_joined(make):
    with pytest.raises(
        ValueError, match=r"states have the shape.*state_size=\[3, \(2, 3\)"
    ):
        make(MatrixCell())
