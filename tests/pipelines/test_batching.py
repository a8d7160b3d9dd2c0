import pytest

from kerasrnn.pipelines.texts import indices_by_length
from tests.pipelines import small


@pytest.mark.parametrize("batch_size", [-1, 1.5, None])
def test_a_batch_has_a_text(batch_size):
    with pytest.raises(ValueError, match=f"Received: batch_size={batch_size}"):
        next(indices_by_length(small.SOURCES, batch_size))
