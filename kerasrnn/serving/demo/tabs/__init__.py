"""The tabs of the page to try models, one for each kind of model."""

from collections.abc import Callable

import tensorflow as tf

from kerasrnn.serving.demo.tabs.classifier import classifier_tab
from kerasrnn.serving.demo.tabs.forecaster import forecaster_tab
from kerasrnn.serving.demo.tabs.language_model import language_model_tab
from kerasrnn.serving.demo.tabs.music import music_tab
from kerasrnn.serving.demo.tabs.tagger import tagger_tab
from kerasrnn.serving.demo.tabs.translator import translator_tab
from kerasrnn.serving.exported import ExportedModel

# By a signature that reads text: the tab, and the facts that it needs of the
# card.
_BY_SIGNATURE: dict[str, tuple[Callable[[ExportedModel], None], set[str]]] = {
    "attend": (translator_tab, set()),
    "explain": (classifier_tab, {"labels"}),
    "generate": (language_model_tab, set()),
    "tag_tokens": (tagger_tab, {"scheme"}),
}


def tab_of(model: ExportedModel) -> Callable[[ExportedModel], None] | None:
    """Chooses the function that fills the tab of a model.

    Args:
        model: The `ExportedModel`.

    Returns:
        The function, by the signatures of the model; `None` if there is no tab
        for this kind of model, or its card lacks what the tab needs.
    """
    facts = (model.card() or {}).keys()
    if "forecast" in model.signatures["serving_default"].outputs:
        return forecaster_tab if "columns" in facts else None
    for name, (tab, needed) in _BY_SIGNATURE.items():
        if name in model.signatures and _reads_text(model.signatures[name]):
            return tab if needed <= facts else None
    generate = model.signatures.get("generate")
    return music_tab if generate and "roll" in generate.outputs else None


def _reads_text(signature):
    return any(spec.dtype == tf.string for spec in signature.inputs.values())
