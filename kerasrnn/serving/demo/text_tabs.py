"""The tabs of models that read text, and components that they share."""

import functools
import html
import math
import operator
import random
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
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
BATCH_SIZE = 64  # sentences
MAX_SEED = 2**31 - 1
NEW_SEED = -1
EXAMPLES = 4
UNKNOWN = "<unk>"
END = "</s>"
FOREIGN = 1.5  # times as many tokens per word as in the samples
SPAN = "starts", "ends", "labels", "scores"


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


def picture_box(*classes: str) -> gr.Plot:
    """Adds a picture without a label, which would cover part of it.

    Args:
        *classes: `"wide"` if it keeps its size on a narrow screen, where it can
            be moved. Otherwise, it is made smaller.
    """
    return gr.Plot(show_label=False, elem_classes=["picture", *classes])


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
    function: Callable[..., Iterator[Sequence[Any]]],
    inputs: Sequence[gr.Component],
    action: str,
    outputs: Sequence[gr.Component],
    examples: Iterable[str] = (),
    below: Sequence[gr.Component] = (),
    caption: str | None = None,
    most: int = MAX_CHARACTERS,
) -> gr.Interface:
    """Adds inputs with a button below them, and outputs beside them.

    Above the outputs is a banner for warnings, which is not seen while it is
    empty. It also shows a `ValueError`, instead of an answer. If nothing of a
    text is seen, nothing is answered.

    Args:
        function: Function from the values of the inputs. It yields a warning
            and the values of the outputs, as often as they change.
        inputs: List of components. Enter in a text box is like the button.
        action: String, the text on the button.
        outputs: List of components.
        examples: Iterable of strings to choose from for the first input.
        below: List of more outputs, which take the whole width.
        caption: String above them.
        most: The maximum number of characters of the first input, if it is a
            text.
    """
    shown = [gr.Markdown(elem_classes="warning"), *outputs, *below]

    def answer(first, *others):
        try:
            if isinstance(first, str) and len(first) > most:
                raise ValueError(
                    f"The text has {len(first):,} characters, and at most "
                    f"{most:,} are allowed."
                )
            if isinstance(first, str) and not source_key(first):
                yield [gr.skip()] * len(shown)
            else:
                yield from function(first, *others)
        except ValueError as error:
            yield str(error), *[None] * (len(shown) - 1)

    form = gr.Interface(
        answer,
        inputs,
        shown,
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
    return form


Tokens = Iterable[Iterable[str]]
"""What a model reads of several texts: the tokens of each, padded with `""`."""


def remarks_of(
    model: ExportedModel, tokens_of: Callable[[list[str]], Tokens]
) -> Callable[[Tokens], tuple[str, bool]]:
    """Returns a function that warns of what a model does not read or know.

    Words of another language are unknown, or are split into more tokens than
    those of the samples in the card. Of an English model of 2,000 to 16,000
    subwords, `FOREIGN` finds almost all German and Vietnamese sentences and at
    least half of the Spanish ones, and 1 % of the English ones.

    Args:
        model: The `ExportedModel`.
        tokens_of: Function from texts to their tokens.

    Returns:
        A function from the tokens of texts to `(warning, mostly_unknown)`:
        sentences, and whether more than half of the tokens are unknown.
    """
    card = model.card() or {}

    @functools.cache
    def usual():
        texts = samples(model)
        return tokens_per_word(tokens_of(texts)) if texts else math.inf

    def remarks(texts):
        read = [[x for x in row if x not in ("", _SPACE, END)] for row in texts]
        tokens = [token for row in read for token in row]
        most, unknown, found = card.get("max_length"), tokens.count(UNKNOWN), []
        mostly_unknown = unknown > len(tokens) / 2
        # A text without spaces is a single word.
        foreign = not unknown and (
            min(tokens_per_word(texts), 6) > FOREIGN * usual()
        )
        if most and max(map(len, read), default=0) >= most:
            found.append(f"Only the first {most:,} tokens of a text are read.")
        if unknown:
            found.append(
                f"{unknown:,} of {len(tokens):,} tokens were never seen in "
                "training."
            )
        if foreign:
            found.append("Most words are unlike those of the training data.")
        if (unknown or foreign) and "languages" in card:
            language = capitalized(card["languages"][0])
            found.append(
                "The translation is probably wrong. This model translates from "
                f"{language}."
            )
        elif mostly_unknown or foreign:
            found.append("The answer is probably wrong.")
        return " ".join(found), mostly_unknown

    return remarks


def tokens_per_word(texts: Tokens) -> float:
    """Returns the mean number of tokens of a word, without punctuation."""
    tokens = [x for row in texts for x in row if x not in ("", END)]
    count = sum(any(map(str.isalnum, token)) for token in tokens)
    return count / max(len(subword_words(tokens)), 1)


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

    def attend(texts):
        return model.signatures["attend"](text=texts)

    def translate(text, search):
        (_, first), *others = sentences_of(text)
        if search == "greedy" and can_write(model):
            for begun in written(model, first):
                yield "", begun, gr.skip(), gr.skip()
        rows = hypotheses(model, first, search)
        found, done = attend([first]), str(rows[0][1])
        read = [*found["source_tokens"]]
        warning, _ = remarks(read)
        yield warning, done, rows, attention_of(found)
        for start in range(0, len(others), BATCH_SIZE):
            gaps, texts = zip(*others[start : start + BATCH_SIZE], strict=True)
            best = model.signatures[search](text=texts)["translation"]
            done += "".join(map(operator.add, gaps, best))
            read += [*attend(texts)["source_tokens"]]
            warning, _ = remarks(read)
            yield warning, done, gr.skip(), gr.skip()

    remarks = remarks_of(model, lambda texts: attend(texts)["source_tokens"])
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
    add_form(
        translate,
        [text_box("Text"), search],
        "Translate",
        [gr.Textbox(label="Translation", lines=3, buttons=["copy"]), table],
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
    is_beam = search == "serving_default" and "n_best" in model.signatures
    found = model.signatures["n_best" if is_beam else search](text=[text])
    names = ["scores", "translations"] if is_beam else ["score", "translation"]
    scores, texts = (np.ravel(found[name]) for name in names)
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
    names, several = card["labels"], card.get("multi_label", False)
    title = "Labels and their probabilities"
    if several:
        title += f"; {HAS}: the text has it"

    def why(texts, label):
        labels = [label] * len(texts)
        return model.signatures["explain_label"](text=texts, label=labels)

    def explain(text):
        found = model.signatures["serving_default"](text=[text])
        shares = probabilities(found["probability"][0])
        has = found["label"][0] if several else []
        best = names[int(np.argmax(shares))]
        reasons = why([text], best)
        tokens = reasons["tokens"]
        warning, mostly_unknown = remarks(tokens)
        if mostly_unknown:
            yield f"{warning} So no label is shown.", None, ""
        else:
            yield (
                warning,
                {
                    f"{HAS} {name}" if name in has else name: share
                    for name, share in zip(names, shares, strict=True)
                },
                weighted_words(best, tokens[0], reasons["weights"][0]),
            )

    remarks = remarks_of(model, lambda texts: why(texts, names[0])["tokens"])
    add_form(
        explain,
        [text_box("Text")],
        "Classify",
        [
            # The best of several labels may be one that the text has not.
            gr.Label(label=title, show_heading=not several),
            gr.HTML(elem_classes="weighted-words"),
        ],
        samples(model),
    )


def probabilities(found: Any) -> list[float]:
    """Returns the probabilities of all labels.

    Args:
        found: Float, the probability of the second of two classes; or an
            array of shape `(classes,)`.
    """
    return list(map(float, found if np.ndim(found) else [1 - found, found]))


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
    what = "Words" if of_words else "Phrases"

    def answer(texts):
        return model.signatures["serving_default"](text=texts)

    def read(found):
        is_read = found["known"] | (found["tokens"] == "")
        return np.where(is_read, found["tokens"], UNKNOWN)

    def tag(text):
        found = answer([text])
        warning, _ = remarks(read(found))
        columns = (found[f"span_{name}"][0] for name in SPAN)
        spans = [span for span in zip(*columns, strict=True) if span[0] >= 0]
        entities = [
            {"start": start, "end": end, "entity": label}
            for start, end, label, _ in spans
        ]
        rows = [
            [text[start:end], label, f"{score:.3f}"]
            for start, end, label, score in spans
        ]
        if not rows:
            warning = f"{warning} No phrase was found."
        yield warning, {"text": text, "entities": entities}, rows

    remarks = remarks_of(model, lambda texts: read(answer(texts)))
    table = gr.Dataframe(
        headers=["word" if of_words else "phrase", "label", "score"],
        label=f"{what} (score = minimum tag probability)",
        column_widths=["50%", "25%", "25%"],
        interactive=False,
        wrap=True,
    )
    shown = gr.HighlightedText(label=what, show_legend=True)
    add_form(tag, [text_box("Text")], "Tag", [shown, table], samples(model))


def language_model_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `generate`.

    Args:
        model: The `ExportedModel`.
    """

    def tokens_of(texts):
        return model.signatures["serving_default"](text=texts)["tokens"]

    def write(prompt, *values):
        given = dict(zip(controls, values, strict=True))
        given["seed"] = chosen_seed(given["seed"])
        warning, _ = remarks(tokens_of([prompt]))
        found = model.signatures["generate"](prompt=[prompt], **given)
        yield warning, found["text"][0]

    remarks = remarks_of(model, tokens_of)
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
    add_form(
        write,
        [text_box("Beginning of a text"), *controls.values()],
        "Continue",
        [gr.Textbox(label="Text", lines=12, buttons=["copy"])],
        (model.card() or {}).get("beginnings", []),
    )
