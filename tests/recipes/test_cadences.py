import itertools

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


def test_every_step_is_a_triad_without_a_double_third():
    for step in np.concatenate(PIECES):
        classes, counts = np.unique(voices(step) % 12, return_counts=True)
        assert len(classes) == 3 and counts.max() == 2
        # Thirds above one another, in some order: 3 or 4 semitones.
        gaps = {
            tuple((b - a) % 12 for a, b in itertools.pairwise(order))
            for order in itertools.permutations(classes)
        }
        assert gaps & {(4, 3), (3, 4), (3, 3), (4, 4)}


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


def test_voices_move_little_and_seldom_in_parallel():
    steps, parallels, leaps = 0, 0, []
    for piece in PIECES:
        for before, after in itertools.pairwise(map(voices, piece)):
            steps += 1
            leaps.append(np.abs(after - before)[1:].mean())
            parallels += any(
                (before[j] - before[i]) % 12 == (after[j] - after[i]) % 12
                and (after[j] - after[i]) % 12 in (0, 7)
                and before[i] != after[i]
                for i, j in itertools.combinations(range(4), 2)
            )
    assert np.mean(leaps) < 2.5
    assert parallels / steps < 0.01


def test_seed_and_count():
    for found, expected in zip(cadences(5), PIECES, strict=False):
        np.testing.assert_array_equal(found, expected)
    assert any(
        a.shape != b.shape or (a != b).any()
        for a, b in zip(cadences(5, seed=1), PIECES, strict=False)
    )
