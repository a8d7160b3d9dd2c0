"""What every tokenizer has."""

import keras
import tensorflow as tf

from kerasrnn.tokenizers.normalization import join_punctuation
from kerasrnn.tokenizers.normalization import normalize_text

PAD, START, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"
SPECIALS = (PAD, START, END, UNKNOWN)


class Tokenizer(keras.layers.Layer):
    """Base of the tokenizers: strings to ids and back, in the graph.

    It is a layer so that an exported model can track it. The ids of the
    special tokens are attributes, -1 where the vocabulary lacks one.

    Args:
        vocabulary: List of tokens, in the order of their ids.
        lowercase: Whether texts are lower-cased first.
        strip_punctuation: Whether texts lose their punctuation first.
        separate_punctuation: Whether punctuation is set apart first, and put
            back by `detokenize`; see `normalize_text`.

    Attributes:
        vocabulary: As given.
        vocabulary_size: Its length.
        pad_id, start_id, end_id, unknown_id: Ids of the special tokens.

    Raises:
        ValueError: when the vocabulary is empty or has a token twice.
    """

    def __init__(
        self,
        vocabulary,
        lowercase=True,
        strip_punctuation=False,
        separate_punctuation=False,
    ):
        super().__init__(trainable=False, dtype="int32")
        vocabulary = list(vocabulary)
        if not vocabulary or len(set(vocabulary)) < len(vocabulary):
            raise ValueError(
                "`vocabulary` must hold at least one token, and each once. "
                f"Received: {len(vocabulary)} tokens, "
                f"{len(set(vocabulary))} of them distinct."
            )
        self.vocabulary = tuple(vocabulary)
        self.lowercase = lowercase
        self.strip_punctuation = strip_punctuation
        self.separate_punctuation = separate_punctuation
        ids = {token: i for i, token in enumerate(vocabulary)}
        self.pad_id, self.start_id, self.end_id, self.unknown_id = (
            ids.get(special, -1) for special in SPECIALS
        )
        self.built = True

    @property
    def vocabulary_size(self):
        return len(self.vocabulary)

    @property
    def special_ids(self):
        """What a search of `kerasrnn.decoding` needs to know."""
        return {
            "start_id": self.start_id,
            "end_id": self.end_id,
            "pad_id": self.pad_id,
        }

    def normalize(self, texts):
        """Normalises a string tensor as `tokenize` does first."""
        return normalize_text(
            texts,
            self.lowercase,
            self.strip_punctuation,
            self.separate_punctuation,
        )

    def normalize_all(self, texts):
        """Normalises a list of Python strings."""
        return [text.decode() for text in self.normalize(list(texts)).numpy()]

    def tokenize(self, texts):
        """Returns ids as an int32 `RaggedTensor`, `(batch, time)`.

        Args:
            texts: String tensor of shape `(batch,)`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `tokenize(texts)`."
        )

    def detokenize(self, ids):
        """Returns strings of shape `(batch,)`; special tokens fall away.

        Args:
            ids: Integer tensor of shape `(batch, time)`, dense or ragged.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `detokenize(ids)`."
        )

    def finish(self, texts):
        """Undoes what `normalize` did and can be undone: for `detokenize`."""
        return join_punctuation(texts) if self.separate_punctuation else texts

    def tokens(self, ids):
        """Returns the tokens of integer ids of any shape; `""` for no id."""
        ids = tf.convert_to_tensor(ids)
        tokens = tf.constant(self.vocabulary)
        known = tf.logical_and(ids >= 0, ids < self.vocabulary_size)
        return tf.where(known, tf.gather(tokens, tf.where(known, ids, 0)), "")

    def words(self, tokens):
        """Groups tokens into whole words.

        Args:
            tokens: List of strings, as `tokens` gives them.

        Returns:
            List of `(start, word)`: the index of the first token of each
            word, and the word.
        """
        words = []
        for i, token in enumerate(tokens):
            start, text = self.piece(token)
            if start or not words or tokens[i - 1] in SPECIALS:
                words.append((i, text))
            else:
                words[-1] = (words[-1][0], words[-1][1] + text)
        return words

    def piece(self, token):
        """Returns whether a token begins a word, and its text."""
        return True, token

    def as_text(self, ids):
        """Makes special tokens unknown: a text may look like one, no more."""
        special = tf.zeros_like(ids, tf.bool)
        for i in (self.pad_id, self.start_id, self.end_id):
            special = tf.logical_or(special, ids == i)
        return tf.where(special, self.unknown_id, ids)

    def without_specials(self, ids):
        """Drops special tokens, padding and foreign ids; returns ragged."""
        if not isinstance(ids, tf.RaggedTensor):
            ids = tf.RaggedTensor.from_tensor(ids)
        ids = tf.cast(ids, tf.int32)
        keep = tf.logical_and(ids >= 0, ids < self.vocabulary_size)
        for special in (self.pad_id, self.start_id, self.end_id):
            keep = tf.logical_and(keep, ids != special)
        return tf.ragged.boolean_mask(ids, keep)


def check_vocabulary_size(size, required):
    """Raises `ValueError` when a vocabulary cannot hold its specials."""
    if size <= required:
        raise ValueError(
            f"`vocabulary_size` must be greater than {required}, the number "
            f"of tokens that any vocabulary holds. "
            f"Received: vocabulary_size={size}"
        )
