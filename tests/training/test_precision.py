import pytest

from kerasrnn.training import faster_dtype
from kerasrnn.training import precision


@pytest.mark.parametrize(
    ("float32", "bfloat16", "expected"),
    [
        (3.0, 1.0, "mixed_bfloat16"),
        (1.1, 1.0, "float32"),  # Not worth the digits.
        (1.0, 2.0, "float32"),
    ],
)
def test_bfloat16_must_be_a_quarter_faster(
    float32, bfloat16, expected, monkeypatch
):
    seconds = {"float32": float32, "bfloat16": bfloat16}
    monkeypatch.setattr(precision, "_seconds", seconds.get)
    assert faster_dtype() == expected


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_product_takes_time(dtype):
    assert 0 < precision._seconds(dtype) < 60
