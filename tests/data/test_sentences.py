"""Texts of several sentences: split, and joined again."""

import pytest
import tensorflow as tf

from kerasrnn.data.sentences import join_sentences
from kerasrnn.data.sentences import split_sentences

SPLIT = {
    "Come in. Who is there?  Me!": [["Come in.", "Who is there?", "Me!"]],
    "Mr. Smith knows J. R. Doe. He left.": [
        ["Mr. Smith knows J. R. Doe.", "He left."]
    ],
    "It costs 3.5 euros, see fig. 3. e.g. here": [
        ["It costs 3.5 euros, see fig. 3. e.g. here"]
    ],
    "Er kam am 3. Mai. Es war 2024. Dann ging er.": [
        ["Er kam am 3. Mai.", "Es war 2024.", "Dann ging er."]
    ],
    "She was 25. Then she left. He said: No. So did she.": [
        ["She was 25.", "Then she left.", "He said: No.", "So did she."]
    ],
    "1. Am 31. Dez. und im 19. Jahrhundert. Sie war 25. Sie ging.\n 2. Wir": [
        ["1. Am 31. Dez. und im 19. Jahrhundert.", "Sie war 25.", "Sie ging."],
        ["2. Wir"],
    ],
    "There are two reasons. 1. It is cheap. 2. It is good.": [
        ["There are two reasons. 1. It is cheap. 2. It is good."]
    ],
    "Im 2. Weltkrieg starb er. Er wohnt im 3. Stock. I am 25. You are 9.": [
        ["Im 2. Weltkrieg starb er.", "Er wohnt im 3. Stock.", "I am 25."]
        + ["You are 9."]
    ],
    "See vol. 2. Then go. The answer: 42. The end. Throw the die 3. Go.": [
        ["See vol. 2.", "Then go.", "The answer: 42.", "The end."]
        + ["Throw the die 3.", "Go."]
    ],
    "Den 3. mai kom hun. Это им. Она ушла.": [
        ["Den 3. mai kom hun.", "Это им.", "Она ушла."]
    ],
    "z.B. Haus, z. B. Hof, d.h. 5 Mio. Euro. Dr. J.-P. Roy kam.": [
        ["z.B. Haus, z. B. Hof, d.h. 5 Mio. Euro.", "Dr. J.-P. Roy kam."]
    ],
    "The U.S. Army, e.g. Ph.D. Smith. Yes (see p. 5.) No. So (by J. R.) Ha": [
        ["The U.S. Army, e.g. Ph.D. Smith.", "Yes (see p. 5.)"]
        + ["No.", "So (by J. R.)", "Ha"]
    ],
    "This is plan b. Then 3.5 Mio.": [["This is plan b.", "Then 3.5 Mio."]],
    "It is 10:30. It costs 3.50. Wait... Now": [
        ["It is 10:30.", "It costs 3.50.", "Wait...", "Now"]
    ],
    "डॉ. राम का घर. वह है. वह": [["डॉ. राम का घर.", "वह है.", "वह"]],
    'He said "Go." (Then he left.) ok': [
        ['He said "Go."', "(Then he left.) ok"]
    ],
    "यह घर है। वह कौन है? है॥ वह": [["यह घर है।", "वह कौन है?", "है॥", "वह"]],
    "你好。再见！": [["你好。", "再见！"]],
    "See Fig. 3. A\rb": [["See Fig. 3.", "A"], ["b"]],
    "a title\r\n\n Two lines. And more\n": [
        ["a title"],
        [],
        ["Two lines.", "And more"],
        [],
    ],
    "Go.\u200b \ufeffCome.\n\u200b": [["Go.", "Come."], []],
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
