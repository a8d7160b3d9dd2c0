"""Which tag may follow which in a tag scheme."""

from kerasrnn.tag_schemes import PREFIXES
from kerasrnn.tag_schemes import check_scheme
from kerasrnn.tag_schemes import parsed_tag

# The tag beside a path, before it and after it.
_OUTSIDE = "O", ""


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
            a label is not one of its tags.
    """
    if scheme is None:
        return None
    check_scheme(scheme, labels or ())
    if labels is None:
        raise ValueError(
            "A `scheme` needs the `labels` of all tags. Received: labels=None "
            f"and scheme={scheme!r}"
        )
    tags = [_as_bioes(label, scheme) for label in labels]
    return (
        [[_may_follow(a, b, scheme) for b in tags] for a in tags],
        [_may_follow(_OUTSIDE, tag, scheme) for tag in tags],
        [_may_follow(tag, _OUTSIDE, scheme) for tag in tags],
    )


def _as_bioes(tag, scheme):
    """Returns the type of a tag, after the prefix that BIOES has for it."""
    prefix, kind = parsed_tag(tag)
    if kind:
        prefix = PREFIXES["BIOES"][PREFIXES[scheme].index(prefix)]
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
