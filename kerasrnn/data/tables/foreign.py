"""Text files of forms that no reader knows, and what to make of them."""

import re

from kerasrnn.data.errors import CorpusError

_XML = rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*+-->\s*)*+"
_CONVERT = (
    "pairs in a table, or a translation memory in the format TMX, which "
    "`po2tmx` of the Translate Toolkit and most editors of translations write"
)
_FORMS = {  # how they begin: what they are, and what can be read
    _XML + rb"<xliff\b": ("XLIFF", _CONVERT),
    rb"(?:\s|#[^\n]*\n)*+msg(?:id|ctxt)\s+\"": (
        "a file of gettext, PO",
        _CONVERT,
    ),
    _XML + rb"(?:<!DOCTYPE tmx[^>]*>\s*)?<tmx\b": (
        "a translation memory",
        "the file extension .tmx",
    ),
    rb"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t": (
        "a file of annotations of brat, whose texts are in another file",
        "a word and its tag in each line; or JSON lines with a `text` and "
        'its `spans`, such as [[0, 4, "PER"]]',
    ),
}


def refuse_foreign(sample, place):
    """Raises `CorpusError` if a file is of a form that cannot be read.

    Args:
        sample: Bytes, the beginning of a file of UTF-8.
        place: String or path, the name of the file in the message.
    """
    for beginning, (what, readable) in _FORMS.items():
        if re.match(rb"(?:\xef\xbb\xbf)?" + beginning, sample, re.DOTALL):
            raise CorpusError(
                f"The corpus {place} is {what}. Expected: {readable}. "
                f"Received: a file that begins with {sample[:40]!r}"
            )
