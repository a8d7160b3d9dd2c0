"""Text scoring and generation: a tokenizer and a language model in one."""

import functools
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.data.text_windows import text_windows
from kerasrnn.metrics import Perplexity
from kerasrnn.pipelines.language_functions import LanguageFunctions
from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import ready
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.window_scores import log_probabilities
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TextLanguageModel(TextPipeline):
    """Scores and continues strings, in the same way in evaluation and served.

    Each line of a text is a sentence, to which an end token is appended. The
    first word of a text is predicted from an end token too. Blank lines are
    ignored.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can generate texts, continue its training or
    be exported.

    Args:
        model: A `kerasrnn.models.LanguageModel`, or a layer with its `run`,
            `initial_states` and `state_sizes`.
        tokenizer: The `Tokenizer` that the model is trained with. It must
            have an end token.
        window: Positive integer, how many tokens to score or to train on at
            once. Longer texts are processed window by window.
        max_length: Positive integer, how many tokens a text may have, and how
            many may be added to it; more raise an error.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the tokenizer has no end token.

    Example:

    >>> lines = ["the price rose", "the price fell", "the bank rose"] * 8
    >>> tokenizer = WordTokenizer.train(lines, specials=("</s>", "<unk>"))
    >>> size = tokenizer.vocabulary_size
    >>> model = LanguageModel(size, RHNCell(8), batch_size=4)
    >>> language = TextLanguageModel(model, tokenizer, window=8)
    >>> language.compile(keras.optimizers.Adam(0.05))
    >>> history = language.fit(lines, epochs=10, verbose=0)
    >>> scores = language.score(["the bank fell", "fell the bank"])
    >>> bool(scores["total"][0] > scores["total"][1])
    True
    >>> texts = language.write(["the price"], seed=1, temperature=0.8)
    >>> texts[0].startswith("the price")
    True
    >>> language.save("language.keras")
    """

    traced = ("signatures", "_scores_of_any_length")

    def __init__(
        self,
        model: keras.layers.Layer,
        tokenizer: Tokenizer,
        window: int = 64,
        max_length: int = 15_000,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.max_length = max_length
        # While a file is loaded, the tokenizer has no vocabulary yet.
        if tokenizer.built and tokenizer.end_id < 0:
            raise ValueError(
                "A language model needs a tokenizer whose vocabulary has the "
                f"end token '</s>'. Received: end_id={tokenizer.end_id}"
            )
        self.tokenizer = tokenizer
        self.window = window

    def default_loss(self) -> keras.losses.Loss:
        """Returns the cross-entropy of the tokens."""
        return TokenCrossentropy(-1)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the perplexity."""
        return [Perplexity(-1)]

    def functions(self) -> dict[str, list[Any]]:
        return LanguageFunctions(self).by_name()

    def score(
        self, texts: Strings, batch_size: int = 64
    ) -> dict[str, np.ndarray]:
        """Scores a list of strings, independently of each other.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A dictionary of arrays of shape `(texts,)`: `"total"`, the log
            probability of the text; `"perplexity"`; and `"length"`, the
            number of tokens.
        """
        texts = text_list(texts)
        scores = {
            "total": np.zeros(len(texts), "float32"),
            "perplexity": np.zeros(len(texts), "float32"),
            "length": np.zeros(len(texts), "int32"),
        }
        for places, found in self.answers(texts, batch_size):
            for name, values in scores.items():
                values[places] = found[name].numpy()
        return scores

    def evaluate(self, lines: Strings) -> dict[str, float]:
        """Scores lines as one continuous text.

        Args:
            lines: List of strings, at least one of them not blank.

        Returns:
            A dictionary of `"loss"`, the mean negative log probability of a
            token; `"perplexity"`; `"tokens"`, their number;
            `"wall_seconds"` and `"cpu_seconds"`.

        Raises:
            ValueError: when there is no token.
        """
        clock = Stopwatch()
        ids = self.ids(lines)
        if not len(ids):
            raise ValueError(
                "`lines` must contain at least one token. "
                f"Received: {len(lines)} lines without any."
            )
        found = self._scores_of_any_length(ids[None], [len(ids)])
        total = found["log_probabilities"].numpy().sum(dtype="float64")
        return {
            "loss": float(-total / len(ids)),
            "perplexity": float(np.exp(-total / len(ids))),
            "tokens": len(ids),
            **clock.read(),
        }

    def write(
        self,
        prompts: Strings,
        seed: int = 0,
        temperature: float = 1.0,
        top_k: int = 0,
        max_tokens: int = 50,
        top_p: float = 1.0,
        one_sentence: bool = False,
    ) -> list[str]:
        """Generates continuations of a list of strings.

        Args:
            prompts: List of strings. After a prompt that ends in a line
                break, a new sentence begins; otherwise the last sentence of
                the prompt is continued.
            seed: Integer. The same seed and list of prompts give the same
                texts.
            temperature: Float by which logits are divided. At 0, the most
                probable token is chosen.
            top_k: Integer, from how many of the most probable tokens to
                sample; 0 for all.
            max_tokens: Integer, how many tokens to add at most.
            top_p: Float. Samples from the most probable tokens that together
                have this probability (nucleus sampling, Holtzman et al.
                2020); 1 for all.
            one_sentence: Whether to stop at the end of a sentence.

        Returns:
            List of strings, each a prompt with its continuation. Unknown words
            of the prompt become `<unk>`, which is never generated.

        Raises:
            ValueError: when `prompts` is a string, or the temperature is
                below 0.
        """
        prompts = text_list(prompts)
        if not temperature >= 0:
            raise ValueError(
                "`temperature` must not be negative. "
                f"Received: temperature={temperature}"
            )
        found = self.signatures["generate"](
            tf.constant(prompts, tf.string),
            tf.constant(seed % 2**31, tf.int32),
            tf.constant(temperature, tf.float32),
            tf.constant(top_k, tf.int32),
            tf.constant(max_tokens, tf.int32),
            tf.constant(top_p, tf.float32),
            tf.constant(one_sentence),
        )
        return decoded(found["text"])

    def batches(self, lines: Strings) -> tf.data.Dataset:
        """Windows of lines to train the model on, for its `batch_size`.

        Args:
            lines: List of strings.

        Returns:
            The `tf.data.Dataset` of `kerasrnn.data.text_windows`.

        Raises:
            ValueError: when the model has no `batch_size`, or the lines have
                fewer tokens than that.
        """
        rows = self.model.batch_size
        if rows is None:
            raise ValueError(
                "To be trained on text, the model must carry its states from "
                "batch to batch: create it with `batch_size`, or with "
                "`with_batch_size`. Received: batch_size=None"
            )
        lines = text_list(lines)
        ids = self.ids(lines)
        if len(ids) < rows:
            raise ValueError(
                "A text to train or to validate on must have a token for each "
                f"row of a batch. Expected: {rows} tokens, or a smaller batch "
                f"size. Received: {len(ids)} tokens in {len(lines)} lines"
            )
        return text_windows(ids, rows, self.window, self.tokenizer.end_id)

    def fit(
        self,
        lines: Strings | Batches,
        validation_data: Strings | Batches | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            lines: List of strings, or a dataset that `batches` returned.
            validation_data: As `lines`; `None` for no validation.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.
        """
        return super().fit(
            ready(lines, self.batches),
            ready(validation_data, self.batches),
            **kwargs,
        )

    def assign_frequencies(self, lines: Strings) -> None:
        """Lets the untrained model expect each token as often as it occurs.

        Training then starts faster; see `TokenOutput.assign_frequencies`.

        Args:
            lines: List of strings, the text to train on.
        """
        if not self.model.built:
            self.model.build()
        size = self.tokenizer.vocabulary_size
        self.model.output_projection.assign_frequencies(
            np.bincount(self.ids(lines), minlength=size)
        )

    def ids(self, lines: Strings) -> np.ndarray:
        """Returns the text of a list of lines as one vector of int32 ids."""
        lines = text_list(lines)
        ids = [
            self.text_ids(tf.constant(lines[i : i + 10_000])).flat_values
            for i in range(0, len(lines), 10_000)
        ]
        return np.concatenate([np.zeros(0, "int32"), *ids])

    def text_ids(self, texts: Tensor) -> tf.RaggedTensor:
        """Tokenizes texts, and appends an end token to every line.

        Args:
            texts: String tensor of shape `(batch,)`.

        Returns:
            Ragged int32 tensor of shape `(batch, tokens)`.
        """
        lines = tf.strings.split(texts, "\n")
        ids = self.tokenizer.tokenize(lines.flat_values)
        end = tf.fill((ids.nrows(), 1), self.tokenizer.end_id)
        end = tf.ragged.boolean_mask(end, ids.row_lengths()[:, None] > 0)
        ids = lines.with_flat_values(tf.concat([ids, end], axis=1))
        return ids.merge_dims(1, 2)

    @functools.cached_property
    def _scores_of_any_length(self):
        return tf.function(
            functools.partial(
                log_probabilities,
                self.model,
                window=self.window,
                end_id=self.tokenizer.end_id,
            ),
            autograph=False,
            reduce_retracing=True,
        )

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "tokenizer": keras.saving.serialize_keras_object(self.tokenizer),
            "window": self.window,
            "max_length": self.max_length,
        }
