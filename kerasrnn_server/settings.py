"""Settings of the server."""

import dataclasses
import math

from kerasrnn_server.messages import Limits


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServerSettings(Limits):
    """Settings of the server.

    Raises:
        ValueError: when a number is not positive, or `port` is not a port.
    """

    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 for all interfaces."""
    port: int = 8080
    """Port to listen at."""
    max_request_bytes: int = 4 * 2**20
    """Maximum size of a request in bytes."""
    timeout: float = 30.0
    """Seconds for a request to come in, and for its answer."""
    waiting: int = 256
    """Calls that may run and wait; more are refused with status 503."""
    poll_seconds: float = 5.0
    """Seconds between checks for new versions."""
    keep_programs: bool = True
    """Whether to keep what XLA compiles for the next start."""
    access_log: bool = False
    """Whether to write a line for each request, not only for those refused."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool | str):
                continue
            right, expected = 0 < value < math.inf, "> 0"
            if name == "port":
                right, expected = 0 <= value < 2**16, "from 0 to 65535"
            if not right:
                raise ValueError(
                    f"`{name}` must be {expected}. Received: {name}={value}"
                )

    def limits(self) -> Limits:
        """Returns those settings that the process of a model needs."""
        names = [field.name for field in dataclasses.fields(Limits)]
        return Limits(**{name: getattr(self, name) for name in names})
