"""What a language model does with texts: scores and continues them."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.data.batches import in_parts
from kerasrnn.data.batches import with_end
from kerasrnn.data.text_windows import text_windows
from kerasrnn.pipelines.finite import check_weights
from kerasrnn.pipelines.language.functions import LanguageFunctions
from kerasrnn.pipelines.language.task import LanguageTask
from kerasrnn.pipelines.language.text_metrics import of_tokens
from kerasrnn.pipelines.language.text_metrics import text_metrics
from kerasrnn.pipelines.language.unit_scores import unit_scores
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.xla_pipeline import XlaPipeline
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers.invisible import visible
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor

# In a window of `evaluate`: the more, the faster; scores are the same.
_STEPS = 512


class LanguageTexts(XlaPipeline):
    """The part of `TextLanguageModel` that works with texts once it is trained.

    See `TextLanguageModel`.
    """

    asked_by = "`score` or `write`"
    tokenizer: Tokenizer
    window: int
    max_length: int

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
        if not len(ids):
            raise ValueError(
                "`lines` must contain at least one token. "
                f"Received: {len(lines)} lines without any."
            )
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

    def ids(self, lines: Strings) -> np.ndarray:
        """Returns the text of a list of lines as one vector of int32 ids."""
        parts = in_parts(text_list(lines), self.text_ids)
        ids = [part.flat_values for part in parts]
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
