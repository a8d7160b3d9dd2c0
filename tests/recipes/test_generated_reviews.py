import collections
import re

import pytest
from corpora.generated_reviews import generated_reviews
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from kerasrnn.data.labelled_corpus import LabelledTexts


@pytest.mark.parametrize(("count", "positive"), [(1, 1), (7, 4), (500, 250)])
def test_half_are_positive(count, positive):
    reviews = generated_reviews(count)
    assert isinstance(reviews, LabelledTexts)
    assert len(reviews.texts) == len(reviews.labels) == count
    assert collections.Counter(reviews.labels)[1] == positive
    assert set(reviews.labels) <= {0, 1}


def test_the_seed_decides():
    assert generated_reviews(50, seed=1) == generated_reviews(50, seed=1)
    assert generated_reviews(50, seed=1) != generated_reviews(50, seed=2)


def test_no_two_are_the_same():
    texts = generated_reviews().texts
    assert len(set(texts)) == len(texts) == 2000


def test_sentences():
    texts = generated_reviews().texts
    lengths = collections.Counter()
    for text in texts:
        sentences = re.findall(r"[A-Z][^.!]*[.!](?= |<br />|$)", text)
        left = text.replace("<br /><br />", " ")
        assert " ".join(sentences) == left
        lengths[len(sentences)] += 1
    assert lengths.keys() == {1, 2, 3, 4, 5, 6}
    assert not any(re.search(r"[{}]|  |\b[Aa] [aeiou]", t) for t in texts)
    whole = " ".join(texts)
    for part in ("<br />", " not ", " never ", ", but ", " u "):
        assert part in whole


def accuracy(longest):
    """Of logistic regression on counts of up to so many words in a row."""
    texts, labels = generated_reviews()
    vectorizer = CountVectorizer(
        ngram_range=(1, longest), token_pattern=r"[\w']+"
    )
    counts = vectorizer.fit_transform(texts[:1500])
    model = LogisticRegression(max_iter=1000).fit(counts, labels[:1500])
    test = vectorizer.transform(texts[1500:])
    return model.score(test, labels[1500:])


def test_the_order_of_words_matters():
    alone, in_a_row = accuracy(1), accuracy(3)
    assert 0.6 < alone < 0.85
    assert in_a_row > alone + 0.07
