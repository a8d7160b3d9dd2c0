"""How the bodies of requests come in."""

import asyncio
import gzip
import pathlib
import random
import types
import zlib

import pytest

pytest.importorskip("starlette")

from starlette.exceptions import HTTPException  # noqa: E402

from kerasrnn_commands.messages import Answer  # noqa: E402
from kerasrnn_commands.messages import ServerSettings  # noqa: E402
from kerasrnn_commands.predictions import Predictions  # noqa: E402

BODY = b'{"instances": ["come in", "who is there?"]}'
GZIP, DEFLATE = gzip.compress(BODY, mtime=0), zlib.compress(BODY)
MOST = 1000


def taken(body, *encodings, path="/v1/models/x:predict", piece=7, **headers):
    """The request that the process of a model is given.

    The answer counts as in memory while it is sent, and the request no more.
    """
    pieces = [body[i : i + piece] for i in range(0, len(body), piece)] or [b""]
    found = []

    async def receive():
        more = len(pieces) > 1
        part = pieces.pop(0)
        return {"type": "http.request", "body": part, "more_body": more}

    async def call(request):
        found.append(request)
        return Answer(200, b"{}", request.header_length)

    async def send(message):
        assert predictions._held == 2
        found.append(message)

    sent = [("content-encoding", x) for x in encodings]
    sent += [(k.replace("_", "-"), v) for k, v in headers.items()]
    scope = {"type": "http", "path": path, "method": "POST", "headers": []}
    scope["headers"] = [(k.encode(), str(v).encode()) for k, v in sent]
    scope |= {"query_string": b"", "server": ("localhost", 80)}
    scope |= {"scheme": "http", "root_path": ""}
    model = types.SimpleNamespace(
        path=pathlib.Path("x"), call=call, serving=lambda: None
    )
    settings = ServerSettings(max_request_bytes=MOST)
    predictions = Predictions(settings, lambda request: model)
    try:
        asyncio.run(predictions(scope, receive, send))
    finally:
        assert predictions._held == 0
    request, start, _ = found
    length = dict(start["headers"]).get(b"inference-header-content-length")
    assert (length and int(length)) == request.header_length
    return request


@pytest.mark.parametrize("piece", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", GZIP),
        ("X-GZip", GZIP),
        ("deflate", DEFLATE),
        ("identity", BODY),
        ("", BODY),
    ],
)
def test_a_compressed_body_is_inflated(encoding, body, piece):
    assert taken(body, encoding, piece=piece).body == BODY


def test_binary_tensors_begin_where_they_do_in_the_inflated_body():
    path, name = "/v2/models/x/infer", "inference_header_content_length"
    found = taken(GZIP, "gzip", path=path, **{name: 40})
    assert (found.body, found.header_length) == (BODY, 40)
    for wrong in (len(BODY) + 1, "0" * 20 + "x", "9" * 5000):
        received = f"at most 43. Received: '{str(wrong)[:20]}'"
        with pytest.raises(HTTPException, match=received):
            taken(GZIP, "gzip", path=path, **{name: wrong})


@pytest.mark.parametrize("encodings", [["br"], ["gzip, gzip"], ["gzip"] * 2])
def test_another_encoding_is_named_beside_those_that_are_taken(encodings):
    received = f"gzip, deflate or identity. Received: '{', '.join(encodings)}'"
    with pytest.raises(HTTPException, match=received) as error:
        taken(BODY, *encodings)
    assert error.value.status_code == 415
    assert error.value.headers == {"Accept-Encoding": "gzip, deflate"}


@pytest.mark.parametrize(
    ("body", "received"),
    [
        (BODY, "incorrect header"),
        (DEFLATE, "incorrect header"),
        (GZIP[:-1], "a part of it"),
        (b"", "a part of it"),
        (GZIP + b"x", "bytes after its end"),
        (GZIP + GZIP, "bytes after its end"),
        (GZIP[:-8] + bytes(8), "incorrect data check"),
    ],
)
def test_a_damaged_stream_is_the_error_of_the_client(body, received):
    with pytest.raises(HTTPException, match=f"Received: .*{received}") as error:
        taken(body, "gzip")
    assert error.value.status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(bytes(MOST + 1), mtime=0),
        gzip.compress(bytes(10**7), mtime=0),
        # Long, although it holds little: many blocks without a byte.
        GZIP[:10] + b"\0\0\0\xff\xff" * MOST,
    ],
)
@pytest.mark.parametrize("piece", [7, 10**6])
def test_a_bomb_does_not_go_off(body, piece):
    with pytest.raises(HTTPException, match="at most 1000 bytes") as error:
        taken(body, "gzip", piece=piece)
    assert error.value.status_code == 413
    longest = gzip.compress(bytes(MOST))
    assert len(taken(longest, "gzip", piece=piece).body) == MOST


def test_no_bytes_are_worth_more_than_a_refusal():
    random.seed(0)
    for _ in range(300):
        body = bytearray(random.choice([GZIP, DEFLATE]))
        for _ in range(random.randint(0, 3)):
            body[random.randrange(len(body))] = random.randrange(256)
        end = random.choice([len(body), random.randint(0, len(body))])
        try:
            found = taken(bytes(body[:end]), random.choice(["gzip", "deflate"]))
        except HTTPException as error:
            assert error.status_code in (400, 413)
        else:
            # The header of gzip has no sum of its own, the content has.
            assert found.body == BODY


def test_what_comes_in_pieces_is_held_once():
    settings = ServerSettings(max_request_bytes=12_500)
    predictions = Predictions(settings, lambda request: None)
    with predictions._part() as grow:
        grow(70_000)
        grow(140_000)
        assert predictions._held == 140_000
        with pytest.raises(HTTPException):
            grow(210_000)
        with predictions._part() as grow_little:
            grow_little(2**16)  # which is never refused
    assert predictions._held == 0
