"""Pipelines that answer as one: whether they fit together."""

from collections.abc import Iterable
from typing import Any

from kerasrnn.pipelines.vocabulary_facts import vocabulary_facts
from kerasrnn.tokenizers import Tokenizer


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
    expected = f"`{name}` must be a list of `{kind.__name__}`s, at least one. "
    if not isinstance(pipelines, Iterable):
        raise ValueError(f"{expected}Received: a {type(pipelines).__name__}")
    members = list(pipelines)
    wrong = [type(x).__name__ for x in members if not isinstance(x, kind)]
    if wrong or not members:
        raise ValueError(
            f"{expected}Received: {', '.join(wrong) or 'an empty list'}"
        )
    for each in tokenizers:
        one, *rest = (getattr(member, each) for member in members)
        if not all(tokenize_alike(one, other) for other in rest):
            raise ValueError(
                f"All `{name}` must have the same tokenizers. "
                f"Received: a `{each}` with another vocabulary or other "
                "options than that of the first"
            )
    return members


def tokenize_alike(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers give every text the same ids when served."""

    def facts(tokenizer):
        *rest, options = vocabulary_facts(tokenizer)
        # Sampling is for training.
        return rest, options | {"sampling": None}

    return facts(one) == facts(other)
