"""What a client sees of a server that is left in peace."""

import gzip
import json
import os
import signal
import socket

import pytest
import tensorflow as tf

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
    with running(folder, max_rows=4) as server:
        yield server


def text(*texts):
    tensor = {"name": "text", "datatype": "BYTES", "shape": [len(texts)]}
    return {"inputs": [{**tensor, "data": texts}]}


@pytest.mark.parametrize("version", ["", "/versions/3"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_both_protocols_answer(server, version, encoding):
    def post(path, body):
        body = json.dumps(body).encode()
        body = gzip.compress(body) if encoding == "gzip" else body
        headers = {"Content-Encoding": encoding}.items()
        status, found, _ = server.ask("POST", path, body, headers)
        assert status == 200
        return json.loads(found)

    path = f"/models/shout{version}"
    answer = post(f"/v1{path}:predict", {"instances": ["é"]})
    assert answer == {"predictions": ["É"]}
    answer = post(f"/v2{path}/infer", text("é", "a"))
    assert (answer["model_name"], answer["model_version"]) == ("shout", "3")
    assert answer["outputs"][0]["data"] == ["É", "A"]


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


def test_a_model_that_does_not_work_is_left_out(server):
    status, answer = server.post(
        "/v1/models/broken:predict", {"instances": ["a"]}
    )
    assert status == 503
    assert "'broken' works: version 1 cannot be loaded." in answer["error"]
    assert server.get("/v2/models/broken/ready")[0] == 503


def test_the_process_of_a_model_describes_it(server):
    found = server.get("/v1/models/shout/metadata")[1]["metadata"]
    signatures = found["signature_def"]["signature_def"]
    assert signatures.keys() == {"repeat", "serving_default", "square"}
    found = server.get("/v2/models/shout")[1]
    text = {"name": "text", "datatype": "BYTES", "shape": [-1]}
    assert found["inputs"] == [text]
    assert "square" in found["parameters"]["signatures"]


def test_the_process_of_a_model_knows_the_limits(server):
    status, answer = server.post("/v2/models/shout/infer", text(*"abcde"))
    assert status == 400
    assert "at most 4 rows. Received: 5" in answer["error"]


def test_it_listens_on_this_machine_only(server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.connect(("192.0.2.1", 9))  # It sends nothing.
        address = own.getsockname()[0]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address, server.port), 5)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_crashes_or_hangs_is_replaced(server, number):
    [_, worker] = server.processes()
    os.kill(worker, number)
    until(lambda: server.get("/v2/models/shout/ready")[0] == 503, seconds=15)
    path, body = "/v1/models/shout:predict", {"instances": ["a"]}
    status, answer = server.post(path, body)
    reason = "'shout' is being loaded, as its process has ended. Try again"
    assert status == 503 and reason in answer["error"]
    until(lambda: server.post(path, body) == (200, {"predictions": ["A"]}))
    assert worker not in server.processes()


@tf.function(input_signature=[toys.TEXTS])
def shout_or_hang(text):
    hangs = tf.reduce_any(text == "hang")
    [steps] = tf.while_loop(lambda _: hangs, lambda x: [x + 1], [0])
    return {"loud": tf.strings.substr(tf.strings.upper(text), steps, 9)}


def test_a_model_that_answers_no_call_is_not_ready(tmp_path):
    toys.export(tmp_path / "stuck", {"serving_default": shout_or_hang})
    path = "/v1/models/stuck:predict"

    def ask(text):
        return server.post(path, {"instances": [text]})[0]

    # A call that hangs takes the place of others, until it is ended.
    with running(tmp_path, threads=2, timeout=30) as server:
        with Clients(2, lambda: ask("hang")) as clients:
            until(lambda: server.get("/v2/models/stuck/ready")[0] == 503, 25)
            assert server.get("/v2/health/ready")[0] == 503
            assert server.get("/v2/health/live")[0] == 200
            assert not clients.answers
        assert set(clients.answers) == {504}
        until(lambda: ask("a") == 200)
        assert server.get("/v2/models/stuck/ready")[0] == 200


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
