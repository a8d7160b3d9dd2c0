import mido
import numpy as np
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_midi
from kerasrnn.data import write_midi


def roll():
    rng = np.random.default_rng(0)
    roll = (rng.random((100, 88)) < 0.2).astype("uint8")
    roll[3:6] = 0  # a rest
    roll[-1, 40] = 1
    return roll


@pytest.mark.parametrize("steps_per_beat", [1, 4, 7])
def test_what_is_written_is_read(steps_per_beat, tmp_path):
    path = write_midi(roll(), tmp_path / "a.mid", steps_per_beat)
    np.testing.assert_array_equal(read_midi(path, steps_per_beat), roll())


def test_the_notes_of_a_file(tmp_path):
    music = np.zeros((6, 88), "uint8")
    music[0:2, 0] = music[3, 0] = music[2:6, 87] = 1
    path = write_midi(music, tmp_path / "a.mid", 2, beats_per_minute=60)
    file = mido.MidiFile(path)
    assert file.length == pytest.approx(3.0)
    now, notes = 0.0, []
    for message in file:
        now += message.time
        if message.type.startswith("note"):
            notes.append((message.type, message.note, pytest.approx(now)))
    assert notes == [
        ("note_on", 21, 0.0),
        ("note_off", 21, 1.0),
        ("note_on", 108, 1.0),
        ("note_on", 21, 1.5),
        ("note_off", 21, 2.0),
        ("note_off", 108, 3.0),
    ]


def save(path, *messages):
    track = mido.MidiTrack(messages)
    mido.MidiFile(ticks_per_beat=100, tracks=[track]).save(path)
    return path


def note(note, time, velocity=64, channel=0):
    """A note that begins, or ends if its velocity is 0."""
    return mido.Message(
        *("note_on",), note=note, time=time, velocity=velocity, channel=channel
    )


def test_a_file_of_another_program(tmp_path):
    path = save(
        tmp_path / "a.mid",
        *(note(60, 0), note(35, 0, channel=9), note(60, 0, channel=1)),
        *(note(60, 96, 0), note(60, 110, 0, channel=1)),  # in step 0 and 1
        *(note(62, 90), note(62, 3, 0)),  # too short for a step
        *(note(5, 0), note(5, 100, 0)),  # no key of a piano
    )
    music = read_midi(path)
    assert music.shape == (4, 88) and music.dtype == "uint8"
    assert np.argwhere(music).tolist() == [[0, 39], [1, 39], [3, 41]]


def midi(events, division=b"\0\x60"):
    """The bytes of a file with one track, which its header divides so."""
    head = b"MThd\0\0\0\6\0\0\0\1" + division
    return head + b"MTrk" + len(events).to_bytes(4, "big") + events


NOTE = b"\0\x90\x3c\x40"  # middle C begins


@pytest.mark.parametrize(
    "content, message",
    [
        *((b"", "a MIDI file"), (b"RIFF" * 9, "a MIDI file")),
        (None, "no music"),
        (midi(b"\0\xff\x59\2\x63"), "a MIDI file"),  # half a key signature
        (b"RIFF....RMID" * 9, "a MIDI file"),
        (midi(NOTE, b"\0\0"), "no beats.*Received: 0"),
        (midi(NOTE, b"\xe7\x28"), "no beats.*SMPTE"),
        (midi(NOTE + b"\xff\xff\xff\x7f\x3c\0"), "too long"),
        (midi(NOTE + 512 * b"\xff" + b"\0\x3c\0"), "too long"),
    ],
)
def test_a_file_without_music(content, message, tmp_path):
    path = tmp_path / "a.mid"
    if content is None:
        save(path, note(5, 0), note(5, 100, 0))
    else:
        path.write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        read_midi(path)


PLAYED = NOTE + b"\x60\x3c\0"  # for a beat


@pytest.mark.parametrize(
    "content",
    [
        midi(PLAYED.replace(b"\x40", b"\xc8")),  # a velocity of 200
        midi(b"\0\xff\x59\2\x63\0" + PLAYED),  # a key of 99 sharps
        midi(b"\0\xff\x54\5\xe0\0\0\0\0" + PLAYED),  # an offset of SMPTE
        b"RIFF\x30\0\0\0RMIDdata\x1d\0\0\0" + midi(PLAYED),
    ],
    ids=["velocity", "key", "offset", "RMID"],
)
def test_what_players_play_is_read(content, tmp_path):
    path = tmp_path / "a.mid"
    path.write_bytes(content)
    assert np.argwhere(read_midi(path)).tolist() == [[0, 39]]


def test_songs_are_not_laid_over_each_other(tmp_path):
    tracks = [mido.MidiTrack([note(60, 0)]) for _ in range(2)]
    path = tmp_path / "a.mid"
    mido.MidiFile(type=2, tracks=tracks).save(path)
    with pytest.raises(CorpusError, match="songs.*2 tracks of type 2"):
        read_midi(path)
    mido.MidiFile(type=2, tracks=tracks[:1]).save(path)
    assert read_midi(path)[:, 39].tolist() == [1]


def test_a_note_without_an_end_lasts_to_the_end_of_the_file(tmp_path):
    """Or until it begins again."""
    twice = note(62, 0), note(62, 100), note(62, 100, 0)
    path = save(tmp_path / "a.mid", note(60, 100), *twice)
    assert np.argwhere(read_midi(path)[:, [39, 41]]).tolist() == [
        *([1, 0], [1, 1], [2, 0], [2, 1])
    ]


def test_a_track_does_not_end_the_notes_of_another(tmp_path):
    """Both hands of a piano may play the same key."""
    long, short = (
        mido.MidiTrack([note(60, first), note(60, steps, 0)])
        for first, steps in ((0, 400), (100, 100))
    )
    path = tmp_path / "a.mid"
    for tracks in ([long, short], [short, long]):
        mido.MidiFile(ticks_per_beat=100, tracks=tracks).save(path)
        assert read_midi(path, 1)[:, 39].tolist() == [1] * 4


@pytest.mark.parametrize(
    "option",
    [
        {"steps_per_beat": 1.5},
        {"beats_per_minute": 0},
        {"steps_per_beat": 481},
        {"beats_per_minute": float("nan")},
    ],
)
def test_a_bad_number_leaves_the_file_that_is_there(option, tmp_path):
    path = write_midi(roll(), tmp_path / "a.mid")
    with pytest.raises(ValueError, match=f"{next(iter(option))}` must be"):
        write_midi(roll(), path, **option)
    np.testing.assert_array_equal(read_midi(path), roll())
    with pytest.raises(ValueError, match="`steps_per_beat` must be"):
        read_midi(path, steps_per_beat=-1)


def test_notes_between_steps_are_said_to_become_chords(tmp_path):
    """A scale in eighths, at one step a beat."""
    scale = np.eye(8, 88, dtype="uint8")
    path = write_midi(scale, tmp_path / "scale.mid", steps_per_beat=2)
    with pytest.warns(CorpusWarning, match="^50% .* with 2, fewer would"):
        assert read_midi(path).sum(axis=1).max() > 1
    np.testing.assert_array_equal(read_midi(path, steps_per_beat=2), scale)
    np.testing.assert_array_equal(read_midi(path, steps_per_beat=4)[::2], scale)
