"""Models to train with `fit`, and their parts."""

from kerasrnn.models.attention_summaries import AttentionSummary
from kerasrnn.models.attention_summaries import DecoderSummary
from kerasrnn.models.character_reader import CharacterReader
from kerasrnn.models.decoder import Decoder
from kerasrnn.models.dynamic_evaluation import DynamicEvaluation
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.ensemble import TranslatorEnsemble
from kerasrnn.models.in_float32 import in_float32
from kerasrnn.models.language_model import LanguageModel
from kerasrnn.models.lexicon import Lexicon
from kerasrnn.models.piano_roll_model import PianoRollModel
from kerasrnn.models.rms_dynamic_evaluation import RMSDynamicEvaluation
from kerasrnn.models.rms_dynamic_evaluation import mean_squared_gradients
from kerasrnn.models.shortlist import Shortlist
from kerasrnn.models.summary import LastSummary
from kerasrnn.models.summary import PooledSummary
from kerasrnn.models.tagger import Tagger
from kerasrnn.models.text_classifier import TextClassifier
from kerasrnn.models.translator import Translator

__all__ = [
    "AttentionSummary",
    "CharacterReader",
    "Decoder",
    "DecoderSummary",
    "DynamicEvaluation",
    "Encoder",
    "LanguageModel",
    "LastSummary",
    "Lexicon",
    "PianoRollModel",
    "PooledSummary",
    "RMSDynamicEvaluation",
    "Shortlist",
    "Tagger",
    "TextClassifier",
    "Translator",
    "TranslatorEnsemble",
    "in_float32",
    "mean_squared_gradients",
]
