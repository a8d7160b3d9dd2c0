"""What `Model.fit` needs and Keras lacks: losses, logs, resumable runs."""

from kerasrnn.training.callbacks import GradientNorms
from kerasrnn.training.callbacks import Stopwatch
from kerasrnn.training.callbacks import TextScores
from kerasrnn.training.callbacks import TrainingSpeed
from kerasrnn.training.callbacks import without_costs
from kerasrnn.training.card import output_folder
from kerasrnn.training.card import read_card
from kerasrnn.training.card import write_card
from kerasrnn.training.csv_log import columns
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows
from kerasrnn.training.losses import TokenCrossentropy
from kerasrnn.training.schedules import ExponentialSampling
from kerasrnn.training.schedules import InverseSigmoidSampling
from kerasrnn.training.schedules import LinearSampling
from kerasrnn.training.settings import RecipeParser
from kerasrnn.training.settings import build_cell
from kerasrnn.training.settings import cosine_schedule
from kerasrnn.training.settings import count
from kerasrnn.training.settings import training_settings
from kerasrnn.training.training_folder import TrainingFolder
from kerasrnn.training.training_folder import fingerprint
from kerasrnn.training.training_folder import load_average

__all__ = [
    "ExponentialSampling",
    "GradientNorms",
    "InverseSigmoidSampling",
    "LinearSampling",
    "RecipeParser",
    "Stopwatch",
    "TextScores",
    "TokenCrossentropy",
    "TrainingFolder",
    "TrainingSpeed",
    "build_cell",
    "columns",
    "cosine_schedule",
    "count",
    "fingerprint",
    "load_average",
    "output_folder",
    "read_card",
    "read_rows",
    "training_settings",
    "without_costs",
    "write_card",
    "write_rows",
]
