"""Pipelines: a model with its tokenizers, from raw input to predictions."""

# Imported to register the classes that `.keras` files may contain. If
# TensorFlow is missing, it raises a clear error.
import kerasrnn.decoding
import kerasrnn.tokenizers  # noqa: F401
from kerasrnn.pipelines.back_translation import back_translate
from kerasrnn.pipelines.backbone_features import load_backbone
from kerasrnn.pipelines.hub import write_hub_folder
from kerasrnn.pipelines.litert import litert_model
from kerasrnn.pipelines.music_pipeline import MusicPipeline
from kerasrnn.pipelines.pipeline import TextPipeline
from kerasrnn.pipelines.run import Run
from kerasrnn.pipelines.saved_model import export_saved_model
from kerasrnn.pipelines.saved_model import next_version
from kerasrnn.pipelines.series_forecaster import Forecast
from kerasrnn.pipelines.series_forecaster import SeriesForecaster
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.text_labeller import TextLabeller
from kerasrnn.pipelines.text_language_model import TextLanguageModel
from kerasrnn.pipelines.text_tagger import Span
from kerasrnn.pipelines.text_tagger import TextTagger
from kerasrnn.pipelines.text_translator import TextTranslator
from kerasrnn.pipelines.text_translator import Translation
from kerasrnn.pipelines.xla import XlaShapes

__all__ = [
    "Forecast",
    "MusicPipeline",
    "Run",
    "SeriesForecaster",
    "Span",
    "Task",
    "TextLabeller",
    "TextLanguageModel",
    "TextPipeline",
    "TextTagger",
    "TextTranslator",
    "Translation",
    "XlaShapes",
    "back_translate",
    "export_saved_model",
    "litert_model",
    "load_backbone",
    "next_version",
    "write_hub_folder",
]
