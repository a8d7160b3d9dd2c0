"""Recurrent cells, attention, beam search and text-in, text-out export.

Import from the sub-packages, as with Keras itself::

    from kerasrnn.layers import AttentionRNN
    from kerasrnn.models import Translator
    from kerasrnn.decoding import BeamSearch

`import kerasrnn` alone makes all that a saved model is made of known to
`keras.saving.load_model`.
"""

from kerasrnn import callbacks
from kerasrnn import decoding
from kerasrnn import layers
from kerasrnn import losses
from kerasrnn import metrics
from kerasrnn import models
from kerasrnn import schedules

__all__ = [
    "callbacks",
    "decoding",
    "layers",
    "losses",
    "metrics",
    "models",
    "schedules",
]
__version__ = "0.1.0"
