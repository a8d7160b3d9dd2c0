import numpy as np
import pytest

from kerasrnn import data
from kerasrnn.tokenizers import WordTokenizer

TOKENIZER = WordTokenizer(["<pad>", "<unk>", "<s>", "</s>", "red", "book"])


@pytest.mark.parametrize(
    "batches",
    [
        data.text_windows([4, 5, 4, 5], 2, 1),
        data.translation_batches([("red", "book")], TOKENIZER, TOKENIZER, 1),
        data.labelled_batches(["red"], [1], TOKENIZER, 1),
        data.piano_roll_batches([np.eye(88)], 1),
    ],
    ids=["text", "translation", "labelled", "piano_rolls"],
)
def test_no_thread_tunes_our_batches_which_an_iterator_would_wait_for(batches):
    assert batches.options().autotune.enabled is False
    assert batches.repeat().prefetch(2).options().autotune.enabled is False
