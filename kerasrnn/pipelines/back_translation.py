"""Back-translation: pairs from text of the target language alone."""

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

TAG = "<BT>"  # the first word of a source that is a translation
_LINES = 1000  # in a table


def back_translate(
    text: PathLike,
    reverse: PathLike,
    folder: PathLike,
    limit: int | None = None,
) -> list[tuple[str, str]]:
    """Translates text of the target language into sources, with a model.

    The pairs are written to tables in the folder `back-translated-*`, whose
    name depends on the text and the translator, 1,000 in each. Tables that
    exist are read: so an interrupted call goes on where it was.

    Args:
        text: Path of a text file, a sentence in a line; or of a table, as in
            `read_text_corpus`.
        reverse: Path of the `.keras` file of a `TextTranslator` from the target
            to the source.
        folder: Path of the folder to write to.
        limit: Positive integer, how many sentences to translate: the first;
            `None` for all.

    Returns:
        List of `(source, target)` strings, each source after the word `<BT>`,
        which marks it as synthetic (Caswell et al. 2019).

    Raises:
        CorpusError: If there is no sentence in the text.
        ValueError: If the file is not of a translator.

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
            f"The text {text} is empty. Expected: a sentence in each "
            "line. Received: nothing"
        )
    tables = {
        folder / f"{first:09}.tsv": sentences[first : first + _LINES]
        for first in range(0, len(sentences), _LINES)
    }
    _write_translations(reverse, tables, folder)
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


def _write_translations(reverse, tables, folder):
    """Writes the tables that are missing, of translations and sentences.

    Args:
        reverse: Path of the translator.
        tables: Dict from the paths of tables to their sentences.
        folder: Path of the folder of the tables.
    """
    missing = [path for path in tables if not path.exists()]
    if not missing:
        return
    translator = TextTranslator.open(reverse)
    folder.mkdir(parents=True, exist_ok=True)
    count = sum(map(len, tables.values()))
    print(f"Translating {count:,} sentences back, to {folder}.")
    # No bar goes to a file.
    shown = int(sys.stdout.isatty())
    bar = keras.utils.Progbar(count, verbose=shown, unit_name="sentence")
    for path, sentences in tables.items():
        if path in missing:
            found = translator.translate(sentences)
            with atomic_write(path) as partial:
                partial.write_text(
                    "".join(
                        f"{' '.join(source.split())}\t{target}\n"
                        for source, target in zip(found, sentences, strict=True)
                    ),
                    "utf-8",
                    newline="\n",
                )
        bar.add(len(sentences))
