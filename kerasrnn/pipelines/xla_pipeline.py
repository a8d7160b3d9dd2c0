"""The base of the pipelines whose answers XLA can compile."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.pipelines.xla import XlaShapes
from kerasrnn.typing import Config
from kerasrnn.typing import Strings


class XlaPipeline(TextPipeline):
    """Base of the pipelines that can run in programs of static shapes.

    Attributes:
        xla: The `XlaShapes` of the programs that XLA compiles, in Python and
            in an export; `None`, the default, to do without XLA. A program is
            compiled at the first text that it fits, for seconds. It is not
            saved with the pipeline.
        usual_shapes: The `XlaShapes` that pay for most pipelines of the class.
    """

    usual_shapes = XlaShapes()
    xla: XlaShapes | None = None

    @property
    def xla_shapes(self) -> XlaShapes | None:
        """The shapes of `xla` that its ids have."""
        return self.xla

    def programs(self, shapes: XlaShapes) -> dict[str, Sequence[int]]:
        """Returns the batch sizes of the programs of each signature.

        A signature that shares the programs of another can be left out.
        """
        return {"serving_default": shapes.rows}

    def lengths(self, texts: Strings) -> np.ndarray:
        """Returns how many ids the model reads of each text."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `lengths()`."
        )

    def warm_up_texts(self) -> dict[str, list[list[str]]]:
        """Returns texts for each program of the signatures that have some."""
        shapes = self.xla_shapes
        if shapes is None:
            return {}
        most = max(shapes.lengths)
        texts = [" ".join(["a"] * count) for count in range(1, most + 1)]
        lengths = self.lengths(texts)
        longest = np.searchsorted(lengths, shapes.lengths, "right") - 1
        return {
            name: [
                count * [texts[index]]
                for index in np.maximum(longest, 0)
                for count in rows
            ]
            for name, rows in self.programs(shapes).items()
        }

    def served_facts(self) -> Config:
        """Returns `"xla"`, the shapes of the programs, or `None`."""
        shapes = self.xla_shapes
        return {"xla": None if shapes is None else dataclasses.asdict(shapes)}
