"""Models to train with `fit`, and their parts."""

from kerasrnn.models.attention_summaries import AttentionSummary
from kerasrnn.models.attention_summaries import DecoderSummary
from kerasrnn.models.character_reader import CharacterReader
from kerasrnn.models.classifier_ensemble import ClassifierEnsemble
from kerasrnn.models.decoder import Decoder
from kerasrnn.models.dynamic_evaluation import DynamicEvaluation
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.forecast_distributions import GaussianHead
from kerasrnn.models.forecast_distributions import NegativeBinomialHead
from kerasrnn.models.forecast_distributions import StudentHead
from kerasrnn.models.forecast_heads import ForecastHead
from kerasrnn.models.forecast_heads import PointHead
from kerasrnn.models.forecast_heads import QuantileHead
from kerasrnn.models.forecast_stream import ForecastStream
from kerasrnn.models.forecaster import Forecaster
from kerasrnn.models.in_float32 import in_float32
from kerasrnn.models.language_model import LanguageModel
from kerasrnn.models.lexicon import Lexicon
from kerasrnn.models.ngram_embedding import NgramEmbedding
from kerasrnn.models.piano_roll_model import PianoRollModel
from kerasrnn.models.rms_dynamic_evaluation import RMSDynamicEvaluation
from kerasrnn.models.rms_dynamic_evaluation import mean_squared_gradients
from kerasrnn.models.shortlist import Shortlist
from kerasrnn.models.summary import LastSummary
from kerasrnn.models.summary import PooledSummary
from kerasrnn.models.tagger import Tagger
from kerasrnn.models.text_classifier import TextClassifier
from kerasrnn.models.translator import Translator
from kerasrnn.models.translator_ensemble import TranslatorEnsemble

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
