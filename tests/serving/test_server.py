"""The server as a process of its own."""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

from kerasrnn.serving import server
from tests.serving.small import export_small_model

HAS_KSERVE = importlib.util.find_spec("kserve") is not None
pytestmark = pytest.mark.slow


@pytest.mark.skipif(HAS_KSERVE, reason="KServe is installed")
def test_the_extra_is_named_if_it_is_missing(tmp_path):
    with pytest.raises(ImportError, match=r"kerasrnn\[serve\]"):
        server.Server(tmp_path, server.ServerSettings())


def free_port():
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]


def post(url, text):
    body = json.dumps({"instances": [text]}).encode()
    with urllib.request.urlopen(url, body, timeout=30) as answer:
        return json.load(answer)["predictions"][0]


@pytest.fixture
def process(tmp_path):
    export_small_model(tmp_path / "shout")
    ports = free_port(), free_port()
    options = ["--http-port", ports[0], "--grpc-port", ports[1]]
    started = subprocess.Popen(
        [
            *(sys.executable, "-m", "kerasrnn.serving.server", tmp_path),
            *map(str, [*options, "--poll-seconds", 0.2]),
        ],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    started.folder, started.grpc = tmp_path / "shout", f"localhost:{ports[1]}"
    started.url = f"http://localhost:{ports[0]}"
    end = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(f"{started.url}/v2/health/ready")
            break
        except urllib.error.URLError:
            assert started.poll() is None and time.monotonic() < end
            time.sleep(0.2)
    yield started
    started.kill()


@pytest.mark.skipif(not HAS_KSERVE, reason="needs the extra `serve`")
def test_no_request_fails_when_a_version_comes_and_the_server_goes(process):
    url = f"{process.url}/v1/models/shout:predict"
    answers, failures, done = [], [], threading.Event()

    def ask():
        while not done.is_set():
            try:
                answers.append(post(url, "a"))
            except Exception as error:
                failures.append(error)

    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    export_small_model(process.folder, version=2, mark="!")
    end = time.monotonic() + 60
    while "A!" not in answers[-20:] and time.monotonic() < end:
        time.sleep(0.1)
    done.set()
    for client in clients:
        client.join()
    assert not failures
    assert set(answers) == {"A", "A!"}
    assert over_grpc(process.grpc) == ["É!"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def over_grpc(address):
    import grpc
    from kserve.protocol.grpc import grpc_predict_v2_pb2 as messages
    from kserve.protocol.grpc.grpc_predict_v2_pb2_grpc import (
        GRPCInferenceServiceStub,
    )
    from kserve.protocol.infer_type import InferResponse

    with grpc.insecure_channel(address) as channel:
        stub = GRPCInferenceServiceStub(channel)
        tensor = messages.ModelInferRequest.InferInputTensor(
            name="text", datatype="BYTES", shape=[1]
        )
        tensor.contents.bytes_contents.append("é".encode())
        request = messages.ModelInferRequest(
            model_name="shout", inputs=[tensor]
        )
        answer = InferResponse.from_grpc(stub.ModelInfer(request))
        request.parameters["signature"].string_param = "cube"
        with pytest.raises(grpc.RpcError) as error:
            stub.ModelInfer(request)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "Received: 'cube'" in error.value.details()
    found = answer.outputs[0].as_numpy().tolist()
    return [text.decode() for text in found]
