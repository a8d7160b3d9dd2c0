"""Models to train with `fit`, and their parts."""

from kerasrnn.models.backbone_reader import BackboneReader
from kerasrnn.models.character_reader import CharacterReader
from kerasrnn.models.decoder import Decoder
from kerasrnn.models.dynamic_evaluation import DynamicEvaluation
from kerasrnn.models.dynamic_evaluation import RMSDynamicEvaluation
from kerasrnn.models.dynamic_evaluation import mean_squared_gradients
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.float32_copy import in_float32
from kerasrnn.models.forecast_heads import ForecastHead
from kerasrnn.models.forecast_heads import GaussianHead
from kerasrnn.models.forecast_heads import NegativeBinomialHead
from kerasrnn.models.forecast_heads import PointHead
from kerasrnn.models.forecast_heads import QuantileHead
from kerasrnn.models.forecast_heads import StudentHead
from kerasrnn.models.forecaster import Forecaster
from kerasrnn.models.forecaster import ForecastStream
from kerasrnn.models.language_model import LanguageModel
from kerasrnn.models.lexicon import Lexicon
from kerasrnn.models.lexicon import Shortlist
from kerasrnn.models.ngram_embedding import NgramEmbedding
from kerasrnn.models.piano_roll_model import PianoRollModel
from kerasrnn.models.summaries import AttentionSummary
from kerasrnn.models.summaries import DecoderSummary
from kerasrnn.models.summaries import LastSummary
from kerasrnn.models.summaries import PooledSummary
from kerasrnn.models.tagger import Tagger
from kerasrnn.models.text_classifier import ClassifierEnsemble
from kerasrnn.models.text_classifier import TextClassifier
from kerasrnn.models.translator import Translator
from kerasrnn.models.translator import TranslatorEnsemble

__all__ = [
    "AttentionSummary",
    "BackboneReader",
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
