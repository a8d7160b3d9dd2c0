"""Text in, probabilities or more text out, as one graph."""

import numpy as np
import tensorflow as tf


class TextLanguageModel:
    """Scores and continues strings, the same way in evaluation and served.

    Each line of a text is a sentence and ends in the end token; the first
    word is predicted from an end token, too. Blank lines fall away.

    Args:
        model: A `kerasrnn.models.LanguageModel`, or anything with its `run`,
            `initial_states` and `state_sizes`.
        tokenizer: The `Tokenizer` it was trained with, one with an end
            token.
        window: Positive integer, how many tokens are scored at once; a
            longer text is scored window by window.

    Raises:
        ValueError: when the tokenizer has no end token.

    Example:

    ```python
    language = TextLanguageModel(model, tokenizer)
    language.score(tf.constant(["the price rose"]))["perplexity"]
    language.write(tf.constant(["the price"]), seed=1, temperature=0.8)
    ```
    """

    def __init__(self, model, tokenizer, window=64):
        if tokenizer.end_id < 0:
            raise ValueError(
                "A language model needs a tokenizer whose vocabulary has the "
                f"end token '</s>'. Received: end_id={tokenizer.end_id}"
            )
        self.model = model
        self.tokenizer = tokenizer
        self.window = window
        texts, ids, *states = (
            tf.TensorSpec([None], tf.string, name="text"),
            tf.TensorSpec([None, None], tf.int32, name="ids"),
            *(
                tf.TensorSpec([None, size], tf.float32, name=f"state_{i}")
                for i, size in enumerate(model.state_sizes)
            ),
        )
        self.score = tf.function(self._score, [texts])
        self.score_ids = tf.function(self._score_ids, [ids])
        self.generate = tf.function(
            self._generate,
            [
                tf.TensorSpec([None], tf.string, name="prompt"),
                tf.TensorSpec([], tf.int32, name="seed"),
                tf.TensorSpec([], tf.float32, name="temperature"),
                tf.TensorSpec([], tf.int32, name="top_k"),
                tf.TensorSpec([], tf.int32, name="max_tokens"),
            ],
        )
        self.step = tf.function(self._step, [ids, *states])

    @property
    def signatures(self):
        """The functions to export, by the names they are served under."""
        return {
            "serving_default": self.score,
            "score_ids": self.score_ids,
            "generate": self.generate,
            "step": self.step,
        }

    def write(self, prompts, seed=0, temperature=1.0, top_k=0, max_tokens=50):
        """Continues a list of strings; see `generate` for the arguments."""
        found = self.generate(
            tf.constant(list(prompts), tf.string),
            tf.constant(seed, tf.int32),
            tf.constant(temperature, tf.float32),
            tf.constant(top_k, tf.int32),
            tf.constant(max_tokens, tf.int32),
        )
        return [text.decode() for text in found["text"].numpy()]

    def ids(self, lines):
        """Returns the text of a list of lines as one vector of int32 ids."""
        ids = [
            self.text_ids(tf.constant(lines[i : i + 10_000])).flat_values
            for i in range(0, len(lines), 10_000)
        ]
        return np.concatenate([np.zeros(0, "int32"), *ids])

    def text_ids(self, texts):
        """Returns ragged ids `(batch, tokens)`, each line with its end."""
        lines = tf.strings.split(texts, "\n")
        ids = self.tokenizer.tokenize(lines.flat_values)
        end = tf.fill((ids.nrows(), 1), self.tokenizer.end_id)
        end = tf.ragged.boolean_mask(end, ids.row_lengths()[:, None] > 0)
        ids = lines.with_flat_values(tf.concat([ids, end], axis=1))
        return ids.merge_dims(1, 2)

    def _score(self, text):
        ids = self.text_ids(text)
        scores = self._log_probabilities(
            ids.to_tensor(self.tokenizer.end_id), ids.row_lengths()
        )
        return {
            "tokens": tf.ragged.map_flat_values(
                self.tokenizer.tokens, ids
            ).to_tensor(""),
            **scores,
        }

    def _score_ids(self, ids):
        # Places of a negative id, on the right, hold no token.
        lengths = tf.reduce_sum(tf.cast(ids >= 0, tf.int64), axis=1)
        return self._log_probabilities(
            tf.where(ids < 0, self.tokenizer.end_id, ids), lengths
        )

    def _log_probabilities(self, ids, lengths):
        """Of ids `(batch, time)` that are real up to their lengths."""
        rows, time = tf.unstack(tf.shape(ids))
        count = tf.maximum(-(-time // self.window), 1)
        padding = count * self.window - time
        end = self.tokenizer.end_id
        labels = tf.pad(ids, [[0, 0], [0, padding]], constant_values=end)
        inputs = tf.pad(labels, [[0, 0], [1, 0]], constant_values=end)
        parts = tf.TensorArray(
            tf.float32, count, element_shape=[None, self.window]
        )

        def next_window(i, states, parts):
            start = i * self.window
            logits, states = self.model.run(
                inputs[:, start : start + self.window], states
            )
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels[:, start : start + self.window],
                tf.cast(logits, tf.float32),
            )
            return i + 1, states, parts.write(i, -losses)

        *_, parts = tf.while_loop(
            lambda i, *_: i < count,
            next_window,
            [0, self.model.initial_states(rows), parts],
        )
        found = tf.transpose(parts.stack(), [1, 0, 2])
        found = tf.reshape(found, [rows, count * self.window])[:, :time]
        real = tf.sequence_mask(lengths, time)
        found = tf.where(real, found, 0.0)
        total = tf.reduce_sum(found, axis=1)
        tokens = tf.cast(tf.maximum(lengths, 1), tf.float32)
        return {
            "log_probabilities": found,
            "total": total,
            "perplexity": tf.exp(-total / tokens),
            "length": tf.cast(lengths, tf.int32),
        }

    def _step(self, ids, *states):
        logits, states = self.model.run(ids, list(states))
        names = (f"state_{i}" for i in range(len(states)))
        return {
            "logits": tf.cast(logits, tf.float32),
            **dict(zip(names, states, strict=True)),
        }

    def _generate(self, prompt, seed, temperature, top_k, max_tokens):
        """Continues prompts.

        Args:
            prompt: Strings `(batch,)`. One that ends in a line break has
                its last sentence ended, any other goes on with it.
            seed: Integer; the same one gives the same text.
            temperature: Float that logits are divided by; at 0 the most
                likely token is taken.
            top_k: Integer, from how many tokens to draw; 0 for all.
            max_tokens: Integer, how many tokens to add.

        Returns:
            A dictionary of the `"text"`, prompt included, and of the `"ids"`
            that were added, `(batch, max_tokens)`.
        """
        ids = self.text_ids(prompt)
        last_lines = tf.strings.split(prompt, "\n")[:, -1:].flat_values
        is_open = self.tokenizer.tokenize(last_lines).row_lengths() > 0
        # The end of a sentence that is to go on is taken off.
        lengths = ids.row_lengths()
        lengths -= tf.cast(is_open, tf.int64)
        ids = tf.RaggedTensor.from_row_lengths(
            tf.ragged.boolean_mask(
                ids, tf.ragged.range(ids.row_lengths()) < lengths[:, None]
            ).flat_values,
            lengths,
        )
        added = self._draw(ids, seed, temperature, top_k, max_tokens)
        whole = tf.concat([ids, tf.RaggedTensor.from_tensor(added)], axis=1)
        return {"text": self._as_lines(whole), "ids": added}

    def _draw(self, prompts, seed, temperature, top_k, max_tokens):
        """Draws `(batch, max_tokens)` ids to follow ragged prompts."""
        lengths = tf.cast(prompts.row_lengths(), tf.int32)
        rows = tf.shape(lengths)[0]
        max_tokens = tf.maximum(max_tokens, 0)
        time = tf.reduce_max(tf.concat([lengths + max_tokens, [1]], axis=0))
        given = prompts.to_tensor(-1, shape=(None, None))
        given = tf.pad(
            given,
            [[0, 0], [0, time - tf.shape(given)[1]]],
            constant_values=-1,
        )
        written = tf.TensorArray(tf.int32, time, element_shape=[None])

        def next_token(t, last, states, written):
            logits, states = self.model.run(last[:, None], states)
            drawn = self._draw_one(
                logits[:, 0], tf.stack([seed, t]), temperature, top_k
            )
            last = tf.where(given[:, t] >= 0, given[:, t], drawn)
            return t + 1, last, states, written.write(t, last)

        *_, written = tf.while_loop(
            lambda t, *_: t < time,
            next_token,
            [
                0,
                tf.fill([rows], self.tokenizer.end_id),
                self.model.initial_states(rows),
                written,
            ],
        )
        written = tf.reshape(written.stack(), [time, rows])
        places = lengths[:, None] + tf.range(max_tokens)
        return tf.gather(tf.transpose(written), places, batch_dims=1)

    def _draw_one(self, logits, seed, temperature, top_k):
        """Draws one token a row by logits `(batch, vocabulary_size)`."""
        size = self.tokenizer.vocabulary_size
        logits = tf.cast(logits, tf.float32)
        if self.tokenizer.unknown_id >= 0:
            # It stands for a word, and cannot be written as one.
            unknown = tf.one_hot(self.tokenizer.unknown_id, size)
            logits = tf.where(unknown > 0, logits.dtype.min, logits)
        best = tf.argmax(logits, axis=-1, output_type=tf.int32)
        k = tf.where(top_k > 0, tf.minimum(top_k, size), size)
        least = tf.math.top_k(logits, k).values[:, -1:]
        is_drawn = tf.logical_and(logits >= least, logits > logits.dtype.min)
        logits /= tf.clip_by_value(temperature, 1e-6, 1e6)
        logits = tf.where(is_drawn, logits, logits.dtype.min)
        drawn = tf.random.stateless_categorical(logits, 1, seed, tf.int32)
        return tf.where(temperature > 0, drawn[:, 0], best)

    def _as_lines(self, ids):
        """Detokenizes ragged ids, with a line break for each end token."""
        is_end = tf.cast(ids.flat_values == self.tokenizer.end_id, tf.int64)
        row = ids.value_rowids()
        # A row with n end tokens has n + 1 lines.
        line = tf.cumsum(is_end, exclusive=True) + row
        ends = tf.math.segment_sum(is_end, row)
        ends = tf.pad(ends, [[0, ids.nrows() - tf.shape(ends, tf.int64)[0]]])
        lines = tf.RaggedTensor.from_value_rowids(
            ids.flat_values, line, nrows=tf.reduce_sum(ends + 1)
        )
        lines = tf.RaggedTensor.from_row_lengths(
            self.tokenizer.detokenize(lines) + "\n", ends + 1
        )
        # Not joined by a separator: that loses empty strings in front.
        texts = tf.strings.reduce_join(lines, axis=-1)
        return tf.strings.regex_replace(texts, "\n$", "")
