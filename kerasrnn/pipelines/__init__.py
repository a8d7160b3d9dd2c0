"""Text in, text out: tokenizers, a model and a search as one."""

from kerasrnn.pipelines.saved_model import export_saved_model
from kerasrnn.pipelines.text_labeller import TextLabeller
from kerasrnn.pipelines.text_language_model import TextLanguageModel
from kerasrnn.pipelines.text_translator import TextTranslator

__all__ = [
    "TextLabeller",
    "TextLanguageModel",
    "TextTranslator",
    "export_saved_model",
]
