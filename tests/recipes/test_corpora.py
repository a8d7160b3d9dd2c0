"""The corpora that recipes generate."""

import collections
import re
import unicodedata

import numpy as np
import pytest
from corpora.cadences import cadences
from corpora.generated_reviews import generated_reviews
from corpora.hindi_phrasebook import english_sentences
from corpora.hindi_phrasebook import phrasebook
from corpora.vietnamese_phrasebook import vietnamese_phrasebook
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from kerasrnn.data.labelled_corpus import LabelledTexts
from tests.recipes import brief

# Phrasebooks.

HINDI, VIETNAMESE = phrasebook(), vietnamese_phrasebook()


@pytest.mark.parametrize(
    "pairs, size, station, checksum",
    [
        (HINDI, 5598, "स्टेशन कहाँ है?", "20c0e85e7f199f96"),
        (VIETNAMESE, 4685, "Nhà ga ở đâu?", "4cdab20f81f21c77"),
    ],
    ids=["hindi", "vietnamese"],
)
def test_they_are_the_corpora_of_the_published_figures(
    pairs, size, station, checksum
):
    assert len(pairs) == len(dict(pairs)) == size
    assert dict(pairs)["Where is the station?"] == station
    assert brief.checksum(pairs) == checksum


@pytest.mark.parametrize(
    "pairs, letters, full_stop",
    [
        (HINDI, r"[\u0901-\u094d ,]+[।?!]", "।"),
        (VIETNAMESE, r"[^\W\d_][^\d_]*[.?]", "."),
    ],
    ids=["hindi", "vietnamese"],
)
def test_the_spelling_is_plain(pairs, letters, full_stop):
    for english, text in pairs:
        assert re.fullmatch(r"[A-Z][A-Za-z ,']*[.?!]", english), english
        assert re.fullmatch(letters, text), text
        assert unicodedata.is_normalized("NFC", text), text
        assert not text[0].islower(), text
        assert text[-1] == {".": full_stop}.get(english[-1], english[-1])


def test_held_out_sentences_recombine_known_words():
    for side in (0, 1):
        known = {x for pair in HINDI[500:] for x in pair[side].split()}
        seen = [x for pair in HINDI[:500] for x in pair[side].split()]
        assert sum(word not in known for word in seen) < 0.02 * len(seen)


def test_the_english_side_is_a_text(monkeypatch):
    monkeypatch.setattr("corpora.hindi_phrasebook.phrasebook", lambda: HINDI)
    lines = english_sentences(1)
    assert sorted(lines) == sorted(english_sentences(2)) != lines
    assert lines == english_sentences(1)
    assert len(lines) == len(HINDI) and "Where is the station ?" in lines


# Reviews.


@pytest.mark.parametrize(("count", "positive"), [(1, 1), (7, 4), (500, 250)])
def test_half_are_positive(count, positive):
    reviews = generated_reviews(count, seed=1)
    assert isinstance(reviews, LabelledTexts)
    assert sorted(reviews.labels) == [0] * (count - positive) + [1] * positive
    assert reviews == generated_reviews(count, seed=1)
    assert reviews != generated_reviews(count, seed=2)
    assert len(set(reviews.texts)) == count


def test_reviews_are_sentences():
    texts = generated_reviews().texts
    lengths = collections.Counter()
    for text in texts:
        sentences = re.findall(r"[A-Z][^.!]*[.!](?= |<br />|$)", text)
        left = text.replace("<br /><br />", " ")
        assert " ".join(sentences) == left
        neutral = r"I saw it .*|.* chose it\.|Trust me .*"
        assert not all(re.fullmatch(neutral, x) for x in sentences), text
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


# Music.

PIECES = cadences(200)


def voices(step):
    """The four notes of a step, from the bass upwards."""
    return np.flatnonzero(step)


def test_four_voices_sing_all_the_time():
    assert len(PIECES) == 200
    for piece in PIECES:
        assert piece.dtype == "uint8" and piece.shape[1] == 88
        assert (piece.sum(axis=1) == 4).all()
        assert 6 <= len(piece) <= 50
    assert len({piece.tobytes() for piece in PIECES}) > 190


def test_pieces_end_on_their_tonic_after_a_dominant():
    tonics = set()
    for piece in PIECES:
        dominant, tonic, last = (voices(piece[i]) for i in (-3, -2, -1))
        np.testing.assert_array_equal(tonic, last)
        assert (tonic[0] - dominant[0]) % 12 == 5
        tonics.add(tonic[0] % 12)
        # The leading note of the dominant is a semitone below the tonic.
        assert (tonic[0] - 1) % 12 in dominant % 12
    assert len(tonics) == 12


def test_seed_and_count():
    for found, expected in zip(cadences(5), PIECES, strict=False):
        np.testing.assert_array_equal(found, expected)
    assert any(
        a.shape != b.shape or (a != b).any()
        for a, b in zip(cadences(5, seed=1), PIECES, strict=False)
    )
