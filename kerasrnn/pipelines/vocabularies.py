"""Compares vocabularies of tokenizers and models."""

import zlib
from collections.abc import Iterable
from typing import Any

from kerasrnn.arguments import instance
from kerasrnn.tokenizers import Tokenizer


def vocabulary_facts(tokenizer: Tokenizer) -> list[Any]:
    """Returns facts that are equal for tokenizers with the same ids.

    Args:
        tokenizer: A `Tokenizer` with a vocabulary.

    Returns:
        A list of class, vocabulary, checksum of the SentencePiece model, and
        options, as JSON values.
    """
    options = {k: v for k, v in tokenizer.get_config().items() if k != "name"}
    return [
        type(tokenizer).__name__,
        list(tokenizer.vocabulary),
        zlib.crc32(getattr(tokenizer, "proto", b"")),
        options,
    ]


def check_vocabulary(tokenizer: Tokenizer, part: Any, side: str = "") -> None:
    """Raises `ValueError` if a model's vocabulary is too small.

    Args:
        tokenizer: A `Tokenizer`. While a file is being loaded, it has no
            vocabulary yet and is not checked.
        part: The layer that reads or writes the ids. If it has no
            `vocabulary_size`, as in a custom model, it is not checked.
        side: String, name of the tokenizer in the message.
    """
    size = getattr(part, "vocabulary_size", None)
    if size and tokenizer.built and tokenizer.vocabulary_size > size:
        raise ValueError(
            f"The model was built for another {side}tokenizer. Expected: at "
            f"most {size} tokens. Received: {tokenizer.vocabulary_size} tokens"
        )


def models_of(model: Any) -> list[Any]:
    """Returns the members of an ensemble, or a list of the model."""
    return getattr(model, "models", [model])


def members_of(
    name: str, pipelines: Iterable[Any], kind: type, *tokenizers: str
) -> list[Any]:
    """Checks pipelines and returns them as a list, for an ensemble.

    Args:
        name: String, the name of the argument.
        pipelines: The pipelines, at least one.
        kind: The required class.
        *tokenizers: Names of their tokenizers, which must give the same ids.

    Raises:
        ValueError: when they cannot be joined.
    """
    members = [instance(name, pipeline, kind) for pipeline in pipelines]
    for each in tokenizers:
        one, *rest = (_served(getattr(member, each)) for member in members)
        if any(other != one for other in rest):
            raise ValueError(
                f"All `{name}` must have the same tokenizers. Received: a "
                f"`{each}` whose vocabulary or options differ from the first "
                "one"
            )
    return members


def _served(tokenizer):
    """Returns facts that are equal for tokenizers that serve the same ids."""
    *rest, options = vocabulary_facts(tokenizer)
    # Sampling only matters in training.
    return rest, options | {"sampling": None}
