"""The error and the warning about a bad corpus."""

_LONGEST = 1000  # characters of a message


class CorpusWarning(UserWarning):
    """A corpus can be used, but parts of it are missing or unsuitable."""


class CorpusError(ValueError):
    """A corpus cannot be used.

    Its message is one line, of which the end is cut if it is very long: what
    it quotes of a damaged file may be anything.
    """

    def __init__(self, message: str) -> None:
        message = "".join(x if x.isprintable() else " " for x in message)
        if len(message) > _LONGEST:
            message = f"{message[:_LONGEST]}..."
        super().__init__(message)
