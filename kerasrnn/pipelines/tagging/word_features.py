"""What a tagger reads of words: their ids, and those of their characters."""

from typing import Any

import tensorflow as tf

from kerasrnn.data.batches import pad_to
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import WordTokenizer


class WordFeatures:
    """Turns words into what a `Tagger` reads, in the graph.

    Args:
        words: The `WordTokenizer` of the words.
        characters: The `CharacterTokenizer` of their characters, or `None`.
        max_letters: Positive integer. Of longer words, this many characters
            are read, half from the beginning and half from the end.
    """

    def __init__(
        self,
        words: WordTokenizer,
        characters: CharacterTokenizer | None,
        max_letters: int,
    ) -> None:
        self.words = words
        self.characters = characters
        self.max_letters = max_letters

    def ids(self, words: tf.RaggedTensor) -> dict[str, tf.RaggedTensor]:
        """Returns the ids of words, and of their characters.

        Args:
            words: String `RaggedTensor` of shape `(batch, words)`.
        """
        flat = words.flat_values
        ids = self.words.table.lookup(self.words.normalize(flat))
        found = {"words": words.with_flat_values(self.words.as_text(ids))}
        if self.characters is not None:
            letters = self._shortened(self.characters.tokenize(flat))
            found["characters"] = words.with_flat_values(letters)
        return found

    def padded(self, ids: dict[str, tf.RaggedTensor]) -> Any:
        """Returns ids as the model takes them: a dictionary, or one tensor."""
        padded = {
            name: pad_to(x, getattr(self, name).pad_id)
            for name, x in ids.items()
        }
        return padded["words"] if self.characters is None else padded

    def _shortened(self, letters):
        """Leaves out the middle of long words."""
        half = self.max_letters // 2
        lengths = letters.row_lengths()
        position = tf.ragged.range(lengths).flat_values
        length = tf.gather(lengths, letters.value_rowids())
        kept = (position < half) | (
            position >= length - (self.max_letters - half)
        )
        return tf.ragged.boolean_mask(letters, letters.with_flat_values(kept))
