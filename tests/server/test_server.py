"""What a client sees of a server that is left in peace."""

import gzip
import json
import signal
import socket

import pytest

from tests.server.running import Clients
from tests.server.running import alive
from tests.server.running import needs_server
from tests.server.running import running
from tests.server.running import until
from tests.serving import toys
from tests.serving.small import export_small_model

pytestmark = [pytest.mark.slow, needs_server]

METRICS = "GET", "/metrics"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    export_small_model(path / "shout", version=3)
    (path / "broken" / "1").mkdir(parents=True)
    (path / "broken" / "1" / "saved_model.pb").touch()
    return path


@pytest.fixture(scope="module")
def server(folder):
    with running(folder, max_request_bytes=20_000, max_rows=4) as server:
        yield server


def text(*texts):
    tensor = {"name": "text", "datatype": "BYTES", "shape": [len(texts)]}
    return {"inputs": [{**tensor, "data": texts}]}


@pytest.mark.parametrize("version", ["", "/versions/3"])
def test_both_protocols_answer(server, version):
    status, answer = server.post(
        f"/v1/models/shout{version}:predict", {"instances": ["é"]}
    )
    assert (status, answer) == (200, {"predictions": ["É"]})
    status, answer = server.post(
        f"/v2/models/shout{version}/infer", text("é", "a")
    )
    assert (answer["model_name"], answer["model_version"]) == ("shout", "3")
    assert answer["outputs"][0]["data"] == ["É", "A"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/models/shout:predict", {"instances": ["é"]}),
        ("/v2/models/shout/infer", text("é")),
    ],
)
def test_a_client_may_compress(server, path, body):
    sent = gzip.compress(json.dumps(body).encode())
    status, answer, _ = server.ask(
        "POST", path, sent, {"Content-Encoding": "gzip"}.items()
    )
    assert (status, "É" in answer.decode()) == (200, True)


def test_tensors_in_binary_say_where_they_begin(server):
    content = text("é")
    content["parameters"] = {"binary_data_output": True}
    data = len("é".encode()).to_bytes(4, "little") + "é".encode()
    content["inputs"][0] |= {"parameters": {"binary_data_size": len(data)}}
    del content["inputs"][0]["data"]
    body = json.dumps(content).encode()
    name = "Inference-Header-Content-Length"
    status, answer, headers = server.ask(
        "POST", "/v2/models/shout/infer", body + data, {name: len(body)}.items()
    )
    assert (status, headers["content-type"]) == (
        200,
        "application/octet-stream",
    )
    assert answer[int(headers[name]) :] == b"\2\0\0\0" + "É".encode()
    for wrong in ("x", "-1", "9999", "9" * 5000):
        status, _, _ = server.ask(
            "POST", "/v2/models/shout/infer", body, {name: wrong}.items()
        )
        assert status == 400


def test_a_model_that_does_not_work_is_left_out(server):
    status, answer = server.post(
        "/v1/models/broken:predict", {"instances": ["a"]}
    )
    assert status == 503
    assert "'broken' works: version 1 cannot be loaded." in answer["error"]
    assert server.get("/v2/models/broken/ready")[0] == 503


def test_status_and_metadata(server):
    for path in ("/v1/models", "/v2/models"):
        assert server.get(path) == (200, {"models": ["broken", "shout"]})
    for version in ("", "/versions/3"):
        path = f"/v1/models/shout{version}"
        [state] = server.get(path)[1]["model_version_status"]
        assert (state["version"], state["state"]) == ("3", "AVAILABLE")
        found = server.get(f"{path}/metadata")[1]
        assert found["model_spec"]["version"] == "3"
        signatures = found["metadata"]["signature_def"]["signature_def"]
        assert signatures.keys() == {"repeat", "serving_default", "square"}
        path = f"/v2/models/shout{version}"
        found = server.get(path)[1]
        assert (found["name"], found["versions"]) == ("shout", ["3"])
        assert found["inputs"] == [
            {"name": "text", "datatype": "BYTES", "shape": [-1]}
        ]
        assert "square" in found["parameters"]["signatures"]
        assert server.get(f"{path}/ready")[0] == 200
    assert server.get("/v2/health/live") == (200, {"live": True})
    assert server.get("/v2")[0] == 200


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/models/whisper:predict", "There is no model 'whisper'"),
        ("/v2/models/whisper/infer", "There is no model 'whisper'"),
        ("/v1/models/shout/versions/7:predict", "version 3. Received: 7"),
        ("/v2/models/shout/versions/2/infer", "version 3. Received: 2"),
        (f"/v2/models/shout/versions/{'7' * 5000}/infer", "Received: 7{20}\\."),
        ("/v2/repository/models/shout/unload", "Not Found"),
    ],
)
def test_what_is_not_there_is_said(server, path, message):
    status, answer = server.post(path, {"instances": ["a"]})
    assert status == 404
    with pytest.raises(ValueError, match=message):
        raise ValueError(answer["error"])


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", "v1/models/shout:predict", 405, "allows POST. Received: GET."),
        ("GET", "v2/models/shout/infer", 405, "allows POST. Received: GET."),
        ("POST", "v1/models/shout:classify", 404, "shout:predict instead."),
        ("POST", "v1/models/a/versions/3:regress", 404, "versions/3:predict"),
    ],
)
def test_how_to_ask_instead_is_said(server, method, path, status, message):
    found, answer, _ = server.ask(method, f"/{path}")
    assert (found, message in json.loads(answer)["error"]) == (status, True)


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("v1", {"instances": ["a"] * 5}, "at most 4 rows. Received: 5"),
        ("v1", {"instances": [1]}, "type `int`"),
        ("v1", [], "'instances' or 'inputs'"),
        ("v2", text(*"abcde"), "at most 4 rows. Received: 5"),
        ("v2", {"instances": ["a"]}, "Open Inference Protocol"),
    ],
)
def test_a_wrong_request_is_answered_with_what_is_wrong(
    server, path, body, message
):
    end = {"v1": ":predict", "v2": "/infer"}[path]
    status, answer = server.post(f"/{path}/models/shout{end}", body)
    assert (status, message in answer["error"]) == (400, True)


@pytest.mark.parametrize("known", [True, False])
def test_a_long_request_is_refused(server, known):
    content = b'{"instances": ["' + b"a" * 20_000 + b'"]}'
    path = "/v1/models/shout:predict"
    # An iterator is sent in chunks, without its length.
    body = content if known else iter([content])
    status, answer, _ = server.ask("POST", path, body)
    assert (status, b"at most 20000 bytes" in answer) == (413, True)


def test_nothing_is_waited_for_that_is_announced_to_be_long(server):
    head = "POST /v1/models/shout:predict HTTP/1.1\r\nHost: x\r\n"
    address = "127.0.0.1", server.port
    with socket.create_connection(address, 20) as client:
        client.sendall(f"{head}Content-Length: 9999999999\r\n\r\n".encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 413")


def test_requests_are_counted(server):
    server.post("/v1/models/shout:predict", {"instances": [1]})
    _, metrics, _ = server.ask(*METRICS)
    for line in (
        b'kerasrnn_requests_total{model="shout",status="400"}',
        b'kerasrnn_version{model="shout"} 3.0',
        b"kerasrnn_unfinished_calls 0.0",
        b'kerasrnn_request_seconds_bucket{le="0.1",model="shout"}',
    ):
        assert line in metrics


def test_it_listens_on_this_machine_only(server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.connect(("192.0.2.1", 9))  # It sends nothing.
        address = own.getsockname()[0]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address, server.port), 5)


def test_a_new_model_is_taken_up(server, folder):
    export_small_model(folder / "whisper", mark="?")
    path = "/v1/models/whisper:predict"
    until(lambda: server.post(path, {"instances": ["a"]})[0] == 200)
    answer = server.post(path, {"instances": ["a"]})[1]
    assert answer == {"predictions": ["A?"]}


def test_too_many_calls_are_refused(tmp_path):
    path = "/v1/models/heavy:predict"
    toys.heavy(tmp_path / "heavy")
    long = {"prompt": ["a"], "max_tokens": 60_000}
    long = {"signature_name": "generate", "inputs": long}
    with running(tmp_path, waiting=1) as server:
        with Clients(1, lambda: server.post(path, long)):
            until(lambda: b"unfinished_calls 1" in server.ask(*METRICS)[1])
            status, body, headers = server.ask(
                "POST", path, b'{"instances": ["a"]}'
            )
        assert (status, headers["retry-after"]) == (503, "1")
        assert b"which is the maximum" in body
        # A killed server leaves no process behind.
        processes = server.processes()
        server.end(signal.SIGKILL)
    assert len(processes) > 1
    until(lambda: not any(map(alive, processes)))
