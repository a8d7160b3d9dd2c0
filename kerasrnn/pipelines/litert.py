"""Conversion of pipelines to LiteRT (TensorFlow Lite), for phones."""

import contextlib
import functools
import pathlib
import tempfile
from typing import Any

import keras
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.pipelines.saved_model import export_saved_model
from kerasrnn.pipelines.signatures import graph_function
from kerasrnn.pipelines.signatures import named
from kerasrnn.pipelines.text_labeller import TextLabeller
from kerasrnn.pipelines.text_language_model import TextLanguageModel
from kerasrnn.pipelines.text_tagger import TextTagger
from kerasrnn.saving import all_layers


def litert_model(pipeline: Any, length: int = 1, int8: bool = False) -> bytes:
    """Converts a pipeline, or a Keras model with these layers, to LiteRT.

    The result needs only the built-in operations of the LiteRT interpreter and
    processes the ids of one text. Recurrent loops are unrolled, so `length` is
    fixed.

    | model | inputs | outputs |
    |---|---|---|
    | Keras model | those of the model | `output_0 ...` |
    | language model | `ids`, `state_0 ...` | `logits`, `next_state_0 ...` |
    | tagger | `words`, and `characters` if it reads them | `tags` |
    | classifier | `ids` | `logits` |

    Ids and tags are int32 of shape `(1, length)`, characters have the shape
    `(1, length, max_letters)`.

    A Keras model gets a batch size of 1, and `length` for every other axis of
    unknown size.

    Args:
        pipeline: A `TextLanguageModel` (whose initial states are zeros),
            `TextTagger` or `TextLabeller`; or a Keras model with known inputs,
            such as `keras.Model(inputs, outputs)` or a built
            `keras.Sequential`.
        length: Positive integer, number of ids or steps; 1 for single steps.
            Pad shorter texts with the padding id of the tokenizer.
        int8: Whether to store large weights in 8 bits (post-training dynamic
            range quantization), which takes a quarter of the size.

    Returns:
        The bytes of a `.tflite` file.

    Raises:
        TypeError: when `pipeline` is none of these.
        ValueError: when the model is not in float32 or is quantized, or
            `length` is not positive.

    Example:

    >>> tokenizer = WordTokenizer.train(["a b"], specials=("</s>", "<unk>"))
    >>> model = LanguageModel(tokenizer.vocabulary_size, FastGRUCell(8))
    >>> model.build()
    >>> step = litert_model(TextLanguageModel(model, tokenizer))
    >>> size = pathlib.Path("language.tflite").write_bytes(step)
    """
    positive_integer("length", length)
    function, specs = _fixed(pipeline, length)
    model = getattr(pipeline, "model", pipeline)
    with (
        contextlib.ExitStack() as stack,
        tempfile.TemporaryDirectory() as folder,
    ):
        for layer in all_layers(model):
            if layer.quantization_mode or layer.compute_dtype != "float32":
                raise ValueError(
                    "Only float32 models without quantization can be "
                    "converted; use `int8` for 8-bit weights. Received: the "
                    f"layer {layer.name!r} in {layer.dtype_policy.name!r}"
                )
            if isinstance(layer, keras.layers.RNN):
                stack.callback(setattr, layer, "unroll", layer.unroll)
                layer.unroll = True
        signature = graph_function(function, *specs)
        path = pathlib.Path(folder, "1")
        export_saved_model(path, {"serving_default": signature}, [])
        converter = tf.lite.TFLiteConverter.from_saved_model(
            str(path), signature_keys=["serving_default"]
        )
        if int8:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        return bytes(converter.convert())


@functools.singledispatch
def _fixed(pipeline, length):
    """Returns a function of inputs with fixed shapes, and its arguments."""
    if not getattr(pipeline, "inputs", None):
        raise TypeError(
            "`pipeline` must be a TextLanguageModel, a TextTagger, a "
            "TextLabeller, or a Keras model with known inputs. Received: a "
            f"{type(pipeline).__name__}"
        )

    def outputs(*given):
        if len(given) > 1:
            given = [keras.tree.pack_sequence_as(pipeline.input, given)]
        return named("output", pipeline(*given, training=False))

    return outputs, [
        tf.TensorSpec([1, *(n or length for n in x.shape[1:])], x.dtype, x.name)
        for x in pipeline.inputs
    ]


@_fixed.register
def _(pipeline: TextLanguageModel, length):
    def step(ids, *states):
        logits, states = pipeline.model.run(ids, list(states))
        return {"logits": logits, **named("next_state", states)}

    states = named("state", pipeline.model.initial_states(1))
    specs = [tf.TensorSpec.from_tensor(x, name) for name, x in states.items()]
    return step, [_ids("ids", length), *specs]


@_fixed.register
def _(pipeline: TextTagger, length):
    def tags(words, *characters):
        inputs = {"words": words}
        if characters:
            [inputs["characters"]] = characters
        scores = pipeline.model(inputs, training=False)
        return {"tags": tf.argmax(scores, axis=-1, output_type=tf.int32)}

    specs = [_ids("words", length)]
    if pipeline.characters is not None:
        specs.append(_ids("characters", length, pipeline.max_letters))
    return tags, specs


@_fixed.register
def _(pipeline: TextLabeller, length):
    def logits(ids):
        return {"logits": pipeline.model(ids, training=False)}

    return logits, [_ids("ids", length)]


def _ids(name, *sizes):
    return tf.TensorSpec([1, *sizes], tf.int32, name=name)
