"""What every search has: its step function, its first rows, its hypotheses."""

from collections.abc import Callable
from typing import Any
from typing import Self

import keras
from keras import ops

from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import split_beams
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.hypotheses import Hypotheses
from kerasrnn.decoding.phrases import not_begun
from kerasrnn.decoding.phrases import restricted
from kerasrnn.decoding.search_arguments import SearchArguments
from kerasrnn.decoding.search_arguments import unknown_arguments
from kerasrnn.gathering import gather
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor

Step = Callable[[Tensor, Nest, Nest], tuple[Tensor, Nest, Tensor | None]]
"""`(ids, states, memory) -> (logits, states, alignments)`: see `Search`."""


class Search(SearchArguments):
    """Base of the searches.

    A search calls a step function, and knows nothing else of the model:

        step(ids, states, memory) -> (logits, states, alignments)

    A row is a hypothesis. `ids` has shape `(rows,)`, `logits`
    `(rows, vocabulary_size)`, `states` is any nest of tensors `(rows, ...)`,
    and `alignments` has shape `(rows, positions)` or is `None`. `memory` is
    only read, a nest of tensors `(sentences, ...)`: every sentence has the same
    number of hypotheses, in adjacent rows, which share one row of memory
    (`tile_memory` repeats it for a step that needs one for each). The search
    tiles and reorders the states, and drops sentences that are done: a step
    must not assume a fixed number of them.

    A step may score a shortlist of the vocabulary, a different one for each
    sentence. Its logits then have the shape `(rows, columns)`, and the call
    argument `vocabulary` holds the ids of the columns.

    No hypothesis contains padding or the start token, which would make several
    hypotheses of one text; `min_length`, `forbidden_ids` and `no_repeat_ngram`
    restrict the choice further. The scores remain those of the model: the
    probability of refused tokens is not shared out among the others, so that a
    score is what `forced_decoding` gives the same tokens. A hypothesis left
    without any allowed token may end.

    A search keeps its arguments, since a graph that was traced with it keeps
    them, too. `with_` makes another one.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`.
        states: Nest of tensors of shape `(batch, ...)`, the first states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads, or
            `None`.
        source_mask: Optional boolean tensor of shape `(batch, positions)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the maximum
            number of tokens for each sentence, if below `max_length`.
        vocabulary: Optional integer tensor of shape `(batch, columns)`, for a
            step that scores a shortlist: the ids of the columns of its logits,
            all different and including `end_id`.
        static_sizes: Whether all sizes must follow from those of the
            arguments. XLA needs that in a graph for batches of any size.
        prefix: Optional integer tensor of shape `(batch, tokens)`, with which
            the hypotheses of each sentence begin, whatever else is refused.
            A prefix longer than the maximum length leaves its sentence without
            a hypothesis. Here and below, negative ids are padding, on the
            right.
        required: Optional integer tensor of shape `(batch, phrases, tokens)`:
            phrases that occur in each hypothesis. If a hypothesis lacks one, it
            is not returned.
        forbidden: Optional integer tensor of that shape: phrases of which none
            occurs after the prefix.

    Returns:
        `Hypotheses`.

    Raises:
        AttributeError: when an attribute is set.
        ValueError: when an argument is out of its range or lacks another that
            it needs, `states` holds no tensor, or those of a functional model,
            with `source_mask` the step returns no alignments, or there are
            phrases and a `vocabulary`.
    """

    def with_(self, **changes: Any) -> Self:
        """Returns another search, in which some arguments differ.

        Args:
            **changes: Arguments of the constructor.

        Raises:
            ValueError: when there is no such argument, or it is out of its
                range.

        Example:

        >>> search = BeamSearch(beam_width=4)
        >>> search.with_(min_length=2).min_length, search.min_length
        (2, 0)
        """
        if message := unknown_arguments(type(self), changes):
            raise ValueError(message)
        return self.from_config(self.get_config() | changes)

    def begin(
        self,
        states: Nest,
        memory: Nest,
        source_mask: Tensor | None,
        max_lengths: Tensor | None,
        shortlist: Tensor | None,
        phrases: dict[str, Nest] | None,
        beams: int,
    ) -> tuple[dict[str, Nest], dict[str, Nest]]:
        """Returns the tensors that a search starts with.

        Returns:
            A tuple `(rows, given)`: those that a step changes, and those that
            it only reads, two dictionaries of nests of tensors `(batch, ...)`.
            All but `"done"` in `rows` are of shape `(batch, beams, ...)`.
        """
        flat = keras.tree.flatten(states)
        if not flat:
            raise ValueError(
                "`states` must hold at least one tensor, with a row for each "
                f"sentence. Received: states={states!r}"
            )
        if any(isinstance(x, keras.KerasTensor) for x in flat):
            raise ValueError(
                "A search is no layer. Expected: tensors; in a functional "
                "model, a layer of your own that searches in its `call`. "
                f"Received: states={states!r}"
            )
        if phrases is not None and shortlist is not None:
            raise ValueError(
                "A shortlist may lack the words of phrases. Expected: the "
                "whole vocabulary, or neither `prefix`, `required` nor "
                f"`forbidden`. Received: {', '.join(phrases)} and `vocabulary`"
            )
        batch_size = ops.shape(flat[0])[0]
        limits = ops.full((batch_size,), self.max_length, dtype="int32")
        if max_lengths is not None:
            limits = ops.clip(ops.cast(max_lengths, "int32"), 0, limits)
        rows = {
            "done": limits < 1,
            "last": ops.full((batch_size, beams), self.start_id, "int32"),
            "states": keras.tree.map_structure(
                lambda x: ops.repeat(ops.expand_dims(x, 1), beams, axis=1),
                states,
            ),
            "history": self.constraints.empty_history(batch_size, beams),
            "progress": not_begun(phrases, batch_size, beams),
        }
        given = {
            "memory": memory,
            "limits": limits,
            "source_mask": source_mask,
            "shortlist": (
                None if shortlist is None else ops.cast(shortlist, "int32")
            ),
            "phrases": phrases,
        }
        return rows, given

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
            with refused tokens at minus infinity, the new states and the
            alignments, each of shape `(batch, beams, ...)`.
        """
        beams = rows["last"].shape[1]
        logits, states, weights = step(
            flatten_beams(rows["last"]),
            keras.tree.map_structure(flatten_beams, rows["states"]),
            given["memory"],
        )
        counts = [len(keras.tree.flatten(x)) for x in (rows["states"], states)]
        if counts[0] != counts[1]:
            raise ValueError(
                "A step must return the same number of states as it was given. "
                "If it calls a cell, begin with all states that "
                f"`get_initial_state` returns. Expected: {counts[0]} tensors. "
                f"Received: {counts[1]}"
            )
        if given["source_mask"] is None:
            weights = None
        else:
            check_alignments(weights)
            weights = split_beams(ops.cast(weights, "float32"), beams)
        # A step may have forgotten how many rows it was given.
        shape = *ops.shape(rows["last"]), ops.shape(logits)[1]
        logits = ops.reshape(ops.cast(logits, "float32"), shape)
        states = keras.tree.map_structure(
            lambda x: split_beams(x, beams), states
        )
        allowed = self.constraints(
            logits, t, given["shortlist"], rows["history"]
        )
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
        if given["shortlist"] is None:
            return columns
        return gather(given["shortlist"], columns)

    def hypotheses(
        self, scores: Tensor, ids: Tensor, alignments: Tensor | None = None
    ) -> Hypotheses:
        """Returns `Hypotheses` from the tensors written step by step.

        Args:
            scores: Float tensor of shape `(batch, hypotheses)`.
            ids: Integer tensor of shape `(batch, length, hypotheses)`.
            alignments: Optional float tensor of shape
                `(batch, length, hypotheses, positions)`.
        """
        exists = ops.expand_dims(scores > NEVER, 2)
        ids = ops.where(exists, ops.swapaxes(ids, 1, 2), self.pad_id)
        if alignments is not None:
            exists = ops.expand_dims(exists, 3)
            alignments = ops.where(exists, ops.swapaxes(alignments, 1, 2), 0.0)
        return Hypotheses(ids, scores, alignments)


def check_alignments(weights):
    """Raises `ValueError` if a step has returned no alignments."""
    if weights is None:
        raise ValueError(
            "With `source_mask` a search returns alignments. Expected: a step "
            "function that returns them, of shape (rows, positions). "
            "Received: None"
        )
