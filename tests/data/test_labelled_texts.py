import collections

import pytest

from kerasrnn.data.labelled_texts import LabelledTexts
from kerasrnn.data.labelled_texts import hold_out


def labelled(positive, negative):
    texts = [f"good {n}" for n in range(positive)]
    texts += [f"bad {n}" for n in range(negative)]
    return LabelledTexts(texts, [1] * positive + [0] * negative)


@pytest.mark.parametrize(
    ("positive", "negative", "size", "held_out"),
    [
        (50, 50, 20, (10, 10)),
        (75, 25, 20, (15, 5)),
        (50, 50, 0, (0, 0)),
        (50, 50, 98, (49, 49)),
        (70, 30, 5, (4, 1)),  # 3.5 and 1.5: the total holds
        (66, 34, 10, (7, 3)),  # 6.6 and 3.4
        (34, 66, 10, (3, 7)),
    ],
)
def test_hold_out(positive, negative, size, held_out):
    texts = labelled(positive, negative)
    train, validation = hold_out(texts, size, seed=3)
    counts = collections.Counter(validation.labels)
    assert (counts[1], counts[0]) == held_out
    kept = set(zip(*train, strict=True))
    out = set(zip(*validation, strict=True))
    assert not kept & out
    assert kept | out == set(zip(*texts, strict=True))
    assert len(train.texts) + size == positive + negative


def test_hold_out_keeps_the_order():
    texts = LabelledTexts(list("abcdefghijkl"), [0, 1, 1] * 4)
    for part in hold_out(texts, 6, seed=0):
        assert part.texts == sorted(part.texts)
        assert isinstance(part, LabelledTexts)


def test_the_seed_decides_what_is_held_out():
    texts = labelled(50, 50)
    first, again, other = (hold_out(texts, 10, seed) for seed in (0, 0, 1))
    assert first == again
    assert first[1] != other[1]


@pytest.mark.parametrize("size", [-1, 9, 10, 11, 2.5, "3", None])
def test_sizes_that_do_not_fit(size):
    with pytest.raises(ValueError, match="at most 8 of 10 texts") as error:
        hold_out(labelled(5, 5), size, seed=0)
    assert str(error.value).endswith(f"Received: size={size!r}")


def test_no_class_is_held_out_whole():
    with pytest.raises(ValueError, match="takes all 1 of class 0.*size=8$"):
        hold_out(labelled(9, 1), 8, seed=0)
    assert hold_out(LabelledTexts([], []), 0, seed=0)[1] == ([], [])
