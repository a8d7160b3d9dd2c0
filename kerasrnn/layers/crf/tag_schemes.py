"""Which tag may follow which, in the common ways to tag phrases.

A tag is `"O"`, outside of all phrases, or a prefix and the type of a phrase,
such as `"B-PER"`.

| scheme | prefixes |
|---|---|
| `"IOB1"` | `I` in a phrase; `B` where it follows one of its type at once |
| `"IOB2"` | `B` at its beginning, `I` in its rest; also known as BIO |
| `"BIOES"` | as well `E` at its end, and `S` for a phrase of one word |
| `"BILOU"` | the same, with `L` for `E`, and `U` for `S` |
"""

from kerasrnn.arguments import one_of

_PREFIXES = {"IOB1": "IB", "IOB2": "IB", "BIOES": "BIES", "BILOU": "BIES"}
_AS_BIOES = {"L": "E", "U": "S"}
# The tag beside a path, before it and after it.
_OUTSIDE = "O", None


def allowed_moves(labels, scheme):
    """Returns what a tag scheme allows, as booleans.

    Args:
        labels: Names of the tags, in the order of the emissions.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`, or `None`.

    Returns:
        A list of lists, by the tag before and the tag after it, and two lists:
        which tags may start and end a path. `None` if there is no scheme.

    Raises:
        ValueError: when there is no such scheme, there are no labels for it, or
            a label is none of its tags.
    """
    if scheme is None:
        return None
    one_of("scheme", scheme, _PREFIXES)
    if labels is None:
        raise ValueError(
            "A `scheme` needs the `labels` of all tags. Received: labels=None "
            f"and scheme={scheme!r}"
        )
    tags = [_parsed(label, scheme) for label in labels]
    return (
        [[_may_follow(a, b, scheme) for b in tags] for a in tags],
        [_may_follow(_OUTSIDE, tag, scheme) for tag in tags],
        [_may_follow(tag, _OUTSIDE, scheme) for tag in tags],
    )


def _parsed(label, scheme):
    """Returns the prefix, of BIOES if of BILOU, and the type of a tag."""
    if label == "O":
        return _OUTSIDE
    prefix, _, kind = str(label).partition("-")
    if scheme == "BILOU":
        prefix = _AS_BIOES.get(prefix, prefix if prefix in "BI" else "")
    if not kind or len(prefix) != 1 or prefix not in _PREFIXES[scheme]:
        letters = " or ".join(scheme.replace("O", "").strip("12"))
        raise ValueError(
            f'A tag of {scheme} must be "O", or {letters} with a hyphen and a '
            f"type, such as 'B-PER'. Received: {label!r}"
        )
    return prefix, kind


def _may_follow(before, after, scheme):
    (a, kind), (b, kind_after) = before, after
    within = a in "BI" and kind == kind_after
    if scheme == "IOB1":
        return b != "B" or within
    if scheme == "IOB2":
        return b != "I" or within
    # A phrase goes on until its end, and only then.
    goes_on = b in "IE"
    return within and goes_on if a in "BI" else not goes_on
