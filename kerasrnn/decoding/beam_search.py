"""Beam search."""

import dataclasses

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.decoding.beams import best
from kerasrnn.decoding.beams import blank
from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import join
from kerasrnn.decoding.beams import keep
from kerasrnn.decoding.beams import note
from kerasrnn.decoding.beams import split_beams
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.beams import write_out
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.phrases import advanced
from kerasrnn.decoding.phrases import shared_out
from kerasrnn.decoding.phrases import with_next_tokens
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.search import Step
from kerasrnn.tensors import gather
from kerasrnn.tensors import largest
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class BeamSearch(Search):
    """Beam search: keeps the `beam_width` best hypotheses at every step.

    Each step extends every live hypothesis by every token and takes the
    `2 * beam_width` best candidates by total log-probability. Candidates among
    the first `beam_width` that end are finished: they leave the beam, and their
    score is final. Candidates that end but rank lower are discarded. Of those
    that do not end, the `beam_width` best stay live. The score of a hypothesis
    `Y` of length `n` (including its end token) with alignments `a` is (Wu et
    al. 2016, equation 14)

        log P(Y) / ((5 + n) / 6)^length_penalty
            + coverage_penalty sum_i log(min(sum_t a_{t,i}, 1))

    where attention below 1e-6 counts as 1e-6. A sentence is done at its maximum
    length, or earlier in two cases. First, `beam_width` of its hypotheses are
    finished, and no live one scores better (without its coverage penalty) than
    the `num_hypotheses`-th best of them. Second, no live hypothesis can still
    reach that score. With a width of 1 and no coverage penalty, this is greedy
    search.

    Finished hypotheses come first, in order of their scores. If there are too
    few, hypotheses that were cut at the maximum length follow, also in order of
    their scores. If there are still too few, the last ones are empty (see
    `Hypotheses`).

    See `Search` for the arguments of a call.

    Args:
        start_id: Integer id of the start token.
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
        beam_width: Positive integer, the number of live hypotheses. A
            shortlist in `vocabulary` needs at least `2 * beam_width` columns.
        length_penalty: Float >= 0. 0 prefers short hypotheses; 1 roughly
            compares the mean log-probability per token.
        coverage_penalty: Float >= 0. Above 0, hypotheses that leave source
            positions unattended get lower scores. Needs alignments and
            `source_mask`.
        num_hypotheses: Number of hypotheses to return per sentence (n-best
            list), from 1 to `beam_width`.

    Returns:
        `Hypotheses`: the `num_hypotheses` best of each sentence.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return 9 * keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = BeamSearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> found = search(step, np.zeros((1, 1)))
    >>> ops.convert_to_numpy(found.ids).tolist()
    [[[1, 2, 3, 4, -1, -1]]]

    Reference:
        [Wu et al., 2016](https://arxiv.org/abs/1609.08144), section 7.
    """

    beam_width: int = 5
    length_penalty: float = 1.0
    coverage_penalty: float = 0.0
    num_hypotheses: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("beam_width", self.beam_width, 1)
        number("length_penalty", self.length_penalty, minimum=0)
        number("coverage_penalty", self.coverage_penalty, minimum=0)
        integer("num_hypotheses", self.num_hypotheses, 1)
        if self.num_hypotheses > self.beam_width:
            raise ValueError(
                "`num_hypotheses` cannot exceed `beam_width`. Received: "
                f"num_hypotheses={self.num_hypotheses}, "
                f"beam_width={self.beam_width}"
            )

    @property
    def beams(self) -> int:
        return self.beam_width

    def begin(self, rows: dict[str, Nest], given: dict[str, Nest]) -> None:
        source_mask = given["source_mask"]
        if self.coverage_penalty and source_mask is None:
            raise ValueError(
                "A coverage penalty needs `source_mask`. Received: "
                f"coverage_penalty={self.coverage_penalty}, source_mask=None"
            )
        shape = ops.shape(rows["last"])
        # Initially there is one hypothesis, not `beam_width`.
        is_first = ops.equal(ops.arange(self.beam_width, dtype="int32"), 0)
        totals = ops.cast(ops.where(is_first, 0.0, NEVER), "float32")
        living = {"totals": ops.zeros(shape, "float32") + totals}
        if self.coverage_penalty:
            living["attended"] = ops.zeros(
                (*shape, ops.shape(source_mask)[1]), "float32"
            )
        finished = {
            "scores": ops.full(shape, NEVER, dtype="float32"),
            "times": ops.zeros(shape, "int32"),
            "beams": ops.zeros(shape, "int32"),
        }
        rows["hypotheses"] = {"living": living, "finished": finished}
        rows["trace"] = blank(
            (shape[0], self.max_length, self.beam_width),
            source_mask,
            tokens=0,
            parents=0,
        )

    def found(
        self, steps: Tensor, rows: dict[str, Nest], given: Nest, lacks: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        living = rows["hypotheses"]["living"]
        living["totals"] = ops.where(lacks, NEVER, living["totals"])
        kept, has_end = self._ranked(given, **rows["hypotheses"])
        written = write_out(
            rows["trace"],
            steps,
            kept["times"],
            kept["beams"],
            has_end,
            self.end_id,
            self.pad_id,
        )
        return kept["scores"], written["ids"], written.get("alignments")

    def advance(
        self, step: Step, t: Tensor, rows: dict[str, Nest], given: Nest
    ) -> dict[str, Nest]:
        # Extend each live hypothesis by a token.
        logits, allowed, states, weights = self.predict(step, t, rows, given)
        living, finished = (
            rows["hypotheses"][name] for name in ("living", "finished")
        )
        progress, phrases = rows["progress"], given["phrases"]
        candidates = _expanded(
            logits,
            allowed,
            living["totals"],
            progress,
            phrases,
            self.beam_width,
        )
        if self.coverage_penalty:
            candidates["attended"] = gather(
                living["attended"] + weights, candidates["parents"]
            )
        ids = self.ids(candidates["columns"], given)
        finishes, candidates["order"] = _in_order(
            candidates, ids, self.end_id, progress, phrases, self.beam_width
        )
        scores = self._scores(
            t + 1,
            given["source_mask"],
            candidates["totals"],
            candidates.get("attended"),
        )
        ended = {
            "scores": ops.where(finishes, scores, NEVER),
            "times": ops.zeros_like(candidates["parents"]) + t,
            "beams": candidates["parents"],
        }
        finished = best(join(finished, ended), "scores", self.beam_width)
        living = best(candidates, "order", self.beam_width)
        living["totals"] = ops.where(
            living.pop("order") > NEVER, living["totals"], NEVER
        )
        parents, columns = living.pop("parents"), living.pop("columns")

        hypotheses = keep(
            rows["done"],
            rows["hypotheses"],
            {"living": living, "finished": finished},
        )
        now_done = self._is_done(t, given["limits"], **hypotheses)
        last = self.ids(columns, given)
        states, history, progress = keras.tree.map_structure(
            lambda x: gather(x, parents), (states, rows["history"], progress)
        )
        progress = advanced(progress, last, phrases)
        return {
            "done": ops.logical_or(rows["done"], now_done),
            "last": last,
            "states": states,
            "history": self.remember(history, t, columns, last),
            "progress": keep(rows["done"], rows["progress"], progress),
            "hypotheses": hypotheses,
            "trace": note(
                rows["trace"],
                t,
                tokens=last,
                parents=parents,
                alignments=weights,
            ),
        }

    def _scores(self, lengths, source_mask, totals, attended=None):
        """Returns the scores of hypotheses, `(batch, hypotheses)`.

        Args:
            lengths: Number of tokens of each hypothesis, or one number for all.
            source_mask: Optional boolean tensor of shape `(batch, positions)`.
            totals: Their log-probabilities, `(batch, hypotheses)`.
            attended: With a coverage penalty, the total attention to each
                position of the source, `(batch, hypotheses, positions)`.
        """
        scores = totals / self._penalty(lengths)
        if attended is None:
            return scores
        # Bounded below, so that an unattended position does not make the score
        # infinite.
        logs = ops.log(ops.clip(attended, 1e-6, 1.0))
        logs = ops.where(ops.expand_dims(source_mask, 1), logs, 0.0)
        return scores + self.coverage_penalty * ops.sum(logs, axis=-1)

    def _penalty(self, lengths):
        lengths = ops.cast(lengths, "float32")
        return ((5.0 + lengths) / 6.0) ** self.length_penalty

    def _is_done(self, t, limits, living, finished):
        """Returns which sentences need no more steps, booleans `(batch,)`."""
        full = ops.all(finished["scores"] > NEVER, axis=1)
        last = finished["scores"][:, self.num_hypotheses - 1]
        total = ops.max(living["totals"], axis=1)
        behind = total / self._penalty(t + 1) <= last
        # Totals can only fall, and the divisor is largest at the maximum
        # length. So this bounds the final score of all live hypotheses.
        beaten = total / self._penalty(limits) <= last
        done = ops.logical_or(ops.logical_and(full, behind), beaten)
        return ops.logical_or(done, t + 1 >= limits)

    def _ranked(self, given, living, finished):
        """Selects the hypotheses to return, and tells which of them ended."""
        lengths = ops.expand_dims(given["limits"], 1)
        beams = ops.zeros_like(finished["beams"]) + ops.arange(
            self.beam_width, dtype="int32"
        )
        cut = {
            "scores": self._scores(lengths, given["source_mask"], **living),
            "times": ops.zeros_like(beams) + lengths,
            "beams": beams,
        }
        # Live hypotheses are sorted by their totals, without coverage penalty.
        cut = best(cut, "scores", self.beam_width)
        count = ops.sum(
            ops.cast(finished["scores"] > NEVER, "int32"), axis=1, keepdims=True
        )
        rank = ops.expand_dims(
            ops.arange(self.num_hypotheses, dtype="int32"), 0
        )
        has_end = rank < count
        index = ops.where(has_end, rank, self.beam_width + rank - count)
        both = join(finished, cut)
        return {name: gather(x, index) for name, x in both.items()}, has_end


def _expanded(logits, allowed, totals, progress, phrases, width):
    """Returns the best extensions of live hypotheses, two for each beam.

    With required phrases, the next tokens of these are also candidates.

    Args:
        logits: Tensor of shape `(batch, beams, columns)`.
        allowed: The same logits, with minus infinity at refused tokens.
        totals: Log-probabilities of the hypotheses, `(batch, beams)`.
        progress: The progress of each hypothesis with its phrases.
        phrases: The phrases, or `None`.
        width: Integer, the number of beams.

    Returns:
        Dictionary of total log-probabilities, extended beams (`"parents"`) and
        chosen columns of the logits, each of shape `(batch, candidates)`.
    """
    # The best candidates of a sentence are among the best of its beams. Only
    # these need their log-probabilities.
    gains, columns = (
        split_beams(x, width) for x in top_k(flatten_beams(allowed), 2 * width)
    )
    if "required" in progress:
        gains, columns = with_next_tokens(
            gains, columns, allowed, progress, phrases
        )
    gains = gains - ops.logsumexp(logits, axis=2, keepdims=True)
    count = ops.shape(columns)[2]
    shape = (-1, width * count)
    totals = ops.reshape(ops.expand_dims(totals, 2) + gains, shape)
    columns = ops.reshape(columns, shape)
    index = ops.zeros_like(columns) + ops.arange(width * count, dtype="int32")
    if "required" not in progress:
        totals, index = largest(totals, 2 * width)
        columns = gather(columns, index)
    return {"totals": totals, "parents": index // count, "columns": columns}


def _in_order(candidates, ids, end_id, progress, phrases, width):
    """Returns which candidates are finished, and the order of the others.

    Args:
        candidates: The result of `_expanded`.
        ids: Their tokens, of shape `(batch, candidates)`.
        end_id: Integer id of the end token.
        progress, phrases, width: As in `_expanded`.
    """
    totals, is_end = candidates["totals"], ops.equal(ids, end_id)
    if "required" in progress:
        progress = {
            kind: gather(x, candidates["parents"])
            for kind, x in progress.items()
        }
        progress = advanced(progress, ids, phrases)
        return shared_out(totals, is_end, progress, phrases, width)
    position = ops.arange(ops.shape(totals)[1], dtype="int32")
    finishes = ops.logical_and(is_end, position < width)
    return finishes, ops.where(is_end, NEVER, totals)
