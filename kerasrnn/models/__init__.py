"""Models to train with `fit`, and their parts."""

from kerasrnn.models.character_reader import CharacterReader
from kerasrnn.models.classification.attention_summaries import AttentionSummary
from kerasrnn.models.classification.attention_summaries import DecoderSummary
from kerasrnn.models.classification.classifier_ensemble import (
    ClassifierEnsemble,
)
from kerasrnn.models.classification.pooled_summaries import LastSummary
from kerasrnn.models.classification.pooled_summaries import PooledSummary
from kerasrnn.models.classification.text_classifier import TextClassifier
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.forecasting.distributions import GaussianHead
from kerasrnn.models.forecasting.distributions import NegativeBinomialHead
from kerasrnn.models.forecasting.distributions import StudentHead
from kerasrnn.models.forecasting.forecaster import Forecaster
from kerasrnn.models.forecasting.heads import ForecastHead
from kerasrnn.models.forecasting.heads import PointHead
from kerasrnn.models.forecasting.heads import QuantileHead
from kerasrnn.models.forecasting.stream import ForecastStream
from kerasrnn.models.in_float32 import in_float32
from kerasrnn.models.language.dynamic_evaluation import DynamicEvaluation
from kerasrnn.models.language.language_model import LanguageModel
from kerasrnn.models.language.rms_dynamic_evaluation import RMSDynamicEvaluation
from kerasrnn.models.language.rms_dynamic_evaluation import (
    mean_squared_gradients,
)
from kerasrnn.models.ngram_embedding import NgramEmbedding
from kerasrnn.models.piano_roll_model import PianoRollModel
from kerasrnn.models.tagger import Tagger
from kerasrnn.models.translation.decoder import Decoder
from kerasrnn.models.translation.lexicon import Lexicon
from kerasrnn.models.translation.shortlist import Shortlist
from kerasrnn.models.translation.translator import Translator
from kerasrnn.models.translation.translator_ensemble import TranslatorEnsemble

__all__ = [
    "AttentionSummary",
    "CharacterReader",
    "ClassifierEnsemble",
    "Decoder",
    "DecoderSummary",
    "DynamicEvaluation",
    "Encoder",
    "ForecastHead",
    "ForecastStream",
    "Forecaster",
    "GaussianHead",
    "LanguageModel",
    "LastSummary",
    "Lexicon",
    "NegativeBinomialHead",
    "NgramEmbedding",
    "PianoRollModel",
    "PointHead",
    "PooledSummary",
    "QuantileHead",
    "RMSDynamicEvaluation",
    "Shortlist",
    "StudentHead",
    "Tagger",
    "TextClassifier",
    "Translator",
    "TranslatorEnsemble",
    "in_float32",
    "mean_squared_gradients",
]
