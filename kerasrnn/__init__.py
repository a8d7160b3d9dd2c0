"""Recurrent cells, attention, beam search and text-in, text-out pipelines.

Import from the sub-packages, as with Keras itself:

>>> from kerasrnn.layers import AttentionRNN
>>> from kerasrnn.models import Translator
>>> from kerasrnn.decoding import BeamSearch

`import kerasrnn` alone makes all that a saved model is made of known to
`keras.saving.load_model`. A saved pipeline, which takes text, needs
`import kerasrnn.pipelines`.
"""

from kerasrnn.optional import needs_backend

with needs_backend():
    from kerasrnn import decoding
    from kerasrnn import layers
    from kerasrnn import metrics
    from kerasrnn import models
    from kerasrnn import training

__all__ = ["decoding", "layers", "metrics", "models", "training"]
__version__ = "0.1.0"
