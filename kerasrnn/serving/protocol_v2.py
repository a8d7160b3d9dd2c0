"""Tensors by name, dtype and shape: the Open Inference Protocol, or v2.

The parameter `signature` of a request chooses the signature.
"""

import math
import struct
import uuid
from collections.abc import Mapping
from typing import Any

import kserve
import numpy as np
import tensorflow as tf
from kserve.protocol.infer_type import deserialize_bytes_tensor
from kserve.protocol.infer_type import to_http_parameters
from kserve.utils.numpy_codec import from_np_dtype

from kerasrnn.serving.protocol_v1 import choose
from kerasrnn.serving.signature import Signature
from kerasrnn.serving.signature import as_array


def read_v2(
    request: kserve.InferRequest, signatures: Mapping[str, Signature]
) -> tuple[Signature, dict[str, np.ndarray]]:
    """Reads a request, of HTTP or gRPC, in JSON or binary.

    Args:
        request: The request as KServe has parsed it.
        signatures: Dictionary from names to a `Signature` each.

    Returns:
        The signature to call, and its inputs by name.

    Raises:
        ValueError: when name, dtype, shape or data of an input, or the name of
            an output, is not that of the signature.
    """
    parameters = to_http_parameters(request.parameters or {})
    signature = choose(parameters.get("signature"), signatures)
    inputs = {tensor.name: tensor for tensor in request.inputs}
    wanted = {output.name for output in request.request_outputs or []}
    if (
        inputs.keys() != signature.inputs.keys()
        or len(inputs) != len(request.inputs)
        or not wanted <= signature.outputs.keys()
    ):
        raise ValueError(
            f"Inputs and outputs must be those of {signature}. Received: "
            f"inputs {[x.name for x in request.inputs]}, outputs "
            f"{sorted(wanted)}."
        )
    return signature, {
        name: _as_array(tensor, signature.inputs[name].dtype)
        for name, tensor in inputs.items()
    }


def write_v2(
    request: kserve.InferRequest,
    version: str,
    outputs: Mapping[str, np.ndarray],
) -> kserve.InferResponse:
    """Writes the answer to a request that `read_v2` has read.

    Args:
        request: The request.
        version: Version of the model.
        outputs: Dictionary from names to arrays.

    Returns:
        The response; with the outputs that are asked for, if any are.
    """
    wanted = {output.name for output in request.request_outputs or []}
    return kserve.InferResponse(
        response_id=request.id or str(uuid.uuid4()),
        model_name=request.model_name,
        model_version=version,
        infer_outputs=[
            _as_output(name, array, request.from_grpc)
            for name, array in outputs.items()
            if name in wanted or not wanted
        ],
        use_binary_outputs=request.use_binary_outputs,
        requested_outputs=request.request_outputs,
    )


def describe(specs: Mapping[str, tf.TensorSpec]) -> list[dict[str, Any]]:
    """Describes inputs or outputs as the metadata of a model do.

    Args:
        specs: Dictionary from names to a `tf.TensorSpec` each.

    Returns:
        List of dictionaries with `name`, `datatype` and `shape`, -1 where a
        size is not fixed.
    """
    return [
        {
            "name": name,
            "datatype": _datatype(spec.dtype),
            "shape": [-1 if size is None else size for size in spec.shape],
        }
        for name, spec in specs.items()
    ]


def _datatype(dtype):
    """`"BYTES"` for strings, `"INT32"`, `"FP32"` and so on."""
    return from_np_dtype(np.dtype(dtype.as_numpy_dtype))


def _as_output(name, array, binary):
    output = kserve.InferOutput(
        name, list(array.shape), from_np_dtype(array.dtype), array
    )
    if binary:
        # KServe 0.21 cannot send an array over gRPC when the request is raw.
        output.set_data_from_numpy(array, binary_data=True)
    return output


def _as_array(tensor, dtype):
    """The data of an input, checked: KServe reads 1.5 as the integer 1."""
    try:
        if tensor.datatype != _datatype(dtype):
            raise TypeError(f"the datatype {tensor.datatype}")
        if any(size < 0 for size in tensor.shape):
            raise ValueError(f"the shape {tensor.shape}")
        array = as_array(_data(tensor, dtype), dtype)
        if array.size != math.prod(tensor.shape):
            raise ValueError(
                f"{array.size} values for the shape {tensor.shape}"
            )
        return array.reshape(tensor.shape)
    except (TypeError, ValueError, struct.error) as error:
        raise ValueError(
            f"The input `{tensor.name}` must be a tensor of "
            f"{_datatype(dtype)}. Received: {error}."
        ) from error


def _data(tensor, dtype):
    if tensor._raw_data is None:
        return tensor.data
    if dtype == tf.string:
        return deserialize_bytes_tensor(tensor._raw_data)
    return np.frombuffer(tensor._raw_data, dtype.as_numpy_dtype)
