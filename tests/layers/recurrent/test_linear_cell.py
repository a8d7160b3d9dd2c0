import pytest

from kerasrnn.layers import RGLRU
from kerasrnn.layers import MinGRU
from kerasrnn.layers import MinLSTM

LENGTHS = [1, 15, 16, 17, 50]
EVERY = [MinGRU, MinLSTM, RGLRU]

every_layer = pytest.mark.parametrize("layer_class", EVERY)
