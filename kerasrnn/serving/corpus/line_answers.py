"""Predictions for lines of text, as lines of text."""

import functools
import json
from collections.abc import Sequence

import numpy as np

from kerasrnn.serving.signature import Signature
from kerasrnn.serving.signature import in_halves

# The columns of a line for a translator, a classifier and a language model.
_COLUMNS = [["translation"], ["label", "probability"], ["total", "perplexity"]]
_ONE_LINE = str.maketrans("\t\r\n", "   ")


def answer_columns(signature: Signature) -> list[str]:
    """Chooses the outputs that `line_answers` writes.

    Args:
        signature: The `Signature`, with the input `text`.

    Returns:
        Names of outputs: the translation; the label and its probability; the
        log-probability of the line and its perplexity; or, for other models,
        all outputs of shape `(batch,)`.

    Raises:
        ValueError: when it has other inputs, or no such output.

    Example:

    >>> folder = ModelFolder(export_small_model("saved_models/shout"))
    >>> answer_columns(folder.load().signatures["serving_default"])
    ['loud']
    """
    for columns in _COLUMNS:
        if signature.outputs.keys() >= set(columns):
            break
    else:
        columns = [
            name
            for name, output in signature.outputs.items()
            if output.shape.rank == 1
        ]
    if signature.inputs.keys() != {"text"} or not columns:
        raise ValueError(
            "A model for lines of text must have a single input `text` and an "
            f"output of shape (batch,). Received: {signature}"
        )
    return columns


def line_answers(
    signature: Signature, lines: Sequence[str | None], batch_size: int = 64
) -> tuple[list[str], dict[int, str]]:
    """Runs a signature on lines, in batches of similar length.

    Args:
        signature: The `Signature`, with the input `text`.
        lines: List of strings; `None` for a line to skip.
        batch_size: Positive integer, lines in a batch.

    Returns:
        List of strings, one per line: the values of `answer_columns`, separated
        by tabs. White space within a value becomes spaces. Several labels of a
        line are a JSON list, and so are their probabilities. And a dictionary
        of lines that the model refuses, such as lines that are too long, from
        index to reason. Their answers are empty.

    Example:

    >>> folder = ModelFolder(export_small_model("saved_models/shout"))
    >>> shout = folder.load().signatures["serving_default"]
    >>> line_answers(shout, ["come in", None, "please"])
    (['COME IN', '', 'PLEASE'], {})
    """
    columns = answer_columns(signature)
    answers, refused = [""] * len(lines), {}
    given = [(line, i) for i, line in enumerate(lines) if line is not None]
    given.sort(key=lambda pair: len(pair[0]))
    for begin in range(0, len(given), batch_size):
        texts, indices = zip(*given[begin : begin + batch_size], strict=True)
        answered = functools.partial(_answered, signature, columns)
        found = in_halves(answered, texts, ValueError)
        for index, answer in zip(indices, found, strict=True):
            if isinstance(answer, ValueError):
                refused[index] = str(answer).translate(_ONE_LINE)
            else:
                answers[index] = answer
    return answers, refused


def _answered(signature, columns, texts):
    """Returns the answer to each text."""
    outputs = signature(text=list(texts))
    found = {name: outputs[name] for name in columns}
    if "probability" in found:
        found |= _labels(**found)
    rows = zip(*(found[name] for name in columns), strict=True)
    return ["\t".join(map(_cell, row)) for row in rows]


def _labels(label, probability):
    """Returns the label or labels of each line, and their probabilities."""
    if label.ndim == 2:
        rows = zip(label, probability, strict=True)
        return {
            "label": [x[x != ""] for x in label],
            "probability": [p[x != ""] for x, p in rows],
        }
    # With two classes, the model returns one probability.
    if probability.ndim == 1:
        best = np.maximum(probability, 1 - probability)
    else:
        best = probability.max(axis=1)
    return {"label": label, "probability": best}


def _cell(value):
    if isinstance(value, np.ndarray):
        numbers = (
            float(f"{x:.6g}") if isinstance(x, float) else x
            for x in value.tolist()
        )
        return json.dumps(list(numbers), ensure_ascii=False)
    if isinstance(value, np.floating):
        return f"{value:.6g}"
    return str(value).translate(_ONE_LINE)
