import pytest

from kerasrnn.tokenizers import WordTokenizer
from tests.pipelines import small

MANY = WordTokenizer.train([" ".join(map(str, range(100)))])


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
