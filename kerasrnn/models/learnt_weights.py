"""What language models have learnt, for an encoder to start from."""

import numpy as np
from keras import ops

from kerasrnn.layers.quantization import quantized_layers
from kerasrnn.saving import template


def learnt_weights(model, backwards=None):
    """Returns the weights of language models for the parts of an encoder.

    Args:
        model: A `LanguageModel`.
        backwards: One that reads texts backwards, or `None`; see
            `Encoder.from_language_model`.

    Returns:
        Lists of arrays, the weights of the `embedding` and of the `stack`.

    Raises:
        ValueError: when a language model is quantized; when the two have
            several layers, or other cells or embeddings.
    """
    both = [model] if backwards is None else [model, backwards]
    for each in both:
        if not each.built:
            each.build()
        _check_not_quantized(each)
    if backwards is not None:
        _check_depths(model, backwards)
        _check_cells(model, backwards)
        _check_embeddings(model, backwards)
    stack = [weight for each in both for weight in each.stack.get_weights()]
    return model.embedding.get_weights(), stack


def _check_not_quantized(model):
    for part in (model.embedding, model.stack):
        if quantized := quantized_layers(part):
            raise ValueError(
                "Quantized weights do not learn. Expected: a language "
                "model as it was before `quantize`. Received: weights in "
                f"{sorted({how['mode'] for how in quantized.values()})}"
            )


def _check_depths(*models):
    depths = [model.depth for model in models]
    if depths != [1, 1]:
        raise ValueError(
            "Language models of two directions must have one recurrent layer: "
            "a second one of an encoder reads the outputs of both. Received: "
            f"depths {depths[0]} and {depths[1]}"
        )


def _check_cells(*models):
    cells = [
        (type(cell).__name__, template(cell, "name", "seed", "trainable"))
        for cell in (model.cell for model in models)
    ]
    if cells[0] != cells[1]:
        raise ValueError(
            "Language models of two directions must have the same cell. "
            f"Received: {cells[0]} and {cells[1]}"
        )


def _check_embeddings(*models):
    factors = [model.embedding.factor for model in models]
    if factors[0] != factors[1]:
        raise ValueError(
            "Language models of two directions must have the same "
            f"`embedding_scale`. Received: {factors[0]:g} and {factors[1]:g}"
        )
    tables = [
        ops.convert_to_numpy(model.embedding.embeddings) for model in models
    ]
    if not np.array_equal(*tables):
        raise ValueError(
            "Language models of two directions must have the same embeddings, "
            "which `TextLanguageModel.opposite` does not train. Received: "
            f"tables of shapes {tables[0].shape} and {tables[1].shape} that "
            "differ"
        )
