"""A page in the browser to try exported models.

    kerasrnn-demo saved_models

Translators, classifiers, taggers, language models and forecasters have a tab
each.
"""

import argparse
import os
import sys
from collections.abc import Sequence

import gradio as gr
import tensorflow as tf

from kerasrnn.plots.fonts import packaged_font
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.exported import model_folders
from kerasrnn.serving.tabs import tab_of
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

# Those of the system: no font comes from the network.
FONT = ("system-ui", "FiraGO", "sans-serif")
MONOSPACE_FONT = ("ui-monospace", "FiraGO", "monospace")
# For a system without Devanagari.
FONT_FACE = """@font-face {{
    font-family: FiraGO;
    src: url("gradio_api/file={path}");
    unicode-range: U+0900-097F, U+200C-200D, U+25CC;
}}"""
# At once: Chromium does not draw the text in a box anew when it comes later.
LOAD_FONT = "() => { document.fonts.load('1em FiraGO', 'अ'); }"


def load_models(path: PathLike) -> list[ExportedModel]:
    """Loads the newest version of every model in a folder.

    A model that cannot be loaded is left out, with a message to stderr.

    Args:
        path: The folder above those of the models.

    Returns:
        List of `ExportedModel`, sorted by name.

    Raises:
        FileNotFoundError: when there is no such folder.

    Example:

    >>> path = export_small_model("saved_models/shout")
    >>> [model.name for model in load_models("saved_models")]
    ['shout']
    """
    models = []
    for name, folder in model_folders(path).items():
        try:
            models.append(folder.load())
        except (OSError, ValueError, tf.errors.OpError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return models


def build_page(models: Sequence[ExportedModel]) -> gr.Blocks:
    """Builds the page.

    Args:
        models: List of `ExportedModel`, each of which gets a tab.

    Returns:
        The `gradio.Blocks`, to `launch()`.

    Raises:
        ValueError: when there is a tab for none of the models.
    """
    tabs = [(model, tab) for model in models if (tab := tab_of(model))]
    if not tabs:
        raise ValueError(
            "There must be a translator, a classifier, a tagger, a language "
            "model or a forecaster. "
            f"Received: {[model.name for model in models]}"
        )
    with gr.Blocks(title="kerasrnn", analytics_enabled=False) as page:
        for model, tab in tabs:
            with gr.Tab(model.name):
                gr.Markdown(caption(model))
                tab(model)
    return page


def caption(model: ExportedModel) -> str:
    """Returns a line of Markdown on where a model comes from.

    Args:
        model: The `ExportedModel`.
    """
    card = model.card() or {}
    parts = [f"Version {model.version}"]
    if "commit" in card:
        parts.append(f"commit {card['commit']}")
    if "command" in card:
        parts.append(f"`{card['command']}`")
    return ", ".join(parts)


def _fonts():
    """Arguments of `launch`: the fonts, and the file of one of them."""
    path = packaged_font()
    return {
        "theme": gr.themes.Default(font=FONT, font_mono=MONOSPACE_FONT),
        "css": FONT_FACE.format(path=path) if path else None,
        "js": LOAD_FONT if path else None,
        "allowed_paths": [path] if path else [],
    }


def main(args: Strings | None = None) -> None:
    """Runs the command line: serves the page until it is interrupted.

    Args:
        args: List of strings; `None` for the arguments of the process.
    """
    parser = argparse.ArgumentParser(
        prog="kerasrnn-demo",
        description="Serves a page to try exported models.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "folder",
        nargs="?",
        default="saved_models",
        help="above the models (default: %(default)s)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="0.0.0.0 opens it to the network (default: %(default)s)",
    )
    parser.add_argument(
        "--port", type=int, default=7860, help="default: %(default)s"
    )
    found = parser.parse_args(args)
    # Gradio would send statistics, also on single components.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    try:
        page = build_page(load_models(found.folder))
        page.launch(
            server_name=found.host,
            server_port=found.port,
            show_error=True,
            ssr_mode=False,
            footer_links=[],
            **_fonts(),
        )
    except (OSError, ValueError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
