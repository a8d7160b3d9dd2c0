"""What the ids of a tokenizer depend on, and whether a model knows them."""

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


def check_vocabulary(tokenizer: Tokenizer, part: Any, side: str = "") -> None:
    """Raises `ValueError` if a model lacks some of the ids of a tokenizer.

    Args:
        tokenizer: A `Tokenizer`. While a file is loaded, it has no vocabulary
            yet, and is not checked.
        part: What reads or writes the ids. One without a `vocabulary_size`, as
            of a model of the user's own, is not checked.
        side: String, which of several tokenizers it is.
    """
    size = getattr(part, "vocabulary_size", None)
    if size is None or not tokenizer.built:
        return
    if tokenizer.vocabulary_size > size:
        raise ValueError(
            f"The {side}tokenizer must be the one that the model was built "
            f"for. Expected: at most {size} tokens. Received: "
            f"{tokenizer.vocabulary_size} tokens"
        )
