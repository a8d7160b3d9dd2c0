"""What is raised or warned of when a corpus is no good."""


class CorpusWarning(UserWarning):
    """A corpus can be used, but not as a whole or not as hoped."""


class CorpusError(ValueError):
    """A corpus cannot be used."""
