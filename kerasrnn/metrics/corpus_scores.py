"""BLEU and chrF of a corpus, computed by sacrebleu."""

import itertools
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

from kerasrnn.arguments import NO_LISTS
from kerasrnn.arguments import one_of
from kerasrnn.arguments import string_list
from kerasrnn.optional import needs
from kerasrnn.typing import Strings


def sentence_chrf(
    hypotheses: Strings, references: Strings | Sequence[Strings]
) -> list[float]:
    """Returns the chrF of each translation, from 0 to 100 (sacrebleu).

    Unlike BLEU, chrF is meaningful for a single sentence.

    Args:
        hypotheses: List of strings, the translations.
        references: As in `corpus_scores`.

    Raises:
        ValueError: when the lists differ in length or contain anything but
            strings.

    Example:

    >>> [round(score) for score in sentence_chrf(["a book"], ["a book"])]
    [100]

    Reference:
        [Popović, 2015](https://aclanthology.org/W15-3049).
    """
    with needs("sacrebleu", "recipes"):
        import sacrebleu

    hypotheses, references = _checked(hypotheses, references)
    metric = sacrebleu.CHRF()
    return [
        metric.sentence_score(hypothesis, of_one).score
        for hypothesis, of_one in zip(hypotheses, references, strict=True)
    ]


def corpus_scores(
    hypotheses: Strings,
    references: Strings | Sequence[Strings],
    tokenize: str = "13a",
    lowercase: bool = False,
) -> dict[str, Any]:
    """Computes BLEU and chrF against one or more references per translation.

    Args:
        hypotheses: List of strings, the translations.
        references: List of strings, one for each translation; or list of lists
            of strings, all references of each translation. (This differs from
            sacrebleu, which expects a list of all first references, and so on.)
        tokenize: sacrebleu's tokenizer for BLEU. `"13a"` is its default and
            made for Western punctuation; `"none"` splits tokenized text at
            white space.
        lowercase: Whether to compare in lower case. The signatures then contain
            `case:lc`.

    Returns:
        A dictionary of `"bleu"` and `"chrf"`, both from 0 to 100, and of
        `"bleu_signature"` and `"chrf_signature"`, sacrebleu's descriptions of
        the settings.

    Raises:
        ValueError: when the lists are empty, differ in length or have other
            contents, or the tokenizer is unknown.

    Example:

    >>> scores = corpus_scores(["a red book"], ["a red book"])
    >>> round(scores["chrf"], 1)
    100.0

    References:
        [Post, 2018](https://arxiv.org/abs/1804.08771),
        [Popović, 2015](https://aclanthology.org/W15-3049).
    """
    with needs("sacrebleu", "recipes"):
        import sacrebleu

    hypotheses, references = _checked(hypotheses, references)
    if not hypotheses:
        raise ValueError("`hypotheses` must not be empty. Received: []")
    one_of("tokenize", tokenize, sacrebleu.BLEU.TOKENIZERS)
    # Lists of all first references, all second references and so on, with
    # `None` where there is none.
    by_turns = list(itertools.zip_longest(*references))
    scores = {}
    # `force` suppresses the warning that text looks tokenized.
    bleu = sacrebleu.BLEU(
        lowercase=lowercase, tokenize=tokenize, force=tokenize == "none"
    )
    for name, metric in (
        ("bleu", bleu),
        ("chrf", sacrebleu.CHRF(lowercase=lowercase)),
    ):
        scores[name] = metric.corpus_score(hypotheses, by_turns).score
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores


def _checked(hypotheses, references):
    """Returns hypotheses and lists of references, after checks."""
    hypotheses = string_list("hypotheses", hypotheses)
    references = _listed(references)
    if len(hypotheses) != len(references):
        raise ValueError(
            "`hypotheses` and `references` must have the same length. "
            f"Received: {len(hypotheses)} hypotheses and {len(references)} "
            "references"
        )
    return hypotheses, references


def _listed(references):
    """Returns the references as a list of lists."""
    # Iterating over a DataFrame would give the names of its columns.
    is_list = not (
        isinstance(references, NO_LISTS) or hasattr(references, "columns")
    )
    if is_list and isinstance(references, Iterable):
        references = list(references)
        if any(
            isinstance(x, Iterable) and not isinstance(x, str | bytes)
            for x in references
        ):
            return [string_list("references", x, minimum=1) for x in references]
    return [[x] for x in string_list("references", references)]
