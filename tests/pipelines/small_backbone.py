"""A tiny transformer with random weights, and its tokenizer."""

import keras_hub

from kerasrnn.models import BackboneReader
from kerasrnn.tokenizers import PieceTokenizer

TOKENS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] an ##na maria lives in rome . "
    "and bob a fine film dull story ##s not"
).split()


def tokenizer():
    return keras_hub.models.BertTokenizer(TOKENS, lowercase=True)


def backbone(longest=16, trainable=False):
    found = keras_hub.models.BertBackbone(
        len(TOKENS),
        num_layers=2,
        num_heads=2,
        hidden_dim=8,
        intermediate_dim=12,
        max_sequence_length=longest,
    )
    found.trainable = trainable
    return found


def pieces():
    return PieceTokenizer(tokenizer())


def reader(trainable=False, longest=16, **options):
    given = {"last_layers": 2, "start_id": 2, "end_id": 3, **options}
    return BackboneReader(backbone(longest, trainable), **given)
