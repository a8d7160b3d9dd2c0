"""What the ids of a tokenizer depend on, and which models share them."""

import zlib
from collections.abc import Iterable
from typing import Any

from kerasrnn.arguments import instance
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
    if size and tokenizer.built and tokenizer.vocabulary_size > size:
        raise ValueError(
            f"The {side}tokenizer must be the one that the model was built "
            f"for. Expected: at most {size} tokens. Received: "
            f"{tokenizer.vocabulary_size} tokens"
        )


def models_of(model: Any) -> list[Any]:
    """Returns the members of an ensemble; of another model, this one."""
    return getattr(model, "models", [model])


def members_of(
    name: str, pipelines: Iterable[Any], kind: type, *tokenizers: str
) -> list[Any]:
    """Returns a list of pipelines that can be joined to an ensemble.

    Args:
        name: String, the name of the argument.
        pipelines: The pipelines, at least one.
        kind: The class that all must have.
        *tokenizers: Names of their tokenizers, which must give the same ids.

    Raises:
        ValueError: when they cannot be joined.
    """
    members = [instance(name, pipeline, kind) for pipeline in pipelines]
    for each in tokenizers:
        one, *rest = (_served(getattr(member, each)) for member in members)
        if any(other != one for other in rest):
            raise ValueError(
                f"All `{name}` must have the same tokenizers. "
                f"Received: a `{each}` with another vocabulary or other "
                "options than that of the first"
            )
    return members


def _served(tokenizer):
    """What two tokenizers have in common if they serve the same ids."""
    *rest, options = vocabulary_facts(tokenizer)
    # Sampling is for training.
    return rest, options | {"sampling": None}
