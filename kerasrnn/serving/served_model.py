"""A model of KServe that answers from the newest version of a SavedModel."""

import contextlib
import logging
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import kserve
import numpy as np
from grpc_interceptor.exceptions import DeadlineExceeded
from grpc_interceptor.exceptions import InvalidArgument
from grpc_interceptor.exceptions import Unavailable
from prometheus_client import Counter
from prometheus_client import Gauge

from kerasrnn.serving.call_pool import CallPool
from kerasrnn.serving.call_pool import PoolIsFull
from kerasrnn.serving.live_model import LiveModel
from kerasrnn.serving.protocol_v1 import read_v1
from kerasrnn.serving.protocol_v1 import write_v1
from kerasrnn.serving.protocol_v2 import describe
from kerasrnn.serving.protocol_v2 import read_v2
from kerasrnn.serving.protocol_v2 import write_v2

REQUESTS = Counter(
    "kerasrnn_requests",
    "Requests to a model by outcome: answered, invalid, full, late, failed",
    ["model", "outcome"],
)
VERSION = Gauge("kerasrnn_version", "Version that is served", ["model"])
UNFINISHED = Gauge("kerasrnn_unfinished_calls", "Calls that run or wait")

# Nobody reads on, and some messages quote the request.
_LONGEST_MESSAGE = 1000

log = logging.getLogger(__name__)


class ServedModel(kserve.Model):
    """Reads requests of protocols v1 and v2, calls a signature, answers.

    Args:
        live: The `LiveModel`.
        pool: The `CallPool` that all models share.
        max_rows: The most rows of an input. Memory grows with them.
    """

    def __init__(self, live: LiveModel, pool: CallPool, max_rows: int):
        super().__init__(live.folder.name)
        self.live = live
        self.pool = pool
        self.max_rows = max_rows
        # All models share a pool.
        UNFINISHED.set_function(lambda: pool.unfinished)

    def refresh(self) -> None:
        """Takes up a new version, if there is one."""
        self.live.refresh()
        self.ready = self.live.current is not None
        if self.live.current is not None:
            VERSION.labels(self.name).set(int(self.live.current.version))

    def metadata(self) -> dict[str, Any]:
        """Returns what KServe tells of a model, and all signatures."""
        model = self._model()
        signatures = {
            name: {
                "inputs": describe(signature.inputs),
                "outputs": describe(signature.outputs),
            }
            for name, signature in model.signatures.items()
        }
        return {
            "name": self.name,
            "versions": [model.version],
            "platform": "tensorflow_savedmodel",
            **signatures["serving_default"],
            "parameters": {"signatures": signatures},
        }

    def get_input_types(self) -> list[dict[str, Any]]:
        """Returns the inputs of `serving_default`."""
        return list(self.metadata()["inputs"])

    def get_output_types(self) -> list[dict[str, Any]]:
        """Returns the outputs of `serving_default`."""
        return list(self.metadata()["outputs"])

    async def predict(
        self,
        payload: dict[str, Any] | bytes | kserve.InferRequest,
        headers: dict[str, str] | None = None,
        response_headers: dict[str, str] | None = None,
    ) -> dict[str, Any] | kserve.InferResponse:
        """Answers a request.

        Args:
            payload: A `kserve.InferRequest` of v2, or the body of v1.
            headers: Not used.
            response_headers: Not used.

        Returns:
            A `kserve.InferResponse` or a dictionary.

        Raises:
            InvalidArgument: when the request is wrong.
            Unavailable: when too many calls wait.
            DeadlineExceeded: when the answer took too long.
        """
        model = self._model()
        with self._counted():
            return await self.pool.run(self._answer, model, payload)

    def _model(self):
        if self.live.current is None:
            raise Unavailable(f"No version of '{self.name}' works.")
        return self.live.current

    def _answer(self, model, payload):
        """Reads, calls and writes in a thread, away from the event loop."""
        if isinstance(payload, kserve.InferRequest):
            signature, inputs = read_v2(payload, model.signatures)
            outputs = self._call(signature, inputs)
            return write_v2(payload, model.version, outputs)
        signature, inputs = read_v1(payload, model.signatures)
        return write_v1(payload, self._call(signature, inputs))

    def _call(
        self, signature: Any, inputs: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        for name, value in inputs.items():
            rows = _rows(value)
            if rows > self.max_rows:
                raise ValueError(
                    f"The input `{name}` must have at most {self.max_rows} "
                    f"rows. Received: {rows}."
                )
        return signature(**inputs)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Counts a request by its outcome, with errors as gRPC knows them."""
        outcome = "failed"
        try:
            yield
            outcome = "answered"
        except ValueError as error:
            outcome = "invalid"
            raise InvalidArgument(str(error)[:_LONGEST_MESSAGE]) from error
        except PoolIsFull as error:
            outcome = "full"
            raise Unavailable(str(error)) from error
        except TimeoutError as error:
            outcome = "late"
            raise DeadlineExceeded(str(error)) from error
        finally:
            REQUESTS.labels(self.name, outcome).inc()


def _rows(value):
    """The rows of a list or an array; what is empty may claim any size."""
    if isinstance(value, np.ndarray):
        shape = value.shape if value.size == 0 else value.shape[:1]
        return max(shape, default=0)
    return len(value) if isinstance(value, list) else 0
