"""Text generation with a language model, as graph operations."""

import tensorflow as tf

from kerasrnn.decoding.constraints import is_any


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
