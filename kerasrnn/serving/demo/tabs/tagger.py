"""The tab of a tagger: phrases in the colours of their labels."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from kerasrnn.serving.demo.tabs.texts import add_examples
from kerasrnn.serving.demo.tabs.texts import checked
from kerasrnn.serving.demo.tabs.texts import samples
from kerasrnn.serving.demo.tabs.texts import text_box
from kerasrnn.serving.exported import ExportedModel


def tagger_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `tag_tokens`.

    Args:
        model: The `ExportedModel`, whose card has the `"scheme"` of its tags.
    """
    of_words = (model.card() or {})["scheme"] is None

    def tag(text):
        answer = model.signatures["serving_default"](text=[checked(text)])
        found = {name: values[0] for name, values in answer.items()}
        if of_words:
            return tagged_words(found), [], ""
        rows = phrases(text, found)
        remark = "" if rows else "No phrase was found."
        return coloured(text, found), rows, remark

    with gr.Row():
        with gr.Column():
            text = text_box("Text")
            button = gr.Button("Tag", variant="primary")
            add_examples(samples(model), text)
        with gr.Column():
            shown = gr.HighlightedText(
                label="Tags of words" if of_words else "Phrases",
                show_legend=True,
            )
            table = gr.Dataframe(
                headers=["phrase", "label", "score"],
                label="Phrases; score: the lowest probability of a tag in it",
                visible=not of_words,
            )
            remark = gr.Markdown()
    gr.on([button.click, text.submit], tag, [text], [shown, table, remark])


def coloured(
    text: str, found: Mapping[str, Any]
) -> list[tuple[str, str | None]]:
    """Returns a text in parts, each with its label or `None`.

    Args:
        text: String.
        found: What the tagger answers to it, as arrays of shape `(spans,)`.
    """
    parts: list[tuple[str, str | None]] = []
    end = 0
    for start, stop, label in _spans(found):
        parts += [(text[end:start], None), (text[start:stop], label)]
        end = stop
    return [part for part in [*parts, (text[end:], None)] if part[0]]


def phrases(text: str, found: Mapping[str, Any]) -> list[list[Any]]:
    """Returns a row for each phrase: itself, its label and its score."""
    return [
        [text[start:stop], label, round(float(score), 3)]
        for (start, stop, label), score in zip(
            _spans(found), found["span_scores"], strict=False
        )
    ]


def tagged_words(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns each word and its tag."""
    return [
        (f"{word} ", tag)
        for word, tag in zip(found["tokens"], found["tags"], strict=True)
        if word
    ]


def _spans(found):
    """Start, end and label of each phrase; padding comes after them."""
    columns = (found[f"span_{name}"] for name in ("starts", "ends", "labels"))
    return [
        (int(start), int(stop), label)
        for start, stop, label in zip(*columns, strict=True)
        if start >= 0
    ]
