import numpy as np
import pytest
import sacrebleu

from kerasrnn.metrics import corpus_scores
from kerasrnn.metrics import sentence_chrf

HYPOTHESES = ["a red book lies here", "the cat sat on the mat", "no"]
REFERENCES = ["a red book is here", "the cat sat on a mat .", "no , never"]


def test_they_are_those_of_sacrebleu():
    scores = corpus_scores(HYPOTHESES, REFERENCES)
    bleu = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES])
    chrf = sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES])
    assert scores["bleu"] == pytest.approx(bleu.score)
    assert scores["chrf"] == pytest.approx(chrf.score)
    assert 0 < scores["bleu"] < 100
    assert 0 < scores["chrf"] < 100
    assert "tok:13a" in scores["bleu_signature"]
    assert sacrebleu.__version__ in scores["chrf_signature"]


def test_each_may_have_several_references():
    others = ["the red book lies here", "a cat sat on the mat", "no"]
    several = [list(x) for x in zip(REFERENCES, others, strict=True)]
    scores = corpus_scores(HYPOTHESES, several)
    bleu = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES, others])
    assert scores["bleu"] == pytest.approx(bleu.score)
    for given in (map(tuple, several), np.array(several)):
        assert corpus_scores(HYPOTHESES, given) == scores
    assert "nrefs:2" in scores["bleu_signature"]
    one_more = [[x] for x in REFERENCES[:2]] + several[2:]
    found = corpus_scores(HYPOTHESES, one_more)
    references = [REFERENCES, [None, None, others[2]]]
    bleu = sacrebleu.corpus_bleu(HYPOTHESES, references)
    chrf = sacrebleu.corpus_chrf(HYPOTHESES, references)
    assert found["bleu"] == pytest.approx(bleu.score)
    assert found["chrf"] == pytest.approx(chrf.score)
    # The last translation is one of its references.
    assert found["chrf"] > corpus_scores(HYPOTHESES, REFERENCES)["chrf"] + 1
    assert sentence_chrf(HYPOTHESES, several)[2] == pytest.approx(100)


def test_capitals_may_be_the_same_as_small_letters():
    given = [x.upper() for x in HYPOTHESES], REFERENCES
    found = corpus_scores(*given, lowercase=True)
    expected = corpus_scores(HYPOTHESES, REFERENCES)
    for name in ("bleu", "chrf"):
        assert corpus_scores(*given)[name] < found[name] == expected[name]


def test_text_may_be_tokenized_already():
    hypotheses, references = ["a b c d , e"], ["a b c d, e"]
    by_default = corpus_scores(hypotheses, references)
    by_spaces = corpus_scores(hypotheses, references, tokenize="none")
    assert by_default["bleu"] == pytest.approx(100)
    assert by_spaces["bleu"] < 100
    assert "tok:none" in by_spaces["bleu_signature"]


def test_tokenized_text_is_no_cause_for_a_warning(caplog):
    texts = ["a red book ."] * 200
    corpus_scores(texts, texts, "none")
    assert not caplog.records
    corpus_scores(texts, texts)
    assert "tokenized period" in caplog.text


def test_each_sentence_has_a_chrf():
    found = sentence_chrf(["a red book", "blue"], ["a red book", "a house"])
    assert found[0] == 100 and 0 < found[1] < 15
    single = corpus_scores(["a red bok"], ["a red book"])["chrf"]
    assert sentence_chrf(["a red bok"], ["a red book"]) == [single]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: corpus_scores([], []), "`hypotheses` must not be empty"),
        *(
            (
                lambda scores=scores: scores(["a"], ["a", "b"]),
                "Received: 1 hypotheses and 2 references",
            )
            for scores in (corpus_scores, sentence_chrf)
        ),
        *(
            (
                lambda scores=scores, bad=bad: scores(["abc", "abd"], bad),
                "`references` must be a list",
            )
            for scores in (corpus_scores, sentence_chrf)
            for bad in ("abc", ["abc", None], ["abc", "\ud800"])
        ),
        # A table of references, which is no list of them.
        (
            lambda: corpus_scores(
                ["abc", "abd"],
                pytest.importorskip("pandas").DataFrame(
                    {"abc": ["abc", "abd"], "abd": ["a", "b"]}
                ),
            ),
            "`references` must be a list",
        ),
        *(
            (
                lambda bad=bad: corpus_scores(HYPOTHESES, bad),
                "`references`.*Received: ",
            )
            for bad in (
                [["a"], "b", ["c"]],
                [["a"], [], ["c"]],
                [["a", "b"]] * 2,
            )
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
