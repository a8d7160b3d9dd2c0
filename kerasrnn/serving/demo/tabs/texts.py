"""What the tabs share: the text that is typed, and examples of it."""

import random
from collections.abc import Iterable

import gradio as gr

from kerasrnn.data import source_key
from kerasrnn.serving.exported import ExportedModel

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
