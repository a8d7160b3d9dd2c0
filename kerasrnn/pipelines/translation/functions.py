"""What a translator serves: its functions on strings and on ids."""

import functools

import tensorflow as tf

from kerasrnn.data.batches import with_end
from kerasrnn.data.sentences import join_sentences
from kerasrnn.data.sentences import split_sentences
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.constraints import is_any
from kerasrnn.pipelines.graphs import TEXTS
from kerasrnn.pipelines.graphs import flat_specs
from kerasrnn.pipelines.graphs import graph_function
from kerasrnn.pipelines.graphs import named
from kerasrnn.pipelines.served_checks import check_length
from kerasrnn.pipelines.served_checks import check_same_rows
from kerasrnn.pipelines.served_ids import IDS
from kerasrnn.pipelines.served_ids import PAD
from kerasrnn.pipelines.served_ids import checked_ids
from kerasrnn.pipelines.served_ids import served_ids
from kerasrnn.pipelines.translation.served_phrases import WITH_PHRASES
from kerasrnn.pipelines.translation.served_phrases import phrase_ids
from kerasrnn.pipelines.translation.source_search import SourceSearch
from kerasrnn.tokenizers.tokenizer import UNKNOWN

# The most sentences that are translated at once: a text may have thousands.
_MOST_SENTENCES = 1024


class TranslationFunctions(SourceSearch):
    """The graph functions that a `TextTranslator` serves.

    Each takes tensors and returns a dictionary of tensors. Those that tokenize,
    encode or search alike share one graph.

    Args:
        translator: The `TextTranslator`.
    """

    def __init__(self, translator):
        super().__init__(translator)
        self.fitted = translator.fitted
        self.source_ids = graph_function(translator.source_ids, TEXTS)
        self.target_texts = graph_function(self.target.detokenize, IDS)
        self.best = self.searching(self.search)
        self.best_in_programs = self.in_programs(self.search, self.best)
        config = self.search.get_config()
        self.greedy = GreedySearch(
            **{name: config[name] for name in GreedySearch().get_config()}
        )
        several = self.search
        if isinstance(several, BeamSearch):
            several = several.with_(num_hypotheses=several.beam_width)
        self.all = self.in_programs(several, self.searching(several), few=True)
        self.best_with = self.in_programs(
            self.search,
            functools.partial(self.find, self.search),
            with_phrases=True,
            few=True,
        )
        self.aligned = graph_function(self._aligned, TEXTS)
        self.greedy_with = graph_function(
            functools.partial(
                self._translate_with, functools.partial(self.find, self.greedy)
            ),
            *WITH_PHRASES,
        )

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        ids = tf.TensorSpec([None], tf.int32, name="ids")
        translation = tf.TensorSpec([None], tf.string, name="translation")
        states, memory = self._encoded
        return {
            "serving_default": [self.translate, TEXTS],
            **self._other_searches(),
            "translate_with": [self.translate_with, *WITH_PHRASES],
            "translate_sentences": [self.translate_sentences, TEXTS],
            "translate_ids": [self.translate_ids, IDS],
            "attend": [self.attend, TEXTS],
            "score": [self.score, TEXTS, translation],
            "tokenize": [self.tokenize, TEXTS],
            "detokenize": [self.detokenize, IDS],
            "encode": [self.start, TEXTS],
            "encode_ids": [self.start_ids, IDS],
            "decode_step": [
                self.decode_step,
                ids,
                *flat_specs("state", states),
                *flat_specs("memory", memory),
            ],
        }

    def translate(self, text):
        """The best translation of each text, and its score."""
        return self._translate(self.best_in_programs, text)

    def translate_ids(self, ids):
        """The same on ids, never by XLA: other runtimes can convert it."""
        ids, scores, _ = self.best(self._checked(ids))
        return {
            "translation_ids": served_ids(ids[:, 0], self.target.pad_id),
            "score": scores[:, 0],
        }

    def translate_with(self, text, prefix, required, forbidden):
        """The best translation of each text that has its phrases.

        They are strings of shape `(batch,)` and `(batch, phrases)`; an empty
        one is none. A text without such a translation has an empty one and a
        score of minus infinity.
        """
        return self._translate_with(
            self.best_with, text, prefix, required, forbidden
        )

    def translate_sentences(self, text):
        """Each sentence of each text, and the sum of their scores."""
        sentences = split_sentences(text)
        flat = sentences.flat_values
        check = check_length(tf.size(flat), _MOST_SENTENCES, "sentences")
        with tf.control_dependencies([check]):
            found = self.translate(tf.identity(flat))
        joined = tf.ragged.map_flat_values(
            lambda _: found["translation"], sentences
        )
        scores = tf.ragged.map_flat_values(lambda _: found["score"], sentences)
        return {
            "translation": join_sentences(joined),
            "score": tf.reduce_sum(scores, axis=[1, 2]),
        }

    def attend(self, text):
        """The best translation in tokens, and where the model attended."""
        source = self.source_ids(text)
        ids, *_ = self.best_in_programs(source)
        target = self._trimmed(ids[:, 0])
        _, weights = self.forced(source, target)
        source = served_ids(source, self.source.pad_id)
        return {
            "source_tokens": self.source.tokens(source),
            "target_tokens": self.target.tokens(target),
            "weights": weights,
        }

    def score(self, text, translation):
        """The log-probability of given translations."""
        most = self.search.max_length
        # One token more shows that there are too many.
        ids = self.target.tokenize(translation, most + 1)
        with tf.control_dependencies(
            [
                check_same_rows(text=text, translation=translation),
                check_length(ids.row_lengths(), most),
            ]
        ):
            targets = with_end(ids, self.target.end_id).to_tensor(PAD)
        log_probabilities, _ = self.forced(self.source_ids(text), targets)
        return {
            "log_probability": tf.reduce_sum(log_probabilities, axis=1),
            "length": tf.cast(ids.row_lengths() + 1, tf.int32),
        }

    def tokenize(self, text):
        """The ids that the model reads."""
        ids = self.source_ids(text)
        return {"ids": served_ids(ids, self.source.pad_id)}

    def detokenize(self, ids):
        """The text of ids that the model has written."""
        return {"text": self.target_texts(ids)}

    def start(self, text):
        """The states and the memory of the first `decode_step`."""
        return self._start(self.source_ids(text))

    def start_ids(self, ids):
        """The same on ids."""
        return self._start(self._checked(ids))

    def decode_step(self, ids, *flat):
        """The log-probabilities of the next token, and the new states.

        Padding and the start token, which no text has, are at minus infinity.
        """
        states, memory = self._encoded
        count = len(tf.nest.flatten(states))
        given = {
            **named("state", flat[:count]),
            **named("memory", flat[count:]),
        }
        with tf.control_dependencies([check_same_rows(ids=ids, **given)]):
            ids = checked_ids(ids[:, None], self.target.vocabulary_size, 0)
        logits, states, weights = self.model.decode_step(
            ids[:, 0],
            tf.nest.pack_sequence_as(states, flat[:count]),
            tf.nest.pack_sequence_as(memory, flat[count:]),
        )
        found = tf.nn.log_softmax(tf.cast(logits, tf.float32))
        refused = is_any(
            tf.range(self.target.vocabulary_size),
            self.search.in_no_text,
        )
        found = {
            "log_probabilities": tf.where(refused, NEVER, found),
            **named("state", states),
        }
        if weights is not None:
            found["weights"] = tf.cast(weights, tf.float32)
        return found

    @functools.cached_property
    def _encoded(self):
        """The first states and the memory, as tensors of a graph."""
        return self.encode.get_concrete_function().structured_outputs

    def _start(self, source):
        states, memory = self.encode(source)
        return {**named("state", states), **named("memory", memory)}

    def _checked(self, ids):
        """The ids of a source, as the encoder reads them."""
        size, pad_id = self.source.vocabulary_size, self.source.pad_id
        return self.fitted(checked_ids(ids, size, pad_id))

    def _other_searches(self):
        """Greedy search, and all hypotheses of the beam."""
        functions = {}
        if not isinstance(self.search, GreedySearch):
            find = self.in_programs(self.greedy, self.searching(self.greedy))
            greedy = functools.partial(self._translate, find)
            functions["greedy"] = [greedy, TEXTS]
        if isinstance(self.search, BeamSearch):
            functions["n_best"] = [self._n_best, TEXTS]
        return functions

    def _translate(self, find, text, *phrases):
        ids, scores, positions = find(self.source_ids(text), *phrases)
        return {
            "translation": self._texts(ids, positions, text)[:, 0],
            "score": scores[:, 0],
        }

    def _translate_with(self, find, text, prefix, required, forbidden):
        given = {"prefix": prefix, "required": required, "forbidden": forbidden}
        with tf.control_dependencies([check_same_rows(text=text, **given)]):
            phrases = [phrase_ids(x, self.target) for x in given.values()]
        return self._translate(find, text, *phrases)

    def _n_best(self, text):
        ids, scores, positions = self.all(self.source_ids(text))
        return {
            "translations": self._texts(ids, positions, text),
            "scores": scores,
        }

    def _aligned(self, text):
        """All hypotheses, in tokens as well, and where the model attended."""
        source = self.source_ids(text)
        ids, scores, positions = self.all(source)
        count = tf.shape(ids)[1]
        target = self._trimmed(tf.reshape(ids, (-1, tf.shape(ids)[2])))
        _, weights = self.forced(tf.repeat(source, count, axis=0), target)
        apart = (-1, count, tf.shape(target)[1])
        source = served_ids(source, self.source.pad_id)
        return {
            "translations": self._texts(ids, positions, text),
            "scores": scores,
            "source_tokens": self.source.tokens(source),
            "target_tokens": tf.reshape(self.target.tokens(target), apart),
            "weights": tf.reshape(weights, (*apart, tf.shape(source)[1])),
        }

    def _texts(self, ids, positions, text):
        """The texts of hypotheses, `(batch, hypotheses)`."""
        shape = tf.shape(ids)
        ids = tf.reshape(ids, (-1, shape[2]))
        if positions is None:
            texts = self.target_texts(ids)
        else:
            if self.by_character:
                words = self.source.split(text)
            else:
                words = self.source.split_words(text)
            words = words.to_tensor()
            none = tf.fill((shape[0], 1), UNKNOWN)
            words = tf.concat([none, words], axis=1)
            positions = tf.reshape(positions, (shape[0], -1))
            # A text that spells the mark of a subword has more words to it.
            positions = tf.minimum(positions, tf.shape(words)[1] - 1)
            attended = tf.gather(words, positions, batch_dims=1)
            attended = tf.reshape(attended, tf.shape(ids))
            texts = self.target.detokenize(ids, attended)
        return tf.reshape(texts, shape[:2])

    def _trimmed(self, ids):
        """Padded ids, up to the last token of the longest row."""
        ids = served_ids(ids, self.target.pad_id)
        positions = tf.range(1, tf.shape(ids)[1] + 1)
        length = tf.reduce_max(tf.where(ids != PAD, positions, 0))
        return ids[:, :length]
