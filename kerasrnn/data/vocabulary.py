"""Checks of vocabularies before training."""

import collections
from collections.abc import Iterable

from kerasrnn.data.batches import in_parts
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.report import first_of
from kerasrnn.tokenizers.tokenizer import END
from kerasrnn.tokenizers.tokenizer import PAD
from kerasrnn.tokenizers.tokenizer import START
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.warning import warn


def warn_of_unseen(
    lines: Iterable[str], tokenizer: Tokenizer, name: str
) -> None:
    """Warns of tokens that are not in the vocabulary of a tokenizer.

    For a subword tokenizer, which can represent any word, characters are
    checked instead. `<unk>` in a text is only unseen if the vocabulary lacks
    it. Other special tokens in a text, such as `</s>`, always count as unseen.

    Args:
        lines: Iterable of strings, such as the validation set of a corpus.
        tokenizer: A `Tokenizer`.
        name: String, the name of the lines in the warning.

    Raises:
        CorpusError: If there are such tokens and the tokenizer has no
            `<unk>` to replace them. It is a `ValueError`.

    Example:

    >>> tokenizer = WordTokenizer.train(["the red book"])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_unseen(["the blue book"], tokenizer, "validation")
    >>> print(caught[0].message)
    1 of 3 types and 1 of 3 tokens of validation are not in the vocabulary and
    become '<unk>': 'blue'
    """
    known = set(tokenizer.vocabulary) - {PAD, START, END}
    counts: collections.Counter[str] = collections.Counter()
    has_tokens = hasattr(tokenizer, "split")
    if not has_tokens:
        pieces = (tokenizer.piece(token)[1] for token in known - {UNKNOWN})
        known = set("".join(pieces))
    for part in in_parts(lines, list):
        if has_tokens:
            tokens = tokenizer.split(part).flat_values.numpy()
            counts.update(token.decode() for token in tokens)
        else:
            texts = tokenizer.normalize_all(part)
            counts.update("".join("".join(texts).split()))
    unseen = collections.Counter(
        {token: n for token, n in counts.items() if token not in known}
    )
    if not unseen:
        return
    problem = (
        f"{len(unseen)} of {len(counts)} types and {unseen.total()} of "
        f"{counts.total()} tokens of {name} are not in the vocabulary"
    )
    examples = first_of([repr(x) for x, _ in unseen.most_common(6)], 5)
    if tokenizer.unknown_id < 0:
        raise CorpusError(
            f"{problem}, which has no '<unk>'. Expected: a vocabulary with "
            f"'<unk>', or with every token. Received: {examples}"
        )
    warn(f"{problem} and become '<unk>': {examples}", CorpusWarning)
