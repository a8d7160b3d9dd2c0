"""Greedy search from outside a SavedModel: a translation as it is written."""

from collections.abc import Iterator
from collections.abc import Mapping

from kerasrnn.serving.signature import Signature

# Those of the target tokenizers that our recipes train.
START_ID, END_ID = 1, 2


def can_write(signatures: Mapping[str, Signature]) -> bool:
    """Returns whether a model has what `written` calls.

    Args:
        signatures: Dictionary from names to a `Signature` each.
    """
    return signatures.keys() >= {"encode", "decode_step", "detokenize"}


def written(signatures: Mapping[str, Signature], text: str) -> Iterator[str]:
    """Translates a text, the most probable token at each step.

    Args:
        signatures: Dictionary from names to a `Signature` each.
        text: String.

    Yields:
        The translation so far, after each token.
    """
    encoded = signatures["encode"](text=[text])
    memory, states = (
        {name: x for name, x in encoded.items() if name.startswith(kind)}
        for kind in ("memory_", "state_")
    )
    last, ids = START_ID, []
    # The limit of the searches in the model.
    for _ in range(2 * memory["memory_0"].shape[1] + 10):
        found = signatures["decode_step"](ids=[last], **states, **memory)
        states = {name: found[name] for name in states}
        last = int(found["log_probabilities"][0].argmax())
        if last == END_ID:
            return
        ids.append(last)
        yield signatures["detokenize"](ids=[ids])["text"][0]
