"""Training, scores and report of a translator in a run."""

import csv
import functools
import operator
import pathlib
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasrnn.files import atomic_write
from kerasrnn.metrics import corpus_scores
from kerasrnn.metrics.corpus_scores import sentence_chrf
from kerasrnn.pipelines.task import Task
from kerasrnn.pipelines.task import wrapped
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers import normalize_text
from kerasrnn.tokenizers.invisible import is_spaceless
from kerasrnn.training import TextScores
from kerasrnn.typing import Pairs


def translation_scores(translations, references, tokenizer):
    """Scores translations against one reference each.

    References are normalized like the training text of the tokenizer, for
    example lower-cased. Punctuation that is separated by spaces is rejoined.
    BLEU uses sacrebleu's tokenization "13a". It splits at white space if the
    tokenizer strips punctuation, and into characters if the references are in a
    script without spaces, such as Chinese, Japanese or Thai, and have hardly
    any white space.

    The signatures contain `case:lc` if the tokenizer lower-cases, and end with
    `punctuation:stripped` if it strips punctuation.

    If the tokenizer separates punctuation, there are also scores of tokenized
    text, such as `"tokenized_bleu"`, as in papers with tokenized references. In
    these, an `<unk>` in a translation is a token that matches no reference.

    Args:
        translations: List of strings.
        references: List of strings, one for each translation.
        tokenizer: The `Tokenizer` of the target.

    Returns:
        The dictionary of `kerasrnn.metrics.corpus_scores`, and
        `"length_ratio"`, the number of words in the translations divided by
        that in the references (or of characters, if BLEU splits into
        characters).

    Raises:
        ValueError: when the lists are empty, differ in length, or are not lists
            of strings.
    """
    translations, references = map(text_list, (translations, references))
    given = normalize_text(
        references, tokenizer.lowercase, tokenizer.strip_punctuation
    )
    apart = tokenizer.normalize(references)
    plain = decoded(tf.where(given == apart, tokenizer.finish(apart), given))
    apart = decoded(apart)
    tokenize = "none" if tokenizer.strip_punctuation else "13a"
    split = str.split
    spaces = sum(max(0, len(text.split()) - 1) for text in plain)
    characters = sum(map(len, map(_characters, plain)))
    # A Latin text may have sentences of one word, as in dialogues. Finnish has
    # eight characters per space.
    if is_spaceless("".join(plain)) and characters > 12 * spaces:
        tokenize, split = "char", _characters
    lowercase = bool(tokenizer.lowercase)
    scores = corpus_scores(translations, plain, tokenize, lowercase)
    if tokenizer.separate_punctuation:
        known = [text.replace("<unk>", "\ufffd") for text in translations]
        translations = tokenizer.normalize_all(known)
        tokenized = corpus_scores(translations, apart, "none", lowercase)
        scores |= {f"tokenized_{name}": x for name, x in tokenized.items()}
    if tokenizer.strip_punctuation:
        for name in scores:
            if name.endswith("signature"):
                scores[name] += "|punctuation:stripped"
    words = [len(split(" ".join(x))) for x in (translations, apart)]
    return scores | {"length_ratio": words[0] / max(1, words[1])}


def _characters(text):
    return "".join(text.split())


_SAMPLES = 10  # pairs to print
_WORST = 5  # worst pairs to print
_GOOD = 50.0  # translations with a higher chrF are not among the worst


class TranslationTask(Task):
    """The task of a `TextTranslator`.

    Rows are lists of `(source, target)` strings. The best epoch is the one with
    the highest BLEU of greedy search on the first 200 pairs.
    """

    monitor = "val_bleu"
    mode = "max"
    file_name = "translator"

    @property
    def tokenizers(self) -> list[Tokenizer]:
        return [self.pipeline.source_tokenizer, self.pipeline.target_tokenizer]

    def sizes(self, rows: Pairs) -> dict[str, int]:
        return {"pairs": len(rows)}

    def texts_of(self, rows: Pairs) -> Sequence[Iterable[str]]:
        return [map(operator.itemgetter(side), rows) for side in (0, 1)]

    def epoch_scores(self, rows: Pairs) -> list[keras.callbacks.Callback]:
        sources, references = map(list, self.texts_of(rows[:200]))
        translate = functools.partial(self.pipeline.translate, greedy=True)
        return [
            TextScores(translate, sources, references, self.pipeline.scores)
        ]

    def row_scores(self, rows: Pairs) -> dict[str, Any]:
        """Returns scores of greedy search and of the pipeline's search."""
        return {
            "greedy": self.pipeline.evaluate(rows, greedy=True),
            "beam": self.pipeline.evaluate(rows),
        }

    def headline(self, scores: dict[str, Any]) -> str:
        found = scores["beam"]
        return f"BLEU {found['bleu']:.1f}, chrF {found['chrf']:.1f}"

    def is_much_worse(
        self, before: dict[str, Any], now: dict[str, Any]
    ) -> bool:
        """Returns whether BLEU fell by more than a tenth."""
        old, new = (scores["beam"]["bleu"] for scores in (before, now))
        return bool(new < 0.9 * old)

    def report(
        self, rows: Pairs, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prints the first and the worst pairs, and draws attention.

        It writes `hypotheses.tsv` with chrF, source, reference and translation
        of each pair, worst first.
        """
        from kerasrnn.plots import attention_grid

        sources, references = map(list, self.texts_of(rows))
        found = self.pipeline.translate(sources)
        scores = sentence_chrf(found, references)
        samples = list(zip(sources, references, found, strict=True))
        order = sorted(range(len(rows)), key=scores.__getitem__)
        with (
            atomic_write(folder / "hypotheses.tsv") as partial,
            partial.open("w", encoding="utf-8", newline="") as file,
        ):
            table = csv.writer(file, "excel-tab")
            table.writerow(["chrf", "source", "reference", "hypothesis"])
            table.writerows((f"{scores[i]:.1f}", *samples[i]) for i in order)
        worst = [samples[i] for i in order[:_WORST] if scores[i] < _GOOD]
        print("\nHeld-out pairs and their translations:")
        _print_samples(samples[:_SAMPLES])
        if worst:
            print("\nThe worst translations, by chrF:")
            _print_samples(worst)
        # The attention for four sources, short ones if possible.
        short = [text for text in sources if 4 <= len(text.split()) <= 9]
        drawn = self.pipeline.alignments((short or sources)[:4])
        # Without punctuation, a text may have no words.
        drawn = [x for x in drawn if x[0].size]
        facts = {"samples": samples[:_SAMPLES], "worst": worst}
        return facts, {"attention": attention_grid(drawn)} if drawn else {}


def _print_samples(samples):
    for source, reference, translation in samples:
        lines = source, f"{reference}   (reference)", translation or "(empty)"
        print("", *map(wrapped, lines), sep="\n")
