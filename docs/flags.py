"""Keeps flags such as `--epochs` on one line, as a hook of MkDocs.

Browsers would break them after a hyphen.
"""

import re

_CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)")
_FLAG = re.compile(r"--[a-z][\w-]*")


def on_page_content(html, **kwargs):
    """Marks the flags in the code that stands in the text."""

    def marked(code):
        return _FLAG.sub(r'<span class="flag">\g<0></span>', code[0])

    return _CODE.sub(marked, html)
