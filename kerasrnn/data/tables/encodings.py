"""The encoding of text: UTF-8, or an error that names what it seems to be."""

import codecs
import re

from kerasrnn.data.errors import CorpusError

SAMPLE = 2**16  # bytes from which an encoding is guessed
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
# How files begin that are not text, and the file extension that some need.
_OTHERS = {
    rb"\x1f\x8b": ("compressed with gzip", ".gz"),
    rb"PK\x03\x04": ("compressed with zip, as spreadsheets are", ""),
    rb"BZh[1-9]1AY&SY": ("compressed with bzip2", ""),
    rb"\xfd7zXZ\0": ("compressed with xz", ""),
    rb"\(\xb5/\xfd": ("compressed with zstd", ""),
    rb"PAR1": ("parquet", ".parquet"),
}
# The encodings that old corpora have, the likeliest of similar ones first.
_USUAL = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1256 koi8_r shift_jis euc_jp "
    "gb18030 big5 euc_kr"
).split()


class UndecodableError(ValueError):
    """Bytes that are not UTF-8, in `content`."""

    def __init__(self, message, content):
        super().__init__(message)
        self.content = content


def decode(content):
    """Decodes UTF-8; raises a `ValueError` that says what is wrong."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UndecodableError(
            f"invalid UTF-8: byte 0x{content[error.start]:02x} "
            f"at offset {error.start}",
            content,
        ) from error
    if "\0" in text:
        raise ValueError(f"not text: a NUL byte at offset {content.index(0)}")
    return text


def remedy(content):
    """How to convert text to UTF-8 that is in another encoding of bytes."""
    encoding = probable_encoding(content)
    return (
        f"UTF-8. It is probably {encoding}; convert it with "
        f"`iconv -f {encoding} -t UTF-8 FILE > NEW_FILE`"
    )


def probable_encoding(content):
    """The name of the probable encoding of text that is not UTF-8.

    `charset-normalizer` finds it; without it, it is one of Western Europe.
    """
    alike = set()  # those that explain it equally well
    try:
        import charset_normalizer

        found = charset_normalizer.from_bytes(
            content[:SAMPLE], cp_isolation=_USUAL
        )
        scores = [(match.chaos, -match.coherence) for match in found]
        for match, score in zip(found, scores, strict=True):
            if score == min(scores):
                alike |= {*match.could_be_from_charset} & {*_USUAL}
    except ImportError:
        pass
    name = min(alike, key=_USUAL.index, default=_USUAL[0])
    if name == "cp1252" and not any(0x80 <= byte < 0xA0 for byte in content):
        name = "iso-8859-1"  # Latin-1, which is equal but for these bytes
    return name.upper().replace("_", "-")


def check_encoding(sample, place):
    """Raises an error that says how to convert a file to UTF-8 and LF."""
    for beginning, (what, suffix) in _OTHERS.items():
        if re.match(beginning, sample):
            # With it, the file came to a reader of text all the same.
            is_named = str(place).lower().endswith(suffix)
            raise CorpusError(
                f"The corpus {place} is {what}"
                + f", which needs the file extension {suffix}" * (not is_named)
                + ". Expected: text, which may be compressed with gzip. "
                f"Received: a file that begins with {sample[:8]!r}"
            )
    if encoding := _wide_encoding(sample):
        raise CorpusError(
            f"The corpus {place} is {encoding}. Expected: UTF-8; convert it "
            f"with `iconv -f {encoding} -t UTF-8 FILE > NEW_FILE`. "
            f"Received: a file that begins with {sample[:8]!r}"
        )
    if b"\n" not in sample and b"\r" in sample.rstrip(b"\r"):
        raise CorpusError(
            f"The corpus {place} has carriage returns as line ends. "
            "Expected: line feeds; convert it with "
            "`tr '\\r' '\\n' < FILE > NEW_FILE`. "
            f"Received: a file that begins with {sample[:40]!r}"
        )


def _wide_encoding(sample):
    for mark, encoding in _MARKS.items():
        if sample.startswith(mark):
            return encoding
    # Without a mark: text in UTF-16 has spaces and line ends, whose upper
    # byte is 0, while the lower byte of a character rarely is.
    upper = (sample[1::2].count(0), sample[::2].count(0))
    for zeros, others, name in zip(
        upper, reversed(upper), ("UTF-16LE", "UTF-16BE"), strict=True
    ):
        if zeros >= max(2, len(sample) // 50) and others <= zeros // 10:
            return name
    return None
