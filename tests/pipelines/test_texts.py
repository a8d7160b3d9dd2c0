import pandas
import pytest

from kerasrnn.pipelines.texts import indices_by_length
from kerasrnn.pipelines.texts import pair_list
from kerasrnn.pipelines.texts import text_list
from tests.pipelines import small


@pytest.mark.parametrize(
    "given, words",
    [
        ("a house", "Received: 'a house'"),
        (None, "Received: None"),
        (["a", None], "Received: None in it"),
        (["a", "\ud800"], r"Received: '\\ud800' in it"),
        # Iterated over, they would give keys, columns, or no order.
        ({"text": "a house"}, "Received: {'text'"),
        ({"a house"}, "Received: {'a house'}"),
        (pandas.DataFrame({"text": ["a house"]}), "Received: .*text"),
    ],
)
def test_not_a_list_of_texts(given, words):
    with pytest.raises(ValueError, match=words):
        text_list(given)


@pytest.fixture(scope="module")
def translator():
    return small.translator()


@pytest.mark.parametrize(
    "method", ["translate", "translate_sentences", "n_best", "alignments"]
)
def test_a_text_is_not_a_list(translator, method):
    with pytest.raises(ValueError, match="Received: 'a house'"):
        getattr(translator, method)("a house")


def test_not_a_list_of_pairs(translator):
    for method in ("batches", "evaluate", "score", "estimate_lexicon"):
        call = getattr(translator, method)
        for given in ("a house", ["ab", "cd"], {"ab": "c"}, [("a",)], [1], 2):
            with pytest.raises(ValueError, match="list of pairs .*Received: "):
                call(given)
        with pytest.raises(ValueError, match="Received: nan in it"):
            call([("who", float("nan"))])
    with pytest.raises(ValueError, match="Received: 'ab'"):
        translator.scores("ab", "cd")
    # Checking it may not use it up.
    inputs, _ = next(iter(translator.batches(iter([("who", "Kaun")]))))
    assert len(inputs["source"]) == 1


def test_texts_of_a_column_are_read_by_their_places():
    column = pandas.Series(["b", "a"], index=[1, 0])
    assert text_list(column) == text_list(iter("ba")) == ["b", "a"]


def test_bytes_that_are_not_utf8_become_a_character():
    assert text_list([b"a\xff", "b"]) == ["a\ufffd", "b"]
    pairs = [(b"\xff", "b"), ["a", b"\xc3", "0-0"]]
    assert pair_list(pairs) == [("\ufffd", "b"), ("a", "\ufffd", "0-0")]


@pytest.mark.parametrize("batch_size", [-1, 1.5, None])
def test_a_batch_has_a_text(batch_size):
    with pytest.raises(ValueError, match=f"Received: batch_size={batch_size}"):
        next(indices_by_length(small.SOURCES, batch_size))
