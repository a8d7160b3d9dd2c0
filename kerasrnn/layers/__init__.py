"""Recurrent cells, the layers that run them, and attention."""

from kerasrnn.layers.attention_cell import AttentionCell
from kerasrnn.layers.attention_rnn import AttentionRNN
from kerasrnn.layers.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.dot_attention import DotAttention
from kerasrnn.layers.dot_attention import GeneralAttention
from kerasrnn.layers.dot_attention import ScaledDotAttention
from kerasrnn.layers.gam import GAM
from kerasrnn.layers.gam import GAMCell
from kerasrnn.layers.gam_rhn import GAMRHN
from kerasrnn.layers.gam_rhn import GAMRHNCell
from kerasrnn.layers.gru import FastGRU
from kerasrnn.layers.gru import FastGRUCell
from kerasrnn.layers.lstm import FastLSTM
from kerasrnn.layers.lstm import FastLSTMCell
from kerasrnn.layers.multi_head_attention import MultiHeadDotAttention
from kerasrnn.layers.peephole_lstm import PeepholeLSTMCell
from kerasrnn.layers.rhn import RHN
from kerasrnn.layers.rhn import RHNCell
from kerasrnn.layers.self_attention import SelfAttentionCell
from kerasrnn.layers.self_attention import SelfAttentionRNN

__all__ = [
    "AttentionCell",
    "AttentionRNN",
    "BahdanauAttention",
    "DotAttention",
    "FastGRU",
    "FastGRUCell",
    "FastLSTM",
    "FastLSTMCell",
    "GAM",
    "GAMCell",
    "GAMRHN",
    "GAMRHNCell",
    "GeneralAttention",
    "MultiHeadDotAttention",
    "PeepholeLSTMCell",
    "RHN",
    "RHNCell",
    "ScaledDotAttention",
    "SelfAttentionCell",
    "SelfAttentionRNN",
]
