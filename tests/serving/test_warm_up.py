import pytest
import tensorflow as tf

from kerasrnn.serving import ModelFolder
from kerasrnn.serving.warm_up import WARM_UP_FILE
from kerasrnn.serving.warm_up import recorded_requests
from kerasrnn.serving.warm_up import warm_up
from tests.serving import toys
from tests.serving.small import export_small_model


@pytest.fixture
def model(tmp_path):
    """A model that notes what it is called with."""
    model = ModelFolder(export_small_model(tmp_path / "shout")).load()
    model.calls = []

    def noted(signature):
        def call(**inputs):
            listed = {name: x.tolist() for name, x in inputs.items()}
            model.calls.append((signature.name, listed))
            return signature(**inputs)

        call.inputs = signature.inputs
        return call

    model.signatures = {
        name: noted(signature) for name, signature in model.signatures.items()
    }
    return model


def test_the_requests_in_a_model_are_replayed(model):
    toys.record(model.path, "square", ids=[[1, 2]])
    warm_up(model)
    assert model.calls[0] == ("square", {"ids": [[1, 2]]})
    assert [name for name, _ in model.calls].count("square") == 1


def test_bytes_of_tensorflow_serving_are_read(model):
    """Field numbers as in its files `prediction_log.proto` and so on."""
    tensor = tf.make_tensor_proto(["a"]).SerializeToString()
    entry = field(1, b"text") + field(2, tensor)
    path = model.path / WARM_UP_FILE
    path.parent.mkdir()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for name in field(3, b"square"), b"":
            spec = field(1, b"shout") + name
            request = field(1, spec) + field(2, entry) + field(3, b"loud")
            writer.write(field(6, field(1, request)))
    names, inputs = zip(*recorded_requests(model.path), strict=True)
    assert names == ("square", "serving_default")
    assert [x["text"].tolist() for x in inputs] == [[b"a"]] * 2


def field(number, content):
    """A message in a message, as protocol buffers write it."""
    return bytes([number << 3 | 2, len(content)]) + content


def test_signatures_without_requests_get_an_example(model):
    warm_up(model)
    assert sorted(model.calls) == [
        ("repeat", {"text": [b"a"], "times": 0}),
        ("serving_default", {"text": [b"a"]}),
        ("square", {"ids": [[0]]}),
    ]


def test_a_request_that_fails_is_an_error(model):
    toys.record(model.path, "square", ids=[[99]])
    with pytest.raises(ValueError, match="not in"):
        warm_up(model)
    toys.record(model.path, "cube", ids=[[1]])
    with pytest.raises(ValueError, match="Received: 'cube'"):
        warm_up(model)


def test_a_damaged_file_is_an_error(model):
    toys.record(model.path, "square", ids=[[1]])
    path = model.path / WARM_UP_FILE
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(tf.errors.DataLossError):
        warm_up(model)
