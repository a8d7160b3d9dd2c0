"""The settings that recipes whose model has an encoder share."""

import dataclasses

from kerasrnn.training.cells_by_name import CellName
from kerasrnn.training.settings.setting_types import Count
from kerasrnn.training.settings.setting_types import Positive
from kerasrnn.training.settings.setting_types import Rate
from kerasrnn.training.settings.settings import Settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class EncoderSettings(Settings):
    """Settings of a recipe whose model has an `Encoder`.

    See `Settings`.

    Attributes:
        units, epochs, batch_size: Positive integers, or `None`: then
            `by_size` chooses them by the size of the corpus.

    Example:

    >>> @dataclasses.dataclass(frozen=True, kw_only=True)
    ... class ReviewSettings(EncoderSettings):
    ...     learning_rate: Positive = 1e-3
    >>> ReviewSettings(output=pathlib.Path("out"), units=64).cell
    'gru'
    """

    saved = Settings.saved | {
        *("cell", "units", "depth", "bidirectional"),
        *("dropout", "word_dropout"),
    }

    cell: CellName = "gru"
    """Recurrent cell."""
    units: Count | None = None
    """Width of the cells."""
    depth: Count = 1
    """Number of recurrent layers."""
    bidirectional: bool = True
    """Whether the encoder reads in both directions."""
    dropout: Rate = 0.3
    """Dropout rate of units, after each layer."""
    word_dropout: Rate = 0.1
    """Dropout rate of whole words."""
    clip: Positive = 1.0
    """Maximum global norm of the gradients."""
    xla: bool = False
    """Export programs that XLA compiles at the first start, in minutes."""
    # `by_size` replaces `None` before anything reads the next two.
    epochs: Count | None = None  # type: ignore[assignment]
    """Passes over the corpus; with more, a finished run is continued."""
    batch_size: Count | None = None  # type: ignore[assignment]
    """Examples in a batch."""
