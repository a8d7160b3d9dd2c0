"""What a translator does with texts: translates, aligns, scores."""

import dataclasses
import functools
import warnings
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kerasrnn.decoding.search import Search
from kerasrnn.models import Shortlist
from kerasrnn.pipelines.compiled import XlaShapes
from kerasrnn.pipelines.served_phrases import phrase_columns
from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.pipelines.texts import count_longer
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.pipelines.translation_functions import TranslationFunctions
from kerasrnn.pipelines.translation_scores import translation_scores
from kerasrnn.pipelines.translation_task import TranslationTask
from kerasrnn.pipelines.word_alignment import align_words
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.typing import Config
from kerasrnn.typing import Pairs
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


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


class Translating(TextPipeline):
    """The part of `TextTranslator` that works with texts once it is trained.

    See `TextTranslator`.

    Attributes:
        xla: The `XlaShapes` of the programs that XLA compiles for the search,
            in Python and in an export; `None`, the default, to do without XLA.
            A program is compiled at the first text that it fits, for seconds.
            It is not saved with the translator.
    """

    traced = ("signatures", "_functions")

    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    search: Search
    max_length: int
    fixed_length: bool
    shortlist: Shortlist | None
    copy_unknown: bool
    xla: XlaShapes | None = None

    @functools.cached_property
    def _functions(self):
        return TranslationFunctions(self)

    def task(self) -> TranslationTask:
        return TranslationTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return self._functions.by_name()

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        return self.source_tokenizer, self.max_length

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
        >>> translator.translate(["blue house"], required=[["लाल"]])
        ['लाल घर']
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

    def source_ids(self, texts: Tensor) -> Tensor:
        """Tokenizes sources for the model.

        Args:
            texts: String tensor of shape `(batch,)`.

        Returns:
            Int32 tensor of shape `(batch, time)`, padded, with at least one
            column.
        """
        tokenizer = self.source_tokenizer
        ids = tokenizer.tokenize(texts, self.max_length)
        if tokenizer.end_id >= 0:
            end = tf.fill((ids.nrows(), 1), tokenizer.end_id)
            # An empty source stays empty, so that it has no translation.
            end = tf.ragged.boolean_mask(end, ids.row_lengths()[:, None] > 0)
            ids = tf.concat([ids, end], axis=1)
        return self.fitted(ids.to_tensor(tokenizer.pad_id))

    def fitted(self, ids: Tensor) -> Tensor:
        """Truncates ids `(batch, time)`, and pads them to a minimum length."""
        most = self._most_tokens
        least = most if self.fixed_length else 1
        ids = ids[:, :most]
        return tf.pad(
            ids,
            [[0, 0], [0, tf.maximum(0, least - tf.shape(ids)[1])]],
            constant_values=self.source_tokenizer.pad_id,
        )

    @property
    def xla_shapes(self) -> XlaShapes | None:
        """The shapes of `xla` that sources have."""
        if self.xla is None or not self.fixed_length:
            return self.xla
        return dataclasses.replace(self.xla, lengths=[self._most_tokens])

    @property
    def _most_tokens(self):
        """The greatest number of tokens that are read, with the end token."""
        return self.max_length + (self.source_tokenizer.end_id >= 0)

    def warm_up_texts(self) -> dict[str, list[list[str]]]:
        """Returns texts for each program of the signatures that have some."""
        shapes = self.xla_shapes
        if shapes is None:
            return {}
        most = max(shapes.lengths)
        texts = [" ".join(["a"] * count) for count in range(1, most + 1)]
        ids = self.source_ids(tf.constant(texts))
        lengths = (ids.numpy() != self.source_tokenizer.pad_id).sum(axis=1)
        longest = np.searchsorted(lengths, shapes.lengths, "right") - 1
        batches = [
            rows * [texts[place]]
            for place in np.maximum(longest, 0)
            for rows in shapes.rows
        ]
        names = {"serving_default", "greedy"} & self.signatures.keys()
        return dict.fromkeys(names, batches)

    def served_facts(self) -> Config:
        """Returns what limits the lengths, and the ids of the search.

        Returns:
            A dictionary of `"max_length"`, the number of tokens of a text
            that are read; `"search"`: its start and end id, and its most
            tokens; and `"xla"`, the shapes of the programs that XLA compiles,
            or `None`.
        """
        search, target = self.search, self.target_tokenizer
        shapes = self.xla_shapes
        return {
            "max_length": self.max_length,
            "search": {
                "start_id": target.start_id,
                "end_id": target.end_id,
                "max_length": search.max_length,
            },
            "xla": None if shapes is None else dataclasses.asdict(shapes),
        }
