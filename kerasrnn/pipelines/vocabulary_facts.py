"""What the ids of a tokenizer depend on."""

import zlib
from typing import Any

from kerasrnn.tokenizers import Tokenizer


def vocabulary_facts(tokenizer: Tokenizer) -> list[Any]:
    """Returns what two tokenizers have in common if they give the same ids.

    Args:
        tokenizer: A `Tokenizer` with a vocabulary.

    Returns:
        A list of its class, its vocabulary, a checksum of its SentencePiece
        model, and its options: values for JSON.
    """
    options = {k: v for k, v in tokenizer.get_config().items() if k != "name"}
    proto = getattr(tokenizer, "proto", b"")
    name = type(tokenizer).__name__
    return [name, list(tokenizer.vocabulary), zlib.crc32(proto), options]
