"""What the tabs share: the text that is typed, and examples of it."""

from collections.abc import Iterable

import gradio as gr

from kerasrnn.serving.exported import ExportedModel

MAX_CHARACTERS = 2000
EXAMPLES = 4


def text_box(label: str, lines: int = 3) -> gr.Textbox:
    """Adds a box to type in, with a limited length.

    Args:
        label: String.
        lines: Positive integer, its height.
    """
    return gr.Textbox(label=label, lines=lines, max_length=MAX_CHARACTERS)


def checked(text: str) -> str:
    """Returns a text; shows an error on the page if it is empty or too long.

    A program may send what the page would not.

    Args:
        text: String.

    Raises:
        gr.Error: when it is.
    """
    if not text.strip():
        raise gr.Error("Please type a text first.", print_exception=False)
    if len(text) > MAX_CHARACTERS:
        raise gr.Error(
            f"The text has {len(text):,} characters, and at most "
            f"{MAX_CHARACTERS:,} are allowed.",
            print_exception=False,
        )
    return text


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
