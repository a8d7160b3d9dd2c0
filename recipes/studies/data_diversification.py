"""Data diversification: a translator learns what two others translate, too.

    python recipes/studies/data_diversification.py --preset all

The two are trained first, on the same pairs: one of this direction, in
`OUTPUT/forward-*/`, and one of the other, in `OUTPUT/backward-*/`. They
translate the sentences that they were trained on, each sentence once. The last,
in `OUTPUT/last/`, is trained on the pairs, on the sources with the translations
of the first, and on the translations of the second with the targets (Nguyen et
al. 2020), these after the word `<BT>` (Caswell et al. 2019). Other flags are
those of `recipes/nmt_hindi.py`, for all three.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
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
from studies.presets import presets_of

LANGUAGES = ("English", "Hindi")
# What changes the two, besides the settings that identify a training.
CHANGING = (
    *("teacher_epochs", "members"),
    *("beam_width", "length_penalty", "no_repeat_ngram"),
    *("shortlist", "copy_unknown"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(nmt_hindi.Settings):
    not_identity = nmt_hindi.Settings.not_identity | {
        *("teacher_epochs", "translations"),
    }

    output: pathlib.Path = pathlib.Path("saved_models/data_diversification")
    model: Literal["translate"] = "translate"
    """The model of translate.py."""
    teacher_epochs: training.Count = 12
    """Epochs of the two that are trained first."""
    translations: Literal["both", "forward", "backward"] = "both"
    """Whose translations the last one learns."""

    def __post_init__(self):
        super().__post_init__()
        if self.distribute == "workers":
            raise ValueError(
                "The translators are trained one after the other, by one "
                f"process. Received: distribute={self.distribute!r}"
            )

    def without_effect(self):
        return super().without_effect() | {"start_from"}


PRESETS = presets_of(
    Settings,
    {
        name: preset
        for name, preset in nmt_hindi.PRESETS.items()
        if preset.model == "translate"
    },
)


def turned(settings, parts):
    """Returns the settings and the parts of the other direction."""
    settings = dataclasses.replace(
        settings,
        source_vectors=settings.target_vectors,
        target_vectors=settings.source_vectors,
    )
    train, dev = ([x[::-1] for x in pairs] for pairs in parts[:2])
    test = {name: [x[::-1] for x in pairs] for name, pairs in parts[2].items()}
    return settings, data.ParallelParts(train, dev, test)


def trained(settings, name, parts, languages):
    """Returns the path of a translator, which is trained if there is none.

    Args:
        settings: `Settings` of the last translator.
        name: String, with which the name of its folder begins. The rest
            depends on what it is trained on, and with what settings.
        parts: `ParallelParts`.
        languages: Names of the source and of the target language.
    """
    facts = [training.identity(settings), settings.pick(*CHANGING), parts]
    folder = settings.output / f"{name}-{training.fingerprint(facts)}"
    if not (folder / "card.json").exists():
        own = dataclasses.replace(
            settings, output=folder, epochs=settings.teacher_epochs
        )
        translate.run(own, lambda _: parts, languages=languages)
        keras.backend.clear_session()
    return folder / "translator.keras"


def translations(settings, sentences, translator):
    """Returns sentences and what a translator says, as `back_translate` does.

    Args:
        settings: `Settings`.
        sentences: Iterable of strings, of which equal ones are translated once.
        translator: Path of the translator.
    """
    lines = dict.fromkeys(" ".join(sentence.split()) for sentence in sentences)
    path = translator.parent / "sentences.txt"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return pipelines.back_translate(path, translator, settings.output)


def forward(settings, parts):
    """Returns the sources, and the translations of one more translator."""
    translator = trained(settings, "forward", parts, LANGUAGES)
    sources = (source for source, _ in parts.train)
    found = translations(settings, sources, translator)
    # Without the word for translations, which these are not as sources.
    return [(text, target.partition(" ")[2]) for target, text in found]


def backward(settings, parts):
    """Returns the translations of one that translates back, and the targets."""
    turn = turned(settings, parts)
    translator = trained(turn[0], "backward", turn[1], LANGUAGES[::-1])
    targets = (target for _, target in parts.train)
    return translations(settings, targets, translator)


def main():
    settings = training.read_settings(PRESETS, nmt_hindi.preset_for, __doc__)
    parts = data.ParallelParts(*nmt_hindi.load_pairs(settings))
    # The last one has more pairs, but the size of the others.
    settings = training.by_size(settings, len(parts.train), translate.SIZES)
    synthetic = []
    if settings.translations != "backward":
        synthetic += forward(settings, parts)
    if settings.translations != "forward":
        synthetic += backward(settings, parts)
    parts = data.add_synthetic(parts, synthetic, oversample=1)
    last = dataclasses.replace(settings, output=settings.output / "last")
    translate.run(last, lambda _: parts, languages=LANGUAGES)


if __name__ == "__main__":
    main()
