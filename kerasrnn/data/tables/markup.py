"""Lines of markup in files of sentences.

Of a file with `<seg>` elements, as test sets of WMT have, these are the lines,
unless as many lines have text outside of them. In other files, lines of the
tags that are known from corpora, such as `<url>...</url>` in the training sets
of IWSLT, or `<doc id="1">`, are no sentences. Any other markup may be: texts of
programs or of pages have it.
"""

import html
import re

_SEGMENT = re.compile(
    r"<seg\b[^<>]*>((?:(?!<seg\b).)*?)</seg>", re.DOTALL | re.IGNORECASE
)
_ANY_TAG = re.compile(r"\s*(?:<[^<>]*>\s*)*")


def _element(names):
    """A line that is an element, with what it holds."""
    names = names.replace(" ", "|")
    return re.compile(rf"\s*<({names})(?:\s[^<>]*)?>.*</\1>\s*", re.IGNORECASE)


_FACTS = _element(
    "url keywords speaker talkid reviewer translator seekvideo docno docid"
)
_TITLES = _element("title description")  # only after another line of markup
_TAG = re.compile(
    r"\s*</?(?:doc|p|hl|text|headline|dateline|chapter|speaker|transcript"
    r"|srcset|refset|tstset)(?:\s[^<>]*)?>\s*",
    re.IGNORECASE,
)


def sentences_in(lines, report):
    """Returns the segments of a file, or else its lines without markup.

    Lines of markup become blank, so that the others keep their numbers.

    Args:
        lines: List of strings; those that were reported are blank.
        report: The `Report` that gets notes of what is left out. It must have
            no bad line if there are segments, since these have other numbers.
    """
    if segments := _segments(lines, report):
        if report.malformed:
            report.refuse()
        return segments
    found = _markup(lines)
    _note(found, "are markup", report)
    if not found:
        return lines
    return ["" if n in found else x for n, x in enumerate(lines, start=1)]


def _segments(lines, report):
    """The contents of `<seg>` elements; none if most text is outside."""
    if not any(map(_SEGMENT.search, lines)):
        return []
    text = "\n".join(lines)
    found = _SEGMENT.findall(text)
    outside = _SEGMENT.sub(lambda x: "\n" * x[0].count("\n"), text).split("\n")
    others = {
        number: line
        for number, line in enumerate(outside, start=1)
        if not (_ANY_TAG.fullmatch(line) or _is_fact(line))
    }
    begun = sum(line.lstrip().lower().startswith("<seg") for line in lines)
    if others and len(others) >= begun:
        return []
    _note(others, "are outside of `<seg>`", report)
    return [" ".join(html.unescape(text).split()) for text in found]


def _markup(lines):
    """The lines that are markup, a dict from their numbers."""
    found, is_after = {}, False
    for number, line in enumerate(lines, start=1):
        is_after = bool(
            _TAG.fullmatch(line)
            or _FACTS.fullmatch(line)
            or is_after
            and _TITLES.fullmatch(line)
        )
        if is_after:
            found[number] = line
    return found


def _is_fact(line):
    return _FACTS.fullmatch(line) or _TITLES.fullmatch(line)


def _note(found, what, report):
    """Notes lines that are left out, a dict from their numbers."""
    if found:
        first = min(found)
        report.notes.append(
            f"{len(found)} lines that {what} were left out, the first is line "
            f"{first}: {found[first].strip()!r:.60}"
        )
