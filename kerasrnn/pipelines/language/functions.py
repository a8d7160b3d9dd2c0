"""What a language model serves: its functions on strings and on ids."""

import functools

import tensorflow as tf

from kerasrnn.pipelines.graphs import TEXTS
from kerasrnn.pipelines.graphs import flat_specs
from kerasrnn.pipelines.graphs import graph_function
from kerasrnn.pipelines.graphs import named
from kerasrnn.pipelines.language.window_scores import text_scores
from kerasrnn.pipelines.language.window_scores import token_scores
from kerasrnn.pipelines.language.window_scores import token_scores_at_once
from kerasrnn.pipelines.language.writing import as_lines
from kerasrnn.pipelines.language.writing import draw_ids
from kerasrnn.pipelines.served_checks import check_length
from kerasrnn.pipelines.served_checks import check_number
from kerasrnn.pipelines.served_checks import check_same_rows
from kerasrnn.pipelines.served_checks import check_steps
from kerasrnn.pipelines.served_ids import IDS
from kerasrnn.pipelines.served_ids import PAD
from kerasrnn.pipelines.served_ids import checked_ids
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import Padded
from kerasrnn.pipelines.xla import in_programs


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
