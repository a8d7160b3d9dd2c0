"""What recipes whose model has an encoder can be told, in the same words."""

import dataclasses

from kerasrnn.training.cells import CellName
from kerasrnn.training.settings import Count
from kerasrnn.training.settings import Positive
from kerasrnn.training.settings import Rate
from kerasrnn.training.settings import Settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class EncoderSettings(Settings):
    """What a recipe can be told whose model reads with an `Encoder`.

    See `Settings`.

    Attributes:
        units, epochs, batch_size: Positive integers; `None` where they go by
            the size of the corpus, as `by_size` does it.

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
    """Layers of cells."""
    bidirectional: bool = True
    """Whether the encoder reads both ways."""
    dropout: Rate = 0.3
    """Of units behind each layer."""
    word_dropout: Rate = 0.1
    """Of whole words."""
    clip: Positive = 1.0
    """Greatest norm of the gradients."""
    epochs: Count | None = None
    """Passes over the corpus; a run that has fewer goes on."""
    batch_size: Count | None = None
    """Examples in a batch."""
