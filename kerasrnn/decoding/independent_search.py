"""Search that extends each hypothesis independently."""

from keras import ops

from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.hypotheses import Hypotheses
from kerasrnn.decoding.phrases import advanced
from kerasrnn.decoding.phrases import arranged
from kerasrnn.decoding.phrases import continuing
from kerasrnn.decoding.phrases import in_prefix
from kerasrnn.decoding.phrases import is_begun
from kerasrnn.decoding.phrases import missing
from kerasrnn.decoding.phrases import needed
from kerasrnn.decoding.phrases import unmet
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.search import Step
from kerasrnn.decoding.trace import put
from kerasrnn.decoding.unfinished import advance_until_done
from kerasrnn.gathering import gather
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


class IndependentSearch(Search):
    """Base of the searches whose hypotheses do not depend on each other.

    The score of a hypothesis is its total log-probability.

    Attributes:
        count: Integer, the number of hypotheses for each sentence.
    """

    count: int = 1

    def choose(self, logits: Tensor, noise: Tensor | None) -> Tensor:
        """Chooses the next token of each hypothesis.

        Args:
            logits: Float tensor of shape `(rows, columns)`, minus infinity
                for what is not allowed.
            noise: What `draw_noise` returned for this step, of shape
                `(rows,)`, or `None`.

        Returns:
            The columns chosen, an integer tensor of shape `(rows,)`.
        """
        raise NotImplementedError

    def draw_noise(self, batch_size: int) -> Tensor | None:
        """Returns noise of shape `(batch, max_length, hypotheses)`."""
        return None

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
        rows, given = self.begin(
            states,
            memory,
            source_mask,
            max_lengths,
            vocabulary,
            arranged(prefix, required, forbidden),
            self.count,
        )
        batch_size = ops.shape(rows["last"])[0]
        given["noise"] = self.draw_noise(batch_size)
        shape = (batch_size, self.max_length, self.count)
        written = {"ids": ops.full(shape, self.pad_id, dtype="int32")}
        if source_mask is not None:
            positions = ops.shape(source_mask)[1]
            written["alignments"] = ops.zeros((*shape, positions), "float32")
        rows["written"] = written
        rows["ended"] = ops.zeros_like(rows["last"]) >= given["limits"][:, None]
        rows["urged"] = ops.zeros_like(rows["ended"])
        rows["scores"] = ops.zeros((batch_size, self.count), "float32")
        _, rows = advance_until_done(
            lambda *args: self._advance(step, *args),
            0,
            rows,
            given,
            static_sizes,
        )
        lacks = unmet(rows["progress"], given["phrases"], given["limits"])
        scores = ops.where(lacks, NEVER, rows["scores"])
        return self.hypotheses(scores, **rows["written"])

    def _advance(self, step, t, rows, given):
        """Appends a token to each hypothesis that has not ended."""
        logits, allowed, states, weights = self.predict(step, t, rows, given)
        columns, urged = self._choose(t, allowed, rows, given)
        gain = gather(flatten_beams(allowed), ops.reshape(columns, (-1, 1)))
        gain = ops.reshape(gain, (-1, self.count))
        gain = gain - ops.logsumexp(logits, axis=2)
        ended = rows["ended"]
        ids = ops.where(ended, self.pad_id, self.ids(columns, given))
        chosen = {"ids": ids}
        if weights is not None:
            chosen["alignments"] = ops.where(ended[:, :, None], 0.0, weights)
        now_ended = ops.logical_or(ended, ops.equal(ids, self.end_id))
        progress = advanced(rows["progress"], ids, given["phrases"])
        at_limit = ops.expand_dims(t + 1 >= given["limits"], 1)
        now_ended = ops.logical_or(now_ended, at_limit)
        return {
            "done": ops.all(now_ended, axis=1),
            "ended": now_ended,
            # Hypotheses that have ended read the end token.
            "last": ops.where(now_ended, self.end_id, ids),
            "states": states,
            "history": self.constraints.note(rows["history"], t, columns, ids),
            "progress": {
                kind: ops.where(ended[:, :, None], rows["progress"][kind], x)
                for kind, x in progress.items()
            },
            "urged": urged,
            "scores": rows["scores"] + ops.where(ended, 0.0, gain),
            "written": {
                name: put(x, t, chosen[name])
                for name, x in rows["written"].items()
            },
        }

    def _choose(self, t, allowed, rows, given):
        """The next column of each hypothesis, and whether it was urged.

        Where a hypothesis would end without a required phrase, or has no more
        room than the phrases need, it must write the next token of one, and
        then that phrase to its end.
        """
        noise = given["noise"]
        if noise is not None:
            noise = flatten_beams(noise[:, t])

        def choose(logits):
            columns = self.choose(flatten_beams(logits), noise)
            return ops.reshape(columns, (-1, self.count))

        columns, progress = choose(allowed), rows["progress"]
        if "required" not in progress:
            return columns, rows["urged"]
        phrases = given["phrases"]
        left = missing(progress, phrases)
        # One more position, for the end token.
        room = given["limits"][:, None] - t
        no_room = room <= needed(progress, phrases) + 1
        ends = ops.equal(columns, self.end_id)
        goes_on = ops.logical_and(rows["urged"], is_begun(progress, phrases))
        urged = ops.logical_or(ops.logical_or(ends, no_room), goes_on)
        is_free = ops.logical_or(ops.equal(left, 0), in_prefix(t, phrases))
        urged = ops.logical_and(urged, ops.logical_not(is_free))
        urged_columns = choose(continuing(allowed, progress, phrases))
        return ops.where(urged, urged_columns, columns), urged
