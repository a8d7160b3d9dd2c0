import sys

import pytest
import quiet

from kerasrnn.data import CorpusError


@pytest.mark.parametrize(
    "error, said",
    [
        (CorpusError("No row is usable."), "tag.py: No row is usable.\n"),
        (ValueError("Another."), "ValueError: Another.\n"),
    ],
)
def test_what_is_wrong_with_a_corpus_is_one_line(
    error, said, monkeypatch, capsys
):
    monkeypatch.setattr(sys, "argv", ["recipes/tag.py"])
    sys.excepthook(type(error), error, None)
    assert sys.excepthook is quiet.without_traceback
    assert capsys.readouterr().err == said
