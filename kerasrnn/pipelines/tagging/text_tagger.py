"""Tagging: words, a tagger and the phrases that its tags mark, in one model."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.batches import index_batches
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.models.tagger import Tagger
from kerasrnn.pipelines.tagging.sentences import Sentences
from kerasrnn.pipelines.tagging.sentences import columns_of
from kerasrnn.pipelines.tagging.tagging import Tagging
from kerasrnn.pipelines.tagging.training_words import warn_of_other_words
from kerasrnn.pipelines.tagging.weights import weights_of_words
from kerasrnn.pipelines.vocabulary_facts import check_vocabulary
from kerasrnn.tag_schemes import check_scheme
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Strings

NO_TAG = -1


@keras.saving.register_keras_serializable("kerasrnn")
class TextTagger(Tagging):
    """Tags the words of texts, and finds the phrases that the tags mark.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can tag texts, continue its training or be
    exported. Three signatures are served: `serving_default` on raw text, which
    it splits into words, `tag_tokens` on words that are given, and `tag_ids` on
    the ids of words and characters.

    Args:
        model: A `kerasrnn.models.Tagger`.
        words: The `WordTokenizer` of its words. Its options normalize each
            word; nothing is split.
        tags: List of strings, the names of the tags.
        characters: The `CharacterTokenizer` of a model that reads characters.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`, how the tags mark
            phrases; `None` for tags of single words, such as parts of speech.
        max_letters: Positive integer. Of longer words, this many characters
            are read, half from the beginning and half from the end.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the number of `tags` is not that of the model, there
            is no such `scheme`, a tag or the `CRF` of the model is of another
            one, only one of model and pipeline has characters, the model was
            built for other tokenizers, or `max_letters` is not positive.

    Example:

    >>> sentences = 4 * [[("Anna", "B-PER"), ("sings", "O"), (".", "O")]]
    >>> words = WordTokenizer.train(["Anna sings ."])
    >>> tags = ["O", "B-PER", "I-PER"]
    >>> model = Tagger(words.vocabulary_size, 3, FastGRUCell(8), crf=CRF())
    >>> tagger = TextTagger(model, words, tags, scheme="IOB2")
    >>> tagger.compile(keras.optimizers.Adam(0.1))
    >>> history = tagger.fit(sentences, epochs=20, verbose=0)
    >>> tagger.tag_tokens([["Anna", "sings"]])
    [['B-PER', 'O']]
    >>> [(span.text, span.label) for span in tagger.tag(["Anna sings."])[0]]
    [('Anna', 'PER')]
    """

    def __init__(
        self,
        model: Tagger,
        words: WordTokenizer,
        tags: Strings,
        characters: CharacterTokenizer | None = None,
        scheme: str | None = None,
        max_letters: int = 20,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.words = words
        self.tags = tuple(tags)
        self.characters = characters
        self.scheme = scheme
        self.max_letters = positive_integer("max_letters", max_letters)
        check_vocabulary(words, model)
        if not len(set(tags)) == len(self.tags) == model.num_tags:
            raise ValueError(
                f"`tags` must be {model.num_tags} names, as many as the model "
                f"has tags, all different. Received: tags={tags!r}"
            )
        if (characters is None) != (model.characters is None):
            raise ValueError(
                "`characters` are needed by a model that has a "
                "`CharacterReader`, and by no other. Received: "
                f"characters={characters!r}, "
                f"model.characters={model.characters!r}"
            )
        if characters is not None:
            check_vocabulary(characters, model.characters, "character ")
        if scheme is not None:
            check_scheme(scheme, self.tags)
        self._check_crf()

    def _check_crf(self) -> None:
        """Raises `ValueError` if the `CRF` has another scheme, or tags."""
        crf = self.model.crf
        if crf is None or crf.scheme is None:
            return
        expected, given = [crf.scheme, *crf.labels], [self.scheme, *self.tags]
        if given != expected:
            raise ValueError(
                "The pipeline must have the scheme and the tags of the `CRF` "
                f"of its model, in their order. Expected: {expected}. "
                f"Received: {given}"
            )

    def default_loss(self) -> keras.losses.Loss:
        """Returns the loss of the `CRF`, or the cross-entropy of each tag."""
        if self.model.crf is not None:
            return self.model.crf_loss()
        return TokenCrossentropy(pad_id=NO_TAG)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the share of the words whose tag is right."""
        return [TokenAccuracy(pad_id=NO_TAG)]

    def batches(
        self,
        sentences: Sentences,
        batch_size: int = 32,
        seed: int | None = None,
        sample_weight: Sequence[float] | None = None,
        class_weight: Mapping[str | int, float] | None = None,
    ) -> tf.data.Dataset:
        """Batches of tagged sentences of similar length.

        Args:
            sentences: List of lists of `(word, tag)`. Tags that mark phrases
                may be in another scheme.
            batch_size: Positive integer, sentences in a batch.
            seed: Integer, the seed of the shuffling; `None` sorts by length.
                With a seed, as to train, a `CorpusWarning` says if `tag` would
                split many of the sentences into other words.
            sample_weight: As of `fit`.
            class_weight: As of `fit`.

        Returns:
            A `tf.data.Dataset` of `(inputs, tags)`: what the model reads, and
            int32 numbers of shape `(batch, time)`, -1 at padding. With
            weights, each batch is a tuple `(inputs, tags, weights)`: float32
            of shape `(batch,)` or, by tags, `(batch, time)`.

        Raises:
            ValueError: when there is no sentence, one is empty, a tag is
                unknown, weights do not fit the sentences, or tags are weighed
                for a `CRF`.
        """
        if class_weight is not None and self.model.crf is not None:
            raise ValueError(
                "The path of a `CRF` has one probability, so that its tags "
                "have no weights. Expected: `sample_weight`, a number for each "
                f"sentence. Received: class_weight={class_weight!r}"
            )
        words, tags = columns_of(sentences, self.scheme)
        if seed is not None:
            warn_of_other_words(words)
        numbers = tf.ragged.constant(self._numbers(tags), tf.int32)
        features = self.features
        ids = features.ids(tf.ragged.constant(words, tf.string))
        weights = None
        if sample_weight is not None or class_weight is not None:
            weights = weights_of_words(
                numbers, self.tags, sample_weight, class_weight
            )

        def gathered(indices):
            rows = {name: tf.gather(x, indices) for name, x in ids.items()}
            tags = tf.gather(numbers, indices).to_tensor(NO_TAG)
            if weights is None:
                return features.padded(rows), tags
            found = tf.gather(weights, indices)
            if class_weight is not None:
                found = found.to_tensor(0.0)
            return features.padded(rows), tags, found

        dataset = index_batches(numbers.row_lengths(), batch_size, seed)
        return dataset.map(gathered).prefetch(2)

    def _numbers(self, tags):
        """The numbers of tags in sentences."""
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        unknown = {x for sentence in tags for x in sentence} - set(numbers)
        if unknown:
            raise ValueError(
                f"Tags must be of {self.tags}. "
                f"Received: {', '.join(map(repr, sorted(unknown)[:5]))}"
            )
        return [[numbers[tag] for tag in sentence] for sentence in tags]

    def fit(
        self,
        sentences: Sentences | Batches,
        batch_size: int = 32,
        validation_data: Sentences | Batches = None,
        seed: int = 0,
        sample_weight: Sequence[float] | None = None,
        class_weight: Mapping[str | int, float] | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            sentences: List of lists of `(word, tag)`, in any scheme, or a
                dataset that `batches` returned.
            batch_size: Positive integer, sentences in a batch.
            validation_data: As `sentences`; `None` for no validation.
            seed: Integer, the seed of the shuffling.
            sample_weight: List of floats, the weight of each sentence in the
                loss; `None` for equal weights, and with a dataset.
            class_weight: Dictionary from tags, by name or by number, to the
                weight of their words, 1 for others. It multiplies
                `sample_weight`. Not with a `CRF`, nor with a dataset.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.
        """
        both = self.batched(
            sentences,
            validation_data,
            batch_size,
            seed,
            sample_weight=sample_weight,
            class_weight=class_weight,
        )
        return super().fit(*both, **kwargs)

    def get_config(self) -> Config:
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "words": serialize(self.words),
            "tags": list(self.tags),
            "characters": self.characters and serialize(self.characters),
            "scheme": self.scheme,
            "max_letters": self.max_letters,
        }
