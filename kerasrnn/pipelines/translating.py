"""What a translator does with texts: translates, aligns, scores."""

import functools
import warnings
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kerasrnn.pipelines.sentences import join_sentences
from kerasrnn.pipelines.sentences import split_sentences
from kerasrnn.pipelines.served_phrases import phrase_columns
from kerasrnn.pipelines.texts import count_longer
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.pipelines.translation_functions import TranslationFunctions
from kerasrnn.pipelines.translation_scores import translation_scores
from kerasrnn.pipelines.translation_task import TranslationTask
from kerasrnn.pipelines.translator_sources import TranslatorSources
from kerasrnn.pipelines.word_alignment import align_words
from kerasrnn.training import Stopwatch
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


class Translating(TranslatorSources):
    """The part of `TextTranslator` that works with texts once it is trained.

    See `TextTranslator`.
    """

    traced = ("signatures", "_functions")

    copy_unknown: bool

    @functools.cached_property
    def _functions(self):
        return TranslationFunctions(self)

    def task(self) -> TranslationTask:
        return TranslationTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return self._functions.by_name()

    def translate(
        self,
        texts: Strings,
        batch_size: int = 64,
        greedy: bool = False,
        prefix: Strings | None = None,
        required: Sequence[Strings] | None = None,
        forbidden: Sequence[Strings] | None = None,
    ) -> list[str]:
        """Translates a list of strings, in batches of similar length.

        It warns if texts are longer than `max_length` tokens and are cut, as do
        the other methods that take texts.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            greedy: Whether to use greedy search, with the limits of `search`,
                instead of `search`.
            prefix: List of strings, for each text how its translation begins.
            required: For each text a list of strings that occur in its
                translation, such as terms or names.
            forbidden: For each text a list of strings that do not occur after
                the prefix.

        Returns:
            List of strings, in the order of `texts`. A text that has no
            translation with these phrases has an empty one, with a warning.

        A phrase is a sequence of tokens of the target, all of them in its
        vocabulary; a required one makes the greatest length longer. In a
        translation into subwords, a longer word may begin with it, and others
        may spell what is forbidden. With phrases, there is no shortlist.

        Raises:
            ValueError: when there are not as many phrases as texts, or the
                vocabulary lacks one of their words.

        Example:

        >>> translator = build_translator()
        >>> found = translator.translate(["blue house"], required=[["kitab"]])
        >>> "kitab" in found[0]
        True
        """
        texts = text_list(texts)
        translations = np.full(len(texts), "", object)
        signature, phrases = "serving_default", []
        if prefix is not None or required is not None or forbidden is not None:
            signature = "translate_with"
            phrases = phrase_columns(
                texts, self.target_tokenizer, prefix, required, forbidden
            )
        if greedy and "greedy" in self.signatures:
            signature = self._functions.greedy_with if phrases else "greedy"
        missing = 0
        for places, found in self.answers(
            texts, batch_size, signature, *phrases
        ):
            translations[places] = decoded(found["translation"])
            missing += int((found["score"].numpy() == -np.inf).sum())
        if missing:
            warnings.warn(
                f"{missing} of {len(texts)} texts have no translation with "
                "their phrases.",
                stacklevel=2,
            )
        return translations.tolist()

    def translate_sentences(
        self, texts: Strings, batch_size: int = 64, greedy: bool = False
    ) -> list[str]:
        """Translates texts of several sentences, each sentence by itself.

        A model that was trained on sentences may translate only the first of a
        text. Texts are split at line breaks and after end marks that a capital
        letter follows, or one of a script without them, and not after initials
        and English titles.

        Args:
            texts: List of strings.
            batch_size: Positive integer, sentences in a batch.
            greedy: As for `translate`.

        Returns:
            List of strings, in the order of `texts`: the translations, joined
            by spaces, with the line breaks of the text.

        Example:

        >>> translator = build_translator()
        >>> [found] = translator.translate_sentences(["Who knows? A house."])
        >>> found == " ".join(translator.translate(["Who knows?", "A house."]))
        True
        """
        texts = tf.constant(text_list(texts), tf.string)
        sentences = split_sentences(texts)
        found = self.translate(
            decoded(sentences.flat_values), batch_size, greedy
        )
        found = tf.constant(found, tf.string)
        return decoded(
            join_sentences(
                tf.ragged.map_flat_values(lambda _: found, sentences)
            )
        )

    def n_best(
        self, texts: Strings, batch_size: int = 64
    ) -> list[list[Translation]]:
        """Returns all translations that the search finds of each text.

        These are the whole beam of a beam search, whatever its
        `num_hypotheses`, all samples of a `SamplingSearch`, and one
        translation by greedy search.

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
        for places, answer in self.answers(texts, batch_size, function):
            arrays = {name: x.numpy() for name, x in answer.items()}
            for row, place in enumerate(places):
                found[place] = [
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
        sources, targets = (text_list(x[i] for x in pairs) for i in (0, 1))
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
        for places, found in answers:
            for name, values in scores.items():
                values[places] = found[name].numpy()
        return scores

    def evaluate(
        self, pairs: Pairs, batch_size: int = 64, greedy: bool = False
    ) -> dict[str, Any]:
        """Translates sources and scores the translations.

        Args:
            pairs: List of `(source, target)` strings.
            batch_size: Positive integer, texts in a batch.
            greedy: As for `translate`.

        Returns:
            The dictionary of `scores`, and `"wall_seconds"` and
            `"cpu_seconds"` of translating and scoring.
        """
        clock = Stopwatch()
        sources, references = ([pair[i] for pair in pairs] for i in (0, 1))
        translations = self.translate(sources, batch_size, greedy)
        return {**self.scores(translations, references), **clock.read()}

    def scores(
        self, translations: Strings, references: Strings
    ) -> dict[str, Any]:
        """Scores translations against references, as `evaluate` does.

        The references are normalised like the training text. If the target
        tokenizer separates punctuation, there are also scores of tokenized
        text, such as `"tokenized_bleu"`.

        Args:
            translations: List of strings.
            references: List of strings, one for each translation.

        Returns:
            The dictionary of `kerasrnn.metrics.corpus_scores`, and
            `"length_ratio"`, the number of words in the translations divided
            by that in the references.
        """
        return translation_scores(
            translations, references, self.target_tokenizer
        )

    def alignments(
        self, texts: Strings
    ) -> list[tuple[np.ndarray, list[str], list[str]]]:
        """Translates a few strings and returns the attention between words.

        Subwords are merged into words: the weights of a target word are the
        mean over its tokens, the weight on a source word is the sum over its
        tokens.

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
