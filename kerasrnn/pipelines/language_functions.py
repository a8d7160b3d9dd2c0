"""The graph functions that a language model serves."""

import dataclasses

import tensorflow as tf

from kerasrnn.decoding.constraints import is_any
from kerasrnn.pipelines.signatures import IDS
from kerasrnn.pipelines.signatures import PAD
from kerasrnn.pipelines.signatures import TEXTS
from kerasrnn.pipelines.signatures import after
from kerasrnn.pipelines.signatures import check_length
from kerasrnn.pipelines.signatures import check_number
from kerasrnn.pipelines.signatures import check_same_rows
from kerasrnn.pipelines.signatures import check_steps
from kerasrnn.pipelines.signatures import checked_ids
from kerasrnn.pipelines.signatures import flat_specs
from kerasrnn.pipelines.signatures import graph_function
from kerasrnn.pipelines.signatures import named
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import in_programs

# Number of positions, over all rows, whose logits are in memory at once.
_POSITIONS = 4096


class LanguageFunctions:
    """The graph functions that a `TextLanguageModel` serves.

    Each takes tensors and returns a dictionary of tensors.

    Args:
        language: The `TextLanguageModel`.
    """

    def __init__(self, language):
        self.language = language
        self.model, self.tokenizer = language.model, language.tokenizer
        self.ids = graph_function(self._ids, TEXTS)
        self.token_scores = self._by_window
        if language.xla is not None:
            self.token_scores = in_programs(
                self._at_once,
                self._by_window,
                [(AXES, self.tokenizer.end_id)],
                dataclasses.asdict(language.xla),
            )

    def by_name(self):
        """Returns lists of a function and its argument specs, by name."""
        return {
            "serving_default": [self.score, TEXTS],
            "score_ids": [self.score_ids, IDS],
            "generate": [
                self.generate,
                tf.TensorSpec([None], tf.string, name="prompt"),
                tf.TensorSpec([], tf.int32, name="seed"),
                tf.TensorSpec([], tf.float32, name="temperature"),
                tf.TensorSpec([], tf.int32, name="top_k"),
                tf.TensorSpec([], tf.int32, name="max_tokens"),
                tf.TensorSpec([], tf.float32, name="top_p"),
                tf.TensorSpec([], tf.bool, name="one_sentence"),
            ],
            "step": [
                self.step,
                IDS,
                *flat_specs("state", self.model.initial_states(1)),
            ],
            "tokenize": [self.tokenize, TEXTS],
            "detokenize": [self.detokenize, IDS],
        }

    def score(self, text):
        """Returns the log-probabilities of tokens and of whole texts."""
        ids = self.ids(text)
        tokens = tf.ragged.map_flat_values(self.tokenizer.tokens, ids)
        padded = ids.to_tensor(self.tokenizer.end_id)
        found = self._scores(padded, ids.row_lengths())
        return {"tokens": tokens.to_tensor(""), **found}

    def score_ids(self, ids):
        """The same for ids."""
        lengths = tf.reduce_sum(tf.cast(ids != PAD, tf.int64), axis=1)
        [ids] = after([check_length(lengths, self.language.max_length)], ids)
        size, end_id = self.tokenizer.vocabulary_size, self.tokenizer.end_id
        return self._scores(checked_ids(ids, size, end_id), lengths)

    def _scores(self, ids, lengths):
        """Returns scores of tokens (0 after the end) and of whole texts."""
        # XLA programs pad ids, so there may be more scores.
        found = self.token_scores(ids)[:, : tf.shape(ids)[1]]
        mask = tf.sequence_mask(lengths, tf.shape(found)[1])
        found = tf.where(mask, found, 0.0)
        total = tf.reduce_sum(found, axis=1)
        # A text without tokens has no mean.
        mean = total / tf.cast(lengths, tf.float32)
        return {
            "log_probabilities": found,
            "total": total,
            "perplexity": tf.exp(-mean),
            "length": tf.cast(lengths, tf.int32),
        }

    def _by_window(self, ids):
        """Returns the log-probabilities of ids `(batch, time)` by windows.

        The more texts there are, the shorter the windows are.
        """
        rows, time = tf.unstack(tf.shape(ids))
        window = tf.clip_by_value(
            _POSITIONS // tf.maximum(rows, 1), 1, self.language.window
        )
        count = tf.maximum((time + window - 1) // window, 1)
        padding, end_id = count * window - time, self.tokenizer.end_id
        labels = tf.pad(ids, [[0, 0], [0, padding]], constant_values=end_id)
        inputs = tf.pad(labels, [[0, 0], [1, 0]], constant_values=end_id)
        parts = tf.TensorArray(tf.float32, count, element_shape=[None, None])

        def next_window(i, states, parts):
            here = slice(i * window, (i + 1) * window)
            logits, states = self.model.run(inputs[:, here], states)
            found = _of_labels(logits, labels[:, here])
            return i + 1, states, parts.write(i, found)

        *_, parts = tf.while_loop(
            lambda i, *_: i < count,
            next_window,
            [0, self.model.initial_states(rows), parts],
        )
        found = tf.transpose(parts.stack(), [1, 0, 2])
        return tf.reshape(found, [rows, count * window])[:, :time]

    def _at_once(self, ids):
        """The same in a single window."""
        end_id = self.tokenizer.end_id
        inputs = tf.pad(ids, [[0, 0], [1, 0]], constant_values=end_id)[:, :-1]
        states = self.model.initial_states(tf.shape(ids)[0])
        logits, _ = self.model.run(inputs, states)
        return _of_labels(logits, ids)

    def generate(
        self, prompt, seed, temperature, top_k, max_tokens, top_p, one_sentence
    ):
        """Returns continuations of prompts, as text and as added ids."""
        ids = self.ids(prompt)
        last_lines = tf.strings.split(prompt, "\n")[:, -1:].flat_values
        is_open = self.tokenizer.tokenize(last_lines).row_lengths() > 0
        # Remove the end token of a sentence to continue.
        lengths = ids.row_lengths() - tf.cast(is_open, tf.int64)
        ids = tf.RaggedTensor.from_tensor(ids.to_tensor(), lengths)
        checks = [
            check_number("temperature", temperature),
            check_number("top_k", top_k),
            check_number("max_tokens", max_tokens),
            check_length(max_tokens, self.language.max_length),
            check_number("top_p", top_p, maximum=1),
        ]
        [max_tokens] = after(checks, max_tokens)

        def draw(logits, t):
            at = tf.stack([seed, t])
            return self._drawn(logits, at, temperature, top_k, top_p)

        added = self._continued(ids, max_tokens, one_sentence, draw)
        whole = tf.RaggedTensor.from_tensor(added)
        whole = tf.concat([ids, tf.ragged.boolean_mask(whole, whole >= 0)], 1)
        return {"text": self._as_lines(whole), "ids": added}

    def _continued(self, prompts, max_tokens, one_sentence, draw):
        """Returns the ids that continue ragged prompts, `(batch, max_tokens)`.

        With `one_sentence`, they are -1 after the end of a sentence.
        """
        lengths = tf.cast(prompts.row_lengths(), tf.int32)
        rows = tf.shape(lengths)[0]
        time = tf.reduce_max(tf.concat([lengths + max_tokens, [1]], axis=0))
        given = prompts.to_tensor(-1, shape=(None, None))
        missing = time - tf.shape(given)[1]
        given = tf.pad(given, [[0, 0], [0, missing]], constant_values=-1)
        end_id = self.tokenizer.end_id

        def next_token(t, last, done, states, written):
            logits, states = self.model.run(last[:, None], states)
            is_given = given[:, t] >= 0
            last = tf.where(is_given, given[:, t], draw(logits[:, 0], t))
            new = tf.where(done, -1, last)
            written = tf.tensor_scatter_nd_update(written, [[t]], new[None])
            done |= (last == end_id) & ~is_given & one_sentence
            return t + 1, last, done, states, written

        *_, written = tf.while_loop(
            lambda t, last, done, *_: (t < time) & ~tf.reduce_all(done),
            next_token,
            [
                0,
                tf.fill([rows], end_id),
                tf.zeros([rows], tf.bool),
                self.model.initial_states(rows),
                tf.fill([time, rows], -1),
            ],
        )
        positions = lengths[:, None] + tf.range(max_tokens)
        return tf.gather(tf.transpose(written), positions, batch_dims=1)

    def _drawn(self, logits, seed, temperature, top_k, top_p):
        """Samples a token per row from logits `(batch, vocabulary_size)`."""
        # `<unk>`, padding and start tokens are not words.
        tokens, least = self.tokenizer, tf.float32.min
        never = {tokens.unknown_id, tokens.pad_id, tokens.start_id}
        refused = is_any(tf.range(tokens.vocabulary_size), tuple(never))
        logits = tf.where(refused, least, tf.cast(logits, tf.float32))
        best = tf.argmax(logits, axis=-1, output_type=tf.int32)
        scale = 1 / tf.clip_by_value(temperature, 1e-6, 1e6)
        size = tf.shape(logits)[1]
        k = tf.where(top_k > 0, tf.minimum(top_k, size), size)
        values = tf.math.top_k(logits, k).values
        shares = tf.nn.softmax(values * scale)
        before = tf.cumsum(shares, axis=1, exclusive=True)
        # The nucleus always includes the most probable token.
        inside = (before < top_p) | (top_p >= 1.0) | (tf.range(k) < 1)
        values = tf.where(inside, values, values.dtype.max)
        is_drawn = logits >= tf.reduce_min(values, axis=1, keepdims=True)
        is_drawn &= logits > least
        logits = tf.where(is_drawn, logits * scale, least)
        drawn = tf.random.stateless_categorical(logits, 1, seed, tf.int32)
        return tf.where(temperature > 0, drawn[:, 0], best)

    def step(self, ids, *states):
        """Returns logits of the next tokens, with carried states."""
        given = named("state", states)
        checks = [check_same_rows(ids=ids, **given), check_steps(ids)]
        [ids] = after(checks, ids)
        ids = checked_ids(ids, self.tokenizer.vocabulary_size, PAD)
        logits, states = self.model.run(ids, list(states))
        return {"logits": tf.cast(logits, tf.float32), **named("state", states)}

    def tokenize(self, text):
        """Returns the ids of texts, with an end token after every line."""
        return {"ids": self.ids(text).to_tensor(PAD)}

    def detokenize(self, ids):
        """Returns the text of ids, with a line break for every end token."""
        ids = tf.RaggedTensor.from_tensor(ids)
        ids = tf.ragged.boolean_mask(ids, ids >= 0)
        return {"text": self._as_lines(ids)}

    def _ids(self, texts):
        ids = self.language.text_ids(texts)
        check = check_length(ids.row_lengths(), self.language.max_length)
        return ids.with_flat_values(*after([check], ids.flat_values))

    def _as_lines(self, ids):
        """Detokenizes ragged ids, with a line break for each end token."""
        is_end = tf.cast(ids.flat_values == self.tokenizer.end_id, tf.int64)
        row = ids.value_rowids()
        # A row with n end tokens has n + 1 lines.
        line = tf.cumsum(is_end, exclusive=True) + row
        ends = tf.math.unsorted_segment_sum(is_end, row, ids.nrows())
        lines = tf.RaggedTensor.from_value_rowids(
            ids.flat_values, line, nrows=tf.reduce_sum(ends + 1)
        )
        if self.language.go_backwards:
            lines = lines[:, ::-1]
        lines = tf.RaggedTensor.from_row_lengths(
            self.tokenizer.detokenize(lines) + "\n", ends + 1
        )
        # Joining with a separator would drop leading empty strings.
        texts = tf.strings.reduce_join(lines, axis=-1)
        return tf.strings.regex_replace(texts, "\n$", "")


def _of_labels(logits, labels):
    """Returns the log-probabilities of labels `(batch, time)`."""
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels, tf.cast(logits, tf.float32)
    )
