"""Precision, recall and F1, of counts."""


def precision_recall_f1(true: int, found: int, right: int) -> dict[str, float]:
    """Returns precision, recall and F1; where nothing was to count, 0.

    Args:
        true: Integer, how many there are.
        found: Integer, how many were found.
        right: Integer, how many of those are right.

    Returns:
        A dictionary of `"precision"`, `"recall"` and `"f1"`.
    """
    return {
        "precision": right / max(1, found),
        "recall": right / max(1, true),
        "f1": 2 * right / max(1, true + found),
    }
