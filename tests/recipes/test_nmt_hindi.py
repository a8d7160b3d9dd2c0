import nmt_hindi
import pytest

from kerasrnn.data import CorpusWarning
from kerasrnn.training import read_settings

SUBJECTS = {"i": "मैं", "we": "हम", "they": "वे", "you": "आप", "he": "वह"}
PLACES = {"home": "घर", "school": "स्कूल", "market": "बाज़ार", "city": "शहर"}
VERBS = {"go to": "जाना", "see the": "देखना", "know the": "जानना"}
PAIRS = [
    (f"{subject} {verb} {place}!", f"{hindi} {where} {what} है।")
    for subject, hindi in SUBJECTS.items()
    for place, where in PLACES.items()
    for verb, what in VERBS.items()
]


def settings(*arguments):
    return read_settings(
        nmt_hindi.PRESETS, nmt_hindi.preset_for, args=map(str, arguments)
    )


@pytest.fixture
def corpus(tmp_path):
    """Sixty pairs, and a line that is not UTF-8."""
    lines = ["\t".join(pair).encode() for pair in PAIRS]
    path = tmp_path / "corpus.tsv"
    path.write_bytes(b"\n".join([*lines[:30], b"caf\xe9\t\xff", *lines[30:]]))
    return path


@pytest.mark.parametrize(
    "corpus, preset",
    [
        (None, "phrasebook"),
        ("phrasebook", "phrasebook"),
        ("guha", "best"),
        ("guha+phrasebook", "best"),
        ("mine.tsv", "own"),
    ],
)
def test_the_corpus_chooses_a_preset(corpus, preset):
    given = () if corpus is None else ("--corpus", corpus)
    assert settings(*given).preset == preset
    assert settings(*given, "--preset", "all").preset == "all"


def test_the_built_in_phrasebook_needs_no_file():
    train, dev, _ = nmt_hindi.load_pairs(settings("--limit", 200))
    assert (len(train), len(dev)) == (180, 20)
    assert not {source for source, _ in train} & {source for source, _ in dev}


@pytest.mark.filterwarnings("ignore:.*malformed")
@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_held_out_texts_are_not_trained_on(corpus, tmp_path):
    own = settings("--corpus", corpus)
    assert own.preset == "own" and not own.lowercase
    with pytest.warns(CorpusWarning, match="line 31"):
        train, dev, _ = nmt_hindi.load_pairs(own)
    assert (len(train), len(dev)) == (54, 6)
    assert sorted(train + dev) == sorted(PAIRS)
    more, new = tmp_path / "more.tsv", ("who knows", "किसे पता")
    rows = [new, (dev[0][0].upper(), "फिर")]
    more.write_text("\n".join(map("\t".join, rows)), "utf-8")
    joined = settings("--corpus", f"{corpus}+{more}")
    assert nmt_hindi.load_pairs(joined) == ([*train, new], dev, {})


@pytest.mark.filterwarnings("ignore:.*malformed")
@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_pairs_of_several_corpora_are_held_out(corpus, tmp_path):
    more = tmp_path / "more.tsv"
    pairs = [(f"{subject} is {n}", f"{n}") for subject in "ab" for n in PLACES]
    # Also in the other corpus, where it may be held out.
    pairs += [(source.upper(), target) for source, target in PAIRS[::6]]
    more.write_text("\n".join(map("\t".join, pairs)), "utf-8")
    joined = settings("--corpus", f"{corpus}+{more}", "--dev-corpora", 2)
    train, dev, parts = nmt_hindi.load_pairs(joined)
    first, second = parts[str(corpus)], parts[str(more)]
    assert (len(first), len(second)) == (6, 1)
    assert first == nmt_hindi.load_pairs(settings("--corpus", corpus))[1]
    assert sorted(dev) == sorted(first + second)
    assert dev != first + second
    held_out = {source.lower() for source, _ in dev}
    assert not held_out & {source.lower() for source, _ in train}
    assert len(train) + len(dev) < len(PAIRS) + len(pairs)


def test_pairs_are_held_out_of_corpora_that_are_there():
    with pytest.raises(ValueError, match="at most .* 1. .*dev_corpora=2"):
        nmt_hindi.load_pairs(settings("--dev-corpora", 2, "--limit", 20))


def test_no_english_word_is_copied_into_hindi():
    pairs = [("a b", "क ख"), ("b a", "ख क")] * 2
    options = settings("--preset", "best", "--units", 8)
    both = nmt_hindi.translate.build_tokenizers(options, pairs)
    model = nmt_hindi.translate.build_model(options, *both)
    parts = options, model, *both, pairs
    found = nmt_hindi.translate.build_translator(*parts)
    assert not found.copy_unknown
    assert [*found.search.forbidden_ids] == [both[1].unknown_id]
