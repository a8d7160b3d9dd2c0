"""What a translator reads of a text, and what a server must know of it."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasrnn.data.batches import pad_to
from kerasrnn.data.batches import with_end
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding.search import Search
from kerasrnn.models import Shortlist
from kerasrnn.pipelines.translation.source_search import LENGTH_FACTOR
from kerasrnn.pipelines.translation.source_search import LENGTH_OFFSET
from kerasrnn.pipelines.xla import XlaShapes
from kerasrnn.pipelines.xla_pipeline import XlaPipeline
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


class TranslatorSources(XlaPipeline):
    """The part of `TextTranslator` that reads sources and describes exports.

    See `TextTranslator`.
    """

    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    search: Search
    max_length: int
    fixed_length: bool
    shortlist: Shortlist | None

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        return self.source_tokenizer, self.max_length

    def source_ids(self, texts: Tensor) -> Tensor:
        """Tokenizes sources for the model.

        Args:
            texts: String tensor of shape `(batch,)`.

        Returns:
            Int32 tensor of shape `(batch, time)`, padded, with at least one
            column.
        """
        tokenizer = self.source_tokenizer
        ids = tokenizer.tokenize(texts, self.max_length)
        if tokenizer.end_id >= 0:
            # An empty source stays empty, so that it has no translation.
            ids = with_end(ids, tokenizer.end_id, also_empty=False)
        return self.fitted(ids)

    def fitted(self, ids: Tensor) -> Tensor:
        """Truncates ids `(batch, time)`, and pads them to a minimum length."""
        most = self._most_tokens
        least = most if self.fixed_length else 1
        return pad_to(ids, self.source_tokenizer.pad_id, least, most)

    @property
    def xla_shapes(self) -> XlaShapes | None:
        """The shapes of `xla` that sources have."""
        if self.xla is None or not self.fixed_length:
            return self.xla
        return dataclasses.replace(self.xla, lengths=[self._most_tokens])

    @property
    def _most_tokens(self):
        """The maximum number of tokens that are read, with the end token."""
        return self.max_length + (self.source_tokenizer.end_id >= 0)

    def programs(self, shapes: XlaShapes) -> dict[str, Sequence[int]]:
        # Whoever asks for more than the best translation has few texts, and
        # every program takes seconds to compile.
        few = shapes.rows[:1]
        rows = {
            "serving_default": shapes.rows,
            "greedy": shapes.rows,
            "n_best": few,
            "translate_with": few,
        }
        return {name: rows[name] for name in rows if name in self.signatures}

    def lengths(self, texts: Strings) -> np.ndarray:
        ids = self.source_ids(tf.constant(texts)).numpy()
        return (ids != self.source_tokenizer.pad_id).sum(axis=1)

    def served_facts(self) -> Config:
        """Returns what limits the lengths, and the ids of the search.

        Returns:
            A dictionary of `"max_length"`, the number of tokens of a text
            that are read; `"search"`: its start and end id, the maximum
            number of tokens, and the factor and the offset of that for the
            length of a source; those of every `XlaPipeline`; and
            `"batch_rows"`, if texts of several clients should not be
            translated together.
        """
        search, target = self.search, self.target_tokenizer
        # By XLA, a beam search of one text costs less than its share of a
        # batch with padding, and texts run on all cores.
        alone = self.xla is not None and isinstance(search, BeamSearch)
        return {
            **super().served_facts(),
            **({"batch_rows": 1} if alone else {}),
            "max_length": self.max_length,
            "search": {
                "start_id": target.start_id,
                "end_id": target.end_id,
                "max_length": search.max_length,
                "length_factor": LENGTH_FACTOR,
                "length_offset": LENGTH_OFFSET,
            },
        }
