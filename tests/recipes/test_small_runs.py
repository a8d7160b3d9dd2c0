"""Each recipe is run once: what it leaves, scores and answers."""

import csv
import json

import classify
import forecast
import keras
import music
import numpy as np
import ptb_lm
import pytest
import tag
import tensorflow as tf
import translate
from corpora.tagged_sentences import tagged_sentences

from tests.recipes import brief

# What is missing in the vocabulary is told, which others test.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*are not in the vocabulary"),
]
NOUNS = ("bank", "market", "company", "price", "board")
TOPICS = {
    "Art": ["museum", "opera"],
    "Food": ["bread", "soup"],
    "Law": ["court", "judge"],
    "Sky": ["star", "comet"],
    "Sport": ["goal", "race"],
}


def table(path, *rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


# Flags of the data, and those that a run from a saved file has not.
def translate_flags(folder):
    rows = [[i, *pair] for i, pair in enumerate(brief.PAIRS)]
    head = ["number", "English", "Deutsch"]
    corpus = table(folder / "pairs.csv", head, *rows)
    return ["--train", corpus, "--source", "Deutsch", "--target", "English"], [
        *(*brief.OF_WORDS, "--units", 16, "--tokenizer", "word"),
        *("--no-bidirectional", "--no-lexical", "--attention", "dot"),
        *("--dropout", 0, "--epochs", 10, "--learning-rate", 0.05),
    ]


def language_flags(folder):
    rng = np.random.default_rng(0)
    drawn = (rng.choice(NOUNS, 2) for _ in range(199))
    lines = [f"the {one} sold a {other}" for one, other in drawn]
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join([*lines, "the zebra slept"]), "utf-8")
    options = "--preset", "phrasebook", "--batch-size", 4, "--epochs", 2
    return ["--corpus", corpus], [*options, "--units", 8]


def music_flags(folder):
    options = "--units", 8, "--epochs", 3, "--transpose", 3, "--max-length", 5
    return ["--limit", 40], options


def tag_flags(folder):
    sentences = tagged_sentences(700, seed=1)
    parts = {"train": sentences[:600], "test": sentences[600:]}
    for name, part in parts.items():
        brief.write_columns(folder / name, part)
    options = "--units", 16, "--character-units", 8, "--epochs", 6
    data = "--corpus", folder / "train", "--test", folder / "test"
    return [*data, "--batch-size", 16], options


def classify_flags(folder):
    rows = [
        [topic, number, f'The "{words[number % 2]}", number {number}']
        for number in range(16)
        for topic, words in TOPICS.items()
    ]
    corpus = table(folder / "own.csv", ["topic", "id", "body"], *rows)
    test = folder / "test.jsonl"
    rows = [{"topic": "Sky", "body": f'A "comet" of {n}'} for n in range(4)]
    test.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return [
        *("--corpus", corpus, "--test", test, "--group-column", "id"),
        *("--text-column", "body", "--label-column", "topic"),
    ], ["--units", 8, "--epochs", 10, "--learning-rate", 0.02]


def forecast_flags(folder):
    corpus = brief.write_shops(folder / "shops.csv")
    return [
        *("--corpus", corpus, "--time", "day", "--time-format", "%d.%m.%Y"),
        *("--columns", "sales", "visits", "--key", "shop", "--known", "price"),
        *("--calendar", "weekday"),
    ], [
        *("--horizon", 7, "--lookback", 28, "--segment", 7),
        *("--units", 8, "--epochs", 3),
    ]


ROLL = (np.arange(440) % 5 == 0).reshape(1, 5, 88).astype("float32")
WINDOW = np.full((1, 28, 2), 40, "float32")
# A recipe, its flags, its file, its pictures, what a client asks, the least and
# the highest of some scores, and some of the card.
RUNS = {
    "translate": (
        *(translate, translate_flags, "translator", ["attention"]),
        {"text": ["das Haus ist alt!", ""]},
        {"dev greedy bleu": (0, 100.1), "dev beam chrf": (0, 100.1)},
        {"languages": ["Deutsch", "English"]},
    ),
    "language_model": (
        *(ptb_lm, language_flags, "language", []),
        {"text": ["the bank sold a price", ""]},
        {
            "dev perplexity": (1, 17),
            "dev dynamic perplexity": (1, 17),
            "dev tokens": (118, 118),
        },
        {},
    ),
    "music": (
        *(music, music_flags, "music", ["prediction", "sample"]),
        {"roll": ROLL},
        {"dev nll": (5, 61), "test nll": (5, 61)},
        {},
    ),
    "tag": (
        *(tag, tag_flags, "tagger", ["confusions", "transitions"]),
        {"text": ["Anna lives in Oslo.", ""]},
        {"dev f1": (0.5, 1), "test by_label DATE f1": (0.7, 1)},
        {},
    ),
    "classify": (
        *(classify, classify_flags, "labeller"),
        *(["hidden_states", "word_map", "words"],),
        {"text": ['The "judge", again', "", "🙂" * 9]},
        {"dev accuracy": (0.9, 1), "test confusion Sky Sky": (4, 4)},
        {"held_out": {"by": "group", "groups": 3}},
    ),
    "forecast": (
        *(forecast, forecast_flags, "forecaster", ["forecasts", "horizon"]),
        {"past": WINDOW, "known": np.zeros((1, 35, 3), "float32")},
        {"dev mase": (0, 9), "test mase": (0, 9)},
        {},
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_leaves_everything_and_another_starts_from_it(name, tmp_path):
    recipe, flags, file, pictures, asked, scores, facts = RUNS[name]
    output, more = tmp_path / "out", tmp_path / "more"
    data, options = flags(tmp_path)
    brief.run(recipe, *data, *options, "--output", output)
    for picture in ("training", *pictures):
        content = (output / f"{picture}.png").read_bytes()
        assert content.startswith(b"\x89PNG")
    card = brief.card(output)
    assert card.items() >= facts.items()
    for path, (least, most) in scores.items():
        found = card["scores"]
        for key in path.split():
            found = found[key]
        assert least <= found <= most, path
    pipeline = keras.saving.load_model(output / f"{file}.keras")
    expected = pipeline.signatures["serving_default"](
        *map(tf.constant, asked.values())
    )
    served = tf.saved_model.load(output / "1").signatures["serving_default"]
    found = served(**{key: tf.constant(x) for key, x in asked.items()})
    for key, value in expected.items():
        if value.dtype == tf.string:
            np.testing.assert_array_equal(found[key], value)
        else:
            np.testing.assert_allclose(found[key], value, 1e-4, 1e-4)
    start = "--from", output / f"{file}.keras", "--epochs", 1
    brief.run(recipe, *data, *start, "--output", more)
    assert (more / f"{file}.keras").exists()
