"""Text translation: tokenizers, a translator and a search in one model."""

from collections.abc import Sequence
from typing import Any
from typing import Self

import keras
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.lexicon import translation_lexicon
from kerasrnn.data.translation_batches import translation_batches
from kerasrnn.decoding.search import Search
from kerasrnn.models import Shortlist
from kerasrnn.models import TranslatorEnsemble
from kerasrnn.pipelines.ensembles import members_of
from kerasrnn.pipelines.ensembles import models_of
from kerasrnn.pipelines.texts import pair_list
from kerasrnn.pipelines.translation.parts import check_parts
from kerasrnn.pipelines.translation.parts import check_search
from kerasrnn.pipelines.translation.parts import lexicon_of
from kerasrnn.pipelines.translation.translating import Translating
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Pairs


@keras.saving.register_keras_serializable("kerasrnn")
class TextTranslator(Translating):
    """Translates strings, in the same way in evaluation and when served.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can translate texts, be exported or, if it is
    no `ensemble`, continue its training.

    Args:
        model: A `kerasrnn.models.Translator`, or a layer with its `encode`
            and `decode_step`.
        source_tokenizer: The source `Tokenizer` that the model is trained
            with.
        target_tokenizer: The target `Tokenizer` that the model is trained
            with.
        search: A search of `kerasrnn.decoding` with the special ids of the
            target.
        max_length: Positive integer. Longer sources are truncated to this many
            tokens, with a warning. A translation has at most `2 n + 10`
            tokens, where `n` is the number of source tokens including the end
            token, and at most `search.max_length`.
        fixed_length: Whether to pad every source to `max_length` tokens and
            its end token, instead of to the longest of its batch.
        shortlist: A `kerasrnn.models.Shortlist` of the target words that are
            possible for each source sentence; `None` for the whole
            vocabulary.
        copy_unknown: Whether each `<unk>` of a translation is replaced by the
            source word with the largest attention weight at that step (Jean et
            al. 2015), as the source tokenizer normalizes it. This suits names.
            If the source is split into subwords, the whole word is copied. The
            target tokenizer must be one of words, or both tokenizers of
            characters; both must treat punctuation alike, and the source
            vocabulary must have `<unk>` if that of the target has it. Ids,
            scores and attention still contain the unknown token. If the search
            has `no_repeat_ngram`, its `repeatable_ids` should hold this token,
            or a list of names may be cut. Without attention, nothing is copied.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the model was built for other tokenizers, the search
            has other special ids than the target or a coverage penalty without
            attention, the end token is not on the shortlist, unknown words
            cannot be copied with these tokenizers, or `max_length` is not
            a positive integer.

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

    def __init__(
        self,
        model: keras.layers.Layer,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        search: Search,
        max_length: int = 100,
        fixed_length: bool = False,
        shortlist: Shortlist | None = None,
        copy_unknown: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.search = search
        self.max_length = positive_integer("max_length", max_length)
        self.fixed_length = fixed_length
        self.shortlist = shortlist
        self.copy_unknown = copy_unknown
        if shortlist is not None and not shortlist.built:
            shortlist.build((None, None))
        check_parts(self)

    def __setattr__(self, name, value):
        if name == "search":
            check_search(value, self.target_tokenizer, self.model)
        super().__setattr__(name, value)

    @classmethod
    def ensemble(cls, translators: Sequence[Self]) -> Self:
        """Joins translators into one that decodes with all of them.

        Each next token has the mean of the probabilities of all models. It is
        saved, served and exported like any other, but not trained further. It
        shares the models; it does not copy them.

        Args:
            translators: List of `TextTranslator`s with the same tokenizers,
                such as those of trainings that differ in their seed. Of an
                ensemble, all models are joined. The new one has the search,
                the lengths, the shortlist and `copy_unknown` of the first.

        Returns:
            A `TextTranslator` of a `kerasrnn.models.TranslatorEnsemble`; of
            one translator, that one.

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
            first.fixed_length,
            first.shortlist,
            first.copy_unknown,
        )

    def default_loss(self, label_smoothing: float = 0.0) -> keras.losses.Loss:
        """Returns the cross-entropy of the target tokens.

        Args:
            label_smoothing: Float in `[0, 1)`, the share of each label that is
                spread over the vocabulary.
        """
        return TokenCrossentropy(self.target_tokenizer.pad_id, label_smoothing)

    def estimate_lexicon(self, pairs: Pairs) -> None:
        """Sets the lexicon of the model, if it has one, to that of pairs.

        Args:
            pairs: List of `(source, target)` strings, all that the model is
                trained on; see `kerasrnn.data.translation_lexicon`.
        """
        if (lexicon := lexicon_of(self.model)) is None:
            return
        # Training would trust a lexicon of rare words too much.
        source, target = self.source_tokenizer, self.target_tokenizer
        discount = 1.0 if isinstance(target, WordTokenizer) else 0.0
        lexicon.assign(
            *translation_lexicon(
                pair_list(pairs),
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
        """Batches of pairs, truncated and padded as in serving.

        Args:
            pairs: List of `(source, target)` strings, or with alignments of
                their words; see `translation_batches`.
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
            self.fixed_length,
            sample_weight,
        )

    def fit(
        self,
        pairs: Pairs | Batches,
        batch_size: int = 64,
        validation_data: Pairs | Batches | None = None,
        seed: int = 0,
        sample_weight: Sequence[float] | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            pairs: List of `(source, target)` strings, or a dataset that
                `batches` returned.
            batch_size: Positive integer, pairs in a batch.
            validation_data: As `pairs`; `None` for no validation.
            seed: Integer, the seed of the shuffling.
            sample_weight: List of floats, the weight of each pair in the
                loss; `None` for equal weights, and with a dataset.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.
        """
        both = self.batched(
            pairs,
            validation_data,
            batch_size,
            seed,
            sample_weight=sample_weight,
        )
        return super().fit(*both, **kwargs)

    def get_config(self) -> Config:
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "source_tokenizer": serialize(self.source_tokenizer),
            "target_tokenizer": serialize(self.target_tokenizer),
            "search": serialize(self.search),
            "max_length": self.max_length,
            "fixed_length": self.fixed_length,
            "shortlist": self._serialized_shortlist(),
            "copy_unknown": self.copy_unknown,
        }

    def _serialized_shortlist(self):
        shared, words = lexicon_of(self.model), self.shortlist
        if words is None or words.lexicon is not shared:
            return keras.saving.serialize_keras_object(words)
        # From two configurations, Keras would create two lexicons.
        config = words.get_config()
        return {name: config[name] for name in ("size", "frequent", "name")}

    @classmethod
    def _arguments(cls, config):
        config = super()._arguments(config)
        if isinstance(config["shortlist"], dict):
            config["shortlist"] = Shortlist(
                lexicon_of(config["model"]), **config["shortlist"]
            )
        return config
