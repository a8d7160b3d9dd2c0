import nmt_hindi
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.training import read_settings
from tests.helpers import one_now
from tests.recipes import brief
from tests.recipes.brief import untranslated  # noqa: F401  a fixture

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


@pytest.mark.slow
@pytest.mark.usefixtures("untranslated")
def test_it_keeps_the_text_of_your_own_corpus(corpus, tmp_path, capsys):
    output = tmp_path / "out"
    with pytest.warns(UserWarning, match="line 31"):
        brief.run(
            nmt_hindi,
            *(*brief.SMALL, *brief.PLAIN, "--corpus", corpus),
            *("--vocabulary-size", 80, "--limit", 40, "--epochs", 1),
            *("--output", output),
        )
    assert "To train on: 36 pairs." in capsys.readouterr().out
    found = brief.card(output)
    assert found["settings"]["preset"] == "own"
    assert not found["settings"]["lowercase"]
    assert len(found["samples"]) == 4
    assert all(source.endswith("!") for source, *_ in found["samples"])
    assert len(found["history"]["loss"]) == 1


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
    assert settings(*given, "--preset", "bpe").preset == "bpe"


def test_the_built_in_phrasebook_needs_no_file():
    train, dev, _ = nmt_hindi.load_pairs(settings("--limit", 200))
    assert (len(train), len(dev)) == (180, 20)
    assert not {source for source, _ in train} & {source for source, _ in dev}


@pytest.mark.filterwarnings("ignore:.*malformed")
@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_held_out_texts_are_not_trained_on(corpus, tmp_path):
    train, dev, _ = nmt_hindi.load_pairs(settings("--corpus", corpus))
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


def test_the_report_has_one_corpus_and_one_model(capsys):
    one = settings("--preset", "guha", "--corpus", "phrasebook")
    assert len(nmt_hindi.load_pairs(one)[0]) == 100
    more = settings("--preset", "guha", "--corpus", "phrasebook+guha")
    with pytest.raises(ValueError, match="one corpus. .*phrasebook.guha"):
        nmt_hindi.load_pairs(more)
    with pytest.raises(SystemExit):
        settings("--preset", "guha", "--depth", 2, "--strip-punctuation")
    assert capsys.readouterr().err.endswith("Received: --depth\n")


def test_another_model_is_tuned_with_pairs_held_out(tmp_path):
    saved = tmp_path / "translator.keras"
    saved.touch()
    flags = "--preset", "guha", "--corpus", "phrasebook", "--dev-size", 7
    tuned = settings(*flags, "--from", saved)
    train, dev, _ = nmt_hindi.load_pairs(tuned)
    assert (len(train), len(dev)) == (93, 7)


@pytest.mark.filterwarnings("ignore:.*malformed")
def test_the_report_is_closed_over_the_words_of_its_corpus(corpus):
    options = settings("--preset", "guha", "--corpus", corpus, "--units", 8)
    assert (options.limit, options.batch_size, options.epochs) == (100, 64, 100)
    train, dev, _ = nmt_hindi.load_pairs(options)
    assert train == dev == PAIRS
    source, target = nmt_hindi.guha_tokenizers(options, train)
    assert source.unknown_id == source.pad_id == -1
    assert target.vocabulary[:2] == ("<s>", "</s>")
    assert target.special_ids == {"start_id": 0, "end_id": 1, "pad_id": -1}
    for tokenizer, texts in zip(
        (source, target), zip(*train, strict=True), strict=True
    ):
        found = tokenizer.tokenize(texts).row_lengths().numpy().tolist()
        assert found == [len(text.split()) for text in texts]


class Sized:
    """Stands for a tokenizer where nothing is tokenized."""

    def __init__(self, size, pad_id=0):
        self.vocabulary_size, self.pad_id = size, pad_id


def test_the_model_of_the_report_has_its_parameters():
    """With its 110 English and 158 Hindi words."""
    model = nmt_hindi.guha_model(
        settings("--preset", "guha"), Sized(110, -1), Sized(158, -1)
    )
    assert model.encoder.count_params() == 3_963_392
    assert model.decoder.count_params() == 9_383_583


@pytest.mark.parametrize(
    "preset",
    one_now([x for x in nmt_hindi.PRESETS if x not in ("own", "guha")])
    + ["guha"],
)
def test_every_preset_is_a_model_that_learns(preset):
    options = settings("--preset", preset, "--units", 8)
    build = nmt_hindi.translate.build_model
    if options.model == "guha":
        build = nmt_hindi.guha_model
    model = build(options, Sized(9), Sized(7))
    ids = np.array([[4, 5, 2, 0], [6, 2, 0, 0]])
    with tf.GradientTape() as tape:
        logits = model({"source": ids, "target": ids}, training=True)
        loss = tf.reduce_mean(logits**2)
    assert logits.shape == (2, 4, 7)
    weights = model.trainable_weights
    gradients = tape.gradient(loss, [weight.value for weight in weights])
    missing = zip(weights, gradients, strict=True)
    assert [w.path for w, gradient in missing if gradient is None] == []


def changes(name, other):
    """The settings in which a preset differs from another."""
    first, second = (vars(settings("--preset", x)) for x in (name, other))
    return {key for key in first if first[key] != second[key]} - {"preset"}


def test_ablations_change_what_they_are_named_for():
    assert changes("one-way", "best") == {"bidirectional"}
    assert changes("no-lexical", "best") == {"lexical"}
    assert changes("no-lexicon", "best") == {"lexicon"}
    assert changes("subwords", "best") == {"tokenizer", "vocabulary_size"}
    assert changes("bpe", "subwords") == {"tokenizer"}


def test_no_english_word_is_copied_into_hindi():
    pairs = [("a b", "क ख"), ("b a", "ख क")] * 2
    for preset, unknown in (("best", True), ("guha", False)):
        options = settings("--preset", preset, "--units", 8)
        build = nmt_hindi.translate.build_tokenizers
        build = build if unknown else nmt_hindi.guha_tokenizers
        both = build(options, pairs)
        model = nmt_hindi.translate.build_model(options, *both)
        parts = options, model, *both, pairs
        found = nmt_hindi.translate.build_translator(*parts)
        assert not found.copy_unknown
        forbidden = (both[1].unknown_id,) if unknown else ()
        assert found.search.forbidden_ids == forbidden


def test_a_corpus_that_is_missing_is_named(tmp_path):
    missing = tmp_path / "missing.tsv"
    with pytest.raises(FileNotFoundError, match="'missing.tsv' is missing"):
        brief.run(nmt_hindi, "--corpus", missing, "--output", tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="'hin.txt'.*How to get it"):
        nmt_hindi.load_pairs(
            settings("--corpus", "tatoeba", "--data-dir", tmp_path)
        )


def test_a_corpus_without_a_usable_line(tmp_path):
    path = tmp_path / "corpus.tsv"
    path.write_bytes(b"no tab\n\n\xff\tx\n")
    with pytest.raises(ValueError, match="no usable line"):
        nmt_hindi.load_pairs(settings("--corpus", path))


def test_flags_of_another_recipe_are_refused(capsys):
    for wrong in (("--train", "a.tsv"), ("--preset", "bset")):
        with pytest.raises(SystemExit) as error:
            brief.run(nmt_hindi, *wrong)
        assert error.value.code == 2
    captured = capsys.readouterr()
    assert "--train" in captured.out + captured.err
