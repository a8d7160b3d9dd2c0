"""Text scoring and generation: a tokenizer and a language model in one."""

from typing import Any
from typing import Self

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
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
from kerasrnn.pipelines.pipeline import check_weights
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

# In a window of `evaluate`: the more, the faster; scores are the same.
_STEPS = 512


@keras.saving.register_keras_serializable("kerasrnn")
class TextLanguageModel(XlaPipeline):
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

    def batches(
        self,
        lines: Strings,
        batch_size: int | None = None,
        seed: int | None = None,
    ) -> tf.data.Dataset:
        """Windows of lines to train the model on, for its `batch_size`.

        Args:
            lines: List of strings, whose order is kept, with or without a seed.
            batch_size: `None`, or the `batch_size` of the model.
            seed: As of other pipelines, to no effect.

        Returns:
            The `tf.data.Dataset` of `kerasrnn.data.text_windows`.

        Raises:
            ValueError: when the model has no `batch_size`, or another one, or
                the lines have fewer tokens than that.
        """
        rows = self.model.batch_size
        if rows is None or batch_size not in (None, rows):
            raise ValueError(
                "To be trained on text, the model must carry its states from "
                "batch to batch: create it with `batch_size`, or with "
                f"`with_batch_size`. Received: batch_size={batch_size or rows}"
            )
        ids, end_id = self.ids(lines), self.tokenizer.end_id
        return text_windows(ids, rows, self.window, end_id)

    def assign_frequencies(self, lines: Strings) -> None:
        """Lets the untrained model expect each token as often as it occurs.

        Training then starts faster; see `TokenOutput.assign_frequencies`.

        Args:
            lines: List of strings, the text to train on.
        """
        if not self.model.built:
            self.model.build()
        size, ids = self.tokenizer.vocabulary_size, self.ids(lines)
        parts = ids if isinstance(ids, StoredIds) else [ids]
        counts = sum(np.bincount(part, minlength=size) for part in parts)
        self.model.output_projection.assign_frequencies(counts)

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
            A dictionary of arrays of shape `(texts,)`: `"total"`, the log
            probability of the text; `"length"`, the number of tokens;
            `"perplexity"` of a token; and, to compare models whose tokens
            differ, `"word_perplexity"`, where words are parted by white space
            and the end of a line counts as one, and `"bits_per_byte"` of the
            words and of one space or line break after each. Those of a text
            without tokens are NaN.
        """
        texts = text_list(texts)
        scores = {
            "total": np.zeros(len(texts), "float32"),
            "perplexity": np.zeros(len(texts), "float32"),
            "length": np.zeros(len(texts), "int32"),
        }
        for indices, found in self.answers(texts, batch_size):
            for name, values in scores.items():
                values[indices] = found[name].numpy()
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

        Each call copies the model, to read one row at a time.

        Args:
            lines: List of strings, at least one of them not blank.

        Returns:
            A dictionary of `"loss"`, the mean negative log probability of a
            token; `"perplexity"`; `"token_accuracy"`; of characters
            `"bits_per_character"`; `"word_perplexity"` and `"bits_per_byte"`,
            as `score` returns them; `"tokens"`, their number;
            `"wall_seconds"` and `"cpu_seconds"`.

        Raises:
            ValueError: when there is no token.
        """
        clock, lines = Stopwatch(), text_list(lines)
        ids = self.ids(lines)
        single = self.model.with_batch_size(1)
        single.compile(
            loss=TokenCrossentropy(-1), metrics=text_metrics(self.tokenizer)
        )
        windows = text_windows(ids, 1, _STEPS, self.tokenizer.end_id)
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
            prompts: List of strings. After a prompt that ends in a line
                break, a new sentence begins; otherwise the last sentence of
                the prompt is continued.
            seed: Integer. The same seed and list of prompts give the same
                texts.
            temperature: Float by which logits are divided. At 0, the most
                probable token is chosen.
            top_k: Integer, from how many of the most probable tokens to
                sample; 0 for all.
            max_tokens: Integer, how many tokens to add at most; itself at most
                `max_length`.
            top_p: Float. Samples from the most probable tokens that together
                have this probability (nucleus sampling, Holtzman et al.
                2020); 1 for all.
            one_sentence: Whether to stop at the end of a sentence.

        Returns:
            List of strings, each a prompt with its continuation. Unknown words
            of the prompt become `<unk>`, which is never generated.

        Raises:
            ValueError: when `prompts` is not a list of strings, or a number
                is out of its range.
        """
        prompts = text_list(prompts)
        number("temperature", temperature, minimum=0)
        integer("seed", seed)
        integer("top_k", top_k, 0)
        integer("max_tokens", max_tokens, 0, self.max_length)
        number("top_p", top_p, minimum=0, maximum=1)
        check_weights(self.model)
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

    def ids(self, lines: Strings) -> np.ndarray | StoredIds:
        """Returns the text of a list of lines as one vector of int32 ids.

        Those of rows on disk are on disk, too, and made once.
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
        """Tokenizes texts, and appends an end token to every line.

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
        """Returns `"max_length"`: texts of more tokens are errors.

        Also those of every `XlaPipeline`.
        """
        return {**super().served_facts(), "max_length": self.max_length}

    def lengths(self, texts: Strings) -> np.ndarray:
        return self.text_ids(tf.constant(texts)).row_lengths().numpy()
