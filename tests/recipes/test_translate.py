import csv
import json

import numpy as np
import pytest
import tensorflow_text  # noqa: F401  registers the text operations
import translate

from kerasrnn import data
from kerasrnn import training
from kerasrnn.layers import FastLSTMCell
from kerasrnn.training import read_settings
from tests import helpers
from tests.recipes import brief
from tests.recipes.brief import PAIRS
from tests.recipes.brief import PLAIN
from tests.recipes.brief import SMALL
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture


def run(*arguments):
    brief.run(translate, *SMALL, *arguments)


def settings(*arguments):
    return read_settings(
        {"any": translate.Settings()}, "any", args=map(str, arguments)
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A CSV whose columns have names."""
    path = tmp_path_factory.mktemp("corpus") / "pairs.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["number", "English", "Deutsch"])
        rows.writerows([i, *pair] for i, pair in enumerate(PAIRS))
    return path


@pytest.fixture(scope="module")
def two_files(tmp_path_factory):
    """The same, line by line."""
    paths = [tmp_path_factory.mktemp("lines") / f"a.{x}" for x in ("en", "de")]
    for path, texts in zip(paths, zip(*PAIRS, strict=True), strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(texts) + "\n", "utf-8")
    return paths


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "unigram-word"])
def test_case_and_punctuation_are_kept_in_both_directions(table, kind):
    names = ["English", "Deutsch"]
    size = () if kind == "word" else ("--vocabulary-size", 50)
    for pairs, (source, target) in (
        (PAIRS, names),
        ([(b, a) for a, b in PAIRS], names[::-1]),
    ):
        options = settings(
            *("--train", table, "--source", source, "--target", target),
            *("--tokenizer", kind, *size),
        )
        train, dev, _ = translate.load_pairs(options)
        assert sorted(train + dev) == sorted(pairs)
        both = translate.build_tokenizers(options, pairs)
        sides = zip(*pairs, strict=True)
        for tokenizer, texts in zip(both, sides, strict=True):
            ids = tokenizer.tokenize(texts).to_tensor(tokenizer.pad_id)
            found = [x.decode() for x in tokenizer.detokenize(ids).numpy()]
            assert found == list(texts)


@pytest.mark.parametrize(
    "flags, copies",
    [
        (["word", "--shortlist", 13], True),
        (["word", "--no-copy-unknown"], False),
        (["word", "--attention", "None", "--no-lexical"], False),
        (["bpe", "--vocabulary-size", 30, "--subword-sampling", 0.2], False),
        (["unigram-word", "--vocabulary-size", 30], True),
    ],
)
def test_a_translation_has_unknown_words_only_if_they_are_copied(flags, copies):
    sizes = "--units", 8, "--max-tokens", 9, "--beam-width", 3
    options = settings(*sizes, "--tokenizer", *flags)
    pairs = [*PAIRS, ("once", "einmal")]
    both = translate.build_tokenizers(options, pairs)
    rate = options.subword_sampling
    assert "once" not in both[0].vocabulary
    assert getattr(both[0], "sampling", rate) == rate
    model = translate.build_model(options, *both)
    found = translate.build_translator(options, model, *both, pairs)
    assert found.copy_unknown == copies
    assert (found.search.beam_width, found.search.max_length) == (3, 9)
    assert found.max_length == 9 and model.decoder.tie_embeddings
    shortlist = found.shortlist and found.shortlist.size
    assert shortlist == options.shortlist
    forbidden = [] if copies else [both[1].unknown_id]
    assert [*found.search.forbidden_ids] == forbidden
    assert [*found.search.repeatable_ids] == [both[1].unknown_id]


def test_word_vectors_are_where_the_embeddings_start(tmp_path, capsys):
    """In their proportions: the embeddings have a deviation of their own."""
    vectors = {"old!": [1, 2, 3], "House": [4, 5, 7], "alt!": [3, 1, 0]}
    lines = [" ".join(map(str, [word, *x])) for word, x in vectors.items()]
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(lines), "utf-8")
    flags = "--tokenizer", "word", "--units", 8, "--no-lexicon"
    flags += "--source-vectors", path
    for more, words in (
        ((), ["old!", "House"]),
        (("--target-vectors", path), ["old!", "House", "alt!"]),
    ):
        options = settings(*flags, *more)
        both = translate.build_tokenizers(options, PAIRS)
        model = translate.build_model(options, *both)
        parts = model.encoder, model.decoder
        found = {}
        for tokenizer, part in zip(both, parts, strict=True):
            table = part.embedding.embeddings.numpy()
            found |= dict(zip(tokenizer.vocabulary, table, strict=True))
        for word in words:
            one, other = (
                x / np.linalg.norm(x) for x in (found[word], vectors[word])
            )
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        inputs = {"source": np.ones((1, 4)), "target": np.ones((1, 3))}
        assert model(inputs).shape == (1, 3, both[1].vocabulary_size)
    assert "2 of 17 words have a vector" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:.*are not trained on")
def test_two_files_and_what_is_held_out(two_files, tmp_path):
    pairs, dev, test = translate.load_pairs(settings("--train", *two_files))
    assert sorted(pairs + dev) == sorted(PAIRS)
    assert (len(dev), test) == (1, [])
    # No sentence that is scored by is learnt, in whatever case.
    held_out = [(PAIRS[0][0].upper(), "x"), ("A Cat.", "Eine Katze.")]
    path = tmp_path / "held_out.tsv"
    path.write_text("\n".join(map("\t".join, held_out)), "utf-8")
    for part in (1, 2):
        found = translate.load_pairs(
            settings("--train", *two_files, ("--dev", "--test")[part - 1], path)
        )
        assert found[part] == held_out
        assert PAIRS[0] not in found[0] + list(found[1])
    found = translate.load_pairs(
        settings("--train", *two_files, "--dev", path, "--limit", 5)
    )
    assert found[0] == PAIRS[1:5]
    few = settings("--train", *two_files, "--dev-size", 1, "--seed", 2)
    assert translate.load_pairs(few)[1] != dev


def test_new_pairs_are_learnt_beside_the_old_ones(table, tmp_path, unlearnt):  # noqa: F811
    flags = "--source", "Deutsch", "--target", "English", "--epochs", 1
    words = *brief.OF_WORDS, "--tokenizer", "word", "--train", table
    brief.run(translate, *flags, *words, "--output", tmp_path)
    translator, (pairs, dev), _ = unlearnt.pop(0)
    saved, path = tmp_path / "translator.keras", tmp_path / "new.csv"
    translator.save(saved)
    facts = {"fingerprint": training.fingerprint([pairs, dev])}
    training.write_card(tmp_path / "card.json", data=facts)
    lines = [f"das Haus ist {i},the House is {i}" for i in range(4)]
    path.write_text("\n".join(["Deutsch,English", *lines]), "utf-8")
    flags += "--train", path, "--old", table, "--from", saved
    brief.run(translate, *flags, "--output", tmp_path / "both")
    _, (found, (train, dev), _), (_, (_, test), _) = unlearnt
    # Three new pairs, of which one is held out, as often as is even.
    assert len(train) == 11 + 4 * 3
    assert sorted(dev) == sorted([*test["new"], *test["old"]])
    # Each pair counts once in the lexicon.
    translator.estimate_lexicon([*dict.fromkeys(data.sample_rows(train))])
    np.testing.assert_equal(
        *(x.model.decoder.lexicon.get_weights() for x in (found, translator))
    )
    with pytest.warns(UserWarning, match="are split differently"):
        translate.load_pairs(settings(*flags, "--seed", 2))


def test_old_pairs_may_have_columns_of_their_own(table, tmp_path, monkeypatch):
    monkeypatch.setattr(translate.training, "warn_of_other_data", lambda *_: 0)
    old = tmp_path / "old.jsonl"
    rows = [{"en": f"a tree {n}", "fr": "-", "de": f"Baum {n}"} for n in (1, 2)]
    old.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    flags = "--source", "Deutsch", "--target", "English", "--train", table
    flags += "--old", old, "--from", __file__, "--oversample", 1
    parts = translate.load_pairs(settings(*flags, "--old-columns", "de", "en"))
    [pair] = parts.test["old"]
    assert pair in [("Baum 1", "a tree 1"), ("Baum 2", "a tree 2")]
    with pytest.raises(data.CorpusError, match="'Deutsch' .* `old_columns`"):
        translate.load_pairs(settings(*flags))
    monkeypatch.undo()
    with pytest.raises(data.CorpusError, match="lacks .* column as `source`"):
        data.read_parallel_parts([old])


def test_a_reverse_translator_is_trained_first(
    two_files,
    tmp_path,
    unlearnt,  # noqa: F811
    monkeypatch,
    capsys,
):
    asked, output, text = [], tmp_path / "out", tmp_path / "text.txt"

    def back_translate(*given):
        asked.append(given)
        return [("<BT> x", "y")]

    monkeypatch.setattr(translate.pipelines, "back_translate", back_translate)
    reverse = output / "reverse" / "translator.keras"
    reverse.parent.mkdir(parents=True)
    for path in reverse, text:
        path.touch()
    flags = "--train", *two_files, *PLAIN, "--back-translate", text
    flags += "--vocabulary-size", 60, "--output", output
    run(*flags)
    (_, (swapped, _), _), (_, _, first), (_, (pairs, _), _), (_, _, last) = (
        unlearnt
    )
    assert asked == [(text, reverse, output, None)]
    expected = {("<BT> x", "y"), *(pair[::-1] for pair in swapped)}
    assert {*pairs} == expected and len(expected) == 12
    assert first["languages"] == last["languages"][::-1] != []
    assert "reverse translator first" in capsys.readouterr().out
    # It is trained once.
    facts = {"fingerprint": training.fingerprint([pairs, pairs])}
    training.write_card(reverse.with_name("card.json"), data=facts)
    with pytest.warns(UserWarning, match="are split differently"):
        run(*flags)
    assert len(unlearnt) == 6 and asked[1:] == asked[:1]
    assert "again. To train another" in capsys.readouterr().out


def test_a_run_is_as_its_settings_say(table, tmp_path, unlearnt):  # noqa: F811
    flags = "--train", table, "--source", "English", "--target", "Deutsch"
    flags += "--output", tmp_path / "out", *PLAIN
    alignments = tmp_path / "alignments.txt"
    alignments.write_text("\n" + "0-0\n" * len(PAIRS))
    more = "--members", 2, "--average", 3, "--label-smoothing", 0.25
    more += "--alignments", alignments, "--alignment-weight", 0.5
    more += "--depth", 2, "--dropout", 0.25, "--word-dropout", 0.125
    more += "--cell", "lstm", "--length-penalty", 1.5, "--no-repeat-ngram", 4
    run(*flags, *more, "--epochs", 5, "--clip", 2)
    assert [(*map(len, parts), more) for _, parts, more in unlearnt] == [
        (11, 1, {"member": 0, "average": 3}),
        (11, 1, {"member": 1, "average": 3}),
        (1, 0, {"languages": ["English", "Deutsch"]}),
    ]
    first, second = (translator for translator, *_ in unlearnt[:2])
    model, search = second.model, second.search
    assert not any(
        map(np.array_equal, first.model.weights[:1], model.weights[:1])
    )
    assert (model.loss.label_smoothing, model.alignment_weight) == (0.25, 0.5)
    # Eleven pairs are three batches of up to four.
    assert helpers.schedule(model.optimizer)[0] == 5 * 3
    options = {"depth": 2, "dropout": 0.25, "word_dropout": 0.125}
    assert brief.has(model.decoder, **options)
    options |= {"bidirectional": False, "lexical": False, "embedding_dim": 4}
    assert brief.has(model.encoder, **options)
    assert isinstance(model.encoder.cell, FastLSTMCell)
    options = {"beam_width": 2, "length_penalty": 1.5, "no_repeat_ngram": 4}
    assert brief.has(search, **options, max_length=3)
    with pytest.raises(data.CorpusError, match="No pair is left of 11"):
        run(*flags, "--max-words", 3)


def test_pairs_translated_back_are_added(two_files, tmp_path, monkeypatch):
    def back_translate(text, reverse, output, limit):
        return [(f"<BT> {text.stem} {reverse.stem} {output.stem} {limit}", "x")]

    monkeypatch.setattr(translate.pipelines, "back_translate", back_translate)
    text, saved = tmp_path / "text.txt", tmp_path / "saved.keras"
    for path in text, saved:
        path.touch()
    flags = "--back-translate", text, "--reverse", saved, "--limit", 5
    flags += "--train", *two_files, "--output", tmp_path / "out"
    train, _, _ = translate.load_pairs(settings(*flags, "--oversample", 2))
    assert len(train) == 1 + 2 * 4
    assert ("<BT> text saved out 5", "x") in list(train)


def test_workers_train_no_ensemble(capsys):
    with pytest.raises(SystemExit):
        settings("--members", 2, "--distribute", "workers")
    said = "cannot train an ensemble: --members must be 1."
    shown = capsys.readouterr().err.replace("│", " ")
    assert said in " ".join(shown.split())


WORDS = "--tokenizer", "word"


def test_what_only_scores_concern_does_not_identify_a_training():
    flags = "--beam-width", "--length-penalty", "--no-repeat-ngram"
    flags += "--shortlist", "--members"
    for flag in flags:
        changed = training.identity(settings(flag, 7))
        assert changed == training.identity(settings())
    changed = training.identity(settings(*WORDS, "--no-copy-unknown"))
    assert changed == training.identity(settings(*WORDS))


def test_there_must_be_something_to_learn(tmp_path):
    with pytest.raises(SystemExit, match="--train PAIRS"):
        run("--epochs", 1)
    missing = tmp_path / "missing.tsv"
    with pytest.raises(FileNotFoundError, match="missing.tsv"):
        run("--train", missing, "--output", tmp_path / "out")
