"""Random four-part cadences, composed by the rules of harmony."""

import functools
import itertools
import random

import numpy as np

from corpora.drawing import drawn

_MAJOR = (0, 2, 4, 5, 7, 9, 11)
_MINOR = (0, 2, 3, 5, 7, 8, 10)
_DEGREES = "I II III IV V VI".split()
# A phrase goes from the tonic to a cadence, the last to an authentic one.
_PHRASES = {
    "phrase": ["I {middle} {cadence}"],
    "last": ["I {middle} {authentic}"],
    "middle": [
        *("I", "VI", "I VI", "IV I", "V VI", "VI IV I", "II V VI", "V I I"),
    ],
    "cadence": ["{authentic}", "{authentic}", "V I", "IV I", "II V"],
    "authentic": ["IV V I", "II V I"],
}
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

    Example:

    ```python
    pieces = cadences(10)
    pieces[0].sum(axis=1).max()  # 4
    ```
    """
    rng = random.Random(seed)
    return [_piece(rng) for _ in range(count)]


def _piece(rng):
    tonic, scale = rng.randrange(12), rng.choice((_MAJOR, _MINOR))
    phrases, steps = ["phrase"] * rng.randint(1, 3) + ["last"], []
    for phrase in phrases:
        degrees = drawn(f"{{{phrase}}}", _PHRASES, rng).split()
        for place, degree in enumerate(degrees):
            # The bass sometimes has the third, but not in a cadence.
            inner = 0 < place < len(degrees) - 2
            inverted = inner and rng.random() < 0.3
            voicings = _voicings(_triad(tonic, scale, degree), inverted)
            steps.append(_led(rng, steps[-1:], voicings))
        steps.append(steps[-1])
    roll = np.zeros((len(steps), 88), "uint8")
    for row, notes in zip(roll, steps, strict=True):
        row[np.array(notes) - _LOWEST] = 1
    return roll


def _triad(tonic, scale, degree):
    """Pitch classes of root, third and fifth; the dominant is major."""
    first = _DEGREES.index(degree)
    root, third, fifth = (scale[(first + i) % 7] for i in (0, 2, 4))
    third = 11 if degree == "V" else third
    return tuple((tonic + note) % 12 for note in (root, third, fifth))


@functools.cache
def _voicings(triad, inverted):
    """Returns all ways to assign the notes of a triad to the four voices."""
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
        # The third of the dominant, its leading note, is not doubled.
        and sum(note % 12 == third for note in notes) == 1
    ]


def _led(rng, before, voicings):
    """Chooses the next notes, near those before and without parallels."""

    def distance(after):
        moves = [
            100 * _has_parallels(notes, after)
            + sum(abs(a - b) for a, b in zip(notes, after, strict=True))
            for notes in before
        ]
        return sum(moves) + rng.random()

    return min(voicings, key=distance)


def _has_parallels(before, after):
    """Whether two voices move in fifths or octaves."""
    return any(
        (before[j] - before[i]) % 12 == (after[j] - after[i]) % 12
        and (after[j] - after[i]) % 12 in (0, 7)
        and before[i] != after[i]
        for i, j in itertools.combinations(range(4), 2)
    )
