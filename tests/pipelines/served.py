"""Asks the signatures of a SavedModel, where TensorFlow alone is installed.

    python served.py PATH CALLS

CALLS is a JSON list of signatures and their inputs. Of what a signature needs
and a call does not give, the answers before are taken, such as states.
"""

import json
import sys

import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the text operations


def tensor(value, spec):
    """A tensor of a list, in which surrogates are bytes that are no UTF-8."""
    if spec.dtype == tf.string:
        value = tf.nest.map_structure(
            lambda text: text.encode("utf-8", "surrogateescape"), value
        )
    return tf.constant(value, spec.dtype)


def plain(answer):
    """An answer as JSON; texts, which may be no UTF-8, are hexadecimal."""
    return {
        key: [x.hex() for x in value.numpy().ravel()]
        if value.dtype == tf.string
        else value.numpy().tolist()
        for key, value in answer.items()
    }


def ask(functions, calls):
    """The answers of functions, each given with the specs of its arguments."""
    known, answers = {}, []
    for name, inputs in calls:
        function, specs = functions[name]
        given = [
            tensor(inputs[spec.name], spec)
            if spec.name in inputs
            else known[spec.name]
            for spec in specs
        ]
        answer = function(given)
        known |= answer
        answers.append(plain(answer))
    return answers


def loaded(path):
    """The functions of a SavedModel, and what they take and return."""
    signatures = tf.saved_model.load(path).signatures
    functions, described = {}, {}
    for name, signature in signatures.items():
        inputs = signature.structured_input_signature[1]

        def call(given, signature=signature, names=tuple(inputs)):
            return signature(**dict(zip(names, given, strict=True)))

        functions[name] = call, list(inputs.values())
        described[name] = [
            {key: [x.dtype.name, x.shape.as_list()] for key, x in side.items()}
            for side in (inputs, signature.structured_outputs)
        ]
    return functions, described


if __name__ == "__main__":
    functions, described = loaded(sys.argv[1])
    answers = ask(functions, json.loads(sys.argv[2]))
    assert "kerasrnn" not in sys.modules
    print(json.dumps({"answers": answers, "signatures": described}))
