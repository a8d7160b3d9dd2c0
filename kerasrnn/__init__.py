"""Recurrent cells, attention, beam search and text-in, text-out export.

Import from the sub-packages, as with Keras itself::

    from kerasrnn.layers import AttentionRNN
    from kerasrnn.models import Translator
    from kerasrnn.decoding import BeamSearch
"""

__version__ = "0.1.0"
