"""A web page to try exported models.

Translators, classifiers, taggers, language models, forecasters and models of
music have a tab each.
"""

import re
import sys
import threading
from collections.abc import Sequence
from typing import Any

import gradio as gr
import tensorflow as tf

from kerasrnn.plots.fonts import packaged_font
from kerasrnn.serving.demo.series_tabs import forecaster_tab
from kerasrnn.serving.demo.series_tabs import music_tab
from kerasrnn.serving.demo.text_tabs import capitalized
from kerasrnn.serving.demo.text_tabs import classifier_tab
from kerasrnn.serving.demo.text_tabs import language_model_tab
from kerasrnn.serving.demo.text_tabs import tagger_tab
from kerasrnn.serving.demo.text_tabs import translator_tab
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.exported import model_folders
from kerasrnn.serving.warm_up import warm_up
from kerasrnn.typing import PathLike

# System fonts, so that none is loaded from the network.
FONT = ("system-ui", "FiraGO", "sans-serif")
MONOSPACE_FONT = ("ui-monospace", "FiraGO", "monospace")
# For systems without a Devanagari font.
FONT_FACE = """@font-face {{
    font-family: FiraGO;
    src: url("gradio_api/file={path}");
    unicode-range: U+0900-097F, U+200C-200D, U+25CC;
}}"""
# A wide picture keeps its size on a narrow screen, where it can be moved.
# Pictures have a white background: dark mode turns their brightness.
STYLE = """
.wide { overflow-x: auto !important; }
.wide div { align-items: safe center; }
.wide img { max-width: none; }
.dark .picture img { filter: invert(0.92) hue-rotate(180deg); }
.dark .picture { background: #141414 !important; }
.warning:not(:has(p)) { display: none; }
.warning p {
    background: #fef3c7; border-left: 4px solid #d97706; color: #713f12;
    padding: 0.5rem 1rem;
}
.warning code { background: none !important; color: inherit !important; }
.textfield { max-height: 30rem; overflow-y: auto; }
.weighted-words { --for: 79 155 232; --against: 240 112 95; }
.dark .weighted-words { --for: 29 78 216; --against: 185 28 28; }
.weighted-words span {
    border-radius: 0.3em; line-height: 1.9; padding: 0.15em 0.3em;
}
.weighted-words .for { background: rgb(var(--for) / var(--weight)); }
.weighted-words .against { background: rgb(var(--against) / var(--weight)); }
"""
# Loaded at once, because Chromium does not redraw text when a font arrives
# later.
LOAD_FONT = "() => { document.fonts.load('1em FiraGO', 'अ'); }"


def load_models(path: PathLike) -> list[ExportedModel]:
    """Loads the newest version of every model in a folder.

    Models that cannot be loaded are skipped, with a message on stderr.

    Args:
        path: The folder that contains the model folders.

    Returns:
        List of `ExportedModel`, sorted by name.

    Raises:
        FileNotFoundError: when the folder does not exist.

    Example:

    >>> path = export_small_model("saved_models/shout")
    >>> [model.name for model in load_models("saved_models")]
    ['shout']
    """
    models = []
    for name, folder in model_folders(path).items():
        print(f"Loading {name} ...", file=sys.stderr)
        try:
            models.append(folder.load())
        except (OSError, ValueError, tf.errors.OpError) as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
    return models


def build_page(models: Sequence[ExportedModel]) -> gr.Blocks:
    """Builds the page.

    Args:
        models: List of `ExportedModel`. Each gets a tab.

    Returns:
        The `gradio.Blocks`, to `launch()`.

    Raises:
        ValueError: when no model can be shown.
    """
    kinds = [(model, kind) for model in models if (kind := kind_of(model))]
    others = [model.name for model in models if not kind_of(model)]
    if not kinds:
        raise ValueError(
            "There must be a translator, a classifier, a tagger, a language "
            f"model, a forecaster or a model of music. Received: {others}"
        )
    with gr.Blocks(title="kerasrnn", analytics_enabled=False) as page:
        for model, kind in kinds:
            with gr.Tab(title(model, kind)):
                gr.Markdown(caption(model))
                _, _, add_tab, _ = _KINDS[kind]
                add_tab(model)
        if others:
            gr.Markdown(
                "Not shown, because there is no tab for such a model or card: "
                f"{', '.join(others)}."
            )
    return page


def title(model: ExportedModel, kind: str) -> str:
    """Returns what a model is, and its languages or else its own name.

    Args:
        model: The `ExportedModel`.
        kind: Its `kind_of`.
    """
    languages = [*map(capitalized, (model.card() or {}).get("languages", []))]
    name = " to ".join(languages) or model.name.replace("_", " ")
    repeated = kind.lower().startswith(name.lower())
    return kind if repeated else f"{kind} · {name}"


def caption(model: ExportedModel) -> str:
    """Returns Markdown: how good a model is, and where it comes from.

    Args:
        model: The `ExportedModel`.
    """
    card = model.card() or {}
    parts = [f"`{model.name}`, version {model.version}"]
    parts += [
        f"{name} {card[name]}" for name in ("date", "commit") if name in card
    ]
    if "command" in card:
        # Of a path, readers of the page need only the name.
        command = re.sub(
            r"(?<![^\s=\"'])/(?:[^\s\"'/]+/)*", "", card["command"]
        )
        parts.append(f"`{command}`")
    results = [
        f"**{capitalized(sentence)}** on the {part} set{_sizes(card, part)}."
        for part, sentence in card.get("results", {}).items()
    ]
    return "<br>".join([*results, ", ".join(parts)])


def _sizes(card, part):
    """Returns the size of a data set, such as " (texts: 40, words: 1,092)"."""
    sizes = card.get("data", {}).get(part, {})
    words = ", ".join(f"{name}: {count:,}" for name, count in sizes.items())
    return f" ({words})" if words else ""


def _warm_up_all(models):
    """Calls each model once, because first calls are slow."""
    for model in models:
        try:
            warm_up(model)
        except (ValueError, tf.errors.OpError) as error:
            print(f"{model.name} is slow at first: {error}", file=sys.stderr)


def _fonts():
    """Returns arguments of `launch`: fonts, and the file of one of them."""
    path = packaged_font()
    theme = gr.themes.Default(font=FONT, font_mono=MONOSPACE_FONT)
    return {
        # Explanations are too pale for small letters by default.
        "theme": theme.set(body_text_color_subdued="*neutral_500"),
        "css": STYLE + (FONT_FACE.format(path=path) if path else ""),
        "js": LOAD_FONT if path else None,
        "allowed_paths": [path] if path else [],
    }


def serve(folder: PathLike, host: str, port: int) -> None:
    """Serves the page until it is interrupted.

    Args:
        folder: The folder that contains the model folders.
        host: The address to listen on.
        port: Its port.

    Raises:
        FileNotFoundError: when the folder does not exist.
        OSError: when the port is in use.
        ValueError: when no model can be shown.
    """
    models = load_models(folder)
    page = build_page(models)
    _, address, _ = page.launch(
        server_name=host,
        server_port=port,
        show_error=True,
        ssr_mode=False,
        footer_links=[],
        quiet=True,
        prevent_thread_lock=True,
        **_fonts(),
    )
    print(f"The page is at {address} (Ctrl-C ends it).", file=sys.stderr)
    threading.Thread(target=_warm_up_all, args=(models,), daemon=True).start()
    page.block_thread()


# Kinds of models: a signature and an output that it must have, the function
# that fills the tab, and the facts that this needs from the card.
_KINDS: dict[str, Any] = {
    "Forecaster": ("serving_default", "forecast", forecaster_tab, {"columns"}),
    "Translator": ("attend", "weights", translator_tab, set()),
    "Classifier": ("explain_label", "weights", classifier_tab, {"labels"}),
    "Language model": ("generate", "text", language_model_tab, set()),
    "Tagger": ("tag_tokens", "known", tagger_tab, {"scheme"}),
    "Music": ("generate", "roll", music_tab, set()),
}


def kind_of(model: ExportedModel) -> str | None:
    """Returns the kind of a model.

    Args:
        model: The `ExportedModel`.

    Returns:
        A key of `_KINDS`; `None` if there is no tab for such a model, or its
        card lacks facts.
    """
    facts = (model.card() or {}).keys()
    for kind, (name, output, _, needed) in _KINDS.items():
        signature = model.signatures.get(name)
        if signature is not None and output in signature.outputs:
            return kind if needed <= facts else None
    return None
