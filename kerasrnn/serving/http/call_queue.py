"""Sizes of calls, batches of calls, and the queue of waiting calls."""

import collections
import dataclasses
import functools
import json
import logging
import math
import threading
import traceback
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasrnn.serving.signature import Signature
from kerasrnn.serving.signature import in_halves
from kerasrnn.serving.signature import reason
from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import ServerSettings

# Scalar inputs: the number of rows, and the number of positions to add to each
# row.
_ROWS = "count"
_ADDED = ("max_tokens", "steps")


def positions(
    signature: Signature,
    inputs: Mapping[str, np.ndarray],
    settings: ServerSettings,
) -> int:
    """Counts the positions of a request: rows times the longest row.

    The length of a text is its number of characters. Scalars such as
    `max_tokens` are added to the longest row. The scalar `count` is a number of
    rows.

    Args:
        signature: The `Signature` to call.
        inputs: Dictionary from names to arrays.
        settings: The `ServerSettings`, with the limits.

    Returns:
        The number of positions, at least 1.

    Raises:
        ValueError: when it is too large, or has too many rows.
    """
    batches = {name: x for name, x in inputs.items() if x.ndim}
    for name, batch in batches.items():
        if len(batch) > settings.max_rows:
            raise ValueError(
                f"The input `{name}` must have at most {settings.max_rows} "
                f"rows. Received: {len(batch)}."
            )
    numbers = {
        name: max(0, int(x))
        for name, x in inputs.items()
        if not x.ndim and x.dtype.kind == "i"
    }
    rows = max([1, *map(len, batches.values()), numbers.get(_ROWS, 1)])
    added = sum(numbers.get(name, 0) for name in _ADDED)
    longest = max([1, *map(_longest, batches.values())])
    steps = longest + added
    if rows * steps > settings.max_positions:
        raise ValueError(
            f"A request must have at most {settings.max_positions} positions. "
            f"Received: {rows * steps} ({rows} rows of {longest} characters or "
            f"ids, plus {added} to add to each)."
        )
    values = sum(
        math.prod(_sizes(spec.shape, rows, steps))
        for spec in signature.outputs.values()
    )
    if values > settings.max_values:
        raise ValueError(
            f"An answer must have at most {settings.max_values} values. "
            f"Received: {rows} rows of {steps} positions, for which "
            f"`{signature.name}` may return {values} values."
        )
    return rows * steps


def _longest(array):
    """Returns the length of the longest row.

    That of texts is their number of characters, plus an end token for each.
    """
    if array.dtype != object:
        return max(array.shape[1:2], default=1)
    rows = array.reshape(len(array), -1) if array.size else array
    lengths = (sum(len(text.decode()) + 1 for text in row) for row in rows)
    return max(lengths, default=1)


def _sizes(shape, rows, steps):
    """Returns the sizes of an output, guessed if its rank is unknown."""
    sizes = [None, None] if shape.rank is None else shape
    unknown = [rows, *[steps] * len(sizes)]
    return [
        unknown[axis] if size is None else size
        for axis, size in enumerate(sizes)
    ]


# Calls with more positions run one after another.
SMALL = 4096
# Calls with more positions use at most half of the threads.
SHORT = 512
_LARGE, _LONG = "a large call", "a long call"

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """A request that was read and checked.

    Args:
        number: Number of the request.
        signature: The `Signature` to call.
        inputs: Dictionary from names to arrays.
        positions: Its size.
        write: Function from the outputs to the `Answer`.
    """

    number: int
    signature: Signature
    inputs: dict[str, np.ndarray]
    positions: int
    write: Callable[[dict[str, np.ndarray]], Answer]

    @property
    def rows(self) -> int:
        """The number of rows of the first input."""
        return len(next(iter(self.inputs.values())))

    @functools.cached_property
    def by_row(self) -> bool:
        """Whether its rows can be split or batched with those of other calls.

        Inputs with different numbers of rows are computed alone, because joined
        with another call, their sums could agree by chance.
        """
        # A scalar for all rows has no rows.
        rows = {x.shape[:1] for x in self.inputs.values()}
        alike = len(rows) == 1 and () not in rows
        return alike and self.signature.by_row

    @functools.cached_property
    def lane(self) -> str | None:
        """The name of a class of calls with limited concurrency, if any."""
        if self.positions > SMALL:
            return _LARGE
        if self.by_row:
            return self.signature.name
        return _LONG if self.positions > SHORT else None

    def run(self) -> dict[str, np.ndarray]:
        """Returns the outputs, computing many rows in pieces.

        Computed at once, they would take too much memory.
        """
        if self.positions <= SMALL or not self.by_row:
            return self.signature.run(self.inputs)
        size = max(1, SMALL * self.rows // self.positions)
        pieces = [
            self.signature.run(
                {name: x[i : i + size] for name, x in self.inputs.items()}
            )
            for i in range(0, self.rows, size)
        ]
        return {
            name: np.concatenate([piece[name] for piece in pieces])
            for name in pieces[0]
        }


class CallQueue:
    """Distributes calls to threads in the order of arrival.

    Calls in the same lane wait for each other. There are three lanes: large
    calls, because each takes memory and all cores; calls of a signature that
    processes rows independently, which are then batched; and long calls, which
    leave half of the threads to others.

    Args:
        batch_rows: Maximum number of rows in a batch.
        threads: Number of threads that take calls.
        batches: Number of batches of a signature that run at once.
    """

    def __init__(self, batch_rows: int, threads: int, batches: int = 1):
        self.batch_rows, self.batches = batch_rows, batches
        self._most = {_LARGE: 1, _LONG: max(1, threads // 2)}
        # `None` is the place of a call that is to be read.
        self._waiting: dict[int, Call | None] = {}
        self._taken: collections.Counter[str | None] = collections.Counter()
        self._changed = threading.Condition()

    def reserve(self, number: int) -> None:
        """Adds a place for a call that is to be read."""
        with self._changed:
            self._waiting[number] = None

    def put(self, call: Call) -> None:
        """Adds a call in its place, if that was not removed."""
        with self._changed:
            if call.number in self._waiting:
                self._waiting[call.number] = call
                self._changed.notify()

    def remove(self, number: int) -> bool:
        """Removes a waiting call, or its place; returns whether it waited."""
        with self._changed:
            return self._waiting.pop(number, False) is not False

    def __contains__(self, number: int) -> bool:
        """Whether a call waits, or is to be read."""
        return number in self._waiting

    def take(self) -> list[Call]:
        """Waits for calls that may run, and returns a batch of them."""
        with self._changed:
            while (first := self._first()) is None:
                self._changed.wait()
            calls = self._batch(first)
            for call in calls:
                del self._waiting[call.number]
            self._taken[first.lane] += 1
            return calls

    def done(self, calls: Sequence[Call]) -> None:
        """Records that the calls of a batch have run."""
        with self._changed:
            self._taken[calls[0].lane] -= 1
            self._changed.notify()

    def _first(self):
        for call in filter(None, self._waiting.values()):
            most = self._most.get(call.lane, self.batches)
            if call.lane is None or self._taken[call.lane] < most:
                return call
        return None

    def _batch(self, first):
        """Returns a call and waiting ones that can be computed with it."""
        calls, rows, longest = [], 0, 0
        if first.lane != first.signature.name or not first.rows:
            return [first]
        for call in filter(None, self._waiting.values()):
            if call.lane != first.lane or not call.rows:
                continue
            steps = max(longest, call.positions // call.rows)
            count = rows + call.rows
            if calls and (count > self.batch_rows or count * steps > SMALL):
                continue
            calls.append(call)
            rows, longest = count, steps
        return calls


def answers(calls: Sequence[Call]) -> list[Answer]:
    """Runs calls together or, if that fails, one by one.

    Args:
        calls: List of `Call` of the same signature.

    Returns:
        List with an `Answer` for each.
    """
    return [
        refused(found) if isinstance(found, Exception) else found
        for found in in_halves(_together, calls, Exception)
    ]


def refused(error: Exception) -> Answer:
    """Returns the answer to a failed request.

    Args:
        error: The error. A `ValueError` or `RecursionError` is the client's
            fault. Anything else is logged in one line, as a client may cause
            it again and again.
    """
    if isinstance(error, RecursionError):
        error = ValueError("Lists or objects are nested too deeply.")
    status, text = 400, str(error)
    if not isinstance(error, ValueError):
        text = reason(error) if isinstance(error, tf.errors.OpError) else text
        *_, place = traceback.extract_tb(error.__traceback__)
        log.error(
            "A call failed: %s: %.500r (%s, line %d)",
            *(type(error).__name__, text, place.filename, place.lineno),
        )
        status, text = 500, "The call failed. See the log of the server."
    # It is cut, because it may quote the request.
    return Answer(status, json.dumps({"error": text[:1000]}).encode())


def _together(calls):
    signature = calls[0].signature
    if len(calls) == 1:
        return [calls[0].write(calls[0].run())]
    joined = {
        name: np.concatenate([call.inputs[name] for call in calls])
        for name in signature.inputs
    }
    outputs = signature.run(joined)
    ends = np.cumsum([call.rows for call in calls])
    if any(len(value) != ends[-1] for value in outputs.values()):
        raise ValueError(f"`{signature.name}` does not process single rows.")
    parts = {
        name: np.split(value, ends[:-1]) for name, value in outputs.items()
    }
    return [
        call.write({name: part[i] for name, part in parts.items()})
        for i, call in enumerate(calls)
    ]
