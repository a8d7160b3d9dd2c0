import os
import tempfile

import pytest

from kerasrnn_commands.stderr import without_sentence_piece_log

INFO = "normalizer.cc(51) LOG(INFO) precompiled_charsmap is empty.\n"
ERROR = "model_interface.cc(75) LOG(ERROR) unk is not defined.\n"


@pytest.mark.parametrize(
    "level, shown", [("2", f"before\n{ERROR}"), ("0", f"before\n{INFO}{ERROR}")]
)
def test_what_a_library_tells_is_dropped_but_no_error(
    level, shown, monkeypatch, capfd
):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", level)
    # In a container that is read-only, there may be no folder to write to.
    monkeypatch.delattr(tempfile, "TemporaryFile")
    with pytest.raises(ValueError), without_sentence_piece_log():
        for text in ("before\n", INFO, ERROR):
            os.write(2, text.encode())
        raise ValueError
    assert capfd.readouterr().err == shown
    os.write(2, INFO.encode())
    assert capfd.readouterr().err == INFO


def test_a_log_that_cannot_be_written_ends_nothing(monkeypatch, capfd):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    terminal = os.dup(2)
    nobody, pipe = os.pipe()
    os.close(nobody)
    os.dup2(pipe, 2)
    os.close(pipe)
    try:
        with without_sentence_piece_log():
            os.write(2, ERROR.encode())
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
    assert capfd.readouterr().err == ""
