"""The graph functions that a translator serves."""

import contextlib
import dataclasses
import functools

import tensorflow as tf

from kerasrnn.data.batches import with_end
from kerasrnn.data.sentences import join_sentences
from kerasrnn.data.sentences import split_sentences
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.decoding import SamplingSearch
from kerasrnn.decoding import forced_decoding
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.constraints import is_any
from kerasrnn.pipelines.signatures import IDS
from kerasrnn.pipelines.signatures import PAD
from kerasrnn.pipelines.signatures import TEXTS
from kerasrnn.pipelines.signatures import after
from kerasrnn.pipelines.signatures import check_length
from kerasrnn.pipelines.signatures import check_same_rows
from kerasrnn.pipelines.signatures import checked_ids
from kerasrnn.pipelines.signatures import flat_specs
from kerasrnn.pipelines.signatures import graph_function
from kerasrnn.pipelines.signatures import named
from kerasrnn.pipelines.signatures import served_ids
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import in_programs
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import normalize_text
from kerasrnn.tokenizers.tokenizer import UNKNOWN

WITH_PHRASES = [
    TEXTS,
    tf.TensorSpec([None], tf.string, name="prefix"),
    tf.TensorSpec([None, None], tf.string, name="required"),
    tf.TensorSpec([None, None], tf.string, name="forbidden"),
]

# Maximum memory for the phrases of a batch, in numbers: each needs an n x n
# table, where n - 1 is the number of tokens of the longest one.
_MOST = 2**22
_TOO_MANY = (
    "The number of phrases times the squared length of the longest in tokens "
    f"must be at most {_MOST}. Received the lengths:"
)
_UNKNOWN = "All words of a phrase must be in the target vocabulary. Received:"


def phrase_ids(texts, tokenizer):
    """Returns the ids of phrases, padded with -1, with an additional axis.

    Args:
        texts: String tensor of shape `(batch,)` or `(batch, phrases)`; empty
            strings are ignored.
        tokenizer: The `Tokenizer` of the target.

    Raises:
        tf.errors.InvalidArgumentError: when the vocabulary lacks a word, or
            phrases are too many or too long.
    """
    flat = tf.reshape(texts, [-1])
    ids = tokenizer.tokenize(flat)
    lengths = ids.row_lengths()
    is_unknown = tf.reduce_any(ids == tokenizer.unknown_id, axis=1)
    is_lost = (normalize_text(flat) != "") & (lengths == 0)
    wrong = tf.boolean_mask(flat, is_unknown | is_lost)
    size = tf.reduce_max(tf.concat([lengths, [0]], axis=0)) + 1
    few = ids.nrows() * size * size <= _MOST
    checks = [
        tf.debugging.Assert(tf.equal(tf.size(wrong), 0), [_UNKNOWN, wrong]),
        tf.debugging.Assert(few, [_TOO_MANY, lengths]),
    ]
    with tf.control_dependencies(checks):
        ids = ids.to_tensor(PAD)
    return tf.reshape(ids, tf.concat([tf.shape(texts), tf.shape(ids)[1:]], 0))


def phrase_columns(texts, prefix, required, forbidden):
    """Returns padded lists of phrases for a list of texts, by argument.

    Args:
        texts: List of strings.
        prefix: List of strings, or `None`.
        required, forbidden: Lists of lists of strings, or `None`.

    Raises:
        ValueError: when the number of items differs from that of texts.
    """
    blank = [""] * len(texts)
    columns = {"prefix": blank if prefix is None else text_list(prefix)}
    for name, lists in (("required", required), ("forbidden", forbidden)):
        rows = [
            text_list(row)
            for row in ([[]] * len(texts) if lists is None else lists)
        ]
        width = max([1, *map(len, rows)])
        columns[name] = [row + [""] * (width - len(row)) for row in rows]
    for name, column in columns.items():
        if len(column) != len(texts):
            raise ValueError(
                f"`{name}` must have an item for each text. Received: "
                f"{len(texts)} texts and {len(column)} items"
            )
    return list(columns.values())


# The phrases that `find` gets.
_PHRASES = {
    "prefix": (("rows", "prefix"), PAD),
    "required": (("rows", "phrases", "tokens"), PAD),
    "forbidden": (("rows", "phrases", "tokens"), PAD),
}
# For a source of `n` tokens, a translation has at most `factor * n + offset`.
LENGTH_FACTOR, LENGTH_OFFSET = 2, 10


class TranslationFunctions:
    """The graph functions that a `TextTranslator` serves.

    Each maps tensors to a dictionary of tensors. Functions with the same
    tokenization, encoding or search share a graph.

    Args:
        translator: The `TextTranslator`.
    """

    def __init__(self, translator):
        self.model = translator.model
        self.source = translator.source_tokenizer
        self.target = translator.target_tokenizer
        self.search, self.translator = translator.search, translator
        # A custom model may lack it.
        self._many_steps = getattr(
            self.model, "many_steps", contextlib.nullcontext
        )
        # An unknown target token is a character or a whole word.
        self.by_character = isinstance(self.target, CharacterTokenizer)
        self.encode = graph_function(self.model.encode, IDS)
        self.forced = graph_function(self._forced, IDS, IDS)
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
        others = {}
        if not isinstance(self.search, GreedySearch):
            others["greedy"] = [self.translate_greedily, TEXTS]
        if isinstance(self.search, BeamSearch):
            others["n_best"] = [self.n_best, TEXTS]
        return {
            "serving_default": [self.translate, TEXTS],
            **others,
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
        """Returns the best translation of each text and its score."""
        return self._translate(self.best_in_programs, text)

    def translate_greedily(self, text):
        """Returns the greedy translation of each text and its score."""
        find = self.in_programs(self.greedy, self.searching(self.greedy))
        return self._translate(find, text)

    def translate_ids(self, ids):
        """The same for ids, without XLA, so that it can be converted."""
        ids, scores, _ = self.best(self._checked(ids))
        return {
            "translation_ids": served_ids(ids[:, 0], self.target.pad_id),
            "score": scores[:, 0],
        }

    def translate_with(self, text, prefix, required, forbidden):
        """Returns the best translation of each text with its phrases.

        Phrases are strings of shape `(batch,)` and `(batch, phrases)`; empty
        ones are ignored. If there is no such translation, it is empty and its
        score is minus infinity.
        """
        return self._translate_with(
            self.best_with, text, prefix, required, forbidden
        )

    def translate_sentences(self, text):
        """Translates texts by sentences; returns the sum of the scores."""
        sentences = split_sentences(text)
        flat = sentences.flat_values
        # A text may have thousands.
        check = check_length(tf.size(flat), 1024, "sentences")
        found = self.translate(*after([check], flat))
        joined = tf.ragged.map_flat_values(
            lambda _: found["translation"], sentences
        )
        scores = tf.ragged.map_flat_values(lambda _: found["score"], sentences)
        return {
            "translation": join_sentences(joined),
            "score": tf.reduce_sum(scores, axis=[1, 2]),
        }

    def attend(self, text):
        """Returns the best translation in tokens, and the attention."""
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
        """Returns the log-probabilities of given translations."""
        most = self.search.max_length
        # An additional token shows that there are too many.
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
        return {"ids": served_ids(self.source_ids(text), self.source.pad_id)}

    def detokenize(self, ids):
        """Returns the text of generated ids."""
        return {"text": self.target_texts(ids)}

    def start(self, text):
        """Returns initial states and memory for `decode_step`."""
        return self._start(self.source_ids(text))

    def start_ids(self, ids):
        """The same on ids."""
        return self._start(self._checked(ids))

    def decode_step(self, ids, *flat):
        """Returns log-probabilities of the next token, and new states.

        Padding and the start token, which do not occur in texts, have minus
        infinity.
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
        """Returns initial states and memory as symbolic tensors."""
        return self.encode.get_concrete_function().structured_outputs

    def _start(self, source):
        states, memory = self.encode(source)
        return {**named("state", states), **named("memory", memory)}

    def _checked(self, ids):
        """Returns the ids of a source as the encoder reads them."""
        size, pad_id = self.source.vocabulary_size, self.source.pad_id
        return self.translator.fitted(checked_ids(ids, size, pad_id))

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

    def n_best(self, text):
        """Returns all hypotheses of each text and their scores."""
        ids, scores, positions = self.all(self.source_ids(text))
        return {
            "translations": self._texts(ids, positions, text),
            "scores": scores,
        }

    def _aligned(self, text):
        """Returns all hypotheses, also in tokens, and the attention."""
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
        """Returns the texts of hypotheses, `(batch, hypotheses)`."""
        shape = tf.shape(ids)
        ids = tf.reshape(ids, (-1, shape[2]))
        if positions is None:
            texts = self.target_texts(ids)
        else:
            copied = self.source
            split = copied.split if self.by_character else copied.split_words
            words = split(text).to_tensor()
            words = tf.concat([tf.fill((shape[0], 1), UNKNOWN), words], axis=1)
            positions = tf.reshape(positions, (shape[0], -1))
            # A text that contains the mark of subwords has additional words.
            positions = tf.minimum(positions, tf.shape(words)[1] - 1)
            attended = tf.gather(words, positions, batch_dims=1)
            attended = tf.reshape(attended, tf.shape(ids))
            texts = self.target.detokenize(ids, attended)
        return tf.reshape(texts, shape[:2])

    def _trimmed(self, ids):
        """Removes columns of padding after the longest row."""
        ids = served_ids(ids, self.target.pad_id)
        positions = tf.range(1, tf.shape(ids)[1] + 1)
        return ids[:, : tf.reduce_max(tf.where(ids != PAD, positions, 0))]

    def searching(self, search):
        """Returns a function from source ids to the hypotheses of `find`."""
        return graph_function(functools.partial(self.find, search), IDS)

    def in_programs(self, search, otherwise, with_phrases=False, few=False):
        """The same, compiled by XLA, if requested and equivalent.

        With `few`, programs have the smallest number of rows.
        """
        # Samples for a text depend on the other rows of its batch.
        if self.translator.xla is None or isinstance(search, SamplingSearch):
            return otherwise
        sizes = dataclasses.asdict(self.translator.xla)
        arguments = [(AXES, self.source.pad_id)]
        if with_phrases:
            sizes |= {"prefix": [16], "phrases": [4], "tokens": [8]}
            arguments += _PHRASES.values()
        find = functools.partial(self.find, search, static_sizes=True)
        first, *others = self.translator.xla.rows
        # Compiled separately, the program of one source needs no loop for the
        # rest of a halved batch.
        grids = [sizes | {"rows": [first]}]
        if others and not few:
            grids.append(sizes | {"rows": others})
        return in_programs(find, otherwise, arguments, *grids)

    def find(self, search, source, *given, static_sizes=False):
        """Returns ids, scores and, to copy unknown words, source positions.

        A position is the index of a source word, counted from 1, or 0 for none.
        `given` may be a prefix, required phrases and forbidden phrases.
        """
        phrases = dict(zip(_PHRASES, given, strict=bool(given)))
        # A shortlist may lack the words of phrases.
        shortlist = None if phrases else self.translator.shortlist
        mask = tf.not_equal(source, self.source.pad_id)
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
        limits = LENGTH_FACTOR * lengths + LENGTH_OFFSET
        for name in phrases.keys() - {"forbidden"}:
            given_tokens = tf.cast(phrases[name] != PAD, tf.int32)
            axes = range(1, given_tokens.shape.rank)
            limits += tf.reduce_sum(given_tokens, axis=[*axes])
        limits = tf.where(lengths > 0, limits, 0)
        vocabulary = None
        if shortlist is None:
            # A shared function would be optimized before XLA sees it, for
            # unknown sizes.
            encode = self.model.encode if static_sizes else self.encode
            states, memory = encode(source)
        else:
            vocabulary = shortlist(source)
            states, memory = self.model.encode(source, vocabulary)
        attends = (
            getattr(search, "coverage_penalty", 0)
            or self.translator.copy_unknown
        )
        with self._many_steps():
            found = search(
                self.model.decode_step,
                states,
                memory,
                source_mask=mask if attends else None,
                max_lengths=limits,
                vocabulary=vocabulary,
                static_sizes=static_sizes,
                **phrases,
            )
        positions = None
        if self.translator.copy_unknown:
            is_word = tf.logical_and(mask, source != self.source.end_id)
            weights = tf.where(is_word[:, None, None], found.alignments, -1)
            positions = tf.argmax(weights, axis=3, output_type=tf.int32)
            if not self.by_character:
                words = self.source.word_positions(source)
                positions = tf.gather(words, positions, batch_dims=1)
            attended = tf.reduce_max(weights, axis=3) > 0
            positions = tf.where(attended, 1 + positions, 0)
        return found.ids, found.scores, positions

    def _forced(self, source, targets):
        states, memory = self.encode(source)
        with self._many_steps():
            return forced_decoding(
                self.model.decode_step,
                states,
                targets,
                memory,
                tf.not_equal(source, self.source.pad_id),
                self.search.start_id,
            )
