"""Recurrent cells, the layers that run them, attention, and a CRF."""

from kerasrnn.layers.attention.attention_blocks import SHACell
from kerasrnn.layers.attention.attention_blocks import TransformerCell
from kerasrnn.layers.attention.attention_cell import AttentionCell
from kerasrnn.layers.attention.attention_rnn import AttentionRNN
from kerasrnn.layers.attention.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.attention.coverage_attention import CoverageAttention
from kerasrnn.layers.attention.dot_attention import DotAttention
from kerasrnn.layers.attention.dot_attention import GeneralAttention
from kerasrnn.layers.attention.dot_attention import ScaledDotAttention
from kerasrnn.layers.attention.local_attention import LocalAttention
from kerasrnn.layers.attention.location_attention import LocationAttention
from kerasrnn.layers.attention.monotonic_attention import MonotonicAttention
from kerasrnn.layers.attention.multi_head_attention import MultiHeadDotAttention
from kerasrnn.layers.attention.multi_scale_attention import MultiScaleAttention
from kerasrnn.layers.attention.self_attention import SelfAttentionCell
from kerasrnn.layers.attention.self_attention import SelfAttentionRNN
from kerasrnn.layers.crf.crf import CRF
from kerasrnn.layers.crf.crf_loss import CRFLoss
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Kernel
from kerasrnn.layers.memory.gated_delta import GatedDelta
from kerasrnn.layers.memory.gated_delta import GatedDeltaCell
from kerasrnn.layers.memory.mamba2 import Mamba2
from kerasrnn.layers.memory.mamba2 import Mamba2Cell
from kerasrnn.layers.memory.matrix_memory import matrix_memory
from kerasrnn.layers.memory.matrix_memory import matrix_memory_step
from kerasrnn.layers.memory.mlstm import MLSTM
from kerasrnn.layers.memory.mlstm import MLSTMCell
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.layers.recurrent.gam import GAM
from kerasrnn.layers.recurrent.gam import GAMRHN
from kerasrnn.layers.recurrent.gam import GAMCell
from kerasrnn.layers.recurrent.gam import GAMRHNCell
from kerasrnn.layers.recurrent.gru import FastGRU
from kerasrnn.layers.recurrent.gru import FastGRUCell
from kerasrnn.layers.recurrent.linear_cell import RGLRU
from kerasrnn.layers.recurrent.linear_cell import LinearCell
from kerasrnn.layers.recurrent.linear_cell import MinGRU
from kerasrnn.layers.recurrent.linear_cell import MinGRUCell
from kerasrnn.layers.recurrent.linear_cell import MinLSTM
from kerasrnn.layers.recurrent.linear_cell import MinLSTMCell
from kerasrnn.layers.recurrent.linear_cell import RGLRUCell
from kerasrnn.layers.recurrent.linear_cell import positive
from kerasrnn.layers.recurrent.lstm import FastLSTM
from kerasrnn.layers.recurrent.lstm import FastLSTMCell
from kerasrnn.layers.recurrent.lstm import PeepholeLSTM
from kerasrnn.layers.recurrent.lstm import PeepholeLSTMCell
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.recurrent.residual_block import ResidualBlockCell
from kerasrnn.layers.recurrent.rhn import RHN
from kerasrnn.layers.recurrent.rhn import RHNCell
from kerasrnn.layers.recurrent.slstm import SLSTM
from kerasrnn.layers.recurrent.slstm import SLSTMCell
from kerasrnn.layers.recurrent.zoneout import ZoneoutCell
from kerasrnn.layers.weights.exchange import copy_weights
from kerasrnn.layers.weights.exchange import load_torch_weights
from kerasrnn.layers.weights.exchange import torch_weights
from kerasrnn.layers.weights.replacement import Replacement
from kerasrnn.layers.weights.replacement import replace_layers

__all__ = [
    "AttentionCell",
    "AttentionRNN",
    "BahdanauAttention",
    "CRF",
    "CRFLoss",
    "CoverageAttention",
    "DotAttention",
    "FastGRU",
    "FastGRUCell",
    "FastLSTM",
    "FastLSTMCell",
    "FastRNN",
    "Fixed",
    "GAM",
    "GAMCell",
    "GAMRHN",
    "GAMRHNCell",
    "GatedDelta",
    "GatedDeltaCell",
    "GeneralAttention",
    "Kernel",
    "LinearCell",
    "LocalAttention",
    "LocationAttention",
    "MLSTM",
    "MLSTMCell",
    "Mamba2",
    "Mamba2Cell",
    "MinGRU",
    "MinGRUCell",
    "MinLSTM",
    "MinLSTMCell",
    "MonotonicAttention",
    "MultiHeadDotAttention",
    "MultiScaleAttention",
    "PeepholeLSTM",
    "PeepholeLSTMCell",
    "RGLRU",
    "RGLRUCell",
    "RHN",
    "RHNCell",
    "RecurrentCell",
    "Replacement",
    "ResidualBlockCell",
    "SHACell",
    "SLSTM",
    "SLSTMCell",
    "ScaledDotAttention",
    "SelfAttentionCell",
    "SelfAttentionRNN",
    "TransformerCell",
    "ZoneoutCell",
    "copy_weights",
    "load_torch_weights",
    "matrix_memory",
    "matrix_memory_step",
    "positive",
    "replace_layers",
    "torch_weights",
]
