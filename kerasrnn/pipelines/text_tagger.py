"""The pipeline for tagging words and finding phrases."""

import collections
import dataclasses
import inspect
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.batches import index_batches
from kerasrnn.data.batches import pad_to
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.tagged_words import phrases_of
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.metrics.label_scores import phrase_scores
from kerasrnn.models.tagger import PIECES
from kerasrnn.models.tagger import Tagger
from kerasrnn.pipelines.backbone_features import features_of
from kerasrnn.pipelines.backbone_features import reader_inputs
from kerasrnn.pipelines.loss_weights import ClassWeight
from kerasrnn.pipelines.loss_weights import weights_of_words
from kerasrnn.pipelines.pipeline import BESIDE
from kerasrnn.pipelines.pipeline import XlaPipeline
from kerasrnn.pipelines.signatures import PAD
from kerasrnn.pipelines.signatures import TEXTS
from kerasrnn.pipelines.signatures import checked_ids
from kerasrnn.pipelines.tagging_task import Sentences
from kerasrnn.pipelines.tagging_task import TaggingTask
from kerasrnn.pipelines.tagging_task import columns_of
from kerasrnn.pipelines.texts import indices_by_length
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.vocabularies import check_vocabulary
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import in_programs
from kerasrnn.tag_schemes import check_scheme
from kerasrnn.tag_schemes import parsed_tag
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import PieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers.invisible import is_spaceless
from kerasrnn.tokenizers.word_spans import split_into_words
from kerasrnn.training import TokenCrossentropy
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor
from kerasrnn.warning import warn


def warn_of_other_words(sentences):
    """Warns if raw text would be split differently than training data.

    A tenth of the first 2,000 sentences may have other words.

    Args:
        sentences: Lists of words. They are joined by spaces, except in scripts
            without spaces.
    """
    sentences = sentences[:2000]
    texts = [
        ("" if is_spaceless("".join(words)) else " ").join(words)
        for words in sentences
    ]
    found, *_ = split_into_words(tf.constant(texts))
    split = [[word.decode() for word in row] for row in found.to_list()]
    both = zip(sentences, split, strict=True)
    other = [(given, row) for given, row in both if given != row]
    if len(other) > 0.1 * len(sentences):
        words = collections.Counter(
            word for given, row in other for word in set(given) - set(row)
        )
        examples = [repr(word) for word, _ in words.most_common(5)]
        warn(
            "`tag` splits raw text into words differently from your training "
            "data, which may lower the accuracy. Expected: words as "
            "`kerasrnn.tokenizers.split_into_words` returns them. Otherwise, "
            "call `tag_tokens` with words that are split like your data. "
            f"Received: differences in {len(other)} of {len(sentences)} "
            f"sentences, such as {', '.join(examples)}",
            CorpusWarning,
        )


def joined_phrases(names, scheme, tags, scores, starts, ends):
    """Joins tagged words into phrases, as `kerasrnn.data.phrases_of` does.

    Args:
        names: List of strings, the names of the tags.
        scheme: The scheme of the tags. `None` for tags without phrases, such as
            parts of speech; then each word is a phrase.
        tags: Int32 `RaggedTensor` of shape `(batch, words)`.
        scores: Float32 `RaggedTensor`, the probability of each tag.
        starts: Int32 `RaggedTensor`, the start position of each word.
        ends: Int32 `RaggedTensor`, the end position of each word.

    Returns:
        A dictionary of dense tensors `(batch, phrases)`: `labels`, padded
        with `""`; `starts` and `ends`, padded with -1; and `scores`, the
        minimum tag probability in the phrase, padded with 0.
    """
    pairs = [parsed_tag(name) if scheme else ("S", name) for name in names]
    prefixes, types = zip(*pairs, strict=True)
    flat, rows = tags.flat_values, tags.value_rowids()

    def has(wanted):
        """Returns which words have one of the prefixes."""
        found = [prefix in wanted for prefix in prefixes]
        return tf.gather(tf.constant(found), flat)

    inside = has("BIESLU")
    label = tf.gather(tf.constant(types), flat)
    same = tf.equal(label[1:], label[:-1]) & tf.equal(rows[1:], rows[:-1])
    goes_on = same & has("BI")[:-1] & has("IEL")[1:]
    # The first word does not continue a phrase.
    goes_on = tf.concat([tf.zeros_like(inside[:1]), goes_on], 0)
    begins = inside & ~goes_on
    closes = tf.concat([~goes_on[1:], tf.ones_like(inside[:1])], 0)
    number = tf.cumsum(tf.cast(begins, tf.int32)) - 1
    least = tf.math.unsorted_segment_min(
        tf.where(inside, scores.flat_values, 1.0),
        tf.where(inside, number, -1),
        tf.reduce_sum(tf.cast(begins, tf.int32)),
    )
    begin = tags.with_flat_values(begins)
    close = tags.with_flat_values(inside & closes)
    labels = tf.ragged.boolean_mask(tags.with_flat_values(label), begin)
    found = tf.ragged.boolean_mask(starts, begin)
    return {
        "labels": labels.to_tensor(""),
        "starts": found.to_tensor(-1),
        "ends": tf.ragged.boolean_mask(ends, close).to_tensor(-1),
        "scores": found.with_flat_values(least).to_tensor(0.0),
    }


TOKENS = tf.TensorSpec([None, None], tf.string, name="tokens")
IDS = {
    name: tf.TensorSpec([None] * axes, tf.int32, name=name)
    for name, axes in (
        ("words", 2),
        ("characters", 3),
        *((x, 2) for x in PIECES),
    )
}


class TaggingFunctions:
    """The graph functions that a `TextTagger` serves.

    Each takes tensors and returns a dictionary of tensors.

    Args:
        tagger: The `TextTagger`.
    """

    def __init__(self, tagger):
        self.tagger = tagger
        self.best = self._best
        if tagger.xla is not None:
            sizes = dataclasses.asdict(tagger.xla)
            sizes["letters"] = [tagger.max_letters]
            # A word has one to two pieces in most texts.
            most = [2 * length for length in tagger.xla.lengths]
            sizes["pieces"] = sorted({*tagger.xla.lengths, *most})
            axes = {"words": AXES, "characters": (*AXES, "letters")}
            axes |= {"pieces": ("rows", "pieces"), "piece_counts": AXES}
            arguments = [
                (axes[name], tagger.pad_id(name))
                for name in sorted(tagger.model.parts)
            ]
            self.best = in_programs(self._best, self._best, arguments, sizes)

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        names = self.tagger.model.parts
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD

        def tag_ids(*ids):
            return self.tag_ids(dict(zip(names, ids, strict=True)))

        # Sets the names of the served arguments.
        tag_ids.__signature__ = inspect.Signature(
            [inspect.Parameter(name, kind) for name in names]
        )
        return {
            "serving_default": [self.tag, TEXTS],
            "tag_tokens": [self.tag_tokens, TOKENS],
            "tag_ids": [tag_ids, *(IDS[name] for name in names)],
        }

    def tag(self, text):
        """Tags texts; positions of spans are in characters."""
        return self._answer(*split_into_words(text))

    def tag_tokens(self, tokens):
        """Tags sentences of words; positions of spans are in words.

        Sentences are padded with `""` on the right.
        """
        is_word = tf.cast(tf.not_equal(tokens, ""), tf.int32)
        is_part = tf.cumsum(is_word, axis=1, reverse=True) > 0
        words = tf.ragged.boolean_mask(tokens, is_part)
        lengths = tf.cast(words.row_lengths(), tf.int32)
        positions = tf.ragged.range(lengths).with_row_splits_dtype(tf.int64)
        return self._answer(words, positions, positions + 1)

    def tag_ids(self, ids):
        """Returns the numbers of tags for ids, both padded with -1.

        There are no probabilities, because ONNX does not support those of a
        `CRF`.

        Args:
            ids: Dictionary of the inputs of the model.
        """
        tagger, words = self.tagger, ids["words"]
        others = [x for x in ids if x not in ("words", "pieces")]
        shapes = [tf.shape(ids[name]) for name in ("words", *others)]
        is_for_each = tf.debugging.Assert(
            tf.reduce_all([tf.reduce_all(x[:2] == shapes[0]) for x in shapes]),
            [f"There must be {' and '.join(others)} for each word.", *shapes],
            summarize=-1,
        )
        with tf.control_dependencies([is_for_each]):
            ids = {
                name: tf.maximum(x, 0)
                if name == "piece_counts"
                else checked_ids(
                    x,
                    getattr(tagger, name).vocabulary_size,
                    tagger.pad_id(name),
                )
                for name, x in ids.items()
            }
        best, _ = self.best(*tf.nest.flatten(ids))
        return {"tags": tf.where(tf.not_equal(words, PAD), best, PAD)}

    def _answer(self, words, starts, ends):
        tagger = self.tagger
        ids = tagger.ids(words)
        known = ids["words"] != tagger.words.unknown_id
        # In alphabetical order.
        best, shares = (
            tf.RaggedTensor.from_tensor(x, words.row_lengths())
            for x in self.best(*tf.nest.flatten(tagger.padded(ids)))
        )
        names = tf.gather(tf.constant(tagger.tags), best.flat_values)
        spans = joined_phrases(
            tagger.tags, tagger.scheme, best, shares, starts, ends
        )
        return {
            "tokens": words.to_tensor(""),
            "known": known.to_tensor(False),
            "tags": best.with_flat_values(names).to_tensor(""),
            "probabilities": shares.to_tensor(0.0),
            **{f"span_{name}": x for name, x in spans.items()},
        }

    def _best(self, *ids):
        """A function to tags and their probabilities, `(batch, time)`."""
        names = sorted(self.tagger.model.parts)
        return self.tagger.best_tags(dict(zip(names, ids, strict=True)))


class Span(NamedTuple):
    """A phrase found in a text, such as a name.

    Args:
        start: Integer, position of the first character.
        end: Integer, position after the last character.
        label: String, type of the phrase.
        score: Float, the minimum tag probability of its words.
        text: String, the phrase.
    """

    start: int
    end: int
    label: str
    score: float
    text: str


def _word_lists(sentences):
    """Converts an iterable of sentences to a list of lists of words."""
    if isinstance(sentences, Iterable) and not isinstance(sentences, str):
        sentences = list(sentences)
        if not any(isinstance(sentence, str) for sentence in sentences):
            found = [text_list(sentence) for sentence in sentences]
            if all(map(all, found)):
                return found
    raise ValueError(
        "Sentences must be lists of non-empty words. Received: "
        f"{sentences!r:.80}"
    )


NO_TAG = -1


@keras.saving.register_keras_serializable("kerasrnn")
class TextTagger(XlaPipeline):
    """Tags the words of texts and finds phrases, such as names.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can tag texts, continue its training or be
    exported. Three signatures are served: `serving_default` for raw text,
    `tag_tokens` for words, and `tag_ids` for ids of words and characters.

    Args:
        model: A `kerasrnn.models.Tagger`.
        words: The `WordTokenizer` of words. Its options normalize each word
            without splitting it.
        tags: List of strings, the names of the tags.
        characters: The `CharacterTokenizer`, if the model reads characters.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`, the tag scheme of
            phrases; `None` for tags of single words, such as parts of speech.
        max_letters: Positive integer, maximum number of characters that are
            read of a word. Longer words are cut in the middle.
        pieces: The `PieceTokenizer`, if the model has a `BackboneReader`.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the number of `tags` differs from the model's, `scheme`
            is unknown, a tag or the model's `CRF` has another scheme, only one
            of model and pipeline has characters, the model was built for other
            tokenizers, or `max_letters` is not positive.

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

    asked_by = "`tag` or `tag_tokens`"

    def __init__(
        self,
        model: Tagger,
        words: WordTokenizer,
        tags: Strings,
        characters: CharacterTokenizer | None = None,
        scheme: str | None = None,
        max_letters: int = 20,
        pieces: PieceTokenizer | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.words = words
        self.tags = tuple(tags)
        self.characters = characters
        self.scheme = scheme
        self.max_letters = positive_integer("max_letters", max_letters)
        self.pieces = pieces
        check_vocabulary(words, model)
        if not len(set(tags)) == len(self.tags) == model.num_tags:
            raise ValueError(
                f"`tags` must have {model.num_tags} distinct names, one for "
                f"each tag of the model. Received: tags={tags!r}"
            )
        for name, tokenizer, reader in (
            ("characters", characters, model.characters),
            ("pieces", pieces, model.backbone),
        ):
            if (tokenizer is None) != (reader is None):
                raise ValueError(
                    f"`{name}` must be given if, and only if, the model reads "
                    f"them. Received: {name}={tokenizer!r}, and {reader!r} in "
                    "the model"
                )
            if tokenizer is not None:
                check_vocabulary(tokenizer, reader, f"{name} ")
        if scheme is not None:
            check_scheme(scheme, self.tags)
        crf = self.model.crf
        if crf is not None and crf.scheme is not None:
            expected = [crf.scheme, *crf.labels]
            given = [self.scheme, *self.tags]
            if given != expected:
                raise ValueError(
                    "The pipeline must have the same scheme and tags as the "
                    "`CRF` of its model, in the same order. Expected: "
                    f"{expected}. Received: {given}"
                )

    def default_loss(self) -> keras.losses.Loss:
        """Returns the loss of the `CRF`, or the cross-entropy of tags."""
        if self.model.crf is not None:
            return self.model.crf_loss()
        return TokenCrossentropy(pad_id=NO_TAG)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the tag accuracy."""
        return [TokenAccuracy(pad_id=NO_TAG)]

    def batches(
        self,
        sentences: Sentences,
        batch_size: int = 32,
        seed: int | None = None,
        sample_weight: Sequence[float] | None = None,
        class_weight: ClassWeight = None,
    ) -> tf.data.Dataset:
        """Returns batches of tagged sentences of similar length.

        Args:
            sentences: List of lists of `(word, tag)`. Tags of phrases may have
                another scheme.
            batch_size: Positive integer, sentences in a batch.
            seed: Integer, the seed of the shuffling; `None` sorts by length.
                With a seed (for training), a `CorpusWarning` tells if `tag`
                would split many sentences into other words.
            sample_weight: As in `fit`.
            class_weight: As in `fit`.

        Returns:
            A `tf.data.Dataset` of `(inputs, tags)`: the inputs of the model,
            and int32 numbers of shape `(batch, time)`, -1 at padding. With
            weights, batches are `(inputs, tags, weights)`, with float32 weights
            of shape `(batch,)` or, with class weights, `(batch, time)`.

        Raises:
            ValueError: when there are no sentences, one is empty, a tag is
                unknown, weights do not fit the sentences, or class weights are
                given for a `CRF`.
        """
        if class_weight is not None and self.model.crf is not None:
            raise ValueError(
                "`class_weight` is not supported with a `CRF`, because a whole "
                "path has one probability. Expected: `sample_weight`, a number "
                f"for each sentence. Received: class_weight={class_weight!r}"
            )
        words, tags = columns_of(sentences, self.scheme)
        if seed is not None:
            warn_of_other_words(words)
        known = {tag: number for number, tag in enumerate(self.tags)}
        if unknown := {x for sentence in tags for x in sentence} - set(known):
            raise ValueError(
                f"Tags must be among {self.tags}. Received: "
                f"{', '.join(map(repr, sorted(unknown)[:5]))}"
            )
        numbers = tf.ragged.constant(
            [[known[tag] for tag in sentence] for sentence in tags], tf.int32
        )
        inputs = self.inputs_of(words)
        weights = None
        if sample_weight is not None or class_weight is not None:
            weights = weights_of_words(
                numbers, self.tags, sample_weight, class_weight
            )

        def gathered(indices):
            tags = tf.gather(numbers, indices).to_tensor(NO_TAG)
            if weights is None:
                return inputs(indices), tags
            found = tf.gather(weights, indices)
            if class_weight is not None:
                found = found.to_tensor(0.0)
            return inputs(indices), tags, found

        dataset = index_batches(numbers.row_lengths(), batch_size, seed)
        return dataset.map(gathered).prefetch(2)

    def inputs_of(self, words: Sequence[Strings]) -> Callable[[Tensor], Any]:
        """Returns a function from indices of sentences to model inputs.

        A frozen backbone reads each sentence once, in advance.

        Args:
            words: Lists of words.
        """
        ids = self.ids(tf.ragged.constant(words, tf.string))
        keep = features_of(self.model)
        known = {"features": keep(ids.pop("pieces"))} if keep else {}

        def inputs(indices):
            rows = {name: tf.gather(x, indices) for name, x in ids.items()}
            more = {name: x(indices) for name, x in known.items()}
            return self.padded(rows, **more)

        return inputs

    def ids(self, words: tf.RaggedTensor) -> dict[str, tf.RaggedTensor]:
        """Returns the ids of words, and of their characters and pieces.

        Args:
            words: String `RaggedTensor` of shape `(batch, words)`.
        """
        flat = words.flat_values
        ids = self.words.table.lookup(self.words.normalize(flat))
        found = {"words": words.with_flat_values(self.words.as_text(ids))}
        if self.characters is not None:
            letters = self._shortened(self.characters.tokenize(flat))
            found["characters"] = words.with_flat_values(letters)
        if self.pieces is not None:
            found["pieces"] = words.with_flat_values(self.pieces.tokenize(flat))
        return found

    def _shortened(self, letters):
        """Cuts out the middle of words of more than `max_letters`."""
        half = self.max_letters // 2
        lengths = letters.row_lengths()
        position = tf.ragged.range(lengths).flat_values
        length = tf.gather(lengths, letters.value_rowids())
        kept = (position < half) | (
            position >= length - (self.max_letters - half)
        )
        return tf.ragged.boolean_mask(letters, letters.with_flat_values(kept))

    def pad_id(self, name: str) -> int:
        """Returns the id of padding of an input of the model."""
        return 0 if name == "piece_counts" else getattr(self, name).pad_id

    def padded(self, ids: dict[str, tf.RaggedTensor], **more: Tensor) -> Any:
        """Returns padded ids as inputs of the model: dictionary or tensor.

        Args:
            ids: The result of `ids`.
            **more: Tensors to add to the dictionary.
        """
        ids = dict(ids)
        if "pieces" in ids:
            given = reader_inputs(ids.pop("pieces"), self.pad_id("pieces"))
            more |= dict(zip(PIECES, given, strict=True))
        padded = {name: pad_to(x, self.pad_id(name)) for name, x in ids.items()}
        return {**padded, **more} if len(padded | more) > 1 else padded["words"]

    def best_tags(self, inputs: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the numbers of the best tags, and their probabilities.

        Args:
            inputs: The inputs of the model.

        Returns:
            A tuple of tensors of shape `(batch, time)`.
        """
        scores = self.model(inputs, training=False)
        best = tf.argmax(scores, axis=-1, output_type=tf.int32)
        shares = self.model.probabilities(scores)
        return best, tf.gather(shares, best, batch_dims=2)

    def numbered_class_weight(self, class_weight: Any) -> None:
        raise ValueError(f"{BESIDE}class_weight of `fit`")

    def task(self) -> TaggingTask:
        return TaggingTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return TaggingFunctions(self).by_name()

    def lengths(self, texts: Strings) -> np.ndarray:
        words, *_ = split_into_words(tf.constant(texts))
        return words.row_lengths().numpy()

    def tag(self, texts: Strings, batch_size: int = 64) -> list[list[Span]]:
        """Returns the phrases found in each string of a list.

        Args:
            texts: List of strings. They are split into words by
                `kerasrnn.tokenizers.split_into_words`.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A list of `Span`s for each text.
        """
        texts = text_list(texts)
        found: list[list[Span]] = [[] for _ in texts]
        for indices, answer in self.answers(texts, batch_size):
            columns = [
                answer[f"span_{name}"].numpy().tolist()
                for name in ("starts", "ends", "labels", "scores")
            ]
            for index, *row in zip(indices, *columns, strict=True):
                found[index] = [
                    Span(start, end, x.decode(), score, texts[index][start:end])
                    for start, end, x, score in zip(*row, strict=True)
                    if start >= 0
                ]
        return found

    def tag_tokens(
        self, sentences: Sequence[Strings], batch_size: int = 64
    ) -> list[list[str]]:
        """Returns the tag of each word of sentences.

        Args:
            sentences: Lists of words.
            batch_size: Positive integer, sentences in a batch.

        Raises:
            ValueError: when a sentence is not a list of words or contains an
                empty word.
        """
        sentences = _word_lists(sentences)

        def answer(indices):
            batch = tf.ragged.constant(
                [sentences[i] for i in indices], tf.string, ragged_rank=1
            )
            return self.signatures["tag_tokens"](batch.to_tensor(""))

        return self._tags(sentences, answer, batch_size)

    def tagger_of(
        self, sentences: Sequence[Strings]
    ) -> Callable[..., list[list[str]]]:
        """Returns a function that tags sentences with the current weights.

        Use it for sentences that are tagged repeatedly, such as after every
        epoch: a frozen backbone reads them only once.
        """
        inputs, names = self.inputs_of(sentences), tf.constant(self.tags)

        @tf.function(reduce_retracing=True, autograph=False)
        def answer(indices):
            best, shares = self.best_tags(inputs(indices))
            return {"tags": tf.gather(names, best), "probabilities": shares}

        return lambda _: self._tags(sentences, answer, 64)

    def _tags(self, sentences, answer, batch_size):
        """Returns the tags of sentences, in batches of similar length."""
        tags: list[list[str]] = [[] for _ in sentences]
        for indices in indices_by_length(sentences, batch_size):
            found = self.ask(answer, indices)
            for index, row in zip(indices, found["tags"].numpy(), strict=True):
                row = row[: len(sentences[index])]
                tags[index] = [tag.decode() for tag in row]
        return tags

    def evaluate(
        self, sentences: Sentences, batch_size: int = 64
    ) -> dict[str, Any]:
        """Tags sentences and compares predicted with true tags.

        Args:
            sentences: List of lists of `(word, tag)`, as in `fit`.
            batch_size: Positive integer, sentences in a batch.

        Returns:
            A dictionary of `"accuracy"`, the tag accuracy; with a scheme, also
            the `phrase_scores`.
        """
        words, true = columns_of(sentences, self.scheme)
        return self.scores(self.tag_tokens(words, batch_size), true)

    def scores(
        self, found: Sequence[Strings], true: Sequence[Strings]
    ) -> dict[str, Any]:
        """Compares predicted with true tags; see `evaluate`."""
        right = [
            a == b
            for expected, given in zip(true, found, strict=True)
            for a, b in zip(expected, given, strict=True)
        ]
        accuracy = {"accuracy": float(np.mean(right))}
        if self.scheme is None:
            return accuracy
        phrases = [list(map(phrases_of, tags)) for tags in (true, found)]
        return {**phrase_scores(*phrases), **accuracy}

    def served_facts(self) -> Config:
        return {
            **super().served_facts(),
            "tags": list(self.tags),
            "scheme": self.scheme,
        }
