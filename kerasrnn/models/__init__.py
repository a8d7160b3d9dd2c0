"""Whole models, to be trained with `fit`."""

from kerasrnn.models.decoder import Decoder
from kerasrnn.models.dynamic_evaluation import DynamicEvaluation
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.ensemble import TranslatorEnsemble
from kerasrnn.models.language_model import LanguageModel
from kerasrnn.models.text_classifier import TextClassifier
from kerasrnn.models.translator import Translator

__all__ = [
    "Decoder",
    "DynamicEvaluation",
    "Encoder",
    "LanguageModel",
    "TextClassifier",
    "Translator",
    "TranslatorEnsemble",
]
