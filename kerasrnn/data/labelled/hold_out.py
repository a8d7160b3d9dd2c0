"""Labelled texts that are held out, stratified by label."""

from collections.abc import Sequence

from kerasrnn.data.labelled.labelled_texts import LabelledTexts
from kerasrnn.data.labelled.labelled_texts import select
from kerasrnn.data.stratified_splits import stratified


def hold_out(
    texts: LabelledTexts,
    size: int,
    seed: int,
    groups: Sequence[str] | None = None,
) -> tuple[LabelledTexts, LabelledTexts]:
    """Splits labelled texts at random, stratified by label.

    It uses `sklearn.model_selection.train_test_split`: both sides have the
    classes in about the same proportions. Both keep the order of the texts. A
    class with a single text stays in the training side.

    With `groups`, whole groups are held out: in random order, each one that
    brings the numbers of texts of the classes nearer to those wanted. So are
    texts with several labels; those without a label count as one more class.

    Args:
        texts: `LabelledTexts` to split.
        size: Integer, the number of texts to hold out: 0, or at least the
            number of classes that have several texts. With `groups`, or
            several labels a text, any number below that of the texts.
        seed: Non-negative integer. The same texts and seed give the same
            split.
        groups: List with the group of each text, such as its author. Defaults
            to `None`: each text is held out by itself.

    Returns:
        A tuple `(train, validation)` of `LabelledTexts`. The second has
        `size` texts; with `groups`, or several labels a text, about as many.

    Raises:
        CorpusError: If no class has two texts; or if no group can be held
            out, because each has all texts of a class. It is a `ValueError`.
        ValueError: If `size` is not such an integer, or leaves a class
            without a text to train on.

    Example:

    >>> texts = LabelledTexts(["good", "bad", "great", "dull"], [1, 0, 1, 0])
    >>> train, validation = hold_out(texts, size=2, seed=0)
    >>> sorted(validation.labels)
    [0, 1]
    """
    train, held_out = stratified(texts.labels, size, seed, groups)
    return select(texts, train), select(texts, held_out)
