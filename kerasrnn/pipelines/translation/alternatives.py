"""What a translator knows besides the best translation of a text."""

from typing import Any
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kerasrnn.pipelines.finite import check_answer
from kerasrnn.pipelines.texts import count_longer
from kerasrnn.pipelines.texts import pair_list
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.pipelines.translation.sources import TranslatorSources
from kerasrnn.pipelines.translation.word_alignment import align_words
from kerasrnn.typing import Pairs
from kerasrnn.typing import Strings


class Translation(NamedTuple):
    """One of several translations of a text.

    Attributes:
        translation: String.
        score: Float, the score that the search gives it; see `BeamSearch`.
        alignment: Tuple `(weights, source_words, target_words)`, as
            `TextTranslator.alignments` returns it.
    """

    translation: str
    score: float
    alignment: tuple[np.ndarray, list[str], list[str]]


class Alternatives(TranslatorSources):
    """The part of `TextTranslator` that has n-best lists, scores, alignments.

    See `TextTranslator`.
    """

    # Those of the whole translator.
    _functions: Any

    def n_best(
        self, texts: Strings, batch_size: int = 64
    ) -> list[list[Translation]]:
        """Returns all translations that the search finds of each text.

        These are the whole beam of a beam search, whatever its
        `num_hypotheses`, all samples of a `SamplingSearch`, and one
        translation by greedy search. No two of a beam have the same tokens, but
        subwords may spell one text in several ways.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.

        Returns:
            For each text a list of `Translation`: `(translation, score,
            alignment)`, in the order of the search: of a beam, the best first.

        Example:

        >>> translator = build_translator()
        >>> for translation, score, _ in translator.n_best(["blue house"])[0]:
        ...     print(round(score, 1), translation)
        """
        texts = text_list(texts)
        found: list[list[Translation]] = [[] for _ in texts]
        function = self._functions.aligned
        for indices, answer in self.answers(texts, batch_size, function):
            arrays = {name: x.numpy() for name, x in answer.items()}
            for row, index in enumerate(indices):
                found[index] = [
                    self._translation(arrays, row, i)
                    for i, score in enumerate(arrays["scores"][row])
                    if score > -np.inf
                ]
        return found

    def _translation(self, arrays, row, i):
        return Translation(
            arrays["translations"][row, i].decode(),
            float(arrays["scores"][row, i]),
            align_words(
                arrays["weights"][row, i],
                arrays["source_tokens"][row],
                arrays["target_tokens"][row, i],
                self.source_tokenizer,
                self.target_tokenizer,
            ),
        )

    def score(
        self, pairs: Pairs, batch_size: int = 64
    ) -> dict[str, np.ndarray]:
        """Returns how probable given translations are.

        Args:
            pairs: List of `(source, translation)` strings.
            batch_size: Positive integer, pairs in a batch.

        Returns:
            A dictionary of arrays of shape `(pairs,)`: `"log_probability"`,
            in nats, and `"length"`, the number of tokens, with the end token.

        Raises:
            ValueError: when a translation has more tokens than the
                `max_length` of the search.
        """
        pairs = pair_list(pairs)
        sources, targets = ([pair[i] for pair in pairs] for i in (0, 1))
        most = self.search.max_length
        if longer := count_longer(targets, self.target_tokenizer, most):
            raise ValueError(
                f"A translation may have {most} tokens, the `max_length` of "
                f"the search. Received: {longer} with more"
            )
        scores = {
            "log_probability": np.zeros(len(sources), "float32"),
            "length": np.zeros(len(sources), "int32"),
        }
        answers = self.answers(sources, batch_size, "score", targets)
        for indices, found in answers:
            for name, values in scores.items():
                values[indices] = found[name].numpy()
        return scores

    def alignments(
        self, texts: Strings
    ) -> list[tuple[np.ndarray, list[str], list[str]]]:
        """Translates a few strings and returns the attention between words.

        Subwords are merged into words: the weights of a target word are the
        mean over its tokens, the weight on a source word is the sum over its
        tokens. A text that is one word of characters, such as a word to
        pronounce, stays in characters.

        Args:
            texts: List of strings.

        Returns:
            List of tuples `(weights, source_words, target_words)`: an array
            of shape `(target words, source words)` and two lists of strings,
            for `kerasrnn.plots.attention_grid`.
        """
        texts = text_list(texts)
        warn_of_cut(texts, self.source_tokenizer, self.max_length)
        found = self.signatures["attend"](tf.constant(texts, tf.string))
        check_answer(self.model, found)
        return [
            align_words(
                weights,
                source,
                target,
                self.source_tokenizer,
                self.target_tokenizer,
            )
            for weights, source, target in zip(
                found["weights"].numpy(),
                found["source_tokens"].numpy(),
                found["target_tokens"].numpy(),
                strict=True,
            )
        ]
