"""Flags in the text of a page stay on one line."""

import flags


def test_flags_in_code_are_marked():
    html = "<code>tag.py --max-tokens 3</code> --x <code><i>--y</i></code>"
    assert flags.on_page_content(html) == (
        '<code>tag.py <span class="flag">--max-tokens</span> 3</code> --x '
        "<code><i>--y</i></code>"
    )
