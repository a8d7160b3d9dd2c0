import pytest

from kerasrnn.data import Phrase
from kerasrnn.data import convert_tags
from kerasrnn.data import phrases_of
from kerasrnn.data import tag_scheme
from kerasrnn.data import tags_of
from kerasrnn.data.report import CorpusWarning

PHRASES = [Phrase(0, 1, "A"), Phrase(1, 3, "A"), Phrase(3, 4, "B")]
TAGS = {
    "IOB1": "I-A B-A I-A I-B O",
    "IOB2": "B-A B-A I-A B-B O",
    "BIOES": "S-A B-A E-A S-B O",
    "BILOU": "U-A B-A L-A U-B O",
}


@pytest.mark.parametrize("scheme", TAGS)
def test_phrases_in_each_scheme(scheme):
    tags = TAGS[scheme].split()
    assert tags_of(PHRASES, 5, scheme) == tags
    assert phrases_of(tags) == PHRASES
    assert tag_scheme([tags]) == scheme
    for other, expected in TAGS.items():
        assert convert_tags(tags, other) == expected.split()


def test_a_broken_scheme_begins_a_phrase():
    found = phrases_of(["I-A", "I-B", "O", "E-A", "I-A", "S-A", "I-A"])
    assert [phrase[:2] for phrase in found] == [
        *((0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (6, 7))
    ]


def test_a_scheme_is_told_from_others_though_some_tags_break_it():
    tags = "B-A I-A O I-A O B-A B-A".split()
    assert tag_scheme([tags]) == tag_scheme([["I-A", "B-B"]]) == "IOB2"
    assert convert_tags(tags, "IOB2") == "B-A I-A O B-A O B-A B-A".split()


@pytest.mark.parametrize(
    "tags",
    [
        "B-A M-A E-A S-A O S-B",
        "B_A M_A E_A S_A O S_B",
        "B_A I_A L-A U_A O U_B",
    ],
)
def test_the_same_tags_in_other_words(tags):
    expected = "B-A I-A E-A S-A O S-B".split()
    assert tag_scheme([tags.split()]) in ("BIOES", "BILOU")
    assert convert_tags(tags.split(), "BIOES") == expected


@pytest.mark.parametrize(
    "tags, scheme, expected",
    [
        ("B I O B", "IOB2", "B-PHRASE I-PHRASE O B-PHRASE"),
        ("O I I O", "IOB1", "O B-PHRASE I-PHRASE O"),
        ("B M E S", "BIOES", "B-PHRASE I-PHRASE I-PHRASE B-PHRASE"),
    ],
)
def test_prefixes_alone_mark_phrases_of_one_type(tags, scheme, expected):
    assert tag_scheme([tags.split()]) == scheme
    assert convert_tags(tags.split(), "IOB2") == expected.split()


def test_parts_of_speech_may_have_the_name_of_a_prefix():
    assert tag_scheme([["N", "V", "E", "M", "I"]]) is None
    assert tag_scheme([["E", "M"]]) is None
    with pytest.warns(CorpusWarning, match="1 other tags, such as 'I'"):
        assert tag_scheme([["B-X", "I", "O"]]) is None


def test_a_prefix_at_the_end_is_named():
    with pytest.warns(CorpusWarning, match="prefix first.*'LOC-B', 'PER_I'"):
        assert tag_scheme([["O", "PER_I", "LOC-B"]]) is None
    assert tag_scheme([["O", "NOUN-S", "VERB"]]) is None


@pytest.mark.parametrize(
    "tags, scheme",
    [
        (["o", "b-per", "i-per"], None),
        (["O", "B:PER", "I:PER"], None),
        (["O", "B-", "I-"], None),
        (["O", "B-PER|B-ORG", "I-PER"], "IOB2"),
        (["O", "B-I-PER"], "IOB2"),
    ],
)
def test_other_forms_of_tags_are_named(tags, scheme):
    with pytest.warns(
        CorpusWarning, match="unsupported format.* a prefix.*: '[bB]"
    ):
        assert tag_scheme([tags]) == scheme
    assert tag_scheme([["O", "MISC", "LOC", "B"]]) is None


def test_what_is_no_scheme():
    with pytest.warns(CorpusWarning, match="1 other tags, such as 'NOUN', 2"):
        assert tag_scheme([["NOUN", "B-X", "NOUN", "O"]]) is None
    assert tag_scheme([["O", "O"], []]) is None
    assert phrases_of(["NOUN", "O", "B-"]) == []


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (convert_tags, (["O", "NOUN"], "IOB2"), "prefix and a type.*'NOUN'"),
        (tags_of, ([], 0, "BIO"), "scheme='BIO'"),
        *(
            (tags_of, (phrases, 3, "IOB2"), "Phrases must not be empty")
            for phrases in [
                [Phrase(0, 5, "A")],
                [Phrase(2, 2, "A")],
                [Phrase(-1, 1, "A")],
                [Phrase(0, 2, "A"), Phrase(1, 3, "B")],
                [Phrase(7, 8, "A")],
            ]
        ),
    ],
)
def test_what_is_wrong_is_said(call, arguments, message):
    with pytest.raises(ValueError, match=message):
        call(*arguments)
