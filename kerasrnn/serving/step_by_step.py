"""Greedy search outside of a SavedModel, to show translations as they grow."""

from collections.abc import Iterator

from kerasrnn.serving.exported import ExportedModel

_SIGNATURES = {"tokenize", "encode", "decode_step", "detokenize"}


def can_write(model: ExportedModel) -> bool:
    """Returns whether `written` supports a model.

    It needs certain signatures and, in its card, the `"search"` that
    `TextTranslator.export` records.

    Args:
        model: An `ExportedModel`.
    """
    search = (model.card() or {}).get("search", {})
    return model.signatures.keys() >= _SIGNATURES and "length_factor" in search


def written(model: ExportedModel, text: str) -> Iterator[str]:
    """Translates a text by greedy search.

    Args:
        model: An `ExportedModel` that `can_write`.
        text: String.

    Yields:
        The translation so far, after each token.
    """
    signatures, search = model.signatures, (model.card() or {})["search"]
    # The maximum length of the searches in the model.
    tokens = (signatures["tokenize"](text=[text])["ids"] >= 0).sum()
    limit = search["length_factor"] * int(tokens) + search["length_offset"]
    limit = min(limit, search["max_length"]) if tokens else 0
    encoded = signatures["encode"](text=[text])
    memory, states = (
        {name: x for name, x in encoded.items() if name.startswith(kind)}
        for kind in ("memory_", "state_")
    )
    last, ids = search["start_id"], []
    for _ in range(limit):
        found = signatures["decode_step"](ids=[last], **states, **memory)
        states = {name: found[name] for name in states}
        last = int(found["log_probabilities"][0].argmax())
        if last == search["end_id"]:
            return
        ids.append(last)
        yield signatures["detokenize"](ids=[ids])["text"][0]
