"""What a tagger serves: its functions on texts, on words and on ids."""

import tensorflow as tf

from kerasrnn.pipelines.graphs import TEXTS
from kerasrnn.pipelines.served_ids import PAD
from kerasrnn.pipelines.served_ids import checked_ids
from kerasrnn.pipelines.tagging.phrases_of_words import PhrasesOfWords
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import Padded
from kerasrnn.pipelines.xla import in_programs
from kerasrnn.tokenizers.word_spans import split_into_words

TOKENS = tf.TensorSpec([None, None], tf.string, name="tokens")
WORDS = tf.TensorSpec([None, None], tf.int32, name="words")
CHARACTERS = tf.TensorSpec([None, None, None], tf.int32, name="characters")


class TaggingFunctions:
    """The graph functions that a `TextTagger` serves.

    Each takes tensors and returns a dictionary of tensors.

    Args:
        tagger: The `TextTagger`.
    """

    def __init__(self, tagger):
        self.tagger = tagger
        self.phrases = PhrasesOfWords(tagger.tags, tagger.scheme)
        self.best = self._best
        if (shapes := tagger.xla_shapes) is not None:
            self.best = self._best_in_programs(shapes)

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        ids = [self.tag_ids, WORDS]
        if self.tagger.characters is not None:
            ids = [self.tag_ids_and_characters, WORDS, CHARACTERS]
        return {
            "serving_default": [self.tag, TEXTS],
            "tag_tokens": [self.tag_tokens, TOKENS],
            "tag_ids": ids,
        }

    def tag(self, text):
        """Tags texts; the positions of spans are those of characters."""
        return self._answer(*split_into_words(text))

    def tag_tokens(self, tokens):
        """Tags sentences of words; the positions of spans are those of words.

        Sentences are padded with `""` at their end.
        """
        is_word = tf.cast(tf.not_equal(tokens, ""), tf.int32)
        is_part = tf.cumsum(is_word, axis=1, reverse=True) > 0
        words = tf.ragged.boolean_mask(tokens, is_part)
        lengths = tf.cast(words.row_lengths(), tf.int32)
        positions = tf.ragged.range(lengths).with_row_splits_dtype(tf.int64)
        return self._answer(words, positions, positions + 1)

    def tag_ids(self, words):
        """The numbers of the tags of words, both padded with -1.

        There are no probabilities: ONNX lacks what they need where there is a
        `CRF`.
        """
        return self._numbers(words)

    def tag_ids_and_characters(self, words, characters):
        """The same for a model that also reads the characters of each word."""
        with tf.control_dependencies([_same_words(words, characters)]):
            letters = _checked(characters, self.tagger.features.characters)
        return self._numbers(words, letters)

    def _numbers(self, words, *letters):
        ids = _checked(words, self.tagger.features.words)
        best, _ = self.best(*letters, ids)
        return {"tags": tf.where(tf.not_equal(words, PAD), best, PAD)}

    def _answer(self, words, starts, ends):
        features = self.tagger.features
        inputs = features.padded(features.ids(words))
        # In the order of their names.
        best, shares = (
            tf.RaggedTensor.from_tensor(x, words.row_lengths())
            for x in self.best(*tf.nest.flatten(inputs))
        )
        names = tf.gather(tf.constant(self.tagger.tags), best.flat_values)
        spans = self.phrases(best, shares, starts, ends)
        return {
            "tokens": words.to_tensor(""),
            "tags": best.with_flat_values(names).to_tensor(""),
            "probabilities": shares.to_tensor(0.0),
            **{f"span_{name}": x for name, x in spans.items()},
        }

    def _best(self, *ids):
        """The tags of words, and their probabilities, `(batch, time)`."""
        model = self.tagger.model
        *characters, words = ids
        inputs = {"words": words}
        if characters:
            inputs["characters"] = characters[0]
        scores = model(inputs, training=False)
        best = tf.argmax(scores, axis=-1, output_type=tf.int32)
        shares = tf.gather(model.probabilities(scores), best, batch_dims=2)
        return best, shares

    def _best_in_programs(self, shapes):
        """The same by XLA."""
        features, sizes = self.tagger.features, shapes.sizes()
        arguments = [Padded(AXES, features.words.pad_id)]
        if features.characters is not None:
            sizes["letters"] = [features.max_letters]
            letters = Padded((*AXES, "letters"), features.characters.pad_id)
            arguments.insert(0, letters)
        return in_programs(self._best, self._best, arguments, sizes)


def _checked(ids, tokenizer):
    return checked_ids(ids, tokenizer.vocabulary_size, tokenizer.pad_id)


def _same_words(words, characters):
    """Raises unless there are characters of each word."""
    shapes = tf.shape(words), tf.shape(characters)
    return tf.debugging.Assert(
        tf.reduce_all(tf.equal(shapes[0], shapes[1][:2])),
        ["There must be characters of each word. Received shapes:", *shapes],
        summarize=-1,
    )
