"""The base class of the tokenizers."""

import json
import pathlib
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import Literal

import keras
import tensorflow as tf

from kerasrnn.tokenizers.normalization import check_lowercase
from kerasrnn.tokenizers.normalization import join_punctuation
from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor

PAD, START, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"
SPECIALS = (PAD, START, END, UNKNOWN)
VOCABULARY_FILE = "vocabulary.json"


@keras.saving.register_keras_serializable("kerasrnn")
class Tokenizer(keras.layers.Layer):
    """Base class of the tokenizers: strings to ids and back, in graphs.

    It is a layer, so that models can contain it: an exported model tracks its
    tables, and a `.keras` file stores its options in the configuration and its
    vocabulary as an asset. A tokenizer without a vocabulary, for example one
    made from a configuration, cannot be used.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` to set
            them later by `set_vocabulary` or `load_assets`.
        lowercase: Whether to lower-case texts; `"tr"` uses the rules of
            Turkish; see `normalize_text`.
        strip_punctuation: Whether to remove punctuation.
        separate_punctuation: Whether to separate punctuation from words;
            `detokenize` rejoins it. See `normalize_text`.
        name: String, the name of the layer.

    Attributes:
        vocabulary: The tokens, a tuple in the order of their ids.
        vocabulary_size: The number of tokens.
        pad_id, start_id, end_id, unknown_id: Ids of the special tokens, -1 if
            the vocabulary lacks one.

    Raises:
        AttributeError: when an option is assigned, because traced graphs would
            not notice.
        ValueError: when the vocabulary is empty or contains a token twice, when
            a tokenizer without vocabulary is used, when a second vocabulary is
            set, or when `lowercase` has another value.
    """

    built: bool
    _vocabulary: tuple[str, ...]
    # Arguments that cannot be changed.
    options: tuple[str, ...] = (
        "lowercase",
        "strip_punctuation",
        "separate_punctuation",
    )

    def __init__(
        self,
        vocabulary: Iterable[str] | None = None,
        lowercase: bool | Literal["tr"] = True,
        strip_punctuation: bool = False,
        separate_punctuation: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(trainable=False, dtype="int32", name=name)
        check_lowercase(lowercase)
        self.lowercase = lowercase
        self.strip_punctuation = strip_punctuation
        self.separate_punctuation = separate_punctuation
        if vocabulary is not None:
            self.set_vocabulary(vocabulary)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.options and name in self.__dict__:
            raise AttributeError(
                f"`{name}` of a tokenizer cannot be changed, because traced "
                "graphs would keep the old value. Expected: a new tokenizer. "
                f"Received: {name}={value!r}"
            )
        super().__setattr__(name, value)

    def set_vocabulary(self, vocabulary: Iterable[str]) -> None:
        """Sets the tokens, a list in the order of their ids; only once."""
        vocabulary = tuple(vocabulary)
        if self.built and vocabulary != self._vocabulary:
            raise ValueError(
                "The vocabulary of a tokenizer cannot be changed, because "
                "traced graphs would keep the old one. Expected: a new "
                f"tokenizer. Received: {len(vocabulary)} tokens for a "
                f"tokenizer of {len(self._vocabulary)}"
            )
        ids = {token: i for i, token in enumerate(vocabulary)}
        if not vocabulary or len(ids) < len(vocabulary):
            raise ValueError(
                "`vocabulary` must have at least one token, and no token "
                f"twice. Received: {len(vocabulary)} tokens, {len(ids)} of "
                "them distinct."
            )
        self._vocabulary = vocabulary
        self._special_ids = {token: ids.get(token, -1) for token in SPECIALS}
        self.built = True

    def check_vocabulary(self) -> None:
        """Raises `ValueError` if there is no vocabulary yet."""
        if not self.built:
            raise ValueError(
                f"This {type(self).__name__} has no vocabulary yet. Expected: "
                "`train`, `set_vocabulary` or `load_assets`. Received: "
                f"{self.name!r}, made only from its options."
            )

    @property
    def vocabulary(self) -> tuple[str, ...]:
        self.check_vocabulary()
        return self._vocabulary

    @property
    def vocabulary_size(self) -> int:
        return len(self.vocabulary)

    @property
    def pad_id(self) -> int:
        return self._special_id(PAD)

    @property
    def start_id(self) -> int:
        return self._special_id(START)

    @property
    def end_id(self) -> int:
        return self._special_id(END)

    @property
    def unknown_id(self) -> int:
        return self._special_id(UNKNOWN)

    def _special_id(self, token):
        self.check_vocabulary()
        return self._special_ids[token]

    @property
    def special_ids(self) -> dict[str, int]:
        """The ids of special tokens, as arguments of a search."""
        return {
            "start_id": self.start_id,
            "end_id": self.end_id,
            "pad_id": self.pad_id,
        }

    def save_assets(self, dir_path: str | pathlib.Path) -> None:
        """Writes the vocabulary into a folder, as `vocabulary.json`.

        It is a JSON list in UTF-8 with one token per line.
        """
        tokens = json.dumps(self.vocabulary, ensure_ascii=False, indent=0)
        path = pathlib.Path(dir_path, VOCABULARY_FILE)
        path.write_text(tokens, encoding="utf-8")

    def load_assets(self, dir_path: str | pathlib.Path) -> None:
        """Reads the vocabulary that `save_assets` wrote into a folder."""
        path = pathlib.Path(dir_path, VOCABULARY_FILE)
        self.set_vocabulary(json.loads(path.read_text(encoding="utf-8")))

    def get_config(self) -> Config:
        """Returns the options; the vocabulary is an asset."""
        return {name: getattr(self, name) for name in ("name", *self.options)}

    def normalize(self, texts: Tensor) -> tf.Tensor:
        """Normalizes a string tensor, the first step of `tokenize`."""
        return normalize_text(
            texts,
            self.lowercase,
            self.strip_punctuation,
            self.separate_punctuation,
        )

    def normalize_all(self, texts: Iterable[str]) -> list[str]:
        """Normalizes a list of Python strings."""
        return [text.decode() for text in self.normalize(list(texts)).numpy()]

    def tokenize(
        self, texts: Tensor, max_tokens: int | None = None
    ) -> tf.RaggedTensor:
        """Returns ids as an int32 `RaggedTensor`, `(batch, time)`.

        Args:
            texts: String tensor of shape `(batch,)`.
            max_tokens: Positive integer. Longer texts are truncated to this
                many tokens; `None` for no limit.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `tokenize(texts)`."
        )

    def detokenize(self, ids: Tensor) -> tf.Tensor:
        """Returns strings of shape `(batch,)`, without special tokens.

        Args:
            ids: Integer tensor of shape `(batch, time)`, dense or ragged.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `detokenize(ids)`."
        )

    def finish(self, texts: Tensor) -> tf.Tensor:
        """Undoes the reversible part of `normalize`, for `detokenize`."""
        return join_punctuation(texts) if self.separate_punctuation else texts

    def tokens(self, ids: Tensor) -> tf.Tensor:
        """Returns the tokens of ids of any shape; `""` for invalid ids."""
        ids = tf.convert_to_tensor(ids)
        tokens = tf.constant(self.vocabulary)
        known = tf.logical_and(ids >= 0, ids < self.vocabulary_size)
        return tf.where(known, tf.gather(tokens, tf.where(known, ids, 0)), "")

    def words(self, tokens: Sequence[str]) -> list[tuple[int, str]]:
        """Groups tokens into whole words.

        Args:
            tokens: List of strings, as `tokens` returns them.

        Returns:
            List of `(start, word)`: the index of the first token of each
            word, and the word.
        """
        words: list[tuple[int, str]] = []
        for i, token in enumerate(tokens):
            start, text = self.piece(token)
            special = token in SPECIALS or tokens[i - 1] in SPECIALS
            if start or special or not words:
                words.append((i, text))
            else:
                words[-1] = (words[-1][0], words[-1][1] + text)
        return words

    def piece(self, token: str) -> tuple[bool, str]:
        """Returns whether a token begins a word, and the token's text."""
        return True, token

    def split_words(self, texts: Tensor) -> tf.RaggedTensor:
        """Returns the words of normalized texts, `(batch, words)`.

        Args:
            texts: String tensor of shape `(batch,)`.
        """
        return tf.strings.split(self.normalize(texts))

    def word_positions(self, ids: Tensor) -> tf.Tensor:
        """Returns the position of each token's word in its text, from 0.

        Args:
            ids: Integer tensor of shape `(batch, time)`, the ids of texts.

        Returns:
            Int32 tensor of shape `(batch, time)` of indices into `split_words`.
            A special token after a text may have the next index.
        """
        starts = tf.constant([self.piece(x)[0] for x in self.vocabulary])
        ids = tf.maximum(ids, 0)  # -1 is padding
        starts = tf.cast(tf.gather(starts, ids), tf.int32)
        return tf.cumsum(starts, axis=1) - starts[:, :1]

    def as_text(self, ids: Tensor) -> tf.Tensor:
        """Replaces special ids by unknown, if a text contains such tokens."""
        specials = self.pad_id, self.start_id, self.end_id
        is_special = tf.reduce_any([ids == i for i in specials], axis=0)
        return tf.where(is_special, self.unknown_id, ids)

    def without_specials(
        self, ids: Tensor, values: Tensor | None = None
    ) -> tf.RaggedTensor:
        """Returns ragged ids without special tokens and invalid ids.

        Args:
            ids: Integer tensor of shape `(batch, time)`, dense or ragged.
            values: Tensor of that shape with values to return instead of the
                ids; `None` for the ids.
        """
        ids = _ragged(tf.cast(ids, tf.int32))
        values = ids if values is None else _ragged(values)
        keep = tf.logical_and(ids >= 0, ids < self.vocabulary_size)
        for special in (self.pad_id, self.start_id, self.end_id):
            keep = tf.logical_and(keep, ids != special)
        return tf.ragged.boolean_mask(values, keep)


def _ragged(x):
    ragged = isinstance(x, tf.RaggedTensor)
    return x if ragged else tf.RaggedTensor.from_tensor(x)
