import numpy as np
from corpora.cadences import cadences

PIECES = cadences(200)


def voices(step):
    """The four notes of a step, from the bass upwards."""
    return np.flatnonzero(step)


def test_four_voices_sing_all_the_time():
    assert len(PIECES) == 200
    for piece in PIECES:
        assert piece.dtype == "uint8" and piece.shape[1] == 88
        assert (piece.sum(axis=1) == 4).all()
        assert 6 <= len(piece) <= 50
    assert len({piece.tobytes() for piece in PIECES}) > 190


def test_pieces_end_on_their_tonic_after_a_dominant():
    tonics = set()
    for piece in PIECES:
        dominant, tonic, last = (voices(piece[i]) for i in (-3, -2, -1))
        np.testing.assert_array_equal(tonic, last)
        assert (tonic[0] - dominant[0]) % 12 == 5
        tonics.add(tonic[0] % 12)
        # The leading note of the dominant is a semitone below the tonic.
        assert (tonic[0] - 1) % 12 in dominant % 12
    assert len(tonics) == 12


def test_seed_and_count():
    for found, expected in zip(cadences(5), PIECES, strict=False):
        np.testing.assert_array_equal(found, expected)
    assert any(
        a.shape != b.shape or (a != b).any()
        for a, b in zip(cadences(5, seed=1), PIECES, strict=False)
    )
