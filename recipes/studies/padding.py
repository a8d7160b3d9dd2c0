"""Shows attention of a translator whose padding is not masked.

    python recipes/studies/padding.py --corpus en_vi

It trains the model of Laird's note as early implementations did: every source
is padded to one length, and padding is read and attended to like a word.
`--masked` trains the same model with masked padding. Besides the files of
`recipes/nmt_vietnamese.py`, it writes pictures of the attention to a sentence
and its padding, and of the gradient norms of the decoder's layers.
"""

import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import nmt_vietnamese
import numpy as np
import tensorflow as tf
import translate

from kerasrnn import data
from kerasrnn import pipelines
from kerasrnn import plots
from kerasrnn import training
from studies.presets import presets_of

# The example sentence of the note.
SENTENCE = (
    "The answer to the ultimate question of life , the universe and everything"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(nmt_vietnamese.Settings):
    output: pathlib.Path = pathlib.Path("saved_models/padding")
    masked: bool = False
    """Whether to mask padding."""

    def without_effect(self):
        return super().without_effect() | {"start_from", "members", "model"}


LAIRD = nmt_vietnamese.PRESETS["laird-hour"]
PRESETS = presets_of(
    Settings, {"laird-hour": dataclasses.replace(LAIRD, max_tokens=30)}
)


def build_tokenizers(settings, pairs):
    """As published; without a mask, padding is a word of the source."""
    source, target = nmt_vietnamese.published_tokenizers(settings, pairs)
    if not settings.masked:
        options = settings.pick(*settings.text_options)
        source = type(source)([*source.vocabulary, "<pad>"], **options)
    return source, target


def build_model(settings, source, target):
    """As published, with or without a mask in the encoder."""
    model = nmt_vietnamese.published_model(settings, source, target)
    encoder = model.encoder.get_config() | {"mask_padding": settings.masked}
    return type(model)(type(model.encoder).from_config(encoder), model.decoder)


def fixed_length(translator):
    """The same pipeline with every source padded to one length."""
    return pipelines.TextTranslator(
        translator.model,
        translator.source_tokenizer,
        translator.target_tokenizer,
        translator.search,
        translator.max_length,
        fixed_length=True,
        copy_unknown=translator.copy_unknown,
    )


def gradient_norms(model, inputs, labels):
    """Returns a function that computes the norms for one batch.

    It returns the norm of the gradient of each layer of the decoder.
    """
    cell = model.decoder.rnn.cell.cell
    layers = {
        f"layer {i}": layer.trainable_variables
        for i, layer in enumerate(getattr(cell, "cells", [cell]), 1)
    }

    @tf.function
    def norms():
        with tf.GradientTape() as tape:
            loss = model.loss(labels, model(inputs, training=False))
        values = {
            name: [variable.value for variable in variables]
            for name, variables in layers.items()
        }
        gradients = tape.gradient(loss, values)
        return {name: tf.linalg.global_norm(g) for name, g in gradients.items()}

    return lambda: {name: float(norm) for name, norm in norms().items()}


def attention_and_padding(translator):
    """Returns the attention to the sentence and its padding, to plot."""
    longer = f"{SENTENCE} {SENTENCE}"  # so that every model pads the first
    found = translator.signatures["attend"](tf.constant([SENTENCE, longer]))
    source, target, weights = (
        found[name].numpy()[0]
        for name in ("source_tokens", "target_tokens", "weights")
    )
    source = [token.decode() or "<pad>" for token in source]
    target = [token.decode() for token in target if token]
    return weights[: len(target)], source, target


def gradient_picture(norms):
    """Draws the gradient norms of the layers over the training steps."""
    steps = norms.pop("step")
    curves = {
        name: {"step": steps, "norm": values} for name, values in norms.items()
    }
    return plots.comparison_figure(
        curves,
        "norm",
        x="step",
        label="norm of the gradient",
        x_label="batches",
    )


def main():
    settings = training.read_settings(PRESETS, "laird-hour", __doc__)
    with pipelines.Run(settings) as run:
        pairs, dev, _ = nmt_vietnamese.load_pairs(settings)
        pairs = data.drop_long(pairs, settings.max_words)
        texts = build_tokenizers(settings, pairs)
        model = build_model(settings, *texts)
        translator = fixed_length(
            translate.build_translator(settings, model, *texts, pairs)
        )
        steps = len(translator.batches(pairs, settings.batch_size))
        translator.compile(
            nmt_vietnamese.build_optimizer(settings, settings.epochs * steps),
            translator.default_loss(settings.label_smoothing),
        )
        batch = next(iter(translator.batches(dev, settings.batch_size)))
        # Each training has a file of its own.
        name = training.fingerprint([training.identity(settings), pairs])
        norms = training.GradientNorms(
            gradient_norms(model, *batch), run.output / f"gradients-{name}.csv"
        )
        run.fit(
            translator,
            pairs,
            dev,
            average=settings.average,
            callbacks=[norms],
        )
        weights, source, target = attention_and_padding(translator)
        is_padding = np.array([token == "<pad>" for token in source])
        lost = float(weights[:, is_padding].sum(axis=1).mean())
        print(f"attention weight on padding: {lost}")
        pictures = {
            "attention_and_padding": plots.attention_grid(
                [(weights, source, target)], columns=1
            )
        }
        if history := norms.history():
            pictures["gradients"] = gradient_picture(history)
        run.finish(
            translator, dev, pictures=pictures, attention_on_padding=lost
        )


if __name__ == "__main__":
    main()
