"""Data diversification: a translator learns what two others translate, too.

    python recipes/studies/data_diversification.py --preset all

The two are trained first, on the same pairs: one of this direction, in
`OUTPUT/forward/`, and one of the other, in `OUTPUT/backward/`. They translate
the sentences that they were trained on. The last, in `OUTPUT/last/`, is trained
on the pairs, on the sources with the translations of the first, and on the
translations of the second with the targets (Nguyen et al. 2020). Other flags
are those of `recipes/nmt_hindi.py`, for all three.
"""

import dataclasses
import pathlib
import sys
from typing import Literal

import keras

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import nmt_hindi
import translate

from kerasrnn import data
from kerasrnn import pipelines
from kerasrnn import training
from kerasrnn.pipelines.back_translation import TAG

LANGUAGES = ("English", "Hindi")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(nmt_hindi.Settings):
    not_identity = nmt_hindi.Settings.not_identity | {
        *("forward", "backward", "teacher_epochs", "translations"),
    }

    output: pathlib.Path = pathlib.Path("saved_models/data_diversification")
    teacher_epochs: training.Count = 12
    """Epochs of the two that are trained first."""
    forward: training.Existing | None = None
    """Saved translator of this direction; default: one is trained."""
    backward: training.Existing | None = None
    """The same of the other direction."""
    translations: Literal["both", "forward", "backward"] = "both"
    """Whose translations the last one learns."""

    def without_effect(self):
        idle = super().without_effect() | {"start_from"}
        if self.translations != "both":
            idle |= {"forward", "backward"} - {self.translations}
        return idle


OUTPUT = {"output": Settings.output}
PRESETS = {
    name: Settings(**vars(preset) | OUTPUT)
    for name, preset in nmt_hindi.PRESETS.items()
    if preset.model == "translate"
}


def turned(parts):
    """Returns the same pairs in the other direction."""
    train, dev, test = parts
    turn = [[pair[::-1] for pair in pairs] for pairs in (train, dev)]
    return *turn, {
        name: [pair[::-1] for pair in pairs] for name, pairs in test.items()
    }


def teacher(settings, name, parts):
    """Returns the path of a translator, which is trained if there is none.

    Args:
        settings: `Settings`.
        name: String, `"forward"` or `"backward"`.
        parts: Pairs to train on and to validate on, and those of each corpus,
            in the direction of the last translator.
    """
    if given := getattr(settings, name):
        return given
    languages = LANGUAGES
    if name == "backward":
        parts, languages = turned(parts), LANGUAGES[::-1]
    folder = settings.output / name
    if not (folder / "card.json").exists():
        own = dataclasses.replace(
            settings, output=folder, epochs=settings.teacher_epochs
        )
        translate.run(own, load_pairs=lambda _: parts, languages=languages)
        keras.backend.clear_session()
    return folder / "translator.keras"


def translations(settings, name, parts):
    """Returns pairs of which one side is what a translator says.

    Args:
        settings, name, parts: As for `teacher`.

    Returns:
        List of `(source, target)`. Sources that are translations are after
        the word `<BT>`.
    """
    side = 0 if name == "forward" else 1
    path = settings.output / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    sentences = dict.fromkeys(pair[side] for pair in parts[0])
    path.write_text("".join(f"{x}\n" for x in sentences), "utf-8")
    translator = teacher(settings, name, parts)
    pairs = pipelines.back_translate(path, translator, settings.output)
    if name == "backward":
        return pairs
    return [(text, found.removeprefix(f"{TAG} ")) for found, text in pairs]


def main():
    settings = training.read_settings(PRESETS, nmt_hindi.preset_for, __doc__)
    parts = data.ParallelParts(*nmt_hindi.load_pairs(settings))
    names = [settings.translations]
    if settings.translations == "both":
        names = ["forward", "backward"]
    synthetic = [
        pair for name in names for pair in translations(settings, name, parts)
    ]
    more = data.add_synthetic(parts, synthetic, oversample=1)
    last = dataclasses.replace(settings, output=settings.output / "last")
    translate.run(last, load_pairs=lambda _: more, languages=LANGUAGES)


if __name__ == "__main__":
    main()
