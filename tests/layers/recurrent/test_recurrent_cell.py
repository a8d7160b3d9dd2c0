"""The arguments that all cells have."""

import pytest

from kerasrnn.layers import RHNCell


@pytest.mark.parametrize("name", ["dropout", "recurrent_dropout"])
@pytest.mark.parametrize("bad", [-0.1, 1.0])
def test_rates_are_checked(name, bad):
    with pytest.raises(ValueError, match=f"`{name}`.*Received: {name}={bad}"):
        RHNCell(3, **{name: bad})
