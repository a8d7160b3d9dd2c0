"""Back-translation: synthetic pairs from monolingual target text."""

import itertools
import pathlib
import sys

import keras

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data import CorpusError
from kerasrnn.data.reading.text_files import all_lines
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.text_corpus import text_lines
from kerasrnn.files import atomic_write
from kerasrnn.pipelines.text_translator import TextTranslator
from kerasrnn.training import file_fingerprint
from kerasrnn.training import fingerprint
from kerasrnn.typing import PathLike
from kerasrnn.warning import warn

TAG = "<BT>"  # the first word of a synthetic source
_LINES = 1000  # in a table


def back_translate(
    text: PathLike,
    reverse: PathLike,
    folder: PathLike,
    limit: int | None = None,
) -> list[tuple[str, str]]:
    """Translates target text into synthetic sources with a reverse model.

    The pairs are written to tables of 1,000 pairs in a folder
    `back-translated-*`, whose name depends on the text and the translator.
    Existing tables are read, so an interrupted call continues where it stopped.

    Args:
        text: Path of a text file with one sentence per line, or of a table, as
            in `read_text_corpus`.
        reverse: Path of the `.keras` file of a `TextTranslator` from the target
            to the source language.
        folder: Path of the folder to write to.
        limit: Positive integer, number of sentences to translate, from the
            first on; `None` for all.

    Returns:
        List of `(source, target)` strings, where each source starts with the
        word `<BT>`, which marks it as synthetic (Caswell et al. 2019).

    Raises:
        CorpusError: If the text has no sentences.
        ValueError: If the file is not a translator.

    References:
        [Caswell et al., 2019](https://aclanthology.org/W19-5206),
        [Sennrich et al., 2016](https://aclanthology.org/P16-1009).
    """
    optional_positive_integer("limit", limit)
    text, reverse = (pathlib.Path(x).expanduser() for x in (text, reverse))
    facts = [file_fingerprint(text), file_fingerprint(reverse), limit]
    folder = pathlib.Path(folder, f"back-translated-{fingerprint(facts)}")
    lines = (" ".join(x.split()) for x in text_lines(text, argument=None))
    sentences = [line for line in lines if line][:limit]
    if not sentences:
        raise CorpusError(
            f"The text {text} is empty. Expected: a sentence per line. "
            "Received: nothing"
        )
    tables = {
        folder / f"{first:09}.tsv": sentences[first : first + _LINES]
        for first in range(0, len(sentences), _LINES)
    }
    if missing := [path for path in tables if not path.exists()]:
        translator = TextTranslator.open(reverse)
        folder.mkdir(parents=True, exist_ok=True)
        count = len(sentences)
        print(f"Translating {count:,} sentences back, to {folder}.")
        # No progress bar in log files.
        shown = int(sys.stdout.isatty())
        bar = keras.utils.Progbar(count, verbose=shown, unit_name="sentence")
        for path, part in tables.items():
            if path in missing:
                found = translator.translate(part)
                with atomic_write(path) as partial:
                    partial.write_text(
                        "".join(
                            f"{' '.join(source.split())}\t{target}\n"
                            for source, target in zip(found, part, strict=True)
                        ),
                        "utf-8",
                        newline="\n",
                    )
            bar.add(len(part))
    rows = itertools.chain.from_iterable(map(all_lines, tables))
    pairs = [row.split("\t") for row in rows if row]
    kept = [(f"{TAG} {source}", target) for source, target in pairs if source]
    if len(kept) < len(pairs):
        warn(
            f"{len(pairs) - len(kept):,} of {len(pairs):,} sentences have an "
            "empty translation and are left out.",
            CorpusWarning,
        )
    return kept
