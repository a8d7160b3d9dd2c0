"""The tabs of models that read text, and what is in several of them."""

import random
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import gradio as gr
import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

from kerasrnn.data import source_key
from kerasrnn.data.alignments import word_attention
from kerasrnn.data.sentences import split_sentences
from kerasrnn.plots import attention_figure
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.step_by_step import can_write
from kerasrnn.serving.step_by_step import written

MAX_CHARACTERS = 2000
MAX_SEED = 2**31 - 1
NEW_SEED = -1
EXAMPLES = 4
UNKNOWN = "<unk>"
END = "</s>"


def text_box(label: str) -> gr.Textbox:
    """Adds a box to type in, with a limited length.

    It grows with its text. Only in a box that begins with one line, Enter
    sends the text.

    Args:
        label: String.
    """
    return gr.Textbox(
        label=label,
        lines=1,
        max_lines=12,
        max_length=MAX_CHARACTERS,
        placeholder="Enter sends the text",
    )


def picture_box(wide: bool = False) -> gr.Plot:
    """Adds a picture without a label, which would cover a part of it.

    Args:
        wide: Whether it keeps its width on a narrow screen, which it leaves.
    """
    classes = ["picture", *["wide"] * wide]
    return gr.Plot(show_label=False, elem_classes=classes)


def seed_box() -> gr.Number:
    """Adds a box for a seed; -1, to begin with, is a new one each time."""
    return gr.Number(
        NEW_SEED,
        minimum=NEW_SEED,
        maximum=MAX_SEED,
        precision=0,
        label="Seed",
        info="The same seed gives the same again; -1: a new one each time",
    )


def chosen_seed(seed: int) -> int:
    """Returns the seed of a box, or for -1 a random one."""
    return random.randint(0, MAX_SEED) if seed == NEW_SEED else seed


def checked(text: str) -> str:
    """Returns a text; shows an error on the page if it is empty or too long.

    A program may send what the page would not.

    Args:
        text: String.

    Raises:
        gr.Error: when it is.
    """
    # It has a key unless nothing of it is seen.
    if not source_key(text):
        raise gr.Error("Please type a text first.", print_exception=False)
    if len(text) > MAX_CHARACTERS:
        raise gr.Error(
            f"The text has {len(text):,} characters, and at most "
            f"{MAX_CHARACTERS:,} are allowed.",
            print_exception=False,
        )
    return text


def remarks(model: ExportedModel, tokens: Iterable[str]) -> list[str]:
    """Returns sentences on what a model does not read or know of a text.

    Args:
        model: The `ExportedModel`.
        tokens: Iterable of strings, what it reads, padded with `""`.
    """
    read = [token for token in tokens if token not in ("", END)]
    unknown = read.count(UNKNOWN)
    most = (model.card() or {}).get("max_length")
    found = []
    if most and len(read) >= most:
        found.append(f"Only the first {most} tokens of the text were read.")
    if unknown:
        found.append(f"Unknown to the model: {unknown} of {len(read)} tokens.")
    return found


def samples(model: ExportedModel) -> list[str]:
    """Returns the first texts among the samples in the card of a model.

    Args:
        model: The `ExportedModel`.
    """
    found = (model.card() or {}).get("samples", [])
    # A row starts with the text; the others are what the model made of it.
    texts = [row if isinstance(row, str) else row[0] for row in found]
    return [text[:MAX_CHARACTERS] for text in texts[:EXAMPLES]]


def add_examples(texts: Iterable[str], box: gr.Textbox) -> None:
    """Adds texts to choose from, if there are any.

    Args:
        texts: Iterable of strings.
        box: The `gr.Textbox` that takes the chosen one.
    """
    rows = [[text] for text in texts]
    if rows:
        gr.Examples(rows, [box])


_SPACE = "▁"  # how SentencePiece marks the beginning of a word


def subword_words(tokens: list[str]) -> list[tuple[int, str]]:
    """Returns the index of the first token of each word, and the word.

    Tokens are whole words if none of them has the mark of SentencePiece.

    Args:
        tokens: List of strings.

    Example:

    >>> subword_words(["▁wh", "ere", "</s>"])
    [(0, 'where'), (2, '</s>')]
    """
    marked = any(token.startswith(_SPACE) for token in tokens)
    starts = [
        position
        for position, token in enumerate(tokens)
        if position == 0
        or token.startswith(_SPACE)
        or token == "</s>"
        or not marked
    ]
    return [
        (begin, "".join(x.removeprefix(_SPACE) for x in tokens[begin:end]))
        for begin, end in zip(starts, [*starts[1:], None], strict=True)
    ]


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


def language_model_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `generate`.

    Args:
        model: The `ExportedModel`.
    """
    generate = model.signatures["generate"]

    def write(prompt, *values):
        given = dict(zip(controls, values, strict=True))
        given["seed"] = chosen_seed(given["seed"])
        return generate(prompt=[checked(prompt)], **given)["text"][0]

    with gr.Row():
        with gr.Column():
            prompt = text_box("Beginning of a text")
            button = gr.Button("Continue", variant="primary")
            add_examples((model.card() or {}).get("beginnings", []), prompt)
            controls = {name: add() for name, add in CONTROLS.items()}
        with gr.Column():
            text = gr.Textbox(label="Text", lines=12, buttons=["copy"])
    gr.on(
        [button.click, prompt.submit],
        write,
        [prompt, *controls.values()],
        [text],
    )


# By the inputs of `generate`.
CONTROLS = {
    "temperature": lambda: gr.Slider(
        0,
        2,
        value=0.8,
        step=0.05,
        label="Temperature",
        info="0 always takes the most probable token",
    ),
    "top_k": lambda: gr.Slider(
        0,
        100,
        value=0,
        step=1,
        label="Top k",
        info="Only the k most probable tokens; 0 for all",
    ),
    "top_p": lambda: gr.Slider(
        0.05,
        1,
        value=1,
        step=0.05,
        label="Top p",
        info="Only the most probable tokens, up to this probability in sum",
    ),
    "max_tokens": lambda: gr.Slider(
        1, 300, value=60, step=1, label="Length in tokens"
    ),
    "one_sentence": lambda: gr.Checkbox(
        value=False, label="Stop after the sentence"
    ),
    "seed": seed_box,
}
