"""Recurrent cells, the layers that run them, and attention."""

from kerasrnn.layers.attention import BahdanauAttention
from kerasrnn.layers.attention import DotAttention
from kerasrnn.layers.attention import GeneralAttention
from kerasrnn.layers.attention import ScaledDotAttention
from kerasrnn.layers.attention_rnn import AttentionCell
from kerasrnn.layers.attention_rnn import AttentionRNN
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
