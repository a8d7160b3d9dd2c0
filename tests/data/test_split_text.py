import pytest

from kerasrnn.data.report import CorpusError
from kerasrnn.data.text_corpus import split_text_corpus


@pytest.mark.parametrize(("lines", "held_out"), [(2, 1), (19, 1), (20, 2)])
def test_the_last_tenth_is_held_out(lines, held_out):
    lines = [str(n) for n in range(lines)]
    parts = lines[:-held_out], lines[-held_out:], None
    assert split_text_corpus(lines) == parts


def test_nothing_cannot_be_divided():
    with pytest.raises(CorpusError, match="too short.*Received: no line"):
        split_text_corpus([])
