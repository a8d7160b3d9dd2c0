import numpy as np
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import read_parallel_corpus
from kerasrnn.data import translation_batches
from kerasrnn.data.alignments import word_attention
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer

LINES = ["a b\tA B", "", "c\t", "d e f\tD E"]
LINKS = ["0-0 1-1", "", "0-0", "0-1 2-0"]


def lines(texts):
    return "".join(f"{text}\n" for text in texts)


@pytest.mark.filterwarnings("ignore:.*were left out")
def test_alignments_stay_with_their_pairs(write):
    """Also behind a blank line and one that is left out."""
    links, corpus = (
        write(lines(LINKS), "links"),
        write(lines(LINES), "a.tsv"),
    )
    first, last = ("a b", "A B", "0-0 1-1"), ("d e f", "D E", "0-1 2-0")
    assert read_parallel_corpus(corpus, alignments=links).pairs == [first, last]
    found = read_parallel_corpus(corpus, limit=1, alignments=links)
    assert found.pairs == [first]
    sides = [
        write(
            "\n".join([(line + "\t").split("\t")[n] for line in LINES]) + "\n",
            f"a.{n}",
        )
        for n in (0, 1)
    ]
    found = read_parallel_corpus(sides, alignments=links)
    assert found.pairs == [first, last]


@pytest.mark.filterwarnings("ignore:.*were left out")
@pytest.mark.parametrize(
    "links, said",
    [
        (LINKS[:3], "Expected: 4 lines.* Received: 3 lines"),
        ([*LINKS, ""], "Expected: 4 lines.* Received: 5 lines"),
        ([*LINKS[:3], "0-1 2-2"], "Line 4.*3 source words and 2 target words"),
        (["0-0 1", *LINKS[1:]], "Line 1.*Received: '0-0 1'"),
    ],
)
def test_alignments_of_another_corpus_are_refused(links, said, write):
    links = write(lines(links), "links")
    with pytest.raises(CorpusError, match=said):
        read_parallel_corpus(write(lines(LINES), "a.tsv"), alignments=links)


def test_every_piece_of_a_word_is_aligned_with_its_words():
    pairs = [
        ("big house.", "x yy", "0-1 1-0"),
        ("house.", "yy zz x", "0-0 0-2"),
        ("big", "x"),
    ]
    texts = [[pair[side] for pair in pairs] for side in (0, 1)]
    source = WordTokenizer.train(texts[0], separate_punctuation=True)
    target = SentencePieceTokenizer.train(3 * texts[1], 11)
    pieces = [len(target.tokenize([x])[0]) for x in ("x", "yy", "zz")]
    assert max(pieces) > 1
    x, yy, zz = pieces
    [(inputs, labels)] = translation_batches(pairs, source, target, 3)
    found = {
        tuple(row): matrix
        for row, matrix in zip(
            inputs["source"].numpy(), inputs["alignment"].numpy(), strict=True
        )
    }

    def matrix_of(text):
        [ids] = source.tokenize([text]).to_list()
        return found[(*ids, source.end_id, 0, 0, 0, 0)[:4]]

    empty = [0, 0, 0, 0]
    rows = x * [[0, 0.5, 0.5, 0]] + yy * [[1, 0, 0, 0]]
    wide = labels.shape[1]
    rows += (wide - len(rows)) * [empty]
    np.testing.assert_allclose(matrix_of("big house."), rows)
    rows = yy * [[0.5, 0.5, 0, 0]] + zz * [empty] + x * [[0.5, 0.5, 0, 0]]
    np.testing.assert_allclose(
        matrix_of("house."), rows + (wide - len(rows)) * [empty]
    )
    assert not matrix_of("big").any()


def test_spaces_that_are_tokens_belong_to_no_word():
    tokenizer = CharacterTokenizer.train(["a b"])
    with pytest.raises(ValueError, match="Alignments link words"):
        translation_batches([("a b", "a b", "0-0")], tokenizer, tokenizer, 1)


def test_a_space_that_does_not_break_is_between_words(write):
    corpus = write(lines(["Ah\u00a0! vous\tAh !\x1cyou"]), "a.tsv")
    links = write(lines(["0-0 1-1 2-2"]), "links")
    pairs = read_parallel_corpus(corpus, alignments=links).pairs
    specials = {"specials": ("<pad>", "<unk>", "<s>", "</s>")}
    both = [WordTokenizer.train([text], **specials) for text in pairs[0][:2]]
    [(inputs, _)] = translation_batches(pairs, *both, batch_size=1)
    found = inputs["alignment"][0, :3, :3].numpy()
    np.testing.assert_array_equal(found, np.eye(3))


def test_a_link_that_stands_twice_counts_once(write):
    corpus, links = write("a b\tx", "a.tsv"), write("0-0 0-0 1-0", "links")
    pairs = read_parallel_corpus(corpus, alignments=links).pairs
    both = [WordTokenizer.train([text]) for text in pairs[0][:2]]
    [(inputs, _)] = translation_batches(pairs, *both, batch_size=1)
    found = inputs["alignment"][0, 0, :2].numpy()
    np.testing.assert_array_equal(found, [0.5, 0.5])


def words(tokens):
    """Words of two tokens."""
    starts = range(0, len(tokens), 2)
    return [(i, "".join(tokens[i : i + 2])) for i in starts]


def test_weights_are_summed_over_sources_and_averaged_over_targets():
    weights = np.arange(18.0).reshape(3, 6)
    found, source, target = word_attention(
        weights,
        ["re", "d", "bo", "ok", "</s>", ""],
        np.array(["una", "ble", ""], dtype=object),
        words,
        words,
    )
    assert (source, target) == (["red", "book", "</s>"], ["unable"])
    np.testing.assert_allclose(found, [[7.0, 11.0, 7.0]])


def test_padding_has_no_words():
    found, *texts = word_attention(np.ones((1, 2)), ["", ""], ["a"], 0, 0)
    assert found.shape == (1, 0) and texts == [[], []]
