"""Settings with which a server can answer."""

import re
import sys

import pytest

pytest.importorskip("starlette")

from kerasrnn_commands import server  # noqa: E402
from kerasrnn_commands.messages import ServerSettings  # noqa: E402


@pytest.mark.parametrize("port", [0, 65_535])
def test_every_port_is_one(port):
    assert ServerSettings(port=port).port == port


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("port", 65_536, "from 0 to 65535"),
        ("port", -1, "from 0 to 65535"),
        ("threads", 0, "> 0"),
        ("max_rows", -5, "> 0"),
        ("timeout", -1.0, "> 0"),
        ("timeout", float("nan"), "> 0"),
        ("timeout", float("inf"), "> 0"),
        ("poll_seconds", 0.0, "> 0"),
    ],
)
def test_others_are_named(name, value, expected):
    with pytest.raises(
        ValueError, match=f"`{name}` must be {expected}. Received: {name}="
    ):
        ServerSettings(**{name: value})


@pytest.mark.parametrize(
    "origin", ["https://example.org/", "example.org", "", "a://b c", "**"]
)
def test_an_origin_is_one(origin):
    origins = "https://example.org", "http://localhost:3000", "null", "*"
    assert ServerSettings(cors=origins).cors == origins
    with pytest.raises(
        ValueError, match=f"or '\\*'. Received: .{re.escape(origin)}"
    ):
        ServerSettings(cors=(origin,))


def test_the_command_says_so_in_a_line(monkeypatch, capsys):
    command = ["kerasrnn-serve", "saved_models", "--threads", "0"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as error:
        server.main()
    assert error.value.code == (
        "kerasrnn-serve: `threads` must be > 0. Received: threads=0"
    )
