"""Protocol v1: the JSON requests of TensorFlow Serving.

In rows:

    {"instances": ["Come in.", "Who?"], "signature_name": "attend"}
    {"instances": [{"text": "Come in."}, {"text": "Who?"}]}

The answer is `{"predictions": [...]}` with one entry per row. In columns, which
is required for scalars:

    {"inputs": {"prompt": ["the"], "max_tokens": 10}, "signature_name": ...}

The answer is `{"outputs": ...}`. The name of a single input may be left out,
and that of a single output is left out. The default of `signature_name` is
`serving_default`. A string may be given as `{"b64": "Q29tZSBpbi4="}`, its UTF-8
in base64. A number may be `null`, `NaN` or `Infinity`.
"""

import base64
import binascii
import functools
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from tensorflow.core.framework import types_pb2

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.http.json_arrays import in_json
from kerasrnn.serving.http.json_arrays import listed
from kerasrnn.serving.http.json_arrays import parsed
from kerasrnn.serving.signature import Signature
from kerasrnn.serving.signature import signature_named
from kerasrnn.serving.signature import sizes
from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import Request

_KEYS = {"instances", "inputs", "signature_name"}


def receive_v1(
    request: Request, model: ExportedModel
) -> tuple[Signature, dict[str, Any], Callable[..., Answer]]:
    """Reads a request.

    Args:
        request: The `Request`.
        model: The `ExportedModel`.

    Returns:
        The signature to call, its inputs by name, and a function from the
        outputs by name to the `Answer`.

    Raises:
        ValueError: when the request is invalid.

    Example:

    >>> folder = ModelFolder(export_small_model("saved_models/shout"))
    >>> request = Request("v1", b'{"instances": ["a", "b"]}')
    >>> signature, inputs, write = receive_v1(request, folder.load())
    >>> write(signature(**inputs)).body
    b'{"predictions":["A","B"]}'
    """
    body = parsed(request.body, literals=True)
    signature, inputs = read_v1(body, model.signatures)
    count = len(body["instances"]) if "instances" in body else None
    return signature, inputs, functools.partial(_write, count)


def read_v1(
    body: Any, signatures: Mapping[str, Signature]
) -> tuple[Signature, dict[str, Any]]:
    """Reads the body of a request.

    Args:
        body: The body, parsed.
        signatures: Dictionary of name to `Signature`.

    Returns:
        The signature to call, and its inputs by name.

    Raises:
        ValueError: when the request is invalid.

    Example:

    >>> folder = ModelFolder(export_small_model("saved_models/shout"))
    >>> signatures = folder.load().signatures
    >>> signature, inputs = read_v1({"instances": ["a", "b"]}, signatures)
    >>> signature.name, inputs
    ('serving_default', {'text': ['a', 'b']})
    """
    if not isinstance(body, dict) or ("instances" in body) == (
        "inputs" in body
    ):
        raise ValueError(
            "A request must be a JSON object with either 'instances' or "
            f"'inputs'. Received: {_kind(body)}."
        )
    if unknown := body.keys() - _KEYS:
        raise ValueError(
            f"The keys of a request are {sorted(_KEYS)}. "
            f"Received: {sorted(unknown)}."
        )
    signature = signature_named(body.get("signature_name"), signatures)
    if "instances" in body:
        inputs = _columns(body["instances"], signature)
    else:
        inputs = body["inputs"]
        if not isinstance(inputs, dict) or _is_base64(inputs, signature):
            inputs = {_only_input(signature): inputs}
    texts = {
        x for x, spec in signature.inputs.items() if spec.dtype == "string"
    }
    return signature, {
        name: _decoded(value, name) if name in texts else value
        for name, value in inputs.items()
    }


def describe_v1(signatures: Mapping[str, Signature]) -> dict[str, Any]:
    """Describes signatures in the format of TensorFlow Serving's metadata.

    Args:
        signatures: Dictionary of name to `Signature`.
    """
    return {
        name: {
            "inputs": _infos(signature.inputs),
            "outputs": _infos(signature.outputs),
            "method_name": "tensorflow/serving/predict",
        }
        for name, signature in signatures.items()
    }


def _infos(specs):
    return {
        name: {
            "dtype": types_pb2.DataType.Name(spec.dtype.as_datatype_enum),
            "name": name,
            "tensor_shape": {
                "dim": [
                    {"size": str(size), "name": ""} for size in sizes(spec)
                ],
                "unknown_rank": spec.shape.rank is None,
            },
        }
        for name, spec in specs.items()
    }


def _write(count, outputs):
    """Writes rows, or columns if their number is `None`."""
    lists = {name: listed(array) for name, array in outputs.items()}
    if count is None:
        return Answer(200, in_json({"outputs": _alone(lists)}))
    if any(
        array.ndim == 0 or len(array) != count for array in outputs.values()
    ):
        shapes = (f"{name} {array.shape}" for name, array in outputs.items())
        raise ValueError(
            "With 'instances', each output must have a row per instance. Use "
            f"'inputs' instead. Received: {', '.join(shapes)}."
        )
    rows = zip(*lists.values(), strict=True)
    predictions = [_alone(dict(zip(lists, row, strict=True))) for row in rows]
    return Answer(200, in_json({"predictions": predictions}))


def _columns(instances, signature):
    """Returns the values of each input by name."""
    if not isinstance(instances, list):
        raise ValueError(
            f"'instances' must be a list. Received: {_kind(instances)}."
        )
    if scalars := [x for x, y in signature.inputs.items() if y.shape.rank == 0]:
        raise ValueError(
            "With 'instances', each input must have a value per instance. Use "
            f"'inputs' instead. Received: {signature}, where "
            f"{', '.join(scalars)} {'is' if len(scalars) == 1 else 'are'} for "
            "all rows."
        )
    if not any(
        isinstance(row, dict) and not _is_base64(row, signature)
        for row in instances
    ):
        return {_only_input(signature): instances}
    kinds = list(dict.fromkeys(map(_kind, instances)))
    if len(kinds) > 1:
        raise ValueError(
            "All of 'instances' must be objects with the same names. "
            f"Received: {kinds[0]} and {kinds[1]}."
        )
    return {name: [row[name] for row in instances] for name in instances[0]}


def _is_base64(value, signature):
    """Whether a value is a string in base64, not an input named `b64`."""
    found = isinstance(value, dict) and value.keys() == {"b64"}
    return found and "b64" not in signature.inputs


def _decoded(value, name):
    """Replaces base64 strings in a nested list by bytes."""
    try:
        return _with_bytes(value)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ValueError(
            f"The input `{name}` must be text, or an object with its UTF-8 in "
            f"base64 as 'b64'. Received: {error}."
        ) from error


def _with_bytes(value):
    if isinstance(value, list):
        return [_with_bytes(part) for part in value]
    if isinstance(value, dict) and value.keys() == {"b64"}:
        return base64.b64decode(value["b64"], validate=True)
    return value


def _only_input(signature):
    if len(signature.inputs) != 1:
        raise ValueError(
            f"Values without names need a signature with one input. "
            f"Received: {signature}."
        )
    return next(iter(signature.inputs))


def _alone(values):
    return next(iter(values.values())) if len(values) == 1 else values


def _kind(value):
    if isinstance(value, dict):
        return f"an object with {sorted(value)}"
    return f"a value of type `{type(value).__name__}`"
