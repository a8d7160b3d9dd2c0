import json

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("orjson", reason="needs the extra `serve`")

from kerasrnn.serving.http.json_arrays import in_json  # noqa: E402
from kerasrnn.serving.http.json_arrays import listed  # noqa: E402
from kerasrnn.serving.http.json_arrays import parsed  # noqa: E402


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_every_float_is_written(dtype):
    array = tf.constant([[0.5, np.nan], [-2.0, 1.0]], dtype).numpy()
    states = listed(array.T), listed(array[0, 0, ...])
    written = in_json({"states": states})
    assert written == b'{"states":[[[0.5,-2.0],[null,1.0]],0.5]}'
    large = in_json(listed(tf.constant([-np.inf, np.inf], dtype).numpy()))
    assert -json.loads(large)[0] == json.loads(large)[1] > 6e4


def test_python_writes_what_is_no_json():
    body = b'{"a": [-Infinity, Infinity, 1], "b": "\xc3\xa9"}'
    found = parsed(body, literals=True)
    assert repr(found) == "{'a': [-inf, inf, 1], 'b': '\u00e9'}"
    with pytest.raises(ValueError, match="is not JSON: .*; use `null`"):
        parsed(body)


@pytest.mark.parametrize("literals", [True, False])
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[NaN", b'["NaN", "\xff"]', b"[NaN, " + b"[" * 10**5]
)
def test_what_is_no_json_is_said(body, literals):
    with pytest.raises(ValueError, match="^The body is not JSON: .*column"):
        parsed(body, literals)
