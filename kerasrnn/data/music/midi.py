"""Piano rolls to and from MIDI files."""

import io
import pathlib
import re

import numpy as np

from kerasrnn.arguments import check_shape
from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.reading.text_files import parsing
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.files import atomic_write
from kerasrnn.optional import needs
from kerasrnn.typing import PathLike
from kerasrnn.warning import warn

KEYS = 88
_LOWEST = 21  # the MIDI note of key 0
_TICKS = 480  # in a beat, when writing
# A note is off the grid if its distance from a step exceeds this fraction.
_NEAR, _MOST_OFF = 0.1, 0.1
# Key signatures and SMPTE offsets, which a roll does not need.
_UNNEEDED = re.compile(rb"\xff\x59\x02..|\xff\x54\x05.....", re.DOTALL)
_LONGEST = 2**20  # maximum number of steps of a piece: 92 MB, or hours of music


def write_midi(
    roll: np.ndarray,
    path: PathLike,
    steps_per_beat: int = 1,
    beats_per_minute: float = 100.0,
) -> pathlib.Path:
    """Writes a piano roll as a MIDI file, played by a piano.

    A key that is 1 in consecutive steps is one long note, because a roll cannot
    represent repeated notes. An existing file is replaced when the new one is
    complete. It needs mido.

    Args:
        roll: Array of shape `(time, 88)`, 1 where a key sounds.
        path: String or path of the file to write.
        steps_per_beat: Positive integer, time steps in a quarter note.
        beats_per_minute: Float, the tempo, from 3.6 (the slowest that a file
            can represent) to 60 million.

    Returns:
        The `pathlib.Path` of the file.

    Raises:
        OSError: If the file cannot be written.
        ValueError: If the roll has another shape, or another argument is
            invalid.

    Example:

    >>> roll = np.zeros((4, 88), "uint8")
    >>> roll[:3, 39] = 1  # middle C, for three steps
    >>> path = write_midi(roll, "c.mid")
    >>> read_midi(path)[:, 39].tolist()
    [1, 1, 1]
    """
    with needs("mido", "recipes"):
        import mido

    roll = np.asarray(roll)
    check_shape("roll", roll, (None, KEYS))
    integer("steps_per_beat", steps_per_beat, 1, _TICKS)
    # What a file can represent.
    number("beats_per_minute", beats_per_minute, minimum=3.6, maximum=6e7)
    track = mido.MidiTrack()
    tempo = mido.bpm2tempo(beats_per_minute)
    track.append(mido.MetaMessage("set_tempo", tempo=tempo))
    silence = np.zeros((1, KEYS), "int8")
    sounding = np.concatenate([silence, roll > 0, silence]).astype("int8")
    now = 0
    for step, changes in enumerate(np.diff(sounding, axis=0)):
        # Notes end before others begin, so that a repeated note sounds.
        for kind, sign in (("note_off", -1), ("note_on", 1)):
            for key in np.flatnonzero(changes == sign):
                then = step * _TICKS // steps_per_beat
                note = int(key) + _LOWEST
                track.append(mido.Message(kind, note=note, time=then - now))
                now = then
    path = pathlib.Path(path)
    with atomic_write(path) as partial:
        mido.MidiFile(ticks_per_beat=_TICKS, tracks=[track]).save(partial)
    return path


def read_midi(path: PathLike, steps_per_beat: int = 1) -> np.ndarray:
    """Reads a MIDI file as a piano roll.

    All instruments except drums are combined. Notes begin and end at the
    nearest step and last at least one step; a note that never ends lasts to the
    end of the file. A `CorpusWarning` tells if many notes begin between two
    steps, because fast notes then become chords. Notes outside of the piano
    keys are left out. Too large numbers, such as a velocity above 127, and
    invalid key signatures are tolerated. It needs mido.

    Args:
        path: String or path of the file; RMID files are accepted, too.
        steps_per_beat: Positive integer, time steps in a quarter note.

    Returns:
        Uint8 array of shape `(time, 88)`, 1 where a key sounds. It begins with
        the first step of the file and ends with the last note.

    Raises:
        CorpusError: If the file is not MIDI or is damaged, uses SMPTE time
            instead of beats, has several songs or no notes, or is longer than
            2**20 steps. It is a `ValueError`.
        FileNotFoundError: If `path` does not exist.
        ValueError: If `steps_per_beat` is not a positive integer.

    Example:

    >>> path = write_midi(np.eye(3, 88), "rising.mid", steps_per_beat=4)
    >>> read_midi(path, steps_per_beat=4).shape
    (3, 88)
    """
    with needs("mido", "recipes"):
        import mido

    integer("steps_per_beat", steps_per_beat, 1, _TICKS)
    path = existing_path(path)
    with parsing(path, "a MIDI file"):
        content = path.read_bytes()
        if content[:4] == b"RIFF" and content[8:12] == b"RMID":
            content = content[max(content.find(b"MThd"), 0) :]
        try:
            file = mido.MidiFile(file=io.BytesIO(content), clip=True)
        except (LookupError, mido.KeySignatureError):  # players ignore them
            zeros = _UNNEEDED.sub(
                lambda x: x[0][:3].ljust(len(x[0]), b"\0"), content
            )
            file = mido.MidiFile(file=io.BytesIO(zeros), clip=True)
    if file.type == 2 and len(file.tracks) > 1:
        raise CorpusError(
            f"The file {path} has several songs. Expected: one in each file. "
            f"Received: {len(file.tracks)} tracks of type 2, which are not "
            "played together"
        )
    if file.ticks_per_beat <= 0:
        raise CorpusError(
            f"The file {path} has no beats. Expected: a number of ticks per "
            "beat. Received: "
            + ("frames of a second (SMPTE)" if file.ticks_per_beat else "0")
        )
    per_step = file.ticks_per_beat / steps_per_beat
    notes = [
        (key, start, end)
        for track in file.tracks
        for key, start, end in _notes(track)
        if 0 <= key < KEYS
    ]
    if not notes:
        raise CorpusError(
            f"The file {path} has no music. Expected: notes within the keys of "
            "a piano. Received: none"
        )
    # In ticks, which may be too large for a float.
    if max(end for _, _, end in notes) > _LONGEST * per_step:
        raise CorpusError(
            f"The file {path} is too long, or a time in it is damaged. "
            f"Expected: at most {_LONGEST} steps. Received: a later note"
        )
    starts = [start for _, start, _ in notes]
    _warn_of_rounding(starts, file.ticks_per_beat, steps_per_beat, path)
    steps = [
        (key, round(start / per_step), round(end / per_step))
        for key, start, end in notes
    ]
    length = max(max(start + 1, end) for _, start, end in steps)
    roll = np.zeros((length, KEYS), "uint8")
    for key, start, end in steps:
        roll[start : max(start + 1, end), key] = 1
    return roll


def _warn_of_rounding(starts, ticks_per_beat, steps_per_beat, path):
    """Warns if many notes begin between steps, so that chords arise."""

    def off(steps):
        positions = [start * steps / ticks_per_beat for start in starts]
        return sum(
            abs(position - round(position)) > _NEAR for position in positions
        ) / len(positions)

    share = off(steps_per_beat)
    if share > _MOST_OFF:
        finer = [
            n
            for n in (2, 3, 4, 6, 8, 12)
            if n > steps_per_beat and off(n) < share / 2
        ]
        advice = f"; with {finer[0]}, fewer would" if finer else ""
        warn(
            f"{share:.0%} of the notes of {path} begin between two "
            f"steps and are moved to the nearest{advice}. Expected: notes on "
            f"the steps. Received: steps_per_beat={steps_per_beat}",
            CorpusWarning,
        )


def _notes(messages):
    """Yields the key, first tick and last tick of every note of a track."""
    began, now = {}, 0
    for message in messages:
        now += message.time
        # Channel 9 contains drums.
        if not message.type.startswith("note_") or message.channel == 9:
            continue
        voice = message.channel, message.note
        # A note that begins again has ended before.
        if voice in began:
            yield message.note - _LOWEST, began.pop(voice), now
        if message.type == "note_on" and message.velocity:
            began[voice] = now
    for (_, note), start in began.items():
        yield note - _LOWEST, start, now
