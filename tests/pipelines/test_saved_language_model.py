import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.models import LanguageModel
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.tokenizers import WordTokenizer
from tests import fresh_process
from tests.helpers import randomize
from tests.pipelines import served
from tests.pipelines.served import plain

check_equal = functools.partial(served.check_equal, rtol=1e-4)
LINES = ["the red book", "a blue house", "a red house", "who knows the book"]

# Bytes, as they come from outside.
BATCHES = {
    "sentences": [b"the red book", b"who knows\nthe blue house\n", b"a"],
    "among others": [b"", b"the red book", b" \n"],
    "empty string": [b""],
    "unknown words": ["日本 ਪੰਜਾਬ".encode()],
    "long": [b"the red book " * 3333],
    "invalid": [b"\xff\xfe\x80 the \xc3"],
    "empty batch": [],
}
IDS = [[2, 3, 4, 0, 5, 6], [4, 0, -1, -1, -1, -1]]
PROMPTS = [b"the red", b"", b"who knows\n", b"\xff the"]
# Seed, temperature, top_k and max_tokens.
WAYS = {
    "greedy": [0, 0.0, 0, 8, 1.0, False],
    "drawn": [1, 1.0, 0, 8, 1.0, False],
    "another seed": [2, 1.0, 0, 8, 0.9, True],
    "cold": [1, 0.5, 3, 8, 1.0, False],
    "nothing": [1, 1.0, 0, 0, 1.0, False],
}

CLIENT = """
import json
import sys
import time

import tensorflow as tf
import tensorflow_text

model = tf.saved_model.load(sys.argv[1])
given = json.loads(sys.argv[2])
assert "kerasrnn" not in sys.modules


def strings(texts):
    return tf.constant([bytes.fromhex(text) for text in texts], tf.string)


def plain(found):
    return {
        key: [x.hex() for x in value.numpy().ravel()]
        if value.dtype == tf.string
        else value.numpy().tolist()
        for key, value in found.items()
    }


def answers(name, **inputs):
    return plain(model.signatures[name](**inputs))


started = time.perf_counter()
batches = {
    name: answers("serving_default", text=strings(texts))
    for name, texts in given["batches"].items()
}
seconds = time.perf_counter() - started
written = {
    name: answers(
        "generate",
        prompt=strings(given["prompts"]),
        seed=tf.constant(seed),
        temperature=tf.constant(temperature),
        top_k=tf.constant(top_k),
        max_tokens=tf.constant(max_tokens),
        top_p=tf.constant(top_p),
        one_sentence=tf.constant(one_sentence),
    )
    for name, (
        seed, temperature, top_k, max_tokens, top_p, one_sentence
    ) in given["ways"].items()
}
steps, states = [], given["states"]
for ids in given["steps"]:
    states = {name: tf.constant(x, tf.float32) for name, x in states.items()}
    found = answers("step", ids=tf.constant(ids), **states)
    steps.append(found)
    states = {name: x for name, x in found.items() if name != "logits"}

print(json.dumps({
    "batches": batches,
    "seconds": seconds,
    "ids": answers("score_ids", ids=tf.constant(given["ids"])),
    "written": written,
    "steps": steps,
    "signatures": {
        name: [
            {
                key: [spec.dtype.name, spec.shape.as_list()]
                for key, spec in specs.items()
            }
            for specs in (
                function.structured_input_signature[1],
                function.structured_outputs,
            )
        ]
        for name, function in model.signatures.items()
    },
}))
"""


def attending_gam_rhn():
    cell = GAMRHNCell(6, depth=1, num_groups=3, group_size=2, head_units=4)
    return SelfAttentionCell(cell, "additive", window=3)


# What is here alone, on language models; of exports at all, one is tested by
# the recipes.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def language():
    tokenizer = WordTokenizer.train(
        LINES, specials=("</s>", "<unk>"), lowercase=False
    )
    # With carried states, as it was trained.
    model = LanguageModel(
        tokenizer.vocabulary_size, attending_gam_rhn(), batch_size=2
    )
    model.build()
    randomize(model)
    return TextLanguageModel(model, tokenizer)


def first_states(language):
    states = language.model.initial_states(2)
    return {f"state_{i}": state for i, state in enumerate(states)}


STEPS = [[[0], [0]], [[3], [4]], [[2], [5]]]


@pytest.fixture(scope="module")
def client(language, tmp_path_factory):
    """What a process answers that has tensorflow and tensorflow_text only."""
    path = tmp_path_factory.mktemp("models") / "language" / "1"
    language.export(path)
    given = {
        "batches": {
            name: [text.hex() for text in texts]
            for name, texts in BATCHES.items()
        },
        "ids": IDS,
        "prompts": [prompt.hex() for prompt in PROMPTS],
        "ways": WAYS,
        "steps": STEPS,
        "states": plain(first_states(language)),
    }
    return fresh_process.answer(CLIENT, path, json.dumps(given))


@pytest.mark.parametrize("name", BATCHES)
def test_scores_are_those_of_the_live_model(client, language, name):
    live = language.signatures["serving_default"](
        tf.constant(BATCHES[name], tf.string)
    )
    check_equal(client["batches"][name], plain(live))


def test_ids_are_scored_without_text(client, language):
    live = plain(language.signatures["score_ids"](tf.constant(IDS)))
    check_equal(client["ids"], live)
    assert live["length"] == [6, 2]
    assert np.all(np.array(live["total"]) < 0)


@pytest.mark.parametrize("name", WAYS)
def test_writes_what_the_live_model_writes(client, language, name):
    prompts = tf.constant(PROMPTS, tf.string)
    live = language.signatures["generate"](
        prompts, *map(tf.constant, WAYS[name])
    )
    check_equal(client["written"][name], plain(live))


def test_steps_are_those_of_the_live_model(client, language):
    states = first_states(language)
    for ids, found in zip(STEPS, client["steps"], strict=True):
        live = language.signatures["step"](tf.constant(ids), *states.values())
        check_equal(found, plain(live))
        states = {name: x for name, x in live.items() if name != "logits"}


def test_signatures(client, language):
    size = language.tokenizer.vocabulary_size
    ids = {"ids": ["int32", [None, None]]}
    states = {
        f"state_{i}": ["float32", [None, width]]
        for i, width in enumerate(language.model.state_sizes)
    }
    scores = {
        "log_probabilities": ["float32", [None, None]],
        "total": ["float32", [None]],
        "perplexity": ["float32", [None]],
        "length": ["int32", [None]],
    }
    assert client["signatures"] == {
        "serving_default": [
            {"text": ["string", [None]]},
            {"tokens": ["string", [None, None]], **scores},
        ],
        "score_ids": [ids, scores],
        "generate": [
            {
                "prompt": ["string", [None]],
                "seed": ["int32", []],
                "temperature": ["float32", []],
                "top_k": ["int32", []],
                "max_tokens": ["int32", []],
                "top_p": ["float32", []],
                "one_sentence": ["bool", []],
            },
            {"text": ["string", [None]], "ids": ["int32", [None, None]]},
        ],
        "step": [
            ids | states,
            {"logits": ["float32", [None, None, size]], **states},
        ],
        "tokenize": [{"text": ["string", [None]]}, ids],
        "detokenize": [ids, {"text": ["string", [None]]}],
    }
