"""Recurrent cells, the layers that run them, and attention."""

from kerasrnn.layers.attention_cell import AttentionCell
from kerasrnn.layers.attention_rnn import AttentionRNN
from kerasrnn.layers.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.dot_attention import DotAttention
from kerasrnn.layers.dot_attention import GeneralAttention
from kerasrnn.layers.dot_attention import ScaledDotAttention
from kerasrnn.layers.multi_head_attention import MultiHeadDotAttention

__all__ = [
    "AttentionCell",
    "AttentionRNN",
    "BahdanauAttention",
    "DotAttention",
    "GeneralAttention",
    "MultiHeadDotAttention",
    "ScaledDotAttention",
]
