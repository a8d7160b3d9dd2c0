"""Text in, text out: tokenizers, model and search as one graph."""

import numpy as np
import tensorflow as tf


class TextTranslator:
    """Translates strings, the same way in evaluation and when served.

    Args:
        model: A `kerasrnn.models.Translator`, or anything with its `encode`
            and `decode_step`.
        source_tokenizer: The `Tokenizer` it was trained with.
        target_tokenizer: The `Tokenizer` it was trained with.
        search: A search of `kerasrnn.decoding` that knows the target's
            special ids.
        max_length: Positive integer; a source is cut to as many tokens. It
            is given at most twice its own number of tokens and ten more for
            its translation, so that none decodes for ever.
        fixed_length: Whether every source is padded to `max_length` tokens
            and its end, and not to the longest of its batch.
        shortlist: A `kerasrnn.models.Shortlist` of the words that each
            sentence may become; `None` for the whole vocabulary.

    Raises:
        ValueError: when the end token is not on the shortlist.

    Example:

    ```python
    translator = TextTranslator(model, english, hindi, BeamSearch())
    translator.translate(tf.constant(["where is the book"]))["translation"]
    ```
    """

    def __init__(
        self,
        model,
        source_tokenizer,
        target_tokenizer,
        search,
        max_length=100,
        fixed_length=False,
        shortlist=None,
    ):
        self.model = model
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.search = search
        self.max_length = max_length
        self.fixed_length = fixed_length
        self.shortlist = shortlist
        end_id = target_tokenizer.end_id
        if shortlist is not None and end_id >= shortlist.frequent:
            raise ValueError(
                "Every sentence must be able to end: the `frequent` words of "
                f"the shortlist must reach the end id, {end_id}. "
                f"Received: frequent={shortlist.frequent}"
            )
        texts = tf.TensorSpec([None], tf.string, name="text")
        ids = tf.TensorSpec([None, None], tf.int32, name="ids")
        self.translate = tf.function(self._translate, [texts])
        self.translate_ids = tf.function(self._translate_ids, [ids])
        self.attend = tf.function(self._attend, [texts])

    @property
    def signatures(self):
        """The functions to export, by the names they are served under."""
        return {
            "serving_default": self.translate,
            "translate_ids": self.translate_ids,
            "attend": self.attend,
        }

    def translate_all(self, texts, batch_size=64):
        """Translates a list of strings, those of like length together.

        Args:
            texts: List of strings.
            batch_size: Positive integer, how many at once.

        Returns:
            List of strings, in the order of `texts`.
        """
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        translations = [""] * len(texts)
        for start in range(0, len(texts), batch_size):
            batch = order[start : start + batch_size]
            found = self.translate(tf.constant([texts[i] for i in batch]))
            for i, text in zip(
                batch, found["translation"].numpy(), strict=True
            ):
                translations[i] = text.decode()
        return translations

    def alignments(self, texts):
        """Translates a few strings and says where each word looked.

        Subwords are put together again: a word looks where its tokens look
        on average, and is looked at as much as its tokens together.

        Args:
            texts: List of strings.

        Returns:
            List of tuples `(weights, source_words, target_words)`: an array
            of shape `(targets, sources)` and two lists of strings, as
            `kerasrnn.plots.attention_grid` draws them.
        """
        found = self.attend(tf.constant(list(texts), tf.string))
        return [
            self._by_words(weights, source, target)
            for weights, source, target in zip(
                found["weights"].numpy(),
                found["source_tokens"].numpy(),
                found["target_tokens"].numpy(),
                strict=True,
            )
        ]

    def _by_words(self, weights, source, target):
        rows, columns = (
            [i for i, token in enumerate(x) if token] for x in (target, source)
        )
        weights = weights[rows][:, columns]
        source, target = (
            [t.decode() for t in x if t] for x in (source, target)
        )
        if not weights.size:
            return weights, source, target
        source_starts, source = zip(
            *self.source_tokenizer.words(source), strict=True
        )
        target_starts, target = zip(
            *self.target_tokenizer.words(target), strict=True
        )
        counts = np.diff([*target_starts, len(weights)])[:, None]
        weights = np.add.reduceat(weights, source_starts, axis=1)
        weights = np.add.reduceat(weights, target_starts, axis=0) / counts
        return weights, list(source), list(target)

    def source_ids(self, texts):
        """Returns ids `(batch, time)` with at least one column."""
        tokenizer = self.source_tokenizer
        ids = tokenizer.tokenize(texts)[:, : self.max_length]
        if tokenizer.end_id >= 0:
            end = tf.fill((ids.nrows(), 1), tokenizer.end_id)
            # An empty source stays empty, so that it has no translation.
            end = tf.ragged.boolean_mask(end, ids.row_lengths()[:, None] > 0)
            ids = tf.concat([ids, end], axis=1)
        if self.fixed_length:
            length = self.max_length + (tokenizer.end_id >= 0)
            return ids.to_tensor(tokenizer.pad_id, shape=(None, length))
        return self._at_least_one_column(ids.to_tensor(tokenizer.pad_id))

    def _at_least_one_column(self, ids):
        missing = tf.maximum(0, 1 - tf.shape(ids)[1])
        return tf.pad(
            ids,
            [[0, 0], [0, missing]],
            constant_values=self.source_tokenizer.pad_id,
        )

    def _search(self, source, alignments=False):
        mask = tf.not_equal(source, self.source_tokenizer.pad_id)
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
        limits = tf.where(lengths > 0, 2 * lengths + 10, 0)
        vocabulary = None if self.shortlist is None else self.shortlist(source)
        states, memory = self.model.encode(source, vocabulary)
        return self.search(
            self.model.decode_step,
            states,
            memory,
            source_mask=mask if alignments else None,
            max_lengths=limits,
            vocabulary=vocabulary,
        )

    def _translate(self, text):
        found = self._search(self.source_ids(text))
        return {
            "translation": self.target_tokenizer.detokenize(found.ids[:, 0]),
            "score": found.scores[:, 0],
        }

    def _translate_ids(self, ids):
        ids = ids[:, : self.max_length + (self.source_tokenizer.end_id >= 0)]
        found = self._search(self._at_least_one_column(ids))
        return {
            "translation_ids": found.ids[:, 0],
            "score": found.scores[:, 0],
        }

    def _attend(self, text):
        source = self.source_ids(text)
        found = self._search(source, alignments=True)
        target = found.ids[:, 0]
        written = tf.not_equal(target, self.target_tokenizer.pad_id)
        # Up to the last one: a model may say padding before its end.
        positions = tf.range(1, tf.shape(target)[1] + 1)
        length = tf.reduce_max(tf.where(written, positions, 0))
        return {
            "source_tokens": self._tokens(self.source_tokenizer, source),
            "target_tokens": self._tokens(
                self.target_tokenizer, target[:, :length]
            ),
            "weights": found.alignments[:, 0, :length],
        }

    @staticmethod
    def _tokens(tokenizer, ids):
        is_pad = tf.equal(ids, tokenizer.pad_id)
        return tf.where(is_pad, "", tokenizer.tokens(ids))
