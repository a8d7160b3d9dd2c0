"""The pipeline for language models: scoring and generation."""

from typing import Any
from typing import Self

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.batches import in_parts
from kerasrnn.data.batches import with_end
from kerasrnn.data.stored_rows import StoredIds
from kerasrnn.data.stored_rows import StoredRows
from kerasrnn.data.text_windows import text_windows
from kerasrnn.metrics import Perplexity
from kerasrnn.pipelines.language_functions import LanguageFunctions
from kerasrnn.pipelines.language_task import LanguageTask
from kerasrnn.pipelines.language_task import of_tokens
from kerasrnn.pipelines.language_task import text_metrics
from kerasrnn.pipelines.language_task import unit_scores
from kerasrnn.pipelines.pipeline import XlaPipeline
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.vocabularies import check_vocabulary
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers.invisible import visible
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TextLanguageModel(XlaPipeline):
    """Scores and continues strings, in Python and when served.

    Each line of a text is a sentence, and an end token is appended to it. The
    first word of a text is predicted from an end token. Blank lines are
    ignored.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can generate texts, continue its training or
    be exported.

    Args:
        model: A `kerasrnn.models.LanguageModel`, or a layer with its `run` and
            `initial_states` (and, for training and evaluation, its `batch_size`
            and `with_batch_size`).
        tokenizer: The `Tokenizer` of the model. It must have an end token.
        window: Positive integer, number of tokens to score or train on at once.
            Longer texts are processed window by window.
        max_length: Positive integer, maximum number of tokens in a text, and
            maximum number of generated tokens. More raise an error.
        go_backwards: Whether to read each line from its last token to its
            first. Tokens are then predicted from those after them, and
            generated before a prompt, and ids are in reversed order everywhere.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the tokenizer has no end token, the model was built for
            another tokenizer, or a number is not positive.

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

    asked_by = "`score` or `write`"

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
                "A language model needs a tokenizer with the end token '</s>'. "
                f"Received: end_id={tokenizer.end_id}"
            )
        self.tokenizer = tokenizer

    def default_loss(self) -> keras.losses.Loss:
        """Returns the cross-entropy of the tokens."""
        return TokenCrossentropy(-1)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the perplexity."""
        return [Perplexity(-1)]

    def batches(
        self,
        lines: Strings,
        batch_size: int | None = None,
        seed: int | None = None,
    ) -> tf.data.Dataset:
        """Returns windows of lines for training, with the model's batch size.

        Args:
            lines: List of strings. Their order is kept.
            batch_size: `None`, or the `batch_size` of the model.
            seed: Has no effect; other pipelines have it.

        Returns:
            The `tf.data.Dataset` of `kerasrnn.data.text_windows`.

        Raises:
            ValueError: when the model has no `batch_size` or another one, or
                there are fewer tokens than rows.
        """
        rows = self.model.batch_size
        if rows is None or batch_size not in (None, rows):
            raise ValueError(
                "To train on text, the model must carry states between "
                "batches. Expected: a model made with `batch_size`, or by "
                f"`with_batch_size`. Received: batch_size={batch_size or rows}"
            )
        ids, end_id = self.ids(lines), self.tokenizer.end_id
        return text_windows(ids, rows, self.window, end_id)

    def assign_frequencies(self, lines: Strings) -> None:
        """Initializes the output bias with the frequencies of the tokens.

        Training then starts faster; see `TokenOutput.assign_frequencies`.

        Args:
            lines: List of strings, the training text.
        """
        size, ids = self.tokenizer.vocabulary_size, self.ids(lines)
        parts = ids if isinstance(ids, StoredIds) else [ids]
        counts = sum(np.bincount(part, minlength=size) for part in parts)
        self.model.output_projection.assign_frequencies(counts)

    def opposite(self) -> Self:
        """Returns an untrained language model for the other direction.

        After training on the same text, both can initialize a bidirectional
        encoder (`kerasrnn.models.Encoder.from_language_model`). The new model
        starts from copies of the weights. Its embeddings are frozen, because an
        encoder has the same ones for both directions. They are still frozen in
        a loaded file.
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

    def task(self) -> LanguageTask:
        return LanguageTask(self)

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
            A dictionary of arrays of shape `(texts,)`: `"total"`, the
            log-probability of the text; `"length"`, the number of tokens; and
            `"perplexity"` per token. To compare models with different tokens,
            it also has `"word_perplexity"`, where words are separated by white
            space and the end of a line counts as a word, and `"bits_per_byte"`,
            with one space or line break after each word. For a text without
            tokens, the last three are NaN.
        """
        texts = text_list(texts)
        kinds = {"total": "float32", "perplexity": "float32", "length": "int32"}
        scores = self.answer_columns(kinds, texts, batch_size)
        units = [
            unit_scores(total if length else np.nan, [text])
            for total, length, text in zip(
                scores["total"],
                scores["length"],
                visible(texts).numpy(),
                strict=True,
            )
        ]
        return scores | {
            name: np.array([unit[name] for unit in units], "float32")
            for name in unit_scores(0.0, [])
        }

    def evaluate(self, lines: Strings) -> dict[str, float]:
        """Scores lines as one continuous text.

        Each call copies the model, with a batch size of 1.

        Args:
            lines: List of strings, at least one not blank.

        Returns:
            A dictionary of `"loss"`, the mean negative log-probability of a
            token; `"perplexity"`; `"token_accuracy"`; for characters,
            `"bits_per_character"`; `"word_perplexity"` and `"bits_per_byte"`,
            as in `score`; `"tokens"`, their number; `"wall_seconds"` and
            `"cpu_seconds"`.

        Raises:
            ValueError: when there are no tokens.
        """
        clock, lines = Stopwatch(), text_list(lines)
        ids = self.ids(lines)
        single = self.model.with_batch_size(1)
        single.compile(
            loss=TokenCrossentropy(-1), metrics=text_metrics(self.tokenizer)
        )
        # Longer windows are faster, and give the same scores.
        windows = text_windows(ids, 1, 512, self.tokenizer.end_id)
        found = single.evaluate(windows, return_dict=True, verbose=0)
        found = of_tokens(found, len(ids), lines)
        return {**found, "tokens": len(ids), **clock.read()}

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
            prompts: List of strings. If a prompt ends with a line break, a new
                sentence begins. Otherwise its last sentence is continued.
            seed: Integer. The same seed and list of prompts give the same
                texts.
            temperature: Float that divides the logits. At 0, the most probable
                token is chosen.
            top_k: Integer, number of most probable tokens to sample from; 0 for
                all.
            max_tokens: Integer, maximum number of tokens to add, not more than
                `max_length`.
            top_p: Float. Samples from the smallest set of most probable tokens
                that together have this probability (nucleus sampling, Holtzman
                et al. 2020); 1 for all.
            one_sentence: Whether to stop at the end of a sentence.

        Returns:
            List of strings: prompts with continuations. Unknown words of a
            prompt become `<unk>`, which is never generated.

        Raises:
            ValueError: when `prompts` is not a list of strings, or a number is
                out of range.
        """
        prompts = text_list(prompts)
        found = self.ask(
            self.signatures["generate"],
            tf.constant(prompts, tf.string),
            tf.constant(seed % 2**31, tf.int32),
            tf.constant(temperature, tf.float32),
            tf.constant(top_k, tf.int32),
            tf.constant(max_tokens, tf.int32),
            tf.constant(top_p, tf.float32),
            tf.constant(one_sentence),
        )
        return decoded(found["text"])

    def ids(self, lines: Strings) -> np.ndarray | StoredIds:
        """Returns the text of a list of lines as one vector of int32 ids.

        The ids of rows on disk are computed once and stored on disk, too.
        """
        parts = in_parts(text_list(lines), self.text_ids)
        ids = (part.flat_values for part in parts)
        if not isinstance(lines, StoredRows):
            return np.concatenate([np.zeros(0, "int32"), *ids])
        key = self.tokenizer, self.go_backwards
        if key not in lines.derived:
            lines.derived[key] = StoredIds(ids)
        return lines.derived[key]

    def text_ids(self, texts: Tensor) -> tf.RaggedTensor:
        """Tokenizes texts and appends an end token to every line.

        Args:
            texts: String tensor of shape `(batch,)`.

        Returns:
            Ragged int32 tensor of shape `(batch, tokens)`.
        """
        lines = tf.strings.split(texts, "\n")
        ids = self.tokenizer.tokenize(lines.flat_values)
        ids = ids[:, ::-1] if self.go_backwards else ids
        ids = with_end(ids, self.tokenizer.end_id, also_empty=False)
        return lines.with_flat_values(ids).merge_dims(1, 2)

    def served_facts(self) -> Config:
        """Returns `"max_length"`, the maximum number of tokens in a text.

        It also returns the facts of every `XlaPipeline`.
        """
        return {**super().served_facts(), "max_length": self.max_length}

    def lengths(self, texts: Strings) -> np.ndarray:
        return self.text_ids(tf.constant(texts)).row_lengths().numpy()
