"""The pipeline for translation."""

import functools
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple
from typing import Self

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import instance
from kerasrnn.arguments import positive_integer
from kerasrnn.data.alignments import word_attention
from kerasrnn.data.batches import pad_to
from kerasrnn.data.batches import with_end
from kerasrnn.data.lexicon import translation_lexicon
from kerasrnn.data.sentences import join_sentences
from kerasrnn.data.sentences import split_sentences
from kerasrnn.data.stored_rows import sample_rows
from kerasrnn.data.translation_batches import translation_batches
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import Search
from kerasrnn.models import Shortlist
from kerasrnn.models import TranslatorEnsemble
from kerasrnn.pipelines.pipeline import TracedProperty
from kerasrnn.pipelines.pipeline import XlaPipeline
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import pair_list
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.translation_functions import LENGTH_FACTOR
from kerasrnn.pipelines.translation_functions import LENGTH_OFFSET
from kerasrnn.pipelines.translation_functions import TranslationFunctions
from kerasrnn.pipelines.translation_functions import phrase_columns
from kerasrnn.pipelines.translation_task import TranslationTask
from kerasrnn.pipelines.translation_task import translation_scores
from kerasrnn.pipelines.vocabularies import check_vocabulary
from kerasrnn.pipelines.vocabularies import members_of
from kerasrnn.pipelines.vocabularies import models_of
from kerasrnn.pipelines.xla import XlaShapes
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers.table_tokenizers import TableTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Config
from kerasrnn.typing import Pairs
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor
from kerasrnn.warning import warn


def lexicon_of(model: Any) -> Any:
    """Returns the lexicon of a model, or of an ensemble's first member."""
    decoder = getattr(models_of(model)[0], "decoder", None)
    return getattr(decoder, "lexicon", None)


def check_search(search: Search, target: Tokenizer, model: Any) -> None:
    """Raises `ValueError` unless a search fits a translator.

    Args:
        search: A `Search`.
        target: The target `Tokenizer`.
        model: The model, or an ensemble.
    """
    instance("search", search, Search)
    # While a file is being loaded, the tokenizer has no vocabulary yet.
    if target.built:
        own = target.special_ids
        given = {name: getattr(search, name) for name in own}
        if own != given:
            raise ValueError(
                "The search must have the special ids of the target tokenizer: "
                f"`{type(search).__name__}(..., **tokenizer.special_ids)`. "
                f"Expected: {own}. Received: {given}"
            )
    decoder = getattr(models_of(model)[0], "decoder", None)
    attends = decoder is None or decoder.rnn.cell.attention is not None
    penalty = getattr(search, "coverage_penalty", 0)
    if penalty and not attends:
        raise ValueError(
            "A coverage penalty needs a model with attention. Received: "
            f"coverage_penalty={penalty}, attention=None"
        )


def check_copying(source: Tokenizer, target: Tokenizer) -> None:
    """Raises `ValueError` if source words cannot replace unknown tokens.

    Args:
        source: The source `Tokenizer`.
        target: The target `Tokenizer`.
    """
    # If unknown words are dropped, positions differ from those in the text.
    drops = source.unknown_id < 0 <= target.unknown_id
    alike = source.separate_punctuation == target.separate_punctuation
    writes = isinstance(target, TableTokenizer)
    if isinstance(target, CharacterTokenizer):
        writes = isinstance(source, CharacterTokenizer)
    if drops or not alike or not writes:
        found = (
            f"{type(x).__name__} of {x.vocabulary[:4]}"
            for x in (source, target)
        )
        raise ValueError(
            "`copy_unknown` needs a word tokenizer for the target, or "
            "character tokenizers for both sides. Both sides must treat "
            "punctuation in the same way, and the source vocabulary must have "
            f"`<unk>` if the target's has it. Received: {', '.join(found)}, ..."
        )


def align_words(weights, source, target, source_tokenizer, target_tokenizer):
    """Returns the `word_attention` of a translation.

    A text that is a single word of characters, such as a word to pronounce, is
    not merged.

    Args:
        weights: Array of shape `(target tokens, source tokens)`.
        source: Tokens of the source as bytes, `b""` for padding.
        target: Tokens of the target as bytes, `b""` for padding.
        source_tokenizer: The `Tokenizer` of the source.
        target_tokenizer: The `Tokenizer` of the target.
    """
    return word_attention(
        weights,
        [token.decode() for token in source],
        [token.decode() for token in target],
        functools.partial(_words, source_tokenizer),
        functools.partial(_words, target_tokenizer),
    )


def _words(tokenizer, tokens):
    """Returns the index of the first token of each word, and the word."""
    words = tokenizer.words(tokens)
    is_one = sum(word not in SPECIALS for _, word in words) == 1
    if is_one and isinstance(tokenizer, CharacterTokenizer):
        return [(i, tokenizer.piece(x)[1]) for i, x in enumerate(tokens)]
    return words


class Translation(NamedTuple):
    """One of the n-best translations of a text.

    Attributes:
        translation: String.
        score: Float, its score in the search; see `BeamSearch`.
        alignment: Tuple `(weights, source_words, target_words)`, as in
            `TextTranslator.alignments`.
    """

    translation: str
    score: float
    alignment: tuple[np.ndarray, list[str], list[str]]


@keras.saving.register_keras_serializable("kerasrnn")
class TextTranslator(XlaPipeline):
    """Translates strings, in Python and when served.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can translate texts, be exported and, unless it
    is an `ensemble`, continue its training.

    Args:
        model: A `kerasrnn.models.Translator`, or a layer with its `encode`
            and `decode_step`.
        source_tokenizer: The source `Tokenizer` of the model.
        target_tokenizer: The target `Tokenizer` of the model.
        search: A search of `kerasrnn.decoding` with the special ids of the
            target tokenizer.
        max_length: Positive integer. Longer sources are truncated to this many
            tokens, with a warning. A translation has at most `2 n + 10` tokens,
            where `n` is the number of source tokens including the end token,
            and not more than `search.max_length`.
        shortlist: A `kerasrnn.models.Shortlist` of target words to score for
            each sentence; `None` for the whole vocabulary.
        copy_unknown: Whether to replace each `<unk>` of a translation by the
            source word with the largest attention weight at that step (Jean et
            al. 2015), as normalized by the source tokenizer. This works well
            for names. If the source is split into subwords, the whole word is
            copied. The target must have a word tokenizer, or both sides
            character tokenizers. Both must treat punctuation in the same way,
            and the source vocabulary must have `<unk>` if the target's has it.
            Ids, scores and attention still contain the unknown token. If the
            search has `no_repeat_ngram`, add this token to its
            `repeatable_ids`; otherwise a list of names may be cut off. Without
            attention, nothing is copied.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the model was built for other tokenizers, the special
            ids of search and target differ, there is a coverage penalty without
            attention, the shortlist lacks the end token, unknown words cannot
            be copied with these tokenizers, or `max_length` is not a positive
            integer.

    Example:

    >>> pairs = [("red book", "लाल किताब"), ("blue house", "नीला घर")] * 4
    >>> english, hindi = map(WordTokenizer.train, zip(*pairs))
    >>> model = Translator(
    ...     Encoder(english.vocabulary_size, FastGRUCell(8), 8),
    ...     Decoder(hindi.vocabulary_size, FastGRUCell(8), 8),
    ... )
    >>> search = BeamSearch(beam_width=3, **hindi.special_ids)
    >>> translator = TextTranslator(model, english, hindi, search)
    >>> translator.compile(keras.optimizers.Adam(0.05))
    >>> history = translator.fit(pairs, epochs=20, verbose=0)
    >>> translator.translate(["blue house"])
    ['नीला घर']
    >>> translator.save("translator.keras")

    In a later process, after `import kerasrnn.pipelines`:

    >>> translator = keras.saving.load_model("translator.keras")

    Reference:
        [Jean et al., 2015](https://arxiv.org/abs/1412.2007), for unknown words.
    """

    asked_by = "`translate`"

    def __init__(
        self,
        model: keras.layers.Layer,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        search: Search,
        max_length: int = 100,
        shortlist: Shortlist | None = None,
        copy_unknown: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.search = search
        self.max_length = positive_integer("max_length", max_length)
        self.shortlist = shortlist
        self.copy_unknown = copy_unknown
        if shortlist is not None and not shortlist.built:
            shortlist.build((None, None))
        part, target = models_of(model)[0], target_tokenizer
        # While a file is being loaded, tokenizers have no vocabulary yet.
        if target.built and copy_unknown:
            check_copying(source_tokenizer, target)
        if target.built and shortlist and target.end_id >= shortlist.frequent:
            raise ValueError(
                "The shortlist must always contain the end token, so "
                "`frequent`, by default a quarter of its size, must be greater "
                f"than the end id. Expected: more than {target.end_id}. "
                f"Received: frequent={shortlist.frequent}, "
                f"size={shortlist.size}"
            )
        for tokenizer, name, side in (
            (source_tokenizer, "encoder", "source "),
            (target, "decoder", "target "),
        ):
            check_vocabulary(tokenizer, getattr(part, name, None), side)

    def __setattr__(self, name, value):
        if name == "search":
            check_search(value, self.target_tokenizer, self.model)
        super().__setattr__(name, value)

    @classmethod
    def ensemble(cls, translators: Sequence[Self]) -> Self:
        """Joins translators to an ensemble.

        It decodes with the mean probabilities of all models. It can be saved,
        served and exported like any translator, but not trained. It shares the
        models and does not copy them.

        Args:
            translators: List of `TextTranslator`s with the same tokenizers,
                such as from trainings with different seeds. For an ensemble,
                all of its models are used. The result has the search, lengths,
                shortlist and `copy_unknown` of the first translator.

        Returns:
            A `TextTranslator` with a `kerasrnn.models.TranslatorEnsemble`; a
            single translator is returned unchanged.

        Raises:
            ValueError: when there is no translator, one is not a
                `TextTranslator`, or their tokenizers differ.
        """
        sides = "source_tokenizer", "target_tokenizer"
        members = members_of("translators", translators, cls, *sides)
        first, *others = members
        if not others:
            return first
        models = [x for member in members for x in models_of(member.model)]
        return cls(
            TranslatorEnsemble(models),
            first.source_tokenizer,
            first.target_tokenizer,
            first.search,
            first.max_length,
            shortlist=first.shortlist,
            copy_unknown=first.copy_unknown,
        )

    def default_loss(self, label_smoothing: float = 0.0) -> keras.losses.Loss:
        """Returns the cross-entropy of the target tokens.

        Args:
            label_smoothing: Float in `[0, 1)`, the share of each label that is
                spread over the vocabulary.
        """
        return TokenCrossentropy(self.target_tokenizer.pad_id, label_smoothing)

    def estimate_lexicon(self, pairs: Pairs) -> None:
        """Estimates the lexicon of the model (if it has one) from pairs.

        Args:
            pairs: List of `(source, target)` strings, all training pairs; see
                `kerasrnn.data.translation_lexicon`. If there are more than
                200,000, it uses 200,000 of them, evenly spaced.
        """
        if (lexicon := lexicon_of(self.model)) is None:
            return
        # In training, the model would rely too much on entries of rare words.
        source, target = self.source_tokenizer, self.target_tokenizer
        discount = 1.0 if isinstance(target, WordTokenizer) else 0.0
        lexicon.assign(
            *translation_lexicon(
                sample_rows(pair_list(pairs), 200_000),
                source,
                target,
                translations=lexicon.translations,
                discount=discount,
            )
        )

    def batches(
        self,
        pairs: Pairs,
        batch_size: int = 64,
        seed: int | None = None,
        sample_weight: Sequence[float] | None = None,
    ) -> tf.data.Dataset:
        """Returns batches of pairs, truncated and padded as in serving.

        Args:
            pairs: List of `(source, target)` strings, optionally with word
                alignments; see `translation_batches`.
            batch_size: Positive integer, pairs in a batch.
            seed: Integer, the seed of the shuffling; `None` sorts by length.
            sample_weight: As of `fit`.

        Returns:
            The `tf.data.Dataset` of `kerasrnn.data.translation_batches`.
        """
        return translation_batches(
            pair_list(pairs),
            self.source_tokenizer,
            self.target_tokenizer,
            batch_size,
            self.max_length,
            seed,
            sample_weight=sample_weight,
        )

    def get_config(self) -> Config:
        config, words = super().get_config(), self.shortlist
        if words is not None and words.lexicon is lexicon_of(self.model):
            # Keras would create two lexicons from two configurations.
            own = words.get_config()
            names = ("size", "frequent", "name")
            config["shortlist"] = {name: own[name] for name in names}
        return config

    @classmethod
    def _arguments(cls, config):
        config = super()._arguments(config)
        if isinstance(config["shortlist"], dict):
            config["shortlist"] = Shortlist(
                lexicon_of(config["model"]), **config["shortlist"]
            )
        return config

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

        Like all methods with texts, it warns if texts are longer than
        `max_length` tokens and are truncated.

        A prefix, required or forbidden phrase is a sequence of target tokens,
        which must all be in the vocabulary. Required phrases raise the maximum
        length. With subwords, a longer word may begin with a phrase, and other
        subwords may spell a forbidden one. With phrases, the shortlist is not
        used.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            greedy: Whether to use greedy search, with the limits of `search`,
                instead of `search`.
            prefix: List of strings, the beginning of each translation.
            required: For each text, a list of strings that must occur in its
                translation, such as terms or names.
            forbidden: For each text, a list of strings that must not occur
                after the prefix.

        Returns:
            List of strings, in the order of `texts`. If there is no translation
            with the phrases, it is empty, with a warning.

        Raises:
            ValueError: when the number of items differs from that of texts, the
                vocabulary lacks a word of a phrase, or phrases are too many or
                too long.

        Example:

        >>> translator = build_translator()
        >>> found = translator.translate(["blue house"], required=[["kitab"]])
        >>> "kitab" in found[0]
        True
        """
        texts = text_list(texts)
        translations = np.full(len(texts), "", object)
        greedy = greedy and "greedy" in self.signatures
        function = self.signatures["greedy" if greedy else "serving_default"]
        phrases: list[Any] = []
        if any(given is not None for given in (prefix, required, forbidden)):
            phrases = phrase_columns(texts, prefix, required, forbidden)
            function = self.signatures["translate_with"]
            if greedy:
                function = self._functions.greedy_with
        missing = 0
        for indices, found in self.answers(
            texts, batch_size, function, *phrases
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
        """Translates texts of several sentences, sentence by sentence.

        A model that was trained on single sentences may translate only the
        first sentence of a text. Texts are split at line breaks, and after end
        marks that are followed by a capital letter or a letter of a script
        without case, but not after initials and English titles.

        Args:
            texts: List of strings.
            batch_size: Positive integer, sentences in a batch.
            greedy: As in `translate`.

        Returns:
            List of strings in the order of `texts`: the translations of their
            sentences, joined by spaces, with the line breaks of the text.

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
            pairs: List of `(source, target)` strings. For several references
                per source, pass the result of `translate` to
                `kerasrnn.metrics.corpus_scores`.
            batch_size: Positive integer, texts in a batch.
            greedy: As in `translate`.

        Returns:
            The dictionary of `scores`, with the `"wall_seconds"` and
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

        References are normalized like the training text. If the target
        tokenizer separates punctuation, there are also scores of tokenized
        text, such as `"tokenized_bleu"`.

        Args:
            translations: List of strings.
            references: List of strings, one for each translation.

        Returns:
            The dictionary of `kerasrnn.metrics.corpus_scores`, and
            `"length_ratio"`, the number of words in the translations divided by
            that in the references.
        """
        return translation_scores(
            translations, references, self.target_tokenizer
        )

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        return self.source_tokenizer, self.max_length

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
            # An empty source stays empty, and gets an empty translation.
            ids = with_end(ids, tokenizer.end_id, also_empty=False)
        return self.fitted(ids)

    def fitted(self, ids: Tensor) -> Tensor:
        """Truncates ids `(batch, time)`, and pads them."""
        tokenizer = self.source_tokenizer
        most = self.max_length + (tokenizer.end_id >= 0)
        return pad_to(ids, tokenizer.pad_id, most=most)

    def programs(self, shapes: XlaShapes) -> dict[str, Sequence[int]]:
        # Requests for more than the best translation usually have few texts,
        # and every program takes seconds to compile.
        few = shapes.rows[:1]
        rows = {
            "serving_default": shapes.rows,
            "greedy": shapes.rows,
            "n_best": few,
            "translate_with": few,
        }
        return {name: rows[name] for name in rows if name in self.signatures}

    def lengths(self, texts: Strings) -> np.ndarray:
        ids = self.source_ids(tf.constant(texts)).numpy()
        return (ids != self.source_tokenizer.pad_id).sum(axis=1)

    def served_facts(self) -> Config:
        """Returns limits of lengths and the ids of the search.

        Returns:
            A dictionary of `"max_length"`, the number of tokens of a text that
            are read; `"search"`, with start and end id, the maximum number of
            tokens, and the factor and offset of the limit by source length; the
            facts of every `XlaPipeline`; and `"batch_rows"`, if texts of
            several clients should not be batched.
        """
        search, target = self.search, self.target_tokenizer
        # Compiled by XLA, a beam search of one text costs less than its share
        # of a padded batch, and it uses all cores.
        alone = self.xla is not None and isinstance(search, BeamSearch)
        return {
            **super().served_facts(),
            **({"batch_rows": 1} if alone else {}),
            "max_length": self.max_length,
            "search": {
                "start_id": target.start_id,
                "end_id": target.end_id,
                "max_length": search.max_length,
                "length_factor": LENGTH_FACTOR,
                "length_offset": LENGTH_OFFSET,
            },
        }

    def n_best(
        self, texts: Strings, batch_size: int = 64
    ) -> list[list[Translation]]:
        """Returns all translations of each text that the search finds.

        This is the whole beam of a beam search, whatever its `num_hypotheses`
        is, all samples of a `SamplingSearch`, or one translation of a greedy
        search. The hypotheses of a beam have different tokens, but different
        subwords may give the same text.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.

        Returns:
            For each text, a list of `Translation`
            `(translation, score, alignment)` in the order of the search; a beam
            is sorted, best first.

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
                    Translation(
                        arrays["translations"][row, i].decode(),
                        float(score),
                        align_words(
                            arrays["weights"][row, i],
                            arrays["source_tokens"][row],
                            arrays["target_tokens"][row, i],
                            self.source_tokenizer,
                            self.target_tokenizer,
                        ),
                    )
                    for i, score in enumerate(arrays["scores"][row])
                    if score > -np.inf
                ]
        return found

    def score(
        self, pairs: Pairs, batch_size: int = 64
    ) -> dict[str, np.ndarray]:
        """Returns the log-probabilities of given translations.

        Args:
            pairs: List of `(source, translation)` strings.
            batch_size: Positive integer, pairs in a batch.

        Returns:
            A dictionary of arrays of shape `(pairs,)`: `"log_probability"`, in
            nats, and `"length"`, the number of tokens including the end token.

        Raises:
            ValueError: when a translation has more tokens than `max_length` of
                the search.
        """
        pairs = pair_list(pairs)
        sources, targets = ([pair[i] for pair in pairs] for i in (0, 1))
        return self.answer_columns(
            {"log_probability": "float32", "length": "int32"},
            sources,
            batch_size,
            self.signatures["score"],
            targets,
        )

    def alignments(
        self, texts: Strings
    ) -> list[tuple[np.ndarray, list[str], list[str]]]:
        """Translates strings and returns the attention between words.

        Subwords are merged into words: weights are averaged over the tokens of
        a target word, and summed over the tokens of a source word. A text that
        is a single word of characters, such as a word to pronounce, is not
        merged.

        Args:
            texts: List of strings.

        Returns:
            List of tuples `(weights, source_words, target_words)`: an array of
            shape `(target words, source words)` and two lists of strings, for
            `kerasrnn.plots.attention_grid`.
        """
        return [several[0].alignment for several in self.n_best(texts)]
