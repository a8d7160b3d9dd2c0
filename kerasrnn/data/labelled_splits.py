"""Parts of a labelled corpus that share no text."""

import collections

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.labelled_corpus import LabelledCorpus
from kerasrnn.data.labelled_texts import hold_out
from kerasrnn.data.labelled_texts import select


def split_labelled_corpus(corpus, size, seed):
    """Holds texts of a labelled corpus out, to validate on.

    What is validated or tested on is learnt nowhere: texts that stand there
    too are dropped, from those without a label as well.

    Args:
        corpus: `LabelledCorpus`.
        size: Positive integer, how many texts of the training part to hold
            out; see `hold_out`. It is a fifth of them at most, but at least
            one of each class that has several.
        seed: Non-negative integer. The same corpus and seed give the same
            split.

    Returns:
        A tuple `(corpus, validation)`: a `LabelledCorpus` with the rest, and
        `LabelledTexts`.

    Raises:
        CorpusError: If there is no text left to train on, or too few to hold
            any out. It is a `ValueError`.

    Example:

    >>> texts = LabelledTexts(["good", "bad", "great", "dull"], [1, 0, 1, 0])
    >>> corpus = LabelledCorpus(texts, None, ["dull", "so-so"], ["neg", "pos"])
    >>> corpus, validation = split_labelled_corpus(corpus, size=2, seed=0)
    >>> len(corpus.train.texts), len(validation.texts)
    (2, 2)
    """
    counts = collections.Counter(corpus.train.labels)
    several = sum(count > 1 for count in counts.values())
    size = max(several, min(size, len(corpus.train.texts) // 5))
    train, validation = hold_out(corpus.train, size, seed)
    return without_texts(corpus._replace(train=train), validation), validation


def without_texts(corpus, held_out):
    """Drops texts from what a model learns of a labelled corpus.

    Args:
        corpus: `LabelledCorpus`.
        held_out: `LabelledTexts` to drop, beside those of the test part.

    Returns:
        A `LabelledCorpus`.

    Raises:
        CorpusError: If no text is left to train on. It is a `ValueError`.
    """
    taken = {*held_out.texts, *(corpus.test.texts if corpus.test else ())}
    texts = corpus.train.texts
    places = [n for n, text in enumerate(texts) if text not in taken]
    if not places:
        raise CorpusError(
            "What is scored is not learnt, and nothing else is there. "
            f"Expected: other texts. Received: {len(texts)} texts, all of "
            "them held out or in the test part"
        )
    return LabelledCorpus(
        select(corpus.train, places),
        corpus.test,
        [text for text in corpus.unlabelled if text not in taken],
        corpus.label_names,
    )
