import pytest

from kerasrnn.metrics import corpus_scores
from kerasrnn.pipelines.translation_task import translation_scores
from kerasrnn.tokenizers import WordTokenizer

HYPOTHESES = ["It's true, isn't it?", "<unk> is a big house here."]
REFERENCES = ["It's true (isn't it?)", "There is a big house here."]


def test_text_is_scored_as_it_is_read():
    plain = WordTokenizer(["a"], lowercase=False)
    found = translation_scores(HYPOTHESES, REFERENCES, plain)
    expected = corpus_scores(HYPOTHESES, REFERENCES)
    assert found == {**expected, "length_ratio": 10 / 10}


def test_references_are_as_the_tokenizer_learns_them():
    bare = WordTokenizer(["a"], strip_punctuation=True)
    texts = ["its true isnt it", "there is a big house here"]
    found = translation_scores(texts, REFERENCES, bare)
    assert found["bleu"] == pytest.approx(100)
    assert "tok:none" in found["bleu_signature"]


def test_punctuation_apart_is_scored_apart_too():
    apart = WordTokenizer(["a"], lowercase=False, separate_punctuation=True)
    # References may be plain text or tokenized.
    tokenized = [
        "It &apos;s true ( isn &apos;t it ? )",
        "There is a big house here .",
    ]
    found = translation_scores(HYPOTHESES, tokenized, apart)
    plain = corpus_scores(HYPOTHESES, REFERENCES)
    assert {name: found[name] for name in plain} == plain
    # The place of an unknown word is one token, and its brackets are none.
    assert found["length_ratio"] == (8 + 7) / (9 + 7)
    ours = [
        "It &apos;s true , isn &apos;t it ?",
        "\ufffd is a big house here .",
    ]
    expected = corpus_scores(ours, tokenized, "none")
    assert {name: found[f"tokenized_{name}"] for name in expected} == expected


def test_plain_references_are_taken_as_they_are():
    tokenizer = WordTokenizer(["a"], lowercase=False, separate_punctuation=True)
    plain = ['She said "yes" to C++ .', "l’homme, «ici»", "See http://a.b/c."]
    assert translation_scores(plain, plain, tokenizer)["bleu"] > 99.9
    apart = ["it &apos;s true , isn &apos;t it ?"]
    whole = ["it's true, isn't it?"]
    assert translation_scores(whole, apart, tokenizer)["bleu"] > 99.9


def test_text_without_spaces_is_scored_by_characters():
    tokenizer = WordTokenizer(["a"], lowercase=False)
    references = [
        "我喜欢在家里看红色的书。",
        "今天天气很好，我们去公园。",
        "你好吗？",
    ]
    hypotheses = ["我喜欢在家里看蓝色的书。", "今天天气很好。", "你好吗？"]
    found = translation_scores(hypotheses, references, tokenizer)
    expected = corpus_scores(hypotheses, references, "char")
    assert found == {**expected, "length_ratio": 23 / 29}
    assert 20 < found["bleu"] < 90


@pytest.mark.parametrize(
    "references, by_character",
    [
        (["Hello!", "Thanks.", "Congratulations!"], False),
        (["Ja.", "Nein."], False),
        (["Kiitos.", "Lentokonesuihkuturbiinimoottori."], False),
        (["สวัสดีครับ", "ขอบคุณมาก"], True),
        (["はい。", "ありがとう。"], True),
        (["你好吗？", "OK"], True),
        # Words that were parted before.
        (["我 喜欢 看 书 。", "你 好"], False),
    ],
)
def test_only_scripts_without_spaces_are_scored_by_characters(
    references, by_character
):
    tokenizer = WordTokenizer(["a"], lowercase=False)
    shorter = [text[:-2] + "..." for text in references]
    found = translation_scores(shorter, references, tokenizer)
    assert ("tok:char" in found["bleu_signature"]) == by_character


@pytest.mark.parametrize("lowercase", [False, True, "tr"])
@pytest.mark.parametrize("strip", [False, True])
def test_signatures_say_what_was_done_to_the_text(lowercase, strip):
    tokenizer = WordTokenizer(
        ["a"],
        lowercase=lowercase,
        strip_punctuation=strip,
        separate_punctuation=True,
    )
    found = translation_scores(["Ok, a House."], ["ok, a house."], tokenizer)
    signatures = [x for name, x in found.items() if "signature" in name]
    assert len(signatures) == 4
    for signature in signatures:
        assert ("case:lc" in signature) == bool(lowercase)
        assert ("case:mixed" in signature) != bool(lowercase)
        assert signature.endswith("|punctuation:stripped") == strip
    # In lower case the two are the same.
    assert (found["chrf"] > 99.9) == bool(lowercase and not strip)
