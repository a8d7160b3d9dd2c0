"""What a language model serves: its functions on strings and on ids."""

import functools

import tensorflow as tf

from kerasrnn.decoding.constraints import is_any
from kerasrnn.pipelines.signatures import IDS
from kerasrnn.pipelines.signatures import PAD
from kerasrnn.pipelines.signatures import TEXTS
from kerasrnn.pipelines.signatures import check_length
from kerasrnn.pipelines.signatures import check_number
from kerasrnn.pipelines.signatures import check_same_rows
from kerasrnn.pipelines.signatures import check_steps
from kerasrnn.pipelines.signatures import checked_ids
from kerasrnn.pipelines.signatures import flat_specs
from kerasrnn.pipelines.signatures import graph_function
from kerasrnn.pipelines.signatures import named
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import Padded
from kerasrnn.pipelines.xla import in_programs

# Positions, in all rows together, whose logits are held at once.
_POSITIONS = 4096


def token_scores(model, ids, window, end_id):
    """Scores each token of texts, window by window, as graph operations.

    Args:
        model: A layer with the methods `run` and `initial_states` of a
            `LanguageModel`.
        ids: Integer tensor of shape `(batch, time)`.
        window: Integer, how many ids of a text to score at once; of many
            texts, these are fewer.
        end_id: Integer id of the end token, the first input of every text.

    Returns:
        Float tensor of shape `(batch, time)`, the log-probabilities.
    """
    rows, time = tf.unstack(tf.shape(ids))
    window = tf.clip_by_value(_POSITIONS // tf.maximum(rows, 1), 1, window)
    count = tf.maximum((time + window - 1) // window, 1)
    padding = count * window - time
    labels = tf.pad(ids, [[0, 0], [0, padding]], constant_values=end_id)
    inputs = tf.pad(labels, [[0, 0], [1, 0]], constant_values=end_id)
    parts = tf.TensorArray(tf.float32, count, element_shape=[None, None])

    def next_window(i, states, parts):
        start = i * window
        logits, states = model.run(inputs[:, start : start + window], states)
        found = _of_labels(logits, labels[:, start : start + window])
        return i + 1, states, parts.write(i, found)

    *_, parts = tf.while_loop(
        lambda i, *_: i < count,
        next_window,
        [0, model.initial_states(rows), parts],
    )
    found = tf.transpose(parts.stack(), [1, 0, 2])
    return tf.reshape(found, [rows, count * window])[:, :time]


def token_scores_at_once(model, ids, end_id):
    """The same in a single window."""
    inputs = tf.pad(ids, [[0, 0], [1, 0]], constant_values=end_id)[:, :-1]
    logits, _ = model.run(inputs, model.initial_states(tf.shape(ids)[0]))
    return _of_labels(logits, ids)


def _of_labels(logits, labels):
    """The log-probabilities of labels `(batch, time)`."""
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels, tf.cast(logits, tf.float32)
    )


def text_scores(found, lengths):
    """Scores of whole texts, from those of their tokens.

    Args:
        found: Float tensor of shape `(batch, time)`, the log-probabilities.
        lengths: Integer tensor of shape `(batch,)`, how many tokens of each
            text are not padding.

    Returns:
        A dictionary of `"log_probabilities"`, of shape `(batch, time)` and 0
        after the end of a text, and of `"total"`, `"perplexity"` and
        `"length"`, of shape `(batch,)`; the perplexity of no tokens is NaN.
    """
    found = tf.where(tf.sequence_mask(lengths, tf.shape(found)[1]), found, 0.0)
    total = tf.reduce_sum(found, axis=1)
    # A text without tokens has no mean.
    mean = total / tf.cast(lengths, tf.float32)
    return {
        "log_probabilities": found,
        "total": total,
        "perplexity": tf.exp(-mean),
        "length": tf.cast(lengths, tf.int32),
    }


def draw_ids(
    model,
    tokenizer,
    prompts,
    seed,
    temperature,
    top_k,
    max_tokens,
    top_p,
    one_sentence,
):
    """Samples ids that continue prompts, as graph operations.

    Args:
        model: A layer with the methods `run` and `initial_states` of a
            `LanguageModel`.
        tokenizer: The `Tokenizer` of the model.
        prompts: Ragged integer tensor of shape `(batch, tokens)`.
        seed, temperature, top_k, max_tokens, top_p, one_sentence: Scalar
            tensors; see `TextLanguageModel.write`.

    Returns:
        Int32 tensor of shape `(batch, max_tokens)`; -1 after the end of a
        sentence, if only one is to be written.
    """
    lengths = tf.cast(prompts.row_lengths(), tf.int32)
    rows = tf.shape(lengths)[0]
    time = tf.reduce_max(tf.concat([lengths + max_tokens, [1]], axis=0))
    given = prompts.to_tensor(-1, shape=(None, None))
    given = tf.pad(
        given,
        [[0, 0], [0, time - tf.shape(given)[1]]],
        constant_values=-1,
    )

    def next_token(t, last, done, states, written):
        logits, states = model.run(last[:, None], states)
        drawn = _draw_one(
            _writable(logits[:, 0], tokenizer),
            tf.stack([seed, t]),
            temperature,
            top_k,
            top_p,
        )
        is_given = given[:, t] >= 0
        last = tf.where(is_given, given[:, t], drawn)
        new = tf.where(done, -1, last)
        written = tf.tensor_scatter_nd_update(written, [[t]], new[None])
        ended = tf.logical_and(tf.equal(last, tokenizer.end_id), ~is_given)
        done = tf.logical_or(done, tf.logical_and(ended, one_sentence))
        return t + 1, last, done, states, written

    *_, written = tf.while_loop(
        lambda t, last, done, *_: (t < time) & ~tf.reduce_all(done),
        next_token,
        [
            0,
            tf.fill([rows], tokenizer.end_id),
            tf.zeros([rows], tf.bool),
            model.initial_states(rows),
            tf.fill([time, rows], -1),
        ],
    )
    positions = lengths[:, None] + tf.range(max_tokens)
    return tf.gather(tf.transpose(written), positions, batch_dims=1)


def _writable(logits, tokenizer):
    """Logits `(batch, vocabulary_size)` of what may stand in a text.

    `<unk>` stands for an unknown word, and padding and the start token for
    none.
    """
    logits = tf.cast(logits, tf.float32)
    never = {tokenizer.unknown_id, tokenizer.pad_id, tokenizer.start_id}
    refused = is_any(tf.range(tokenizer.vocabulary_size), tuple(never))
    return tf.where(refused, logits.dtype.min, logits)


def _draw_one(logits, seed, temperature, top_k, top_p):
    """Samples one token per row from logits `(batch, vocabulary_size)`."""
    best = tf.argmax(logits, axis=-1, output_type=tf.int32)
    scale = 1 / tf.clip_by_value(temperature, 1e-6, 1e6)
    size = tf.shape(logits)[1]
    k = tf.where(top_k > 0, tf.minimum(top_k, size), size)
    values = tf.math.top_k(logits, k).values
    before = tf.cumsum(tf.nn.softmax(values * scale), axis=1, exclusive=True)
    # The most probable token is always in the nucleus.
    inside = (before < top_p) | (top_p >= 1.0) | (tf.range(k) < 1)
    least = tf.reduce_min(
        tf.where(inside, values, values.dtype.max), axis=1, keepdims=True
    )
    is_drawn = tf.logical_and(logits >= least, logits > logits.dtype.min)
    logits = tf.where(is_drawn, logits * scale, logits.dtype.min)
    drawn = tf.random.stateless_categorical(logits, 1, seed, tf.int32)
    return tf.where(temperature > 0, drawn[:, 0], best)


def as_lines(ids, tokenizer, go_backwards=False):
    """Detokenizes ragged ids, with a line break for each end token.

    Args:
        ids: Ragged integer tensor of shape `(batch, tokens)`.
        tokenizer: The `Tokenizer`.
        go_backwards: Whether each line begins with its last token.

    Returns:
        String tensor of shape `(batch,)`.
    """
    is_end = tf.cast(ids.flat_values == tokenizer.end_id, tf.int64)
    row = ids.value_rowids()
    # A row with n end tokens has n + 1 lines.
    line = tf.cumsum(is_end, exclusive=True) + row
    ends = tf.math.segment_sum(is_end, row)
    ends = tf.pad(ends, [[0, ids.nrows() - tf.shape(ends, tf.int64)[0]]])
    lines = tf.RaggedTensor.from_value_rowids(
        ids.flat_values, line, nrows=tf.reduce_sum(ends + 1)
    )
    lines = lines[:, ::-1] if go_backwards else lines
    lines = tf.RaggedTensor.from_row_lengths(
        tokenizer.detokenize(lines) + "\n", ends + 1
    )
    # Joining with a separator would lose leading empty strings.
    texts = tf.strings.reduce_join(lines, axis=-1)
    return tf.strings.regex_replace(texts, "\n$", "")


class LanguageFunctions:
    """The graph functions that a `TextLanguageModel` serves.

    Each takes tensors and returns a dictionary of tensors.

    Args:
        language: The `TextLanguageModel`.
    """

    def __init__(self, language):
        self.model, self.tokenizer = language.model, language.tokenizer
        self.text_ids, self.window = language.text_ids, language.window
        self.max_length = language.max_length
        self.as_lines = functools.partial(
            as_lines,
            tokenizer=language.tokenizer,
            go_backwards=language.go_backwards,
        )
        self.ids = graph_function(self._ids, TEXTS)
        self.token_scores = self._scores_of_tokens(language.xla_shapes)

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
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
        """The log-probability of each text and of each of its tokens."""
        ids = self.ids(text)
        return {
            "tokens": tf.ragged.map_flat_values(
                self.tokenizer.tokens, ids
            ).to_tensor(""),
            **self._scores(
                ids.to_tensor(self.tokenizer.end_id), ids.row_lengths()
            ),
        }

    def score_ids(self, ids):
        """The same on ids."""
        lengths = tf.reduce_sum(tf.cast(ids != PAD, tf.int64), axis=1)
        size, end_id = self.tokenizer.vocabulary_size, self.tokenizer.end_id
        with tf.control_dependencies([check_length(lengths, self.max_length)]):
            return self._scores(checked_ids(ids, size, end_id), lengths)

    def generate(
        self, prompt, seed, temperature, top_k, max_tokens, top_p, one_sentence
    ):
        """Continues prompts `(batch,)`, as `TextLanguageModel.write` does.

        Returns:
            A dictionary of the `"text"`, prompt included, and of the `"ids"`
            that were added, `(batch, max_tokens)`.
        """
        ids = self.ids(prompt)
        last_lines = tf.strings.split(prompt, "\n")[:, -1:].flat_values
        is_open = self.tokenizer.tokenize(last_lines).row_lengths() > 0
        # Remove the end token of a sentence that is to be continued.
        lengths = ids.row_lengths()
        lengths -= tf.cast(is_open, tf.int64)
        ids = tf.RaggedTensor.from_row_lengths(
            tf.ragged.boolean_mask(
                ids, tf.ragged.range(ids.row_lengths()) < lengths[:, None]
            ).flat_values,
            lengths,
        )
        checks = [
            check_number("temperature", temperature),
            check_number("top_k", top_k),
            check_number("max_tokens", max_tokens),
            check_length(max_tokens, self.max_length),
            check_number("top_p", top_p, maximum=1),
        ]
        with tf.control_dependencies(checks):
            added = draw_ids(
                self.model,
                self.tokenizer,
                ids,
                seed,
                temperature,
                top_k,
                tf.identity(max_tokens),
                top_p,
                one_sentence,
            )
        whole = tf.RaggedTensor.from_tensor(added)
        whole = tf.concat([ids, tf.ragged.boolean_mask(whole, whole >= 0)], 1)
        return {"text": self.as_lines(whole), "ids": added}

    def step(self, ids, *states):
        """The logits of the next tokens, and the new states."""
        given = named("state", states)
        checks = [check_same_rows(ids=ids, **given), check_steps(ids)]
        with tf.control_dependencies(checks):
            ids = checked_ids(ids, self.tokenizer.vocabulary_size, PAD)
        logits, states = self.model.run(ids, list(states))
        return {"logits": tf.cast(logits, tf.float32), **named("state", states)}

    def tokenize(self, text):
        """The ids that the model reads."""
        return {"ids": self.ids(text).to_tensor(PAD)}

    def detokenize(self, ids):
        """The text of ids, a line for each end token."""
        ids = tf.RaggedTensor.from_tensor(ids)
        ids = tf.ragged.boolean_mask(ids, ids >= 0)
        return {"text": self.as_lines(ids)}

    def _ids(self, texts):
        """The ids of texts, unless one of them is too long."""
        ids = self.text_ids(texts)
        check = check_length(ids.row_lengths(), self.max_length)
        with tf.control_dependencies([check]):
            return ids.with_flat_values(tf.identity(ids.flat_values))

    def _scores(self, ids, lengths):
        # A program has its ids padded, so that there are more scores.
        found = self.token_scores(ids)[:, : tf.shape(ids)[1]]
        return text_scores(found, lengths)

    def _scores_of_tokens(self, shapes):
        """A function from ids to the scores of each, by XLA if wanted."""
        end_id = self.tokenizer.end_id
        by_window = functools.partial(
            token_scores, self.model, window=self.window, end_id=end_id
        )
        if shapes is None:
            return by_window
        at_once = functools.partial(
            token_scores_at_once, self.model, end_id=end_id
        )
        arguments = [Padded(AXES, end_id)]
        return in_programs(at_once, by_window, arguments, shapes.sizes())
