import random

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import convert_tags
from kerasrnn.data import phrases_of
from kerasrnn.data.report import CorpusWarning
from kerasrnn.pipelines import Span
from kerasrnn.pipelines import TextTagger
from kerasrnn.pipelines.text_tagger import joined_phrases
from kerasrnn.tokenizers.invisible import visible
from tests.pipelines import small


@pytest.fixture(scope="module")
def tagger():
    keras.utils.set_random_seed(0)
    tagger = small.tagger()
    tagger.compile(keras.optimizers.Adam(0.05))
    tagger.fit(small.SENTENCES, epochs=15, batch_size=4, verbose=0)
    return tagger


def test_it_has_learnt(tagger):
    scores = tagger.evaluate(small.SENTENCES)
    assert scores["f1"] == scores["accuracy"] == 1
    assert scores["by_label"]["PER"]["support"] == 12
    scores = tagger.scores([["B-PER", "O"]], [["B-PER", "B-LOC"]])
    assert (scores["precision"], scores["recall"]) == (1, 0.5)
    # After an epoch, too.
    rows, logs = [*small.SENTENCES, [("Bob", "B-LOC"), ("in", "O")]], {}
    [epoch] = tagger.task().epoch_scores(rows)
    epoch.on_epoch_end(0, logs)
    scores = tagger.evaluate(rows)
    assert 0 < scores["f1"] < 1
    for name in "f1", "precision", "accuracy":
        assert logs[f"val_{name}"] == scores[name]


def test_sentences_may_be_in_another_scheme(tagger):
    other = [
        [*zip(words, convert_tags(tags, "BIOES"), strict=True)]
        for words, tags in (zip(*row, strict=True) for row in small.SENTENCES)
    ]
    assert other != small.SENTENCES
    assert tagger.evaluate(other) == tagger.evaluate(small.SENTENCES)
    for (_, tags), (_, expected) in zip(
        tagger.batches(other), tagger.batches(small.SENTENCES), strict=True
    ):
        np.testing.assert_array_equal(tags, expected)


def test_words_may_be_those_of_a_tensor(tagger):
    other = [
        [(word.encode(), tag) for word, tag in row] for row in small.SENTENCES
    ]
    assert tagger.evaluate(other) == tagger.evaluate(small.SENTENCES)
    odd, text = ([[(word, "O")]] for word in (b"\xff", "\ufffd"))
    assert tagger.evaluate(odd) == tagger.evaluate(text)


def test_spans_are_positions_of_characters(tagger):
    text = "😀 दिल्‍ली and Bob, 👩‍👩‍👧 in Rome."
    (found,) = tagger.tag([text])
    assert ("दिल्‍ली", "LOC") in {(span.text, span.label) for span in found}
    for span in found:
        assert isinstance(span, Span)
        assert text[span.start : span.end] == span.text
        assert 0 < span.score <= 1
    *nothing, again = tagger.tag(["", "  ", "\u200b\ufeff", text])
    assert nothing == [[], [], []]
    assert [span[:3] for span in again] == [span[:3] for span in found]
    # Invisible characters change nothing but the positions.
    other = "\ufeff😀\u200b दिल्‍\u00adली and\u200e B\u200bob, 👩‍👩‍👧 in Rome."
    (moved,) = tagger.tag([other])
    seen = [visible([span.text]).numpy()[0].decode() for span in moved]
    assert seen == [span.text for span in found]
    for span, expected in zip(moved, found, strict=True):
        assert other[span.start : span.end] == span.text
        assert span.label == expected.label
        assert span.score == pytest.approx(expected.score)
    # In bytes, the positions would be others.
    assert tagger.tag([text.encode()]) == [found]
    odd = b"\xff\xe0\xa4 Bob"
    assert tagger.tag([odd]) == tagger.tag([odd.decode(errors="replace")])


def test_text_without_spaces_is_tagged_by_its_characters():
    keras.utils.set_random_seed(0)
    characters = {"北": "B-LOC", "京": "I-LOC"}
    sentences = [
        [(c, characters.get(c, "O")) for c in text]
        for text in ("明天到北京玩", "北京很大。", "我在这里玩", "他到这里。")
    ]
    tagger = small.tagger(more=[c for row in sentences for c, _ in row])
    tagger.compile(keras.optimizers.Adam(0.05))
    tagger.fit(sentences, epochs=30, batch_size=4, verbose=0)
    (span,) = tagger.tag(["明天到北京玩"])[0]
    assert span[:3] == (3, 5, "LOC") and span.text == "北京"


@pytest.mark.parametrize(
    "words, example",
    [
        ("I do n't know", '"n\'t"'),
        ("code in C++ now", "'C\\+\\+'"),
        ("on 1996-08-22 they", "'1996-08-22'"),
        ("我 喜欢 看", "'喜欢'"),
    ],
)
def test_words_that_raw_text_is_not_split_into_are_named(words, example):
    sentence = [(word, "O") for word in words.split()]
    same = [(word, "O") for word in "Anna 's here ; 明 天".split()]
    tagger = small.tagger()
    message = f"Received: .* 2 of 12 sentences, such as {example}$"
    with pytest.warns(CorpusWarning, match=message):
        tagger.batches(2 * [sentence] + 10 * [same], seed=0)
    tagger.batches([sentence] + 9 * [same], seed=0)
    tagger.batches([sentence])


def test_given_words_are_not_split(tagger):
    words = [["Anna", "Maria", "lives"], [], ["Bob"]]
    expected = [["B-PER", "I-PER", "O"], [], ["B-PER"]]
    assert tagger.tag_tokens(words) == expected
    assert tagger.tag_tokens(iter(words)) == expected
    other = [["An\u200bna", "Maria\ufeff", "lives"], [], ["\u200eBob"]]
    assert tagger.tag_tokens(other) == expected
    assert len(tagger.tag_tokens([["\u200b", "Bob"]])[0]) == 2
    found = tagger.signatures["tag_tokens"](
        tf.constant([["Anna", "Maria", ""], ["", "Bob", ""]])
    )
    assert found["span_starts"].numpy()[0, 0] == 0
    assert found["span_ends"].numpy()[0, 0] == 2
    # Only at the end of a sentence is "" padding.
    assert found["tags"].shape == (2, 2)
    assert found["tags"].numpy()[1, 0] != b""
    # The empty word is not in the vocabulary, and neither is padding.
    assert found["known"].numpy().tolist() == [[True, True], [False, True]]
    text = tf.constant(["Anna ANNA Zyx", "Bob"])
    found = tagger.signatures["serving_default"](text)["known"].numpy()
    assert found.tolist() == [[True, True, False], [True, False, False]]


def test_ids_are_tagged_as_their_words_are(tagger):
    words = tf.ragged.constant([["Anna", "Maria", "lives"], ["Bob"]])
    ids = {name: x.to_tensor(-1) for name, x in tagger.ids(words).items()}
    tag_ids = tagger.signatures["tag_ids"]
    found = tag_ids(**ids)
    expected = tagger.signatures["tag_tokens"](words.to_tensor(""))
    names = np.array([*tagger.tags, ""])[found["tags"]]
    assert names.tolist() == expected["tags"].numpy().astype(str).tolist()
    for wrong, message in (
        ({"words": ids["words"][:, :2]}, "characters for each word"),
        ({"words": ids["words"] + 99}, "Ids must be from 0 to"),
        ({"characters": ids["characters"][:, :, ::-1]}, "on the right"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tag_ids(**ids | wrong)


@pytest.mark.slow
def test_any_text_is_tagged(tagger):
    rng = random.Random(0)
    letters = "ab A.,'-@#\x00\u200d\u0301😀🏽\u093fक1\n’"
    texts = [
        "".join(rng.choice(letters) for _ in range(rng.randint(0, 25)))
        for _ in range(3000)
    ]
    for text, spans in zip(texts, tagger.tag(texts), strict=True):
        for span in spans:
            assert text[span.start : span.end] == span.text != ""
    assert len(tagger.tag(["Bob " * 3000])[0]) > 1000


def test_a_soft_hyphen_makes_no_other_word():
    tagger = small.tagger()
    words = tf.ragged.constant([["An\u00adna", "Anna"]])
    for ids in tagger.ids(words).values():
        first, second = ids[0].numpy().tolist()
        assert first == second


def test_long_words_keep_their_ends():
    tagger = small.tagger()
    tagger.max_letters = 5
    words = tf.ragged.constant([["abcdefgh", "ab"]])
    ids = tagger.ids(words)["characters"]
    letters = tagger.characters.tokenize(["abfgh", "ab"])
    assert ids[0].to_list() == letters.to_list()


@pytest.mark.slow
def test_tags_of_single_words():
    tagger = small.tagger(None, ["NOUN", "VERB"])
    scores = tagger.evaluate([[("Anna", "NOUN"), ("lives", "VERB")]])
    assert set(scores) == {"accuracy"}
    spans = tagger.tag(["Anna lives"])[0]
    assert [span.text for span in spans] == ["Anna", "lives"]


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "BIOES", "BILOU", None])
def test_phrases_in_a_graph_are_those_in_python(scheme):
    prefixes = {"BIOES": "BIES", "BILOU": "BILU"}.get(scheme, "BI")
    names = ["O", *(f"{x}-{kind}" for x in prefixes for kind in "XY")]
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 7, 200)
    tags = [rng.integers(0, len(names), n).tolist() for n in lengths]
    scores = [rng.random(n).tolist() for n in lengths]
    ragged = tf.ragged.constant(tags, tf.int32, ragged_rank=1)
    positions = tf.ragged.range(tf.cast(ragged.row_lengths(), tf.int32))
    positions = positions.with_row_splits_dtype(tf.int64)
    found = joined_phrases(
        names,
        scheme,
        ragged,
        tf.ragged.constant(scores, tf.float32, ragged_rank=1),
        positions,
        positions + 1,
    )
    columns = [
        found[name].numpy() for name in ("starts", "ends", "labels", "scores")
    ]
    for row, (numbers, shares) in enumerate(zip(tags, scores, strict=True)):
        expected = phrases_of([names[number] for number in numbers])
        if scheme is None:  # Every tag is that of a phrase of one word.
            expected = [(i, i + 1, names[n]) for i, n in enumerate(numbers)]
        starts, ends, labels, least = (column[row] for column in columns)
        count = np.sum(starts >= 0)
        assert count == len(expected) == np.sum(ends >= 0)
        for place, (start, end, label) in enumerate(expected):
            assert (starts[place], ends[place]) == (start, end)
            assert labels[place].decode() == label
            assert least[place] == pytest.approx(min(shares[start:end]))


def again(tagger, tags=small.TAGS, **options):
    """The tagger, made anew of its parts."""
    return TextTagger(tagger.model, tagger.words, tags, **options)


ROWS = small.SENTENCES
FORM = r'such as .*"B-PER".*Received: .*Anna'
NO_WORDS = "lists of non-empty words.*'Anna lives'"
WRONG = {
    "a tag": (lambda x: x.batches([[("dog", "B-DOG")]]), "'B-DOG'"),
    "no words": (lambda x: x.batches([[], [("dog", "O")]]), "1 of them empty"),
    "no tags": (lambda x: x.batches([[("dog", "dog")]]), "Received: 'dog'"),
    "a path": (
        lambda x: x.evaluate("dev.conll"),
        "`read_tagged_words`.*'dev.conll'",
    ),
    **{
        f"{words} to tag": (lambda x, y=words: x.tag_tokens(y), said)
        for words, said in (
            (["Anna lives"], NO_WORDS),
            ("Anna lives", NO_WORDS),
            ([["Anna lives", ""]], NO_WORDS),
            (None, "Received: .*None"),
            ([None], "Received: .*None"),
            ([[None]], "Received: .*None"),
        )
    },
    "a batch": (lambda x: x.tag_tokens([["Anna"]], batch_size=0), "size=0"),
    "too few tags": (
        lambda x: again(x, ["O"], characters=x.characters),
        "`tags` must have 5",
    ),
    "no characters": (again, "CharacterReader"),
    **{
        f"{rows} to learn": (lambda x, y=rows: x.fit(y), FORM)
        for rows in (
            [(["Anna", "sings"], ["B-X", "O"])],
            [(["Anna", "sings", "."], ["B-X", "O", "O"])],
            [{"tokens": ["Anna"], "ner_tags": ["B-X"]}],
            {"tokens": [["Anna"]], "ner_tags": [["B-X"]]},
            [[("Anna", "NNP", "B-X")]],
            [("Anna", "B-X"), ("sings", "O")],
            ["Anna sings"],
        )
    },
    "few weights": (
        lambda x: x.fit(ROWS, sample_weight=[1.0]),
        "each sentence. .* 12 sentences",
    ),
    "weights with a CRF": (
        lambda x: x.fit(ROWS, class_weight={"O": 0.5}),
        "with a `CRF`.*class_weight={'O'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call(small.tagger())


@pytest.mark.parametrize(
    "scheme, tags, message",
    [
        (
            "IOB2",
            [*small.TAGS[::-1]],
            "in the same order. Expected: .'IOB2', 'O'",
        ),
        ("BIOES", small.TAGS, "Received: .'BIOES', 'O'"),
        (None, small.TAGS, "Received: .None, 'O'"),
        ("BIO", small.TAGS, "'BILOU'. Received: scheme='BIO'"),
        ("IOB2", ["O", "PER", *small.TAGS[2:]], "Received: 'PER'"),
        ("IOB2", [*small.TAGS[:-1], "E-PER"], "B or I .* Received: 'E-PER'"),
        ("IOB2", ["O", *small.TAGS[:-1]], "distinct names"),
    ],
)
def test_tags_are_those_of_the_scheme_and_the_crf(scheme, tags, message):
    tagger = small.tagger()
    with pytest.raises(ValueError, match=message):
        TextTagger(tagger.model, tagger.words, tags, tagger.characters, scheme)


def test_words_are_weighed_by_their_tags():
    rows = small.SENTENCES[:2]
    tagger = small.tagger(scheme=None)
    weights = {"O": 0.5, 1: 3.0}
    for given, expected in (
        ({"sample_weight": [2, 1]}, [1, 2]),
        (
            {"class_weight": weights},
            [[1, 0.5, 3, 0.5, 0, 0], [3, 1, 0.5, 0.5, 1, 0.5]],
        ),
        (
            {"class_weight": weights, "sample_weight": [2, 1]},
            [[1, 0.5, 3, 0.5, 0, 0], [6, 2, 1, 1, 2, 1]],
        ),
        # Five, two, two and one of ten words.
        (
            {"class_weight": "balanced"},
            [[1.25, 0.5, 1.25, 0.5, 0, 0], [1.25, 2.5, 0.5, 0.5, 1.25, 0.5]],
        ),
    ):
        ((_, tags, found),) = tagger.batches(rows, **given)
        is_pad = (tags.numpy() == -1).tolist()
        assert is_pad == [
            [*4 * [False], True, True],
            6 * [False],
        ]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme, given",
    [
        ("IOB2", {"sample_weight": np.zeros(12)}),
        (None, {"sample_weight": np.zeros(12)}),
        (None, {"class_weight": dict.fromkeys(small.TAGS, 0.0)}),
    ],
)
def test_a_sentence_or_a_tag_without_weight_has_no_loss(scheme, given):
    tagger = small.tagger(scheme)
    history = tagger.fit(small.SENTENCES, verbose=0, **given).history
    assert history["loss"] == [0.0]
    # Words are counted all the same.
    assert "token_accuracy" in history


@pytest.mark.parametrize(
    "weights, message",
    [
        ({"B-X": 1.0}, r"must be tags, among \('O', "),
        ({7: 1.0}, r"must be tags, among \('O', "),
        ({"O": 1.0, 0: 2.0}, "a tag twice"),
    ],
)
def test_weights_are_those_of_tags(weights, message):
    with pytest.raises(ValueError, match=message):
        small.tagger(scheme=None).fit(ROWS, class_weight=weights)
