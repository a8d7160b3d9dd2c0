"""The tab of a text classifier: probabilities of labels, weights of words."""

from typing import Any

import gradio as gr
import numpy as np

from kerasrnn.serving.demo.tabs.texts import add_examples
from kerasrnn.serving.demo.tabs.texts import checked
from kerasrnn.serving.demo.tabs.texts import remarks
from kerasrnn.serving.demo.tabs.texts import samples
from kerasrnn.serving.demo.tabs.texts import text_box
from kerasrnn.serving.exported import ExportedModel

HAS = "✓"  # before a label that a text has


def classifier_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `explain`.

    Args:
        model: The `ExportedModel`, whose card has the `"labels"`.
    """
    card = model.card() or {}
    names, title = card["labels"], "Labels and their probabilities"
    if card.get("multi_label"):
        title += f"; {HAS}: the text has it"

    def explain(text):
        found = model.signatures["explain"](text=[checked(text)])
        label, probability = found["label"][0], found["probability"][0]
        return (
            probabilities(label, probability, names),
            weighted_words(found["tokens"][0], found["weights"][0]),
            " ".join(remarks(model, found["tokens"][0])),
        )

    with gr.Row():
        with gr.Column():
            text = text_box("Text")
            button = gr.Button("Classify", variant="primary")
            add_examples(samples(model), text)
        with gr.Column():
            label = gr.Label(label=title)
            words = gr.HighlightedText(
                label="Words: the stronger the blue, the more weight",
                show_legend=False,
                elem_classes="weighted-words",
            )
            remark = gr.Markdown()
    gr.on([button.click, text.submit], explain, [text], [label, words, remark])


def probabilities(label: Any, found: Any, names: list[str]) -> dict[str, float]:
    """Returns the probability of each label.

    Args:
        label: String, the predicted label; or, if a text may have several, an
            array of shape `(labels,)`, empty strings for those that it has not.
            Those that it has are marked.
        found: Float, the probability of the second of two classes; or an
            array of shape `(classes,)`.
        names: List of labels in their order.
    """
    if np.ndim(label):
        names = [
            f"{HAS} {name}" if has else name
            for name, has in zip(names, label, strict=True)
        ]
    elif np.ndim(found) == 0:
        found = [1 - found, found]
    return dict(zip(names, map(float, found), strict=True))


def weighted_words(
    tokens: np.ndarray, weights: np.ndarray
) -> list[tuple[str, float]]:
    """Returns each word and its weight relative to the largest one.

    Args:
        tokens: Array of strings of shape `(time,)`, empty for padding.
        weights: Array of shape `(time,)`.
    """
    largest = weights.max(initial=0.0) or 1.0
    return [
        (token, float(weight / largest))
        for token, weight in zip(tokens, weights, strict=True)
        if token
    ]
