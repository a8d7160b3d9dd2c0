import nmt_vietnamese
import pytest

from kerasrnn.training import read_settings
from tests import helpers
from tests.recipes import brief
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture


def settings(*arguments):
    return read_settings(nmt_vietnamese.PRESETS, args=map(str, arguments))


@pytest.fixture
def corpus(tmp_path):
    return brief.write_vietnamese_corpus(tmp_path / "en_vi")


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_a_run_is_as_its_settings_say(corpus, tmp_path, unlearnt):  # noqa: F811
    flags = "--preset", "best", "--corpus", corpus / "train.en", "--units", 4
    flags += "--epochs", 2500, "--batch-size", 4, "--output", tmp_path
    brief.run(nmt_vietnamese, *flags, "--dtype", "float32")
    (translator, (train, dev), more), (*_, facts) = unlearnt
    # Those of the validation set, and the long one, are left out.
    assert (len(train), len(dev), more["average"]) == (7, 2, 3)
    assert facts == {"languages": ("English", "Vietnamese")}
    assert translator.target_tokenizer.separate_punctuation
    # Twice as much as other translators have at most.
    assert helpers.schedule(translator.model.optimizer)[:2] == (5000, 400)


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_held_out_texts_are_not_trained_on(corpus):
    options = settings("--corpus", corpus / "train.en")
    assert options.preset == "own"
    train, dev, _ = nmt_vietnamese.load_pairs(options)
    assert [source for source, _ in dev] == [
        "the cat sleeps .",
        "a dog isn &apos;t here .",
    ]
    assert not {source for source, _ in train} & {source for source, _ in dev}
    held_out, vietnamese = train[0]
    (corpus / "tst2013.en").write_text(held_out + "\n", "utf-8")
    (corpus / "tst2013.vi").write_text(vietnamese + "\n", "utf-8")
    fewer, same, _ = nmt_vietnamese.load_pairs(options)
    assert same == dev
    assert fewer == [pair for pair in train if pair[0] != held_out] != train
    few = settings("--corpus", corpus / "train.en", "--limit", 3)
    assert [len(x) for x in nmt_vietnamese.load_pairs(few)] == [1, 2, 0]


def test_the_built_in_phrasebook_needs_no_file():
    options = settings("--limit", 200)
    assert options.preset == options.corpus == "phrasebook"
    train, dev, _ = nmt_vietnamese.load_pairs(options)
    assert (len(train), len(dev)) == (180, 20)
    assert not {source for source, _ in train} & {source for source, _ in dev}
