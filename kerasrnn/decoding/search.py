"""The base class of all searches: arguments, loop and constraints."""

import abc
import dataclasses
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple
from typing import Self

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import integers
from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import split_beams
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.constraints import is_any
from kerasrnn.decoding.constraints import marked
from kerasrnn.decoding.constraints import or_end
from kerasrnn.decoding.constraints import repetitions
from kerasrnn.decoding.loop import advance_until_done
from kerasrnn.decoding.phrases import arranged
from kerasrnn.decoding.phrases import not_begun
from kerasrnn.decoding.phrases import restricted
from kerasrnn.decoding.phrases import unmet
from kerasrnn.saving import ByArguments
from kerasrnn.tensors import gather
from kerasrnn.typing import Config
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor

Step = Callable[[Tensor, Nest, Nest], tuple[Tensor, Nest, Tensor | None]]
"""`(ids, states, memory) -> (logits, states, alignments)`: see `Search`."""


class Hypotheses(NamedTuple):
    """The result of a search.

    If there are fewer hypotheses than requested, the last ones are empty: their
    scores are minus infinity, all ids are padding, and alignments are 0.

    Attributes:
        ids: Integer tensor of shape `(batch, hypotheses, max_length)`: the
            tokens after the start token, up to and including the end token,
            followed by padding. A hypothesis that was cut at the maximum length
            has no end token.
        scores: Float tensor of shape `(batch, hypotheses)`.
        alignments: Float tensor of shape
            `(batch, hypotheses, max_length, positions)`, the attention weights
            for each token, or `None` without `source_mask`.
    """

    ids: Tensor
    scores: Tensor
    alignments: Tensor | None


@dataclasses.dataclass(frozen=True, eq=False)
class Search(ByArguments):
    """Base class of the searches.

    A search only needs a step function of the model:

        step(ids, states, memory) -> (logits, states, alignments)

    A row is a hypothesis. `ids` has shape `(rows,)`, `logits`
    `(rows, vocabulary_size)`, `states` is any nest of tensors `(rows, ...)`,
    and `alignments` has shape `(rows, positions)` or is `None`. `memory` is a
    nest of tensors `(sentences, ...)` that the step only reads. Every sentence
    has the same number of hypotheses, in adjacent rows, which share one row of
    memory (`tile_memory` repeats it for a step that needs one per hypothesis).
    The search tiles and reorders the states, and removes sentences that are
    done, so a step must not assume a fixed number of them.

    A step may score only a shortlist of the vocabulary, which may differ
    between sentences. Its logits then have the shape `(rows, columns)`, and the
    call argument `vocabulary` holds the ids of the columns.

    No hypothesis contains padding or the start token, which would give several
    hypotheses for the same text. `min_length`, `forbidden_ids` and
    `no_repeat_ngram` are further constraints. They do not change the scores:
    the probabilities of the other tokens are not renormalized, so
    `forced_decoding` gives the same score for the same tokens. If no token is
    allowed, a hypothesis may end.

    The arguments of a search cannot be changed, because graphs that were traced
    with it keep them. `with_` returns a search with other arguments.

    Args:
        start_id: Integer id of the start token. A hypothesis never contains it,
            unless it is also the end token.
        end_id: Integer id of the end token.
        pad_id: Integer id of padding, which only follows the end token.
        max_length: Positive integer, maximum number of tokens in a hypothesis.
        min_length: Integer from 0 to `max_length`, minimum number of tokens
            before the end token.
        forbidden_ids: List of integer ids that are never generated.
        no_repeat_ngram: Integer n >= 0: no n-gram may occur twice in a
            hypothesis. 0 means no limit.
        repeatable_ids: List of integer ids that stand for different words, such
            as that of `<unk>`. An n-gram with one of them may be repeated.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`.
        states: Nest of tensors of shape `(batch, ...)`, the initial states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads, or
            `None`.
        source_mask: Optional boolean tensor of shape `(batch, positions)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the maximum
            number of tokens for each sentence, if below `max_length`.
        vocabulary: Optional integer tensor of shape `(batch, columns)`, for a
            step that scores a shortlist: the ids of the columns of its logits.
            They must be distinct and include `end_id`.
        static_sizes: Whether all sizes must follow from those of the arguments,
            which XLA needs in a graph for batches of any size.
        prefix: Optional integer tensor of shape `(batch, tokens)`, the tokens
            with which the hypotheses of each sentence begin, overriding other
            constraints. If a prefix is longer than the maximum length, its
            sentence has no hypotheses. Here and below, negative ids are
            padding, on the right.
        required: Optional integer tensor of shape `(batch, phrases, tokens)`:
            phrases that must occur in each hypothesis. Hypotheses without them
            are not returned.
        forbidden: Optional integer tensor of that shape: phrases that must not
            occur after the prefix.

    Returns:
        `Hypotheses`.

    Raises:
        dataclasses.FrozenInstanceError: when an argument is assigned.
        ValueError: when an argument is out of range or needs another one,
            `states` has no tensors or symbolic ones of a functional model, the
            step returns no alignments although `source_mask` is given, or
            phrases are combined with a `vocabulary`.
    """

    start_id: int = 1
    end_id: int = 2
    pad_id: int = 0
    max_length: int = 100
    _: dataclasses.KW_ONLY
    min_length: int = 0
    forbidden_ids: Sequence[int] = ()
    no_repeat_ngram: int = 0
    repeatable_ids: Sequence[int] = ()

    def __post_init__(self) -> None:
        for name in ("start_id", "end_id", "pad_id"):
            integer(name, getattr(self, name))
        integer("max_length", self.max_length, 1)
        integer("min_length", self.min_length, 0, self.max_length)
        integer("no_repeat_ngram", self.no_repeat_ngram, 0)
        integers("repeatable_ids", self.repeatable_ids)
        if self.end_id in integers("forbidden_ids", self.forbidden_ids):
            raise ValueError(
                "`forbidden_ids` cannot contain the end token; use "
                "`min_length` to delay it. Received: "
                f"forbidden_ids={self.forbidden_ids!r}, end_id={self.end_id!r}"
            )

    def with_(self, **changes: Any) -> Self:
        """Returns a copy of the search with some arguments changed.

        Args:
            **changes: Arguments of the constructor.

        Raises:
            TypeError: when an argument is unknown.
            ValueError: when an argument is out of range.

        Example:

        >>> search = BeamSearch(beam_width=4)
        >>> search.with_(min_length=2).min_length, search.min_length
        (2, 0)
        """
        return dataclasses.replace(self, **changes)

    def get_config(self) -> Config:
        return super().get_config() | {
            name: list(integers(name, getattr(self, name)))
            for name in ("forbidden_ids", "repeatable_ids")
        }

    @property
    def beams(self) -> int:
        """The number of hypotheses per sentence that are extended."""
        return 1

    @property
    def in_no_text(self) -> tuple[int, ...]:
        """The ids of padding and of the start token.

        Inside a text, they would give several hypotheses for the same text.
        """
        return tuple({self.start_id, self.pad_id} - {self.end_id})

    def __call__(
        self,
        step: Step,
        states: Nest,
        memory: Nest | None = None,
        source_mask: Tensor | None = None,
        max_lengths: Tensor | None = None,
        vocabulary: Tensor | None = None,
        static_sizes: bool = False,
        prefix: Tensor | None = None,
        required: Tensor | None = None,
        forbidden: Tensor | None = None,
    ) -> Hypotheses:
        phrases = arranged(prefix, required, forbidden)
        if phrases is not None and vocabulary is not None:
            raise ValueError(
                "A shortlist may not contain the words of phrases. Expected: "
                "the whole vocabulary, or no `prefix`, `required` or "
                f"`forbidden`. Received: {', '.join(phrases)} and `vocabulary`"
            )
        flat = keras.tree.flatten(states)
        if not flat:
            raise ValueError(
                "`states` must contain at least one tensor, with a row for "
                f"each sentence. Received: states={states!r}"
            )
        if any(isinstance(x, keras.KerasTensor) for x in flat):
            raise ValueError(
                "A search is not a layer and cannot be called on symbolic "
                "tensors. Expected: tensors, or, in a functional model, a "
                "custom layer whose `call` runs the search. Received: "
                f"states={states!r}"
            )
        batch_size = ops.shape(flat[0])[0]
        limits = ops.full((batch_size,), self.max_length, dtype="int32")
        if max_lengths is not None:
            limits = ops.clip(ops.cast(max_lengths, "int32"), 0, limits)
        if vocabulary is not None:
            vocabulary = ops.cast(vocabulary, "int32")
        given = {
            "memory": memory,
            "limits": limits,
            "source_mask": source_mask,
            "shortlist": vocabulary,
            "phrases": phrases,
        }
        shape = batch_size, self.beams
        rows = {
            "done": limits < 1,
            "last": ops.full(shape, self.start_id, "int32"),
            "states": keras.tree.map_structure(
                lambda x: ops.repeat(ops.expand_dims(x, 1), self.beams, axis=1),
                states,
            ),
            # The chosen columns of the logits. The columns of a sentence have
            # distinct ids, so a repeated n-gram of columns is a repeated n-gram
            # of ids.
            "history": ops.zeros((*shape, self.max_length), "int32")
            if self._reads_history
            else (),
            "progress": not_begun(phrases, *shape),
        }
        self.begin(rows, given)
        steps, rows = advance_until_done(
            lambda *args: self.advance(step, *args),
            0,
            rows,
            given,
            static_sizes,
        )
        scores, ids, alignments = self.found(
            steps, rows, given, unmet(rows["progress"], phrases, limits)
        )
        exists = ops.expand_dims(scores > NEVER, 2)
        ids = ops.where(exists, ops.swapaxes(ids, 1, 2), self.pad_id)
        if alignments is not None:
            exists = ops.expand_dims(exists, 3)
            alignments = ops.where(exists, ops.swapaxes(alignments, 1, 2), 0.0)
        return Hypotheses(ids, scores, alignments)

    @abc.abstractmethod
    def begin(self, rows: dict[str, Nest], given: dict[str, Nest]) -> None:
        """Adds the tensors of a kind of search, before the first step.

        Args:
            rows: Dictionary of nests of tensors `(batch, beams, ...)` that
                steps change. `"done"` has shape `(batch,)`.
            given: Dictionary of nests of tensors `(batch, ...)`, or `None`,
                that steps only read.
        """

    @abc.abstractmethod
    def advance(
        self, step: Step, t: Tensor, rows: dict[str, Nest], given: Nest
    ) -> dict[str, Nest]:
        """Extends each hypothesis by a token and returns the new rows.

        Args:
            step: The step function.
            t: Integer, number of tokens in a hypothesis.
            rows, given: As in `begin`.
        """

    @abc.abstractmethod
    def found(
        self, steps: Tensor, rows: dict[str, Nest], given: Nest, lacks: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns the scores, ids and alignments of the hypotheses.

        Args:
            steps: Integer, the number of steps that were taken.
            rows, given: As in `begin`.
            lacks: Boolean tensor of shape `(batch, beams)` or `(batch, 1)`:
                which of the hypotheses that did not end lack a required phrase.

        Returns:
            Tensors of the shapes `(batch, hypotheses)`,
            `(batch, length, hypotheses)` and
            `(batch, length, hypotheses, positions)`, the last one or `None`.
        """

    def predict(
        self,
        step: Step,
        t: Tensor,
        rows: dict[str, Nest],
        given: dict[str, Nest],
    ) -> tuple[Tensor, Tensor, Nest, Tensor | None]:
        """Runs the step on all hypotheses.

        Returns:
            A tuple `(logits, allowed, states, weights)`: the logits, the same
            with minus infinity at refused tokens, the new states and the
            alignments, each of shape `(batch, beams, ...)`.
        """
        logits, states, weights = step(
            flatten_beams(rows["last"]),
            keras.tree.map_structure(flatten_beams, rows["states"]),
            given["memory"],
        )
        if given["source_mask"] is None:
            weights = None
        else:
            check_alignments(weights)
            weights = split_beams(ops.cast(weights, "float32"), self.beams)
        # A step may have lost the static number of rows.
        logits = ops.reshape(
            ops.cast(logits, "float32"),
            (*ops.shape(rows["last"]), ops.shape(logits)[1]),
        )
        states = keras.tree.map_structure(
            lambda x: split_beams(x, self.beams), states
        )
        allowed = self.allowed(logits, t, given["shortlist"], rows["history"])
        if given["phrases"] is not None:
            allowed = restricted(
                logits,
                allowed,
                t,
                rows["progress"],
                given["phrases"],
                self.end_id,
            )
        return logits, allowed, states, weights

    def ids(self, columns: Tensor, given: dict[str, Nest]) -> Tensor:
        """Returns the ids of columns of the logits, `(batch, choices)`."""
        shortlist = given["shortlist"]
        return columns if shortlist is None else gather(shortlist, columns)

    @property
    def _reads_history(self):
        return 0 < self.no_repeat_ngram <= self.max_length

    def allowed(
        self, logits: Tensor, t: Tensor, shortlist: Tensor | None, history: Nest
    ) -> Tensor:
        """Sets the logits of refused tokens to minus infinity.

        If every token is refused, the hypothesis may end.

        Args:
            logits: Float tensor of shape `(batch, beams, columns)`.
            t: Integer, how many tokens a hypothesis has.
            shortlist: Integer tensor of shape `(batch, columns)`, the ids of
                the columns, or `None` if the columns are the ids.
            history: The columns that the hypotheses have chosen so far.
        """
        ids = shortlist
        if ids is None:
            places = ops.arange(ops.shape(logits)[2], dtype="int32")
            ids = ops.expand_dims(places, 0)
        # Not `ids[:, None]`, which no ONNX converter supports in a loop.
        ids = ops.expand_dims(ids, 1)
        is_end = ops.equal(ids, self.end_id)
        refused = is_any(ids, (*self.in_no_text, *self.forbidden_ids))
        if self.min_length:
            too_early = ops.logical_and(is_end, t < self.min_length)
            refused = ops.logical_or(refused, too_early)
        allowed = ops.where(refused, NEVER, logits)
        if self._reads_history:
            found = repetitions(history, t, self.no_repeat_ngram)
            allowed = ops.where(
                marked(ops.shape(logits), *found), NEVER, allowed
            )
        return or_end(allowed, logits, is_end) if self.min_length else allowed

    def remember(
        self, history: Nest, t: Tensor, columns: Tensor, ids: Tensor
    ) -> Nest:
        """Returns the history with the columns and ids chosen at step `t`."""
        if not self._reads_history:
            return history
        for repeatable in self.repeatable_ids:
            # A number that is unique to this step.
            columns = ops.where(ops.equal(ids, repeatable), -1 - t, columns)
        here = ops.equal(ops.arange(self.max_length, dtype="int32"), t)
        return ops.where(here, ops.expand_dims(columns, 2), history)


def check_alignments(weights):
    """Raises `ValueError` if a step has returned no alignments."""
    if weights is None:
        raise ValueError(
            "`source_mask` requires alignments. Expected: a step function that "
            "returns them, of shape (rows, positions). Received: None"
        )
