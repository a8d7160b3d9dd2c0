"""Training on several devices, or by several workers, with `Model.fit`."""

from kerasrnn.distribute.replicas import shared_batches
from kerasrnn.distribute.replicas import sum_over_replicas
from kerasrnn.distribute.strategy import Distribution
from kerasrnn.distribute.strategy import make_strategy
from kerasrnn.distribute.workers import is_first_worker
from kerasrnn.distribute.workers import worker_folder

__all__ = [
    "Distribution",
    "is_first_worker",
    "make_strategy",
    "shared_batches",
    "sum_over_replicas",
    "worker_folder",
]
