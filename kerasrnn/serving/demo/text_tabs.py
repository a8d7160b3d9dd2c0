"""The tabs of models that read text, and components that they share."""

import html
import random
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import gradio as gr
import numpy as np
from matplotlib.figure import Figure

from kerasrnn.data import source_key
from kerasrnn.data.alignments import word_attention
from kerasrnn.data.sentences import split_sentences
from kerasrnn.plots import attention_figure
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.step_by_step import can_write
from kerasrnn.serving.step_by_step import written

MAX_CHARACTERS = 50_000
MAX_SEED = 2**31 - 1
NEW_SEED = -1
EXAMPLES = 4
UNKNOWN = "<unk>"
END = "</s>"


def text_box(label: str) -> gr.Textbox:
    """Adds a box to type in.

    It grows with its text. Enter sends the text only if the box starts with one
    line.

    Args:
        label: String.
    """
    return gr.Textbox(
        label=label,
        lines=1,
        max_lines=12,
        placeholder="Enter sends the text",
    )


def warning_box() -> gr.Markdown:
    """Adds a banner for `remarks`, which is not seen while it is empty."""
    return gr.Markdown(elem_classes="warning")


def picture_box(wide: bool = False) -> gr.Plot:
    """Adds a picture without a label, which would cover part of it.

    Args:
        wide: Whether it keeps its width on a narrow screen and is scrolled.
    """
    classes = ["picture", "wide"] if wide else ["picture"]
    return gr.Plot(show_label=False, elem_classes=classes)


def seed_box() -> gr.Number:
    """Adds a box for a seed; the default -1 gives a new one each time."""
    return gr.Number(
        NEW_SEED,
        minimum=NEW_SEED,
        maximum=MAX_SEED,
        precision=0,
        label="Seed",
        info="The same seed gives the same again; -1: a new one each time",
    )


def chosen_seed(seed: int) -> int:
    """Returns the seed of a box, or a random one for -1."""
    return random.randint(0, MAX_SEED) if seed == NEW_SEED else seed


def checked(text: str, most: int = MAX_CHARACTERS) -> str:
    """Returns a text, or `""` if nothing of it is seen.

    Args:
        text: String.
        most: The maximum number of characters.

    Raises:
        gr.Error: when it is too long; the page shows this.
    """
    if len(text) > most:
        raise gr.Error(
            f"The text has {len(text):,} characters, and at most {most:,} are "
            "allowed.",
            print_exception=False,
        )
    return text if source_key(text) else ""


def remarks(model: ExportedModel, texts: Iterable[Iterable[str]]) -> str:
    """Returns what a model does not read or know, as sentences to warn with.

    Args:
        model: The `ExportedModel`.
        texts: Iterable of what it reads of each text, an iterable of tokens
            that is padded with `""`.
    """
    card, read = model.card() or {}, [*map(_without_padding, texts)]
    most, found = card.get("max_length"), []
    if most and max(map(len, read), default=0) >= most:
        found.append(f"Only the first {most} tokens of a text are read.")
    tokens = [token for tokens in read for token in tokens]
    if unknown := tokens.count(UNKNOWN):
        found.append(
            f"{unknown} of {len(tokens)} tokens were never seen in training."
        )
        found.append("The answer is probably wrong.")
        if "languages" in card:
            language, _ = card["languages"]
            found.append(f"The model reads {capitalized(language)}.")
    return " ".join(found)


def mostly_unknown(tokens: Iterable[str]) -> bool:
    """Returns whether more than half of the tokens are unknown.

    Args:
        tokens: Iterable of strings, padded with `""`.
    """
    read = _without_padding(tokens)
    return read.count(UNKNOWN) > len(read) / 2


def _without_padding(tokens):
    return [token for token in tokens if token not in ("", END)]


def capitalized(text: str) -> str:
    """Returns a text with a capital, a code such as "de" in capitals."""
    return text.upper() if len(text) == 2 else text[:1].upper() + text[1:]


def samples(model: ExportedModel) -> list[str]:
    """Returns the first texts among the samples in the card of a model.

    Args:
        model: The `ExportedModel`.
    """
    found = (model.card() or {}).get("samples", [])
    # A row starts with the text, followed by the outputs of the model.
    texts = [row if isinstance(row, str) else row[0] for row in found]
    return [text[:MAX_CHARACTERS] for text in texts[:EXAMPLES]]


def add_form(
    function: Callable[..., Any],
    inputs: Sequence[gr.Component],
    action: str,
    outputs: Sequence[gr.Component],
    examples: Iterable[str] = (),
    below: Sequence[gr.Component] = (),
    caption: str | None = None,
) -> None:
    """Adds inputs with a button below them, and outputs beside them.

    Args:
        function: Function from the values of the inputs to those of the
            outputs, or a generator of these.
        inputs: List of components. Enter in a text box is like the button.
        action: String, the text on the button.
        outputs: List of components.
        examples: Iterable of strings to choose from for the first input.
        below: List of more outputs, which take the whole width.
        caption: String above them.
    """
    gr.Interface(
        function,
        inputs,
        [*outputs, *below],
        examples=[[text] for text in examples] or None,
        article=caption,
        submit_btn=action,
        clear_btn=None,
        flagging_mode="never",
        analytics_enabled=False,
    )
    for output in below:
        output.unrender()
        output.render()


_SPACE = "▁"  # SentencePiece's mark at the beginning of a word


def subword_words(tokens: list[str]) -> list[tuple[int, str]]:
    """Joins tokens to words, with the index of the first token of each.

    Tokens are whole words if none of them has SentencePiece's mark.

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
        done, warning, read = "", "", []
        for gap, sentence in sentences_of(checked(text)):
            if search == "greedy" and can_write(model):
                for begun in written(model, sentence):
                    yield warning, done + gap + begun, gr.skip(), gr.skip()
            rows = hypotheses(model, sentence, search)
            done += gap + str(rows[0][1])
            found = model.signatures["attend"](text=[sentence])
            details = gr.skip(), gr.skip()
            if not read:
                details = rows, attention_of(found)
            read.append(found["source_tokens"][0])
            warning = remarks(model, read)
            yield warning, done, *details

    searches = [("Beam", "serving_default")]
    if "greedy" in model.signatures:
        label = "Greedy, word by word" if can_write(model) else "Greedy"
        searches.append((label, "greedy"))
    search = gr.Radio(
        searches,
        value="serving_default",
        label="Search",
        visible=len(searches) > 1,
    )
    table = gr.Dataframe(
        headers=["score", "translation"],
        datatype=["number", "str"],
        label="Hypotheses for the first sentence, the best first; "
        "score: log probability, divided by a penalty for the length",
        column_widths=["25%", "75%"],
        interactive=False,
        wrap=True,
    )
    translation = gr.Textbox(label="Translation", lines=3, buttons=["copy"])
    add_form(
        translate,
        [text_box("Text"), search],
        "Translate",
        [warning_box(), translation, table],
        samples(model),
        [picture_box()],
        "Attention in the first sentence: each row is a word of the best "
        "translation, each column a word of the text that it may attend to",
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
        List of `[score, translation]`, best first: those of `n_best` if the
        model has it and the search is not greedy, otherwise one.
    """
    if search == "serving_default" and "n_best" in model.signatures:
        found = model.signatures["n_best"](text=[text])
        texts, scores = found["translations"][0], found["scores"][0]
    else:
        found = model.signatures[search](text=[text])
        texts, scores = found["translation"], found["score"]
    best: dict[str, float] = {}
    for score, translation in zip(scores, texts, strict=True):
        # A beam may end with fewer hypotheses than its width. Different tokens
        # may give the same text.
        if np.isfinite(score):
            best.setdefault(translation, round(float(score), 3))
    return [[score, translation] for translation, score in best.items()]


def sentences_of(text: str) -> Iterator[tuple[str, str]]:
    """Yields each sentence of a text, after the white space before it.

    Args:
        text: String.
    """
    gap = ""
    (lines,) = split_sentences([text.strip()]).to_list()
    for line in lines:
        for sentence in line:
            yield gap, sentence.decode()
            gap = " "
        gap = gap.removesuffix(" ") + "\n"


def attention_of(found: dict[str, np.ndarray]) -> Figure | None:
    """Draws the attention of a translator; `None` without a translation.

    Args:
        found: The outputs of the signature `attend` for a text.
    """
    weights, sources, targets = word_attention(
        found["weights"][0],
        found["source_tokens"][0],
        found["target_tokens"][0],
        subword_words,
        subword_words,
    )
    return attention_figure(weights, sources, targets) if weights.size else None


HAS = "✓"  # mark of a label that a text has


def classifier_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `explain_label`.

    Args:
        model: The `ExportedModel`. Its card must have the `"labels"`.
    """
    card = model.card() or {}
    names, title = card["labels"], "Labels and their probabilities"
    if card.get("multi_label"):
        title += f"; {HAS}: the text has it"

    def explain(text):
        if not checked(text):
            return gr.skip()
        found = model.signatures["serving_default"](text=[text])
        shares = probabilities(found["probability"][0])
        best = names[int(np.argmax(shares))]
        why = model.signatures["explain_label"](text=[text], label=[best])
        tokens = why["tokens"][0]
        warning = remarks(model, [tokens])
        if mostly_unknown(tokens):
            return f"{warning} So no label is shown.", None, ""
        return (
            warning,
            with_names(found["label"][0], shares, names),
            weighted_words(best, tokens, why["weights"][0]),
        )

    words = gr.HTML(elem_classes="weighted-words")
    add_form(
        explain,
        [text_box("Text")],
        "Classify",
        [warning_box(), gr.Label(label=title), words],
        samples(model),
    )


def probabilities(found: Any) -> list[float]:
    """Returns the probabilities of all labels.

    Args:
        found: Float, the probability of the second of two classes; or an
            array of shape `(classes,)`.
    """
    return list(map(float, found if np.ndim(found) else [1 - found, found]))


def with_names(
    label: Any, shares: list[float], names: list[str]
) -> dict[str, float]:
    """Returns the probability of each label by its name.

    Args:
        label: String, the predicted label; or, if a text may have several, an
            array of shape `(labels,)`, empty strings for those that it has not.
            Those that it has are marked.
        shares: List of the probabilities.
        names: List of labels in their order.
    """
    if np.ndim(label):
        names = [
            f"{HAS} {name}" if has else name
            for name, has in zip(names, label, strict=True)
        ]
    return dict(zip(names, shares, strict=True))


def weighted_words(label: str, tokens: np.ndarray, weights: np.ndarray) -> str:
    """Returns HTML: words in blue or red, as strong as their weight.

    Args:
        label: String, the label that is explained.
        tokens: Array of strings of shape `(time,)`, empty for padding.
        weights: Array of shape `(time,)`, above 0 for the label.
    """
    largest = np.abs(weights).max(initial=0.0) or 1.0
    words = [
        f'<span class="{"for" if weight > 0 else "against"}" '
        f'style="--weight: {abs(weight) / largest:.2f}">'
        f"{html.escape(token)}</span>"
        for token, weight in zip(tokens, weights, strict=True)
        if token
    ]
    return (
        f"<p>Blue words support “{html.escape(label)}”, red words contradict "
        f"it.</p><p>{' '.join(words)}</p>"
    )


def tagger_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `tag_tokens`.

    Args:
        model: The `ExportedModel`. Its card must have the `"scheme"` of its
            tags.
    """
    of_words = (model.card() or {})["scheme"] is None

    def tag(text):
        if not checked(text):
            return gr.skip()
        answer = model.signatures["serving_default"](text=[text])
        found = {name: values[0] for name, values in answer.items()}
        if of_words:
            return tagged_words(found), [], ""
        rows = phrases(text, found)
        remark = "" if rows else "No phrase was found."
        return coloured(text, found), rows, remark

    shown = gr.HighlightedText(
        label="Tags of words" if of_words else "Phrases", show_legend=True
    )
    table = gr.Dataframe(
        headers=["phrase", "label", "score"],
        label="Phrases; score: the lowest probability of a tag in it",
        column_widths=["50%", "25%", "25%"],
        wrap=True,
        visible=not of_words,
    )
    outputs = shown, table, gr.Markdown()
    add_form(tag, [text_box("Text")], "Tag", outputs, samples(model))


def coloured(
    text: str, found: Mapping[str, Any]
) -> list[tuple[str, str | None]]:
    """Splits a text into parts with their label or `None`.

    Args:
        text: String.
        found: The outputs of the tagger for it, arrays of shape `(spans,)`.
    """
    parts: list[tuple[str, str | None]] = []
    end = 0
    for start, stop, label in _spans(found):
        parts += [(text[end:start], None), (text[start:stop], label)]
        end = stop
    return [part for part in [*parts, (text[end:], None)] if part[0]]


def phrases(text: str, found: Mapping[str, Any]) -> list[list[Any]]:
    """Returns a row for each phrase: text, label and score."""
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
    """Returns start, end and label of each phrase, without padding."""
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
        if not checked(prompt):
            return gr.skip()
        given = dict(zip(controls, values, strict=True))
        given["seed"] = chosen_seed(given["seed"])
        read = model.signatures["serving_default"](text=[prompt])["tokens"]
        text = generate(prompt=[prompt], **given)["text"][0]
        return remarks(model, read), text

    # The names are those of the inputs of `generate`.
    controls = {
        "temperature": gr.Slider(
            0,
            2,
            value=0.8,
            step=0.05,
            label="Temperature",
            info="0 always takes the most probable token",
        ),
        "top_k": gr.Slider(
            0,
            100,
            value=0,
            step=1,
            label="Top k",
            info="Only the k most probable tokens; 0 for all",
        ),
        "top_p": gr.Slider(
            0.05,
            1,
            value=1,
            step=0.05,
            label="Top p",
            info="Only the most probable tokens, up to this probability in sum",
        ),
        "max_tokens": gr.Slider(
            1, 300, value=60, step=1, label="Length in tokens"
        ),
        "one_sentence": gr.Checkbox(
            value=False, label="Stop after the sentence"
        ),
        "seed": seed_box(),
    }
    text = gr.Textbox(label="Text", lines=12, buttons=["copy"])
    add_form(
        write,
        [text_box("Beginning of a text"), *controls.values()],
        "Continue",
        [warning_box(), text],
        (model.card() or {}).get("beginnings", []),
    )
