"""Text scoring and generation: a tokenizer and a language model in one."""

from typing import Any
from typing import Self

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.text_windows import text_windows
from kerasrnn.metrics import Perplexity
from kerasrnn.pipelines.batching import ready
from kerasrnn.pipelines.language.language_texts import LanguageTexts
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.vocabulary_facts import check_vocabulary
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Strings


@keras.saving.register_keras_serializable("kerasrnn")
class TextLanguageModel(LanguageTexts):
    """Scores and continues strings, in the same way in evaluation and served.

    Each line of a text is a sentence, to which an end token is appended. The
    first word of a text is predicted from an end token too. Blank lines are
    ignored.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can generate texts, continue its training or
    be exported.

    Args:
        model: A `kerasrnn.models.LanguageModel`, or a layer with its `run` and
            `initial_states`; to be trained or evaluated, also with its
            `batch_size` and `with_batch_size`.
        tokenizer: The `Tokenizer` that the model is trained with. It must
            have an end token.
        window: Positive integer, how many tokens to score or to train on at
            once. Longer texts are processed window by window.
        max_length: Positive integer, how many tokens a text may have, and how
            many may be added to it; more raise an error.
        go_backwards: Whether each line is read from its last token to its
            first: tokens are predicted from those after them, and written
            before a prompt. Ids are then in that order everywhere.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the tokenizer has no end token, the model was built
            for another one, or a number is not positive.

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

    def __init__(
        self,
        model: keras.layers.Layer,
        tokenizer: Tokenizer,
        window: int = 64,
        max_length: int = 15_000,
        go_backwards: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.go_backwards = go_backwards
        self.max_length = positive_integer("max_length", max_length)
        self.window = positive_integer("window", window)
        check_vocabulary(tokenizer, model)
        # While a file is loaded, the tokenizer has no vocabulary yet.
        if tokenizer.built and tokenizer.end_id < 0:
            raise ValueError(
                "A language model needs a tokenizer whose vocabulary has the "
                f"end token '</s>'. Received: end_id={tokenizer.end_id}"
            )
        self.tokenizer = tokenizer

    def default_loss(self) -> keras.losses.Loss:
        """Returns the cross-entropy of the tokens."""
        return TokenCrossentropy(-1)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the perplexity."""
        return [Perplexity(-1)]

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

    def opposite(self) -> Self:
        """Returns a language model that is to read in the other direction.

        Trained on the same text, it makes an encoder of both directions with
        this one (`kerasrnn.models.Encoder.from_language_model`). It starts
        from copies of the weights. Its embeddings are not trained, since an
        encoder has the same ones for both directions; a loaded file keeps
        them untrained, too.
        """
        model = self.model.with_batch_size(self.model.batch_size)
        model.embedding.trainable = False
        return type(self)(
            model,
            self.tokenizer,
            self.window,
            self.max_length,
            go_backwards=not self.go_backwards,
        )

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "tokenizer": keras.saving.serialize_keras_object(self.tokenizer),
            "window": self.window,
            "max_length": self.max_length,
            "go_backwards": self.go_backwards,
        }
