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
    rb"\s*+(?:\[\s*+)?\{\s*\"[^\"\n]*\"\s*:[^\t\n]*(?:\n|\Z)": (
        "JSON",
        "the file extension .jsonl or .json",
    ),
    rb"\s*__label__": (
        "lines of fastText",
        "lines without labels; or, for the texts alone, the column 'text'",
    ),
    rb"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t": (
        "a file of annotations of brat, whose texts are in another file",
        "a word and its tag in each line; or JSON lines with a `text` and "
        'its `spans`, such as [[0, 4, "PER"]]',
    ),
}
_EXTENSIONS = ".jsonl", ".json", ".ndjson", ".tmx"  # those of such forms


def refuse_foreign(sample, place, may_be=None):
    """Raises `CorpusError` if a file is of a form that cannot be read.

    Args:
        sample: Bytes, the beginning of a file of UTF-8.
        place: String or path, the name of the file in the message.
        may_be: String, what it may be all the same, as `_FORMS` calls it.
    """
    for beginning, (what, readable) in _FORMS.items():
        start = re.compile(rb"(?:\xef\xbb\xbf)?" + beginning, re.DOTALL)
        if what != may_be and start.match(sample):
            name = str(place).lower().removesuffix(".gz")
            if name.endswith(_EXTENSIONS) and not may_be:
                readable = "lines of text"
            raise CorpusError(
                f"The corpus {place} is {what}. Expected: {readable}. "
                f"Received: a file that begins with {sample[:40]!r}"
            )
