"""Back-translation: pairs from text of the target language alone."""

import pathlib
import warnings

import keras

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data.lines import all_lines
from kerasrnn.data.lines import check_limit
from kerasrnn.pipelines.text_translator import TextTranslator
from kerasrnn.training import file_fingerprint
from kerasrnn.training import fingerprint
from kerasrnn.training.files import whole
from kerasrnn.typing import PathLike

TAG = "<BT>"  # the first word of a source that is a translation
_LINES = 1000  # that are translated between two steps of the progress bar


def back_translate(
    text: PathLike,
    reverse: PathLike,
    folder: PathLike,
    limit: int | None = None,
) -> list[tuple[str, str]]:
    """Translates text of the target language into sources, with a model.

    The pairs are written to `back-translated-*.tsv` in the folder, whose name
    depends on the text and the translator. If that file exists, it is read.

    Args:
        text: Path of a text file, a sentence in a line.
        reverse: Path of the `.keras` file of a `TextTranslator` from the target
            to the source.
        folder: Path of the folder to write to.
        limit: Positive integer, how many sentences to translate: the first;
            `None` for all.

    Returns:
        List of `(source, target)` strings, each source after the word `<BT>`:
        so a model tells them from others (Caswell et al. 2019).

    Raises:
        CorpusError: If there is no sentence in the text.
        ValueError: If the file is not of a translator.

    References:
        [Caswell et al., 2019](https://aclanthology.org/W19-5206),
        [Sennrich et al., 2016](https://aclanthology.org/P16-1009).
    """
    check_limit(limit)
    text, reverse = (pathlib.Path(x).expanduser() for x in (text, reverse))
    facts = [file_fingerprint(text), file_fingerprint(reverse), limit]
    path = pathlib.Path(folder, f"back-translated-{fingerprint(facts)}.tsv")
    if not path.exists():
        sentences = [" ".join(line.split()) for line in all_lines(text)]
        sentences = [sentence for sentence in sentences if sentence][:limit]
        if not sentences:
            raise CorpusError(
                f"The text {text} is empty. Expected: a sentence in each "
                "line. Received: nothing"
            )
        _write_translations(TextTranslator.open(reverse), sentences, path)
    pairs = [line.split("\t") for line in all_lines(path) if line]
    kept = [(f"{TAG} {source}", target) for source, target in pairs if source]
    if len(kept) < len(pairs):
        warnings.warn(
            f"{len(pairs) - len(kept):,} of {len(pairs):,} sentences have an "
            "empty translation and are left out.",
            CorpusWarning,
            stacklevel=2,
        )
    return kept


def _write_translations(translator, sentences, path):
    """Writes a table of the translations and the sentences."""
    print(f"Translating {len(sentences):,} sentences back, to {path}.")
    bar = keras.utils.Progbar(len(sentences), unit_name="sentence")
    with (
        whole(path) as partial,
        partial.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for first in range(0, len(sentences), _LINES):
            part = sentences[first : first + _LINES]
            found = translator.translate(part)
            file.writelines(
                f"{' '.join(source.split())}\t{target}\n"
                for source, target in zip(found, part, strict=True)
            )
            bar.add(len(part))
