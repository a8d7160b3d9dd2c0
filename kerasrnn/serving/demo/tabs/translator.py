"""The tab of a translator: its translation, hypotheses and attention."""

import gradio as gr
import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

from kerasrnn.data.alignments import word_attention
from kerasrnn.data.sentences import split_sentences
from kerasrnn.plots import attention_figure
from kerasrnn.serving.demo.tabs.texts import add_examples
from kerasrnn.serving.demo.tabs.texts import checked
from kerasrnn.serving.demo.tabs.texts import picture_box
from kerasrnn.serving.demo.tabs.texts import remarks
from kerasrnn.serving.demo.tabs.texts import samples
from kerasrnn.serving.demo.tabs.texts import text_box
from kerasrnn.serving.demo.tabs.words import subword_words
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.step_by_step import can_write
from kerasrnn.serving.step_by_step import written


def translator_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `attend`.

    Args:
        model: The `ExportedModel`.
    """

    def translate(text, search):
        text = checked(text)
        if search == "greedy" and can_write(model):
            for begun in written(model, text):
                yield begun, gr.skip(), gr.skip(), ""
        rows = hypotheses(model, text, search)
        yield rows[0][1], rows, gr.skip(), gr.skip()
        found = model.signatures["attend"](text=[text])
        read = found["source_tokens"][0]
        notes = [*remarks(model, read), *several_sentences(text)]
        yield gr.skip(), gr.skip(), attention_of(found), " ".join(notes)

    with gr.Row():
        with gr.Column():
            text = text_box("Text")
            search = _search_box(model)
            button = gr.Button("Translate", variant="primary")
            add_examples(samples(model), text)
        with gr.Column():
            translation = gr.Textbox(
                label="Translation", lines=3, buttons=["copy"]
            )
            remark = gr.Markdown()
            table = gr.Dataframe(
                headers=["score", "translation"],
                datatype=["number", "str"],
                label="Hypotheses, the best first; score: log probability, "
                "divided by a penalty for the length",
                column_widths=["25%", "75%"],
                interactive=False,
                wrap=True,
            )
    gr.Markdown(
        "Attention: each row is a word of the best translation, each column "
        "a word of the text that it may attend to"
    )
    picture = picture_box()
    gr.on(
        [button.click, text.submit],
        translate,
        [text, search],
        [translation, table, picture, remark],
    )


def _search_box(model):
    """Adds the choice of a search, hidden if the model has only one."""
    choices = [("Beam", "serving_default")]
    if "greedy" in model.signatures:
        label = "Greedy, word by word" if can_write(model) else "Greedy"
        choices.append((label, "greedy"))
    return gr.Radio(
        choices,
        value="serving_default",
        label="Search",
        visible=len(choices) > 1,
    )


def hypotheses(
    model: ExportedModel, text: str, search: str = "serving_default"
) -> list[list[float | str]]:
    """Translates a text.

    Args:
        model: The `ExportedModel`.
        text: String.
        search: Name of a signature, `"serving_default"` or `"greedy"`.

    Returns:
        List of `[score, translation]`, the best first: those of `n_best` if
        the model has it and the search is not greedy, otherwise one.
    """
    if search == "serving_default" and "n_best" in model.signatures:
        found = model.signatures["n_best"](text=[text])
        texts, scores = found["translations"][0], found["scores"][0]
    else:
        found = model.signatures[search](text=[text])
        texts, scores = found["translation"], found["score"]
    best: dict[str, float] = {}
    for score, translation in zip(scores, texts, strict=True):
        # A beam may end with fewer hypotheses than it is wide. Different
        # tokens may be the same text.
        if np.isfinite(score):
            best.setdefault(translation, round(float(score), 3))
    return [[score, translation] for translation, score in best.items()]


def several_sentences(text: str) -> list[str]:
    """Returns a remark if a text has several sentences, or none.

    Args:
        text: String.
    """
    if tf.size(split_sentences([text]).flat_values) < 2:
        return []
    return [
        "The model was trained on single sentences; of several, it may "
        "translate only the first."
    ]


def attention_of(found: dict[str, np.ndarray]) -> Figure | None:
    """Draws where a translator attends; `None` without a translation.

    Args:
        found: What the signature `attend` answers to a text.
    """
    weights, sources, targets = word_attention(
        found["weights"][0],
        found["source_tokens"][0],
        found["target_tokens"][0],
        subword_words,
        subword_words,
    )
    return attention_figure(weights, sources, targets) if weights.size else None
