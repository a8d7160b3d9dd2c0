"""Losses, callbacks, logs and resumable runs for `Model.fit`."""

from kerasrnn.files import locked
from kerasrnn.files import output_folder
from kerasrnn.training.adam import AdamByPart
from kerasrnn.training.adam import build_optimizer
from kerasrnn.training.callbacks import GradientNorms
from kerasrnn.training.callbacks import Stopwatch
from kerasrnn.training.callbacks import TextScores
from kerasrnn.training.callbacks import TrainingSpeed
from kerasrnn.training.callbacks import WeightNoise
from kerasrnn.training.callbacks import without_costs
from kerasrnn.training.card import read_card
from kerasrnn.training.card import warn_of_other_data
from kerasrnn.training.card import write_card
from kerasrnn.training.cells_by_name import CellName
from kerasrnn.training.cells_by_name import add_attention
from kerasrnn.training.cells_by_name import build_cell
from kerasrnn.training.cells_by_name import cell_needs
from kerasrnn.training.command_line import preset_of
from kerasrnn.training.command_line import read_settings
from kerasrnn.training.csv_log import columns
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows
from kerasrnn.training.fingerprints import file_fingerprint
from kerasrnn.training.fingerprints import fingerprint
from kerasrnn.training.losses import ForecastLoss
from kerasrnn.training.losses import PianoRollCrossentropy
from kerasrnn.training.losses import TokenCrossentropy
from kerasrnn.training.precision import faster_dtype
from kerasrnn.training.recipe_settings import BackboneSettings
from kerasrnn.training.recipe_settings import ClassificationSettings
from kerasrnn.training.recipe_settings import EncoderSettings
from kerasrnn.training.recipe_settings import TranslationSettings
from kerasrnn.training.schedules import ExponentialSampling
from kerasrnn.training.schedules import InverseSigmoidSampling
from kerasrnn.training.schedules import LinearSampling
from kerasrnn.training.schedules import cosine_schedule
from kerasrnn.training.settings import AttentionName
from kerasrnn.training.settings import Count
from kerasrnn.training.settings import Existing
from kerasrnn.training.settings import NotNegative
from kerasrnn.training.settings import PastAttentionName
from kerasrnn.training.settings import Positive
from kerasrnn.training.settings import Rate
from kerasrnn.training.settings import SelfAttentionName
from kerasrnn.training.settings import Settings
from kerasrnn.training.settings import Whole
from kerasrnn.training.settings import by_size
from kerasrnn.training.settings import identity
from kerasrnn.training.training_folder import TrainingFolder
from kerasrnn.training.weights import load_average
from kerasrnn.training.weights import start_from

__all__ = [
    "AdamByPart",
    "AttentionName",
    "BackboneSettings",
    "CellName",
    "ClassificationSettings",
    "Count",
    "EncoderSettings",
    "Existing",
    "ExponentialSampling",
    "ForecastLoss",
    "GradientNorms",
    "InverseSigmoidSampling",
    "LinearSampling",
    "NotNegative",
    "PastAttentionName",
    "PianoRollCrossentropy",
    "Positive",
    "Rate",
    "SelfAttentionName",
    "Settings",
    "Stopwatch",
    "TextScores",
    "TokenCrossentropy",
    "TrainingFolder",
    "TrainingSpeed",
    "TranslationSettings",
    "WeightNoise",
    "Whole",
    "add_attention",
    "build_cell",
    "build_optimizer",
    "by_size",
    "cell_needs",
    "columns",
    "cosine_schedule",
    "faster_dtype",
    "file_fingerprint",
    "fingerprint",
    "identity",
    "load_average",
    "locked",
    "output_folder",
    "preset_of",
    "read_card",
    "read_rows",
    "read_settings",
    "start_from",
    "warn_of_other_data",
    "without_costs",
    "write_card",
    "write_rows",
]
