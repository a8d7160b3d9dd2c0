"""The summary of a classifier, from a layer or from its name.

Every summary is a layer with the same call: it takes the memory, mask and final
states of an encoder, and returns a summary. Those with attention return its
weights, too.
"""

import keras

from kerasrnn.layers.loop import cells
from kerasrnn.models.classification.attention_summaries import AttentionSummary
from kerasrnn.models.classification.attention_summaries import DecoderSummary
from kerasrnn.models.classification.pooled_summaries import LastSummary
from kerasrnn.models.classification.pooled_summaries import PooledSummary


def get_summary(identifier, encoder):
    """Returns a summary from a layer or from its name.

    Args:
        identifier: `"last"`, `"pooled"`, `"attention"` (additive),
            `"decoder"` (without attention), or a layer.
        encoder: The `Encoder` whose memory is to be summarized.

    Raises:
        ValueError: for anything else; for a `DecoderSummary` of a bidirectional
            encoder, or of one whose cell has other states; or for a summary
            of other units that read backwards than those of the encoder.
    """
    if isinstance(identifier, str) and identifier in _BY_NAME:
        identifier = _BY_NAME[identifier](encoder)
    if not isinstance(identifier, keras.layers.Layer):
        raise ValueError(
            "`summary` must be a layer of `kerasrnn.models`, such as "
            f"AttentionSummary, or one of {', '.join(map(repr, _BY_NAME))}. "
            f"Received: summary={identifier!r}"
        )
    if isinstance(identifier, DecoderSummary):
        _check_decoder(identifier, encoder)
    if isinstance(identifier, LastSummary):
        _set_backward(identifier, encoder)
    return identifier


def _set_backward(summary, encoder):
    """Sets which units read backwards, or raises if it is other ones."""
    expected = backward_units(encoder)
    if summary.backward not in (None, expected):
        raise ValueError(
            "The units that read backwards must be those of the encoder. "
            f"Expected: backward={expected}, or `None`. "
            f"Received: backward={summary.backward}"
        )
    summary.backward = expected


def _check_decoder(summary, encoder):
    """Raises if a decoder cannot start from the encoder's final states."""
    if encoder.bidirectional:
        raise ValueError(
            "A DecoderSummary starts a cell like the encoder's from its final "
            "states: the encoder must have `bidirectional=False`. "
            f"Received: bidirectional={encoder.bidirectional}"
        )
    expected, found = (
        cells.flat_state_sizes(layer.cell) for layer in (encoder, summary)
    )
    if expected != found:
        raise ValueError(
            "The cell of a DecoderSummary must have the states of the "
            f"encoder's. Expected: widths {expected}. Received: {found}"
        )


def backward_units(encoder):
    """Returns start and stop of the memory units that read backwards."""
    units = cells.output_size(encoder.cell)
    if encoder.bidirectional:
        return units, 2 * units
    return (0, units) if encoder.go_backwards else (0, 0)


_BY_NAME = {
    "last": lambda encoder: LastSummary(
        backward_units(encoder), dtype=encoder.dtype_policy
    ),
    "pooled": lambda encoder: PooledSummary(
        backward_units(encoder), dtype=encoder.dtype_policy
    ),
    "attention": lambda encoder: AttentionSummary(
        "additive", cells.output_size(encoder.cell), dtype=encoder.dtype_policy
    ),
    "decoder": lambda encoder: DecoderSummary(encoder.cell),
}
