"""KServe's application in this process, without a socket."""

import importlib.util
import itertools
import json

import numpy as np
import pytest

from kerasrnn.serving.server import Server
from kerasrnn.serving.server import ServerSettings
from tests.serving.small import export_small_model

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("kserve") is None,
        reason="needs the extra `serve`",
    ),
    pytest.mark.slow,  # KServe is imported in seconds.
    # Of KServe's own code.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

V2 = "/v2/models/shout/infer"
V1 = "/v1/models/shout:predict"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    export_small_model(folder / "shout")
    settings = ServerSettings(max_request_bytes=20_000, max_rows=4, timeout=5)
    server = Server(folder, settings)
    yield server
    server.pool.close()


@pytest.fixture(scope="module")
def client(server):
    from fastapi.testclient import TestClient
    from kserve import model_server
    from kserve.protocol.rest.server import RESTServer

    rest = RESTServer(
        "kserve.model_server:app",
        server.kserve.dataplane,
        server.kserve.model_repository_extension,
        http_port=0,
    )
    rest.create_application()
    return TestClient(model_server.app, raise_server_exceptions=False)


def tensor(name="text", datatype="BYTES", data=("a",), shape=None):
    shape = [len(data)] if shape is None else shape
    return {
        "name": name,
        "datatype": datatype,
        "shape": shape,
        "data": list(data),
    }


def test_strings_go_in_and_come_out(client):
    body = {"id": "7", "inputs": [tensor(data=["é", "ab"])]}
    answer = client.post(V2, json=body).json()
    assert (answer["id"], answer["model_version"]) == ("7", "1")
    [output] = answer["outputs"]
    assert output["data"] == ["É", "AB"]
    assert (output["datatype"], output["shape"]) == ("BYTES", [2])


def test_a_parameter_chooses_the_signature_and_names_the_outputs(client):
    body = {
        "parameters": {"signature": "square"},
        "inputs": [tensor("ids", "INT32", [1, 2, 3, 0], [2, 2])],
        "outputs": [{"name": "total"}],
    }
    [output] = client.post(V2, json=body).json()["outputs"]
    assert (output["name"], output["data"]) == ("total", [5.0, 9.0])
    body = {"instances": [[1, 2]], "signature_name": "square"}
    [row] = client.post(V1, json=body).json()["predictions"]
    assert row == {"square": [1.0, 4.0], "total": 5.0}


def test_scalars_and_empty_batches(client):
    body = {
        "parameters": {"signature": "repeat"},
        "inputs": [tensor(), tensor("times", "INT32", [3], [])],
    }
    assert client.post(V2, json=body).json()["outputs"][0]["shape"] == [3]
    answer = client.post(V2, json={"inputs": [tensor(data=[])]})
    assert answer.json()["outputs"][0]["data"] == []


def test_tensors_travel_in_binary_too(client):
    from kserve import InferInput
    from kserve import InferRequest
    from kserve import InferResponse

    text = InferInput("text", [2], "BYTES")
    text.set_data_from_numpy(np.array(["é", "ab"], dtype=object))
    parameters = {"binary_data_output": True}
    request = InferRequest("shout", [text], parameters=parameters)
    body, length = request.to_rest()
    name = "inference-header-content-length"
    headers = {name: str(length), "content-type": "application/octet-stream"}
    answer = client.post(V2, content=body, headers=headers)
    found = InferResponse.from_bytes(answer.content, int(answer.headers[name]))
    assert found.outputs[0].data == ["É", "AB"]


def test_the_metadata_have_every_signature(client):
    found = client.get("/v2/models/shout").json()
    assert found["versions"] == ["1"]
    assert found["inputs"] == [
        {"name": "text", "datatype": "BYTES", "shape": [-1]}
    ]
    square = found["parameters"]["signatures"]["square"]
    assert square["inputs"] == [
        {"name": "ids", "datatype": "INT32", "shape": [-1, -1]}
    ]
    assert client.get("/v2/models/whisper").status_code == 404


def test_health_and_metrics(client):
    for path in ("/v2/health/live", "/v2/models/shout/ready"):
        assert client.get(path).status_code == 200
    client.post(V2, json={"inputs": []})
    metrics = client.get("/metrics").text
    assert 'kerasrnn_requests_total{model="shout",outcome="invalid"}' in metrics
    assert 'kerasrnn_version{model="shout"} 1.0' in metrics


WRONG = [
    ({"inputs": [tensor("txt")]}, "text: string[?]"),
    ({"inputs": []}, "inputs []"),
    ({"inputs": [tensor(), tensor()]}, "['text', 'text']"),
    ({"inputs": [tensor(datatype="INT32", data=[1])]}, "datatype INT32"),
    ({"inputs": [tensor(shape=[3])]}, "1 values for the shape [3]"),
    ({"inputs": [tensor(shape=[-1])]}, "shape [-1]"),
    ({"inputs": [tensor(shape=[1, 1])]}, "shape (1, 1)"),
    ({"inputs": [tensor(data=[1])]}, "type `int`"),
    ({"inputs": [tensor(data=["\ud800"])]}, "surrogates"),
    ({"inputs": [tensor(data="abcde")]}, "at most 4 rows"),
    ({"inputs": [tensor(data=[], shape=[0, 10**12])]}, "Received: 10000"),
    ({"inputs": [tensor()], "outputs": [{"name": "x"}]}, "outputs ['x']"),
    ({"inputs": [tensor()], "parameters": {"signature": "x"}}, "'square'"),
    ({"inputs": {}}, "valid list"),
    ({"instances": []}, "Field required"),
    ([], "Open Inference Protocol"),
]
IDS = [
    ([-1], "not in [0, 4)"),
    ([1.5], "dtype float64"),
    (["1"], "dtype <U1"),
    ([2**40], "values from"),
    ([True], "dtype bool"),
]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        *WRONG,
        *(
            (
                {
                    "parameters": {"signature": "square"},
                    "inputs": [tensor("ids", "INT32", data, [1, 1])],
                },
                message,
            )
            for data, message in IDS
        ),
    ],
)
def test_a_wrong_request_is_answered_with_what_is_wrong(client, body, message):
    headers = {"content-type": "application/json"}
    answer = client.post(V2, content=json.dumps(body), headers=headers)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "content", "headers"),
    list(
        itertools.product(
            [V1, V2],
            [b"", b"{", b"\xff\xfe", b"[" * 9_000, b"null", b'{"inputs": 1}'],
            [
                {"content-type": "application/json"},
                {"content-type": "text/plain"},
                {
                    "content-type": "application/octet-stream",
                    "inference-header-content-length": "x",
                },
            ],
        ),
    ),
)
def test_what_is_no_request_is_refused(client, path, content, headers):
    answer = client.post(path, content=content, headers=headers)
    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize("stream", [False, True])
def test_a_long_request_is_refused(client, stream):
    content = b'{"instances": ["' + b"a" * 20_000 + b'"]}'
    for path in (V1, V2):
        answer = client.post(
            path, content=iter([content]) if stream else content
        )
        assert answer.status_code == 413
        assert "20000 bytes" in answer.json()["error"]


def test_a_model_cannot_be_unloaded(client):
    for verb in ("load", "unload"):
        answer = client.post(f"/v2/repository/models/shout/{verb}")
        assert answer.status_code == 400
    assert client.get("/v2/models/shout/ready").status_code == 200


def test_too_many_and_too_slow_calls_are_refused(client, server, monkeypatch):
    monkeypatch.setattr(server.pool, "capacity", 0)
    answer = client.post(V1, json={"instances": ["a"]})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    monkeypatch.undo()
    monkeypatch.setattr(server.pool, "timeout", 0)
    assert client.post(V1, json={"instances": ["a"]}).status_code == 504


def test_a_new_version_and_a_new_model_are_taken_up(client, server):
    def answers(path):
        return client.post(path, json={"instances": ["a"]}).json()

    assert answers(V1) == {"predictions": ["A"]}
    export_small_model(server.folder / "shout", version=2, mark="!")
    export_small_model(server.folder / "whisper", mark="?")
    server.refresh()
    assert answers(V1) == {"predictions": ["A!"]}
    assert answers(V1.replace("shout", "whisper")) == {"predictions": ["A?"]}


def test_a_folder_without_a_model_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="must contain a model"):
        Server(tmp_path, ServerSettings())
