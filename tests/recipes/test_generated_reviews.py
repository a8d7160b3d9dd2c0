import collections
import re

import pytest
from corpora.generated_reviews import generated_reviews
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from kerasrnn.data.labelled_corpus import LabelledTexts


@pytest.mark.parametrize(("count", "positive"), [(1, 1), (7, 4), (500, 250)])
def test_half_are_positive(count, positive):
    reviews = generated_reviews(count, seed=1)
    assert isinstance(reviews, LabelledTexts)
    assert sorted(reviews.labels) == [0] * (count - positive) + [1] * positive
    assert reviews == generated_reviews(count, seed=1)
    assert reviews != generated_reviews(count, seed=2)
    assert len(set(reviews.texts)) == count


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


def test_the_order_of_words_matters():
    texts, labels = generated_reviews()
    scores = []
    for longest in 1, 3:
        ngrams = {"ngram_range": (1, longest), "token_pattern": r"[\w']+"}
        vectorizer = CountVectorizer(**ngrams)
        counts = vectorizer.fit_transform(texts)
        model = LogisticRegression(max_iter=1000)
        model.fit(counts[:1500], labels[:1500])
        scores.append(model.score(counts[1500:], labels[1500:]))
    assert 0.6 < scores[0] < 0.85 and scores[1] > scores[0] + 0.07
