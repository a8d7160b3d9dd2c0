"""Translation recipes run in brief: on small corpora, in this process."""

import hashlib
import io
import json
import sys
import tarfile

import numpy as np
import pandas
import pytest

from kerasrnn import data

THINGS = {
    "the House": "das Haus",
    "a Tree": "ein Baum",
    "my Dog": "mein Hund",
}
ENDS = {
    "is old!": "ist alt!",
    "sleeps, too.": "schläft auch.",
    "stands here.": "steht hier.",
    "is green?": "ist grün?",
}
PAIRS = [
    (f"{what} {does}", f"{was} {tut}")
    for what, was in THINGS.items()
    for does, tut in ENDS.items()
]
# The smallest model, in few steps.
OF_WORDS = (
    *("--units", 4, "--batch-size", 4),
    *("--max-tokens", 12, "--beam-width", 2),
)
SMALL = (*OF_WORDS, "--vocabulary-size", 40)
PLAIN = (
    *("--no-bidirectional", "--no-lexical", "--no-lexicon"),
    *("--attention", "dot", "--max-tokens", 3),
)
# English and Vietnamese, as in the corpus.
WHO = {"the cat": "con mèo", "a dog": "một con chó", "he": "anh ấy"}
DOES = {"sleeps .": "ngủ .", "isn &apos;t here .": "không ở đây ."}
SPECIALS = ["<unk>", "<s>", "</s>"]


def write_reviews(path):
    """Writes an archive as of IMDb, without a test set, and returns it."""
    words = {"pos": "a fine film", "neg": "a dull film", "unsup": "a film"}
    with tarfile.open(path, "w:gz") as tar:
        for label, text in words.items():
            for number in range(30):
                content = f"{text}<br />number {number}".encode()
                info = tarfile.TarInfo(f"aclImdb/train/{label}/{number}_1.txt")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


def run(recipe, *arguments):
    """Runs a recipe's `main` with a command line."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(sys, "argv", [recipe.__file__, *map(str, arguments)])
        recipe.main()


def has(layer, **options):
    """Whether a layer is configured as the settings say."""
    found = layer.get_config()
    return {name: found[name] for name in options} == options


def card(output):
    return json.loads((output / "card.json").read_text("utf-8"))


@pytest.fixture
def unlearnt(monkeypatch):
    """Pipelines, parts and options of `fit` and `finish`, which do nothing."""
    given = []

    def learn(run, pipeline, *parts, **options):
        given.append((pipeline, parts, options))
        return pipeline

    for name in ("fit", "finish"):
        monkeypatch.setattr(f"kerasrnn.pipelines.Run.{name}", learn)
    return given


def write_vietnamese_corpus(path):
    """Files as those of the corpus, with twelve pairs, one of them long."""
    pairs = [
        (f"{who} {does}", f"{ai} {lam}")
        for who, ai in WHO.items()
        for does, lam in DOES.items()
    ] * 2
    pairs[5] = ("cat " * 70, "mèo")
    path.mkdir()
    for side, language in enumerate(("en", "vi")):
        texts = [pair[side] for pair in pairs]
        words = sorted({word for text in texts for word in text.split()})
        for name, lines in {
            "train": texts,
            "tst2012": [texts[0], texts[3]],
            "vocab": [*SPECIALS, *words],
        }.items():
            file = path / f"{name}.{language}"
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def checksum(pairs):
    """The beginning of the SHA-256 of a corpus."""
    content = json.dumps(pairs, ensure_ascii=False).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def write_columns(path, sentences):
    """In columns of CoNLL-2003, with tags of IOB1."""
    lines = ["-DOCSTART- -X- O O", ""]
    for sentence in sentences:
        words, tags = zip(*sentence, strict=True)
        for word, name in zip(
            words, data.convert_tags(tags, "IOB1"), strict=True
        ):
            lines.append(f"{word} X O {name}")
        lines.append("")
    path.write_text("\n".join(lines), "utf-8")
    return path


def write_shops(path, days=300):
    """Days of two shops in three columns, with gaps, between semicolons."""
    rng = np.random.default_rng(0)
    dates = pandas.date_range("2023-01-01", periods=days)
    week = 10 + 5 * (dates.day_of_week >= 5)
    rows = pandas.concat(
        pandas.DataFrame(
            {
                "day": dates.strftime("%d.%m.%Y"),
                "shop": name,
                "sales": size * rng.poisson(week),
                "visits": 3 * size * week,
                "price": 2 + rng.integers(0, 2, days),
            }
        )
        for name, size in (("north", 1), ("south", 4))
    )
    rows.loc[rng.random(len(rows)) < 0.1, "sales"] = np.nan
    rows[rng.random(len(rows)) > 0.05].to_csv(path, sep=";", index=False)
    return path
