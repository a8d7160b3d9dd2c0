"""What a translator does with texts: it translates them, and is evaluated."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.data.sentences import join_sentences
from kerasrnn.data.sentences import split_sentences
from kerasrnn.pipelines.served_model import TracedProperty
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import pair_list
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.translation.alternatives import Alternatives
from kerasrnn.pipelines.translation.functions import TranslationFunctions
from kerasrnn.pipelines.translation.scores import translation_scores
from kerasrnn.pipelines.translation.served_phrases import phrase_columns
from kerasrnn.pipelines.translation.task import TranslationTask
from kerasrnn.training import Stopwatch
from kerasrnn.typing import Pairs
from kerasrnn.typing import Strings
from kerasrnn.warning import warn


class Translating(Alternatives):
    """The part of `TextTranslator` that works with texts once it is trained.

    See `TextTranslator`.
    """

    asked_by = "`translate`"
    copy_unknown: bool

    @TracedProperty
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

        A prefix, and a required or forbidden phrase, is a sequence of tokens
        of the target, all of them in its vocabulary; a required one raises the
        maximum length. In a translation into subwords, a longer word
        may begin with it, and others may spell what is forbidden. With phrases,
        there is no shortlist.

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
        for indices, found in self.answers(
            texts, batch_size, signature, *phrases
        ):
            translations[indices] = decoded(found["translation"])
            missing += int((found["score"].numpy() == -np.inf).sum())
        if missing:
            with_these = " with their phrases" if phrases else ""
            warn(
                f"{missing} of {len(texts)} texts have no translation"
                f"{with_these}."
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

    def evaluate(
        self, pairs: Pairs, batch_size: int = 64, greedy: bool = False
    ) -> dict[str, Any]:
        """Translates sources and scores the translations.

        Args:
            pairs: List of `(source, target)` strings. For more than one
                target, give `kerasrnn.metrics.corpus_scores` what `translate`
                returns.
            batch_size: Positive integer, texts in a batch.
            greedy: As for `translate`.

        Returns:
            The dictionary of `scores`, and `"wall_seconds"` and
            `"cpu_seconds"` of translating and scoring.
        """
        clock = Stopwatch()
        pairs = pair_list(pairs)
        sources, references = ([pair[i] for pair in pairs] for i in (0, 1))
        translations = self.translate(sources, batch_size, greedy)
        return {**self.scores(translations, references), **clock.read()}

    def scores(
        self, translations: Strings, references: Strings
    ) -> dict[str, Any]:
        """Scores translations against references, as `evaluate` does.

        The references are normalized like the training text. If the target
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
