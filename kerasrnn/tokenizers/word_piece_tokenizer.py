"""WordPiece subwords."""

from collections.abc import Iterable
from typing import Any
from typing import Self

import keras
import tensorflow as tf
import tensorflow_text as tf_text

from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.tokenizers.tokenizer import check_vocabulary_size
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class WordPieceTokenizer(Tokenizer):
    """Splits words into the longest pieces in the vocabulary.

    A word that cannot be spelled in pieces becomes `<unk>`.

    Args:
        vocabulary: List of tokens, in the order of their ids; those that
            continue a word begin with `##`. `None` for a tokenizer that is
            given them later.
        lowercase, strip_punctuation, separate_punctuation: How texts are
            normalized; see `Tokenizer`.
        name: String, the name of the layer.

    Example:

    >>> vocabulary = ["<pad>", "<s>", "</s>", "<unk>", "read", "##er"]
    >>> tokenizer = WordPieceTokenizer(vocabulary)
    >>> tokenizer.tokenize(["reader"]).to_list()
    [[4, 5]]
    >>> tokenizer.detokenize([[1, 4, 5, 2, 0]]).numpy().tolist()
    [b'reader']

    Reference:
        [Song et al., 2021](https://arxiv.org/abs/2012.15524).
    """

    def set_vocabulary(self, vocabulary: Iterable[str]) -> None:
        super().set_vocabulary(vocabulary)
        # The library's detokenizer reads past its vocabulary for ids out of
        # range, so `detokenize` joins the pieces itself.
        self.pieces = tf_text.FastWordpieceTokenizer(
            list(self.vocabulary),
            unknown_token=UNKNOWN,
            token_out_type=tf.int32,
            no_pretokenization=True,
            # Longer words would be unknown, so the limit is above any word.
            max_bytes_per_word=2**30,
        )

    @classmethod
    def train(
        cls, texts: Iterable[str], vocabulary_size: int, **options: Any
    ) -> Self:
        """Trains a vocabulary on a corpus.

        Args:
            texts: List of strings.
            vocabulary_size: The approximate number of tokens, including special
                ones.
            **options: See the class.

        Raises:
            ValueError: when `vocabulary_size` leaves no room for a piece.
        """
        import keras_nlp  # Slow to import, and needed for training only.

        check_vocabulary_size(vocabulary_size, len(SPECIALS))
        lines = cls(**options).normalize(list(texts))
        # Split as `tokenize` does: the library would cut at zero-width joiners
        # and at punctuation.
        words = tf.strings.split(lines).flat_values
        vocabulary = keras_nlp.tokenizers.compute_word_piece_vocabulary(
            tf.data.Dataset.from_tensor_slices(words).batch(1000),
            vocabulary_size,
            split=False,
            reserved_tokens=list(SPECIALS),
        )
        return cls(vocabulary, **options)

    def tokenize(
        self, texts: Tensor, max_tokens: int | None = None
    ) -> tf.RaggedTensor:
        self.check_vocabulary()
        words = tf.strings.split(self.normalize(texts))
        ids = self.pieces.tokenize(words).merge_dims(1, 2)
        ids = tf.ragged.map_flat_values(self.as_text, ids)
        return ids[:, :max_tokens]

    def detokenize(self, ids: Tensor) -> tf.Tensor:
        pieces = tf.ragged.map_flat_values(
            self.tokens, self.without_specials(ids)
        )
        text = tf.strings.reduce_join(pieces, axis=-1, separator=" ")
        return self.finish(tf.strings.regex_replace(text, "(^| )##", ""))

    def piece(self, token: str) -> tuple[bool, str]:
        return not token.startswith("##"), token.removeprefix("##")
