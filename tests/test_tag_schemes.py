import pytest

from kerasrnn.tag_schemes import check_phrase_tags
from kerasrnn.tag_schemes import check_scheme
from kerasrnn.tag_schemes import has_type
from kerasrnn.tag_schemes import parsed_tag

TAGS = {
    "IOB1": ["B-X", "I-X", "O"],
    "IOB2": ["B-X", "I-X", "O"],
    "BIOES": ["B-X", "I-X", "E-X", "S-X", "O"],
    "BILOU": ["B-X", "I-X", "L-X", "U-X", "O"],
}


@pytest.mark.parametrize("scheme", TAGS)
def test_a_scheme_has_its_tags_and_no_others(scheme):
    check_scheme(scheme, TAGS[scheme])
    every = {*TAGS["BIOES"], *TAGS["BILOU"]}
    every |= {"X", "B", "B-", "-X", "b-X", "O-X", "M-X", "B_X"}
    for tag in every - {*TAGS[scheme]}:
        with pytest.raises(ValueError, match=f"of {scheme}.*: '{tag}'"):
            check_scheme(scheme, ["O", tag])


def test_the_scheme_must_exist():
    with pytest.raises(ValueError, match="'BILOU'. Received: scheme='BIO'"):
        check_scheme("BIO")


def test_tags_of_any_scheme():
    check_phrase_tags(["O", "B-X", "E-X", "U-X", "M_X", "B"])
    with pytest.raises(ValueError, match="Received: 'NOUN'"):
        check_phrase_tags(["O", "NOUN"])


def test_only_a_prefix_with_a_type_is_surely_one_of_phrases():
    assert all(map(has_type, ["B-X", "M_X"]))
    assert not any(map(has_type, ["B", "O", "NOUN"]))


def test_a_type_may_have_any_characters():
    assert parsed_tag("B-a-b\nc") == ("B", "a-b\nc")
