"""Texts of several sentences: split, and joined again."""

import pytest
import tensorflow as tf

from kerasrnn.pipelines.translation.sentences import join_sentences
from kerasrnn.pipelines.translation.sentences import split_sentences
from tests.pipelines import small

SPLIT = {
    "Come in. Who is there?  Me!": [["Come in.", "Who is there?", "Me!"]],
    "Mr. Smith knows J. R. Doe. He left.": [
        ["Mr. Smith knows J. R. Doe.", "He left."]
    ],
    "It costs 3.5 euros, see fig. 3. e.g. here": [
        ["It costs 3.5 euros, see fig. 3. e.g. here"]
    ],
    'He said "Go." (Then he left.) ok': [
        ['He said "Go."', "(Then he left.) ok"]
    ],
    "यह घर है। वह कौन है?": [["यह घर है।", "वह कौन है?"]],
    "你好。再见！": [["你好。", "再见！"]],
    "a title\r\n\n Two lines. And more\n": [
        ["a title"],
        [],
        ["Two lines.", "And more"],
        [],
    ],
    "": [[]],
}


@pytest.mark.parametrize("text", SPLIT)
def test_a_text_is_split_into_sentences(text):
    found = split_sentences(tf.constant([text])).to_list()[0]
    assert [[x.decode() for x in line] for line in found] == SPLIT[text]


def test_what_is_joined_has_the_lines_of_the_text():
    texts = ["A b.  C d.\n\nE", "", "f"]
    joined = join_sentences(split_sentences(tf.constant(texts)))
    assert joined.numpy().tolist() == [b"A b. C d.\n\nE", b"", b"f"]
    none = tf.constant([], tf.string)
    assert join_sentences(split_sentences(none)).shape == (0,)


@pytest.mark.slow
def test_each_sentence_is_translated_by_itself():
    translator = small.translator()
    texts = ["Who knows? The red book.\nA blue house.", "", "who is there?"]
    sentences = ["Who knows?", "The red book.", "A blue house.", texts[2]]
    first, second, third, fourth = translator.translate(sentences)
    expected = [f"{first} {second}\n{third}", "", fourth]
    assert translator.translate_sentences(texts, batch_size=2) == expected
    served = translator.signatures["translate_sentences"](tf.constant(texts))
    assert [x.decode() for x in served["translation"].numpy()] == expected
    alone = translator.signatures["serving_default"](tf.constant(sentences))
    scores = alone["score"].numpy()
    expected = [scores[:3].sum(), 0, scores[3]]
    assert served["score"].numpy().tolist() == pytest.approx(expected, rel=1e-4)
    assert translator.translate_sentences([]) == []
    # In few characters, many sentences.
    many = tf.constant(["a\n" * 1025])
    with pytest.raises(tf.errors.InvalidArgumentError, match="1024 sentences"):
        translator.signatures["translate_sentences"](many)
