"""The error and the warning about a bad corpus."""


class CorpusWarning(UserWarning):
    """A corpus can be used, but parts of it are missing or unsuitable."""


class CorpusError(ValueError):
    """A corpus cannot be used."""
