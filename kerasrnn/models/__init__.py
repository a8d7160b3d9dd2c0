"""Whole models, to be trained with `fit`."""

from kerasrnn.models.decoder import Decoder
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.translator import Translator

__all__ = ["Decoder", "Encoder", "Translator"]
