"""Cross-validates a preset of `recipes/imdb.py` on stratified folds.

    python recipes/studies/imdb_folds.py --corpus imdb --preset lstm --epochs 3

All reviews of a film are in one fold. In the report on the models they are in
any (`--no-by-group`), so that scores are on films that the models know. As in
the report, the epoch with the lowest loss on a fold is scored on that same
fold. Each fold has its own training, in `OUTPUT/fold-1/` and so on. Folds that
are done are not trained again.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
import pathlib
import sys

import keras
import numpy as np
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import classify
import imdb

from kerasrnn import data
from kerasrnn import training
from studies.presets import presets_of


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(classify.Settings):
    not_identity = classify.Settings.not_identity | {"folds", "by_group"}

    output: pathlib.Path = pathlib.Path("saved_models/imdb_folds")
    folds: training.Count = 5
    """Number of folds of the training texts, at least two."""
    by_group: bool = True
    """Whether a group, such as the reviews of a film, is in one fold."""

    def without_effect(self):
        return super().without_effect() | {"test", "dev_size"}

    def __post_init__(self):
        super().__post_init__()
        if self.folds < 2:
            raise ValueError(
                f"`folds` must be at least 2. Received: folds={self.folds}"
            )


PRESETS = presets_of(Settings, imdb.PRESETS)


def folds_of(corpus, settings):
    """Yields the corpus and the held-out texts of each fold."""
    if not settings.by_group:
        corpus = corpus._replace(groups=None)
    texts, labels = corpus.train
    groups = corpus.groups and corpus.groups_of(texts)
    kind = StratifiedGroupKFold if groups else StratifiedKFold
    folds = kind(settings.folds, shuffle=True, random_state=settings.seed)
    for inside, outside in folds.split(texts, labels, groups):
        learnt, held_out = (
            data.LabelledTexts(
                [texts[place] for place in places],
                [labels[place] for place in places],
            )
            for places in (inside, outside)
        )
        fold = corpus._replace(train=learnt, test=None)
        yield data.without_texts(fold, held_out), held_out


def main():
    settings = training.read_settings(PRESETS, imdb.preset_for, __doc__)
    corpus = classify.load_corpus(settings)
    settings = training.by_size(
        settings, len(corpus.train.texts), classify.SIZES
    )
    accuracies = []
    for number, (fold, held_out) in enumerate(folds_of(corpus, settings), 1):
        keras.backend.clear_session()
        own = dataclasses.replace(
            settings,
            output=settings.output / f"fold-{number}",
            seed=settings.seed + number - 1,
        )
        labeller = classify.run(own, lambda _, parts=(fold, held_out): parts)
        scores = labeller.task().row_scores(held_out)
        accuracies.append(scores["accuracy"])
    mean, spread = np.mean(accuracies), np.std(accuracies, ddof=1)
    print(f"accuracy {mean:.4f}, standard deviation {spread:.4f}")
    training.write_card(
        settings.output / "folds.json",
        settings=vars(settings),
        accuracies=accuracies,
        mean=float(mean),
        standard_deviation=float(spread),
    )


if __name__ == "__main__":
    main()
