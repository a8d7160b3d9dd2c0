import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("orjson", reason="needs the extra `serve`")

from kerasrnn.serving.http.json_arrays import in_json  # noqa: E402
from kerasrnn.serving.http.json_arrays import listed  # noqa: E402


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_every_float_is_written(dtype):
    array = tf.constant([[0.5, -2.0], [np.nan, 1.0]], dtype).numpy()
    written = in_json({"states": listed(array)})
    assert written == b'{"states":[[0.5,-2.0],[null,1.0]]}'
