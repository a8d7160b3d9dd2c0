"""Lines of markup in files of sentences.

Of a file with `<seg>` elements, as test sets of WMT have, these are the lines.
Other lines that are an element, such as `<url>...</url>` in the training sets
of IWSLT, or a tag, such as `<doc id="1">`, are no sentences. Elements of
layout, such as `<em>`, may be.
"""

import html
import re

_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>", re.DOTALL)
_NAME = r"(?!(?:em|strong|font|span|small|big|sub|sup|code)\b)[A-Za-z]\w+"
_MARKUP = re.compile(
    rf"\s*(?:<({_NAME})\b[^>]*>.*</\1>|<{_NAME} [^<>]*=[^<>]*>|</{_NAME}>)\s*"
)


def segments_of(lines):
    """Returns the contents of `<seg>` elements; none if there are none.

    Args:
        lines: List of strings, the lines of a file.
    """
    if not any(map(_SEGMENT.search, lines)):
        return []
    found = _SEGMENT.findall("\n".join(lines))
    return [" ".join(html.unescape(text).split()) for text in found]


def is_markup(line):
    """Whether a line is an element or a tag that holds no sentence."""
    return bool(_MARKUP.fullmatch(line))


def markup_note(count, number, line):
    """What to say of lines that were left out.

    Args:
        count: Integer, how many.
        number: Integer, the number of the first.
        line: String, the first.
    """
    return (
        f"{count} lines that are markup were left out, the first is line "
        f"{number}: {line.strip()!r:.60}"
    )
