import io
import math
import types

import pytest

from kerasrnn.training import fit_callbacks
from kerasrnn.training.checkpoint import Progress
from kerasrnn.training.fit_callbacks import BestEpoch
from kerasrnn.training.fit_callbacks import FitFacts
from kerasrnn.training.fit_callbacks import ProgressLine


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Seconds that a test sets."""
    now = types.SimpleNamespace(seconds=100.0)
    time = types.SimpleNamespace(monotonic=lambda: now.seconds)
    monkeypatch.setattr(fit_callbacks, "time", time)
    return now


def facts_of(start, steps):
    """Facts of a `fit` that neither keeps files nor stops early."""
    best = BestEpoch("val_loss", "min")
    return FitFacts(
        None, start, steps, 0.1, list(start.rows), best, 0, 0, math.inf
    )


def run(clock, start, seconds, monitor="val_loss"):
    """Two epochs of four batches, each of some seconds; the first of ten."""
    facts = facts_of(start, 4)
    line = ProgressLine(facts, monitor)
    line.set_params({"epochs": 2})
    for epoch in range(start.epoch, 2):
        line.on_epoch_begin(epoch)
        before = start.batch if epoch == start.epoch else 0
        for batch in range(4 - before):
            clock.seconds += seconds if batch or epoch else 10
            line.on_train_batch_end(batch, {"loss": 2 / 3, "mae": 1.0})
        line.on_test_begin()
        clock.seconds += 5
        row = {"loss": 0.5, "val_loss": 7 - epoch, "val_bleu": 12.3456}
        line.on_epoch_end(epoch, row)
        facts.rows.append(row)
    line.close()


def test_a_terminal_has_one_line_that_is_written_over(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    run(clock, Progress(), seconds=2.0)
    first, second, end = terminal.getvalue().split("\n")
    assert end == ""
    texts = [text.rstrip() for text in first.split("\r") if text.strip()]
    assert texts == [
        # Without the first batch, which compiles, of 7 more at 2 seconds.
        "Epoch 1/2: 1 of 4 batches, loss 0.6667",
        "Epoch 1/2: 2 of 4 batches, loss 0.6667, 12 s left",
        "Epoch 1/2: 3 of 4 batches, loss 0.6667, 10 s left",
        "Epoch 1/2: 4 of 4 batches, loss 0.6667, 8 s left",
        "Epoch 1/2: validation",
        "Epoch 1/2: loss 0.5, val_loss 7, 21 s, best so far",
    ]
    # With the validation of the first epoch: 5 batches took 13 seconds.
    assert "1 of 4 batches, loss 0.6667, 10 s left" in second
    # Each covers the last, also if it is shorter.
    pieces = first.split("\r")[1:-1]
    for over, text in zip(pieces[1:], pieces, strict=False):
        assert len(over) >= len(text.rstrip())


def test_batches_of_one_call_of_the_graph_count_each(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    facts = facts_of(Progress(), 40)
    line = ProgressLine(facts, "val_loss")
    line.set_params({"epochs": 1})
    line.on_epoch_begin(0)
    for batch in (9, 19, 29):
        clock.seconds += 20
        line.on_train_batch_end(batch, {})
    assert "30 of 40 batches, 20 s left" in terminal.getvalue()


def test_batches_in_a_moment_do_not_write(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    run(clock, Progress(), seconds=0.0)
    assert terminal.getvalue().count(" of 4 batches") == 2


def test_a_narrow_terminal_is_not_filled(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    run(clock, Progress(), seconds=2.0)
    assert "\rEpoch 1/2: 1 of 4 b\r" in terminal.getvalue()


def test_a_file_has_a_line_an_epoch_and_one_a_minute(clock, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("sys.stdout", file)
    start = Progress(epoch=1, batch=1, rows=[{"epoch": 0, "val_loss": 1.0}])
    run(clock, start, seconds=40.0, monitor="val_bleu")
    assert file.getvalue().splitlines() == [
        "Epoch 2/2: 3 of 4 batches, loss 0.6667, 40 s left",
        "Epoch 2/2: loss 0.5, val_loss 6, val_bleu 12.35, 2 min",
    ]


def test_epochs_within_a_minute_have_one_line_in_a_file(clock, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("sys.stdout", file)
    run(clock, Progress(), seconds=10.0)
    assert file.getvalue().count("\n") == 2


def test_what_is_resumed_is_counted(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    run(clock, Progress(epoch=1, batch=1), seconds=7200.0)
    said = terminal.getvalue()
    assert "Epoch 2/2: 2 of 4 batches" in said
    assert "Epoch 2/2: 3 of 4 batches, loss 0.6667, 2.0 h left" in said
