"""Four-part cadences, composed at random by the rules of harmony."""

import functools
import itertools
import random

import numpy as np

_MAJOR = (0, 2, 4, 5, 7, 9, 11)
_MINOR = (0, 2, 3, 5, 7, 8, 10)
# Degrees of a scale, and those that may follow each inside a phrase.
_I, _II, _IV, _V, _VI = 0, 1, 3, 4, 5
_NEXT = {
    _I: (_I, _II, _IV, _V, _VI),
    _II: (_V, _V, _VI),
    _IV: (_I, _II, _V),
    _V: (_I, _I, _VI),
    _VI: (_II, _IV),
}
_CADENCES = ((_IV, _V, _I), (_II, _V, _I), (_V, _I), (_IV, _I), (_II, _V))
_AUTHENTIC = _CADENCES[:2]
# The MIDI notes of bass, tenor, alto and soprano.
_VOICES = (range(40, 61), range(48, 68), range(55, 75), range(60, 82))
_LOWEST = 21  # MIDI note of the first of 88 keys


def cadences(count=400, seed=0):
    """Composes short chorales, to try a model of music without data.

    Each has two to four phrases in one major or minor key. A phrase is a
    progression of triads that ends in a cadence, the last phrase in an
    authentic one. Four voices keep to their ranges, do not cross, move as
    little as they can, and avoid parallel fifths and octaves. A chord lasts
    one step; the last of a phrase lasts two. Scores on them say nothing about
    music that people write.

    Args:
        count: Positive integer, the number of pieces.
        seed: Integer. The same count and seed give the same pieces.

    Returns:
        List of uint8 arrays of shape `(time, 88)`, 1 where a key sounds.

    Raises:
        ValueError: If `count` is not a positive integer.

    Example:

    ```python
    pieces = cadences(10)
    pieces[0].sum(axis=1).max()  # 4
    ```
    """
    if not (isinstance(count, int) and count > 0):
        raise ValueError(
            f"`count` must be a positive integer. Received: count={count!r}"
        )
    rng = random.Random(seed)
    return [_piece(rng) for _ in range(count)]


def _piece(rng):
    tonic, scale = rng.randrange(12), rng.choice((_MAJOR, _MINOR))
    last = rng.randint(1, 3)
    notes, steps = None, []
    for phrase in range(last + 1):
        degrees = _phrase(rng, _AUTHENTIC if phrase == last else _CADENCES)
        for place, degree in enumerate(degrees):
            # In the bass, at times the third, but not in a cadence.
            inner = 0 < place < len(degrees) - 2
            inverted = inner and rng.random() < 0.3
            triad = _triad(tonic, scale, degree)
            notes = _lead(rng, notes, _voicings(triad, inverted))
            steps.append(notes)
        steps.append(notes)
    roll = np.zeros((len(steps), 88), "uint8")
    for row, notes in zip(roll, steps, strict=True):
        row[np.array(notes) - _LOWEST] = 1
    return roll


def _phrase(rng, endings):
    """Degrees of the chords of a phrase, from the tonic to a cadence."""
    degrees = [_I]
    for _ in range(rng.randint(1, 4)):
        degrees.append(rng.choice(_NEXT[degrees[-1]]))
    fitting = [x for x in endings if x[0] in _NEXT[degrees[-1]]]
    while not fitting:
        degrees.append(rng.choice(_NEXT[degrees[-1]]))
        fitting = [x for x in endings if x[0] in _NEXT[degrees[-1]]]
    return degrees + list(rng.choice(fitting))


def _triad(tonic, scale, degree):
    """Pitch classes of root, third and fifth; the dominant is major."""
    root, third, fifth = (scale[(degree + i) % 7] for i in (0, 2, 4))
    third = 11 if degree == _V else third
    return tuple((tonic + note) % 12 for note in (root, third, fifth))


@functools.cache
def _voicings(triad, inverted):
    """All ways to give the notes of a triad to the four voices."""
    root, third, fifth = triad
    bass = third if inverted else root
    choices = [[note for note in _VOICES[0] if note % 12 == bass]]
    choices += [
        [note for note in voice if note % 12 in triad] for voice in _VOICES[1:]
    ]
    return [
        notes
        for notes in itertools.product(*choices)
        if all(a < b for a, b in itertools.pairwise(notes))
        and max(notes[2] - notes[1], notes[3] - notes[2]) <= 12
        and {note % 12 for note in notes} == set(triad)
        # The third is the leading note of the dominant: it is not doubled.
        and sum(note % 12 == third for note in notes) == 1
    ]


def _lead(rng, before, voicings):
    """Chooses the next notes, near those before and without parallels."""
    if before is None:
        return rng.choice(voicings)
    allowed = [x for x in voicings if not _has_parallels(before, x)]

    def distance(after):
        moves = sum(abs(a - b) for a, b in zip(before, after, strict=True))
        return moves + rng.random()

    return min(allowed or voicings, key=distance)


def _has_parallels(before, after):
    """Whether two voices move in fifths or octaves."""
    return any(
        (before[j] - before[i]) % 12 == (after[j] - after[i]) % 12
        and (after[j] - after[i]) % 12 in (0, 7)
        and before[i] != after[i]
        for i, j in itertools.combinations(range(4), 2)
    )
