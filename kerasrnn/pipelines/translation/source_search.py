"""The search of a translator, from the ids of sources to hypotheses."""

import contextlib
import functools

import tensorflow as tf

from kerasrnn.decoding import SamplingSearch
from kerasrnn.decoding import forced_decoding
from kerasrnn.pipelines.graphs import graph_function
from kerasrnn.pipelines.served_ids import IDS
from kerasrnn.pipelines.served_ids import PAD
from kerasrnn.pipelines.translation.served_phrases import count_tokens
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import Padded
from kerasrnn.pipelines.xla import in_programs
from kerasrnn.tokenizers import CharacterTokenizer

# What `find` is given of phrases, and the most that fits into a program.
_PHRASES = {
    "prefix": Padded(("rows", "prefix"), PAD),
    "required": Padded(("rows", "phrases", "tokens"), PAD),
    "forbidden": Padded(("rows", "phrases", "tokens"), PAD),
}
# A translation of a source of `n` tokens has at most `factor * n + offset`.
LENGTH_FACTOR, LENGTH_OFFSET = 2, 10
_SIZES = {"prefix": [16], "phrases": [4], "tokens": [8]}


class SourceSearch:
    """Encodes sources and searches for their translations, in graphs.

    Args:
        translator: The `TextTranslator`.
    """

    def __init__(self, translator):
        self.model = translator.model
        self.source, self.target = (
            translator.source_tokenizer,
            translator.target_tokenizer,
        )
        self.search, self.shortlist = translator.search, translator.shortlist
        self.copy_unknown = translator.copy_unknown
        self.shapes = translator.xla_shapes
        # A model of the user's own may lack it.
        self._many_steps = getattr(
            self.model, "many_steps", contextlib.nullcontext
        )
        # An unknown token of the target is a character or a whole word.
        self.by_character = isinstance(self.target, CharacterTokenizer)
        self.encode = graph_function(self.model.encode, IDS)
        self.forced = graph_function(self._forced, IDS, IDS)

    def searching(self, search):
        """A function from source ids to hypotheses, as `find` finds them."""
        return graph_function(functools.partial(self.find, search), IDS)

    def in_programs(self, search, otherwise, with_phrases=False, few=False):
        """The same by XLA, if that is wanted and finds the same.

        With `few`, for as few sources as a program may have.
        """
        # What is drawn for a text depends on the rows of its batch.
        if self.shapes is None or isinstance(search, SamplingSearch):
            return otherwise
        sizes = self.shapes.sizes()
        arguments = [Padded(AXES, self.source.pad_id)]
        if with_phrases:
            sizes |= _SIZES
            arguments += _PHRASES.values()
        find = functools.partial(self.find, search, static_sizes=True)
        first, *others = self.shapes.rows
        # Apart from others, the program of one source has no loop for the rest
        # of a batch that is halved.
        grids = [sizes | {"rows": [first]}]
        if others and not few:
            grids.append(sizes | {"rows": others})
        return in_programs(find, otherwise, arguments, *grids)

    def find(self, search, source, *given, static_sizes=False):
        """Ids, scores and, to copy unknown words, what they attend to.

        This is the number of a source word, from 1 on, or 0 for none. `given`
        may be a prefix, required phrases and forbidden phrases.
        """
        phrases = dict(zip(_PHRASES, given, strict=bool(given)))
        # A shortlist may lack the words of phrases.
        shortlist = None if phrases else self.shortlist
        mask = tf.not_equal(source, self.source.pad_id)
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
        limits = LENGTH_FACTOR * lengths + LENGTH_OFFSET
        for name in phrases.keys() - {"forbidden"}:
            limits += count_tokens(phrases[name])
        limits = tf.where(lengths > 0, limits, 0)
        vocabulary = None
        if shortlist is None:
            # A function that other graphs share is optimized before XLA sees
            # it, for sizes that are not known yet.
            encode = self.model.encode if static_sizes else self.encode
            states, memory = encode(source)
        else:
            vocabulary = shortlist(source)
            states, memory = self.model.encode(source, vocabulary)
        attends = getattr(search, "coverage_penalty", 0) or self.copy_unknown
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
        if self.copy_unknown:
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
