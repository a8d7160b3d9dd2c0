import numpy as np

from kerasrnn.data.alignments import word_attention


def words(tokens):
    """Words of two tokens."""
    starts = range(0, len(tokens), 2)
    return [(i, "".join(tokens[i : i + 2])) for i in starts]


def test_weights_are_summed_over_sources_and_averaged_over_targets():
    weights = np.arange(18.0).reshape(3, 6)
    found, source, target = word_attention(
        weights,
        ["re", "d", "bo", "ok", "</s>", ""],
        np.array(["una", "ble", ""], dtype=object),
        words,
        words,
    )
    assert (source, target) == (["red", "book", "</s>"], ["unable"])
    np.testing.assert_allclose(found, [[7.0, 11.0, 7.0]])


def test_padding_has_no_words():
    found, *texts = word_attention(np.ones((1, 2)), ["", ""], ["a"], 0, 0)
    assert found.shape == (1, 0) and texts == [[], []]
