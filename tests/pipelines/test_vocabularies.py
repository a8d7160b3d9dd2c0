import pytest

from kerasrnn.pipelines.vocabularies import vocabulary_facts
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.training import fingerprint
from tests.pipelines import small

MANY = WordTokenizer.train([" ".join(map(str, range(100)))])


def test_equal_facts_are_those_of_equal_ids():
    words = [*SPECIALS, "red", "blue"]
    pieces = SentencePieceTokenizer.train(["red blue", "blue bed"], 16)
    kinds = [
        [WordTokenizer(words), WordTokenizer(words, name="other")],
        # Renumbered, read in another way, or of another kind.
        [WordTokenizer([*words[:4], "blue", "red"])],
        [WordTokenizer(words, lowercase=False)],
        [CharacterTokenizer(words)],
        [pieces, SentencePieceTokenizer(pieces.proto)],
    ]
    facts = [{fingerprint(vocabulary_facts(x)) for x in kind} for kind in kinds]
    assert [len(same) for same in facts] == [1] * 5
    assert len(set().union(*facts)) == 5


@pytest.mark.parametrize(
    "make, name",
    [
        (small.translator, "source_tokenizer"),
        (small.translator, "target_tokenizer"),
        (small.labeller, "tokenizer"),
        (small.language, "tokenizer"),
        (small.tagger, "words"),
        (small.tagger, "characters"),
    ],
)
def test_a_model_knows_all_ids_of_its_tokenizers(make, name):
    pipeline = make()
    config = {**pipeline.get_config(), name: MANY}
    with pytest.raises(ValueError, match="at most [0-9]+.*Received: 104 tok"):
        pipeline.from_config(config)


@pytest.mark.parametrize(
    "make, name",
    [
        (small.translator, "max_length"),
        (small.language, "max_length"),
        (small.language, "window"),
        (small.tagger, "max_letters"),
    ],
)
def test_a_pipeline_reads_something(make, name):
    pipeline = make()
    config = {**pipeline.get_config(), name: 0}
    with pytest.raises(ValueError, match=f"Received: {name}=0"):
        pipeline.from_config(config)
