"""SavedModels of every kind that need no training."""

import json

import tensorflow as tf

from kerasrnn.pipelines.saved_model import simplify_graphs
from kerasrnn.serving.warm_up import WARM_UP_FILE
from kerasrnn.serving.warm_up import PredictionLog

TEXTS = tf.TensorSpec([None], tf.string, "text")
LABELS = tf.TensorSpec([None], tf.string, "label")


def export(path, functions, card=None, version="1"):
    """Writes a version with a signature for each function, and its card."""
    module = tf.Module()
    for name, function in functions.items():
        setattr(module, name, function)
    tf.saved_model.save(module, str(path / version), signatures=functions)
    simplify_graphs(path / version)  # as a pipeline does
    if card is not None:
        (path / version / "card.json").write_text(json.dumps(card))
    return path


def record(path, signature, **inputs):
    """Writes the one warm-up request of a version."""
    entry = PredictionLog()
    request = entry.predict_log.request
    request.model_spec.signature_name = signature
    for name, value in inputs.items():
        request.inputs.add(key=name, value=tf.make_tensor_proto(value))
    path = path / WARM_UP_FILE
    path.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(entry.SerializeToString())


def translator(path, **others):
    """Translates into capitals; attends to the word that it translates."""

    @tf.function(input_signature=[TEXTS])
    def translate(text):
        score = -tf.cast(tf.strings.length(text), tf.float32)
        return {"translation": tf.strings.upper(text), "score": score}

    @tf.function(input_signature=[TEXTS])
    def attend(text):
        source = tf.strings.split(text).to_tensor("")
        rows, places = tf.shape(source)[0], tf.shape(source)[1]
        return {
            "source_tokens": source,
            "target_tokens": tf.strings.upper(source),
            "weights": tf.eye(places, batch_shape=[rows]),
        }

    functions = {"serving_default": translate, "attend": attend, **others}
    card = {
        "commit": "1234567",
        "samples": [["come in", "आओ", "COME IN"]],
        "search": {
            "start_id": 1,
            "end_id": 2,
            "max_length": 20,
            "length_factor": 3,
            "length_offset": 5,
        },
        "max_length": 7,
    }
    return export(path, functions, card)


@tf.function(input_signature=[TEXTS])
def greedy(text):
    score = tf.zeros_like(text, tf.float32)
    return {"translation": tf.strings.lower(text), "score": score}


@tf.function(input_signature=[TEXTS])
def n_best(text):
    scores = tf.tile([[-1.0, -2.0, -float("inf")]], [tf.shape(text)[0], 1])
    texts = tf.stack([tf.strings.upper(text), text, text], axis=1)
    return {"translations": texts, "scores": scores}


@tf.function(input_signature=[TEXTS])
def tokenize(text):
    """A token for each character, and an end token; none for no text."""
    lengths = tf.strings.length(text)
    lengths = tf.where(lengths > 0, lengths + 1, 0)
    return {"ids": tf.where(tf.sequence_mask(lengths), 3, -1)}


@tf.function(input_signature=[TEXTS])
def encode(text):
    """The memory is the length, the state the number of tokens written.

    The memory has the shape of the keys of two heads.
    """
    rows = tf.shape(text)[0]
    places = tf.cast(tf.sequence_mask(tf.strings.length(text)), tf.float32)
    return {
        "memory_0": tf.tile(places[:, None, :, None], [1, 2, 1, 1]),
        "state_0": tf.zeros([rows, 1]),
    }


@tf.function(
    input_signature=[
        tf.TensorSpec([None], tf.int32, "ids"),
        tf.TensorSpec([None, 2, None, 1], tf.float32, "memory_0"),
        tf.TensorSpec([None, 1], tf.float32, "state_0"),
    ]
)
def decode_step(ids, memory_0, state_0):
    """Counts 1, 3, 4, ... and ends when it has as many tokens as the text.

    It does not end after a text of more than 30 characters.
    """
    length = tf.reduce_sum(memory_0[:, 0, :, 0], axis=1)
    done = (state_0[:, 0] >= length) & (length <= 30)
    following = tf.where(done, 2, tf.maximum(ids + 1, 3))
    return {
        "log_probabilities": tf.math.log(tf.one_hot(following, 40) + 1e-6),
        "state_0": state_0 + 1,
    }


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, "ids")])
def detokenize(ids):
    return {"text": tf.strings.reduce_join(tf.as_string(ids), 1, separator=" ")}


STEPS = {
    "tokenize": tokenize,
    "encode": encode,
    "decode_step": decode_step,
    "detokenize": detokenize,
}


def classifier(path, classes=2):
    """Finds a text positive if it has a "good"; it looks at long words."""

    def answer(text):
        good = tf.strings.regex_full_match(text, ".*good.*")
        positive = tf.where(good, 0.9, 0.2)
        label = tf.where(good, "positive", "negative")
        if classes > 2:
            rest = (1 - positive) / (classes - 1)
            columns = [positive] + [rest] * (classes - 1)
            return {"probability": tf.stack(columns, 1), "label": label}
        return {"probability": positive, "label": label}

    card = {"labels": ["negative", "positive"], "samples": []}
    return export(path, labelling(answer), card if classes == 2 else None)


def labelling(answer):
    """The functions of a classifier.

    Words weigh as much as they are long, for a label only if it is theirs.
    """

    @tf.function(input_signature=[TEXTS])
    def label(text):
        return answer(text)

    @tf.function(input_signature=[TEXTS, LABELS])
    def explain_label(text, label):
        tokens = tf.strings.split(text).to_tensor("")
        weights = tf.cast(tf.strings.length(tokens), tf.float32)
        weights = tf.where(tokens == label[:, None], weights, -weights)
        return {"tokens": tokens, "weights": weights, **answer(text)}

    return {"serving_default": label, "explain_label": explain_label}


def multi_label_classifier(path):
    """Finds each of two words, as labels that a text may have."""

    def answer(text):
        found = [
            tf.strings.regex_full_match(text, f".*{name}.*")
            for name in ("good", "late")
        ]
        has = tf.stack(found, axis=1)
        return {
            "probability": tf.where(has, [0.75, 0.6], [0.25, 0.125]),
            "label": tf.where(has, [["good", "late"]], ""),
        }

    card = {"labels": ["good", "late"], "multi_label": True, "samples": []}
    return export(path, labelling(answer), card)


def tagger(path, scheme="IOB2"):
    """Finds "Anna" at the beginning of every text; knows no other word."""

    def answer(text):
        rows = tf.ones_like(tf.strings.length(text))[:, None]
        named = {
            "tokens": ["Anna", "sings", ""],
            "known": [True, False, False],
            "tags": ["B-PER", "O", ""],
            "span_labels": ["PER", ""],
            "span_starts": [0, -1],
            "span_ends": [4, -1],
            "span_scores": [0.875, 0.0],
        }
        return {
            name: tf.tile(tf.constant([values]), [tf.shape(rows)[0], 1])
            for name, values in named.items()
        }

    @tf.function(input_signature=[TEXTS])
    def tag(text):
        return answer(text)

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.string, "tokens")]
    )
    def tag_tokens(tokens):
        return answer(tokens[:, 0])

    functions = {"serving_default": tag, "tag_tokens": tag_tokens}
    return export(path, functions, {"scheme": scheme, "samples": ["Bob sings"]})


def forecaster(path, known=()):
    """Repeats the last value of two columns, within a band of 1."""
    past = tf.TensorSpec([None, 4, 2], tf.float32, "past")
    ahead = tf.TensorSpec([None, 7, len(known)], tf.float32, "known")

    @tf.function(input_signature=[past, ahead] if known else [past])
    def forecast(past, known=None):
        point = tf.repeat(past[:, -1:], 3, axis=1)
        if known is not None:
            point += tf.reduce_sum(known[:, 4:], axis=-1, keepdims=True)
        band = tf.constant([-1.0, 0.0, 1.0])
        return {"forecast": point, "quantiles": point[..., None] + band}

    facts = {"columns": ["load", "heat"], "known": list(known), "static": []}
    sizes = {
        "lookback": 4,
        "horizon": 3,
        "step": "h",
        "levels": [0.1, 0.5, 0.9],
    }
    return export(path, {"serving_default": forecast}, {**facts, **sizes})


def music(path):
    """Holds the key that the seed names."""

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, 88], tf.float32, "prompt"),
            tf.TensorSpec([], tf.int32, "seed"),
            tf.TensorSpec([], tf.float32, "temperature"),
            tf.TensorSpec([], tf.int32, "steps"),
        ]
    )
    def generate(prompt, seed, temperature, steps):
        key = tf.one_hot(seed, 88) * tf.cast(temperature > 0, tf.float32)
        added = tf.tile(key[None, None], [tf.shape(prompt)[0], steps, 1])
        return {"roll": tf.concat([prompt, added], axis=1)}

    return export(path, {"serving_default": generate, "generate": generate})


def language_model(path):
    """Repeats the seed as often as it may write tokens."""

    @tf.function(input_signature=[TEXTS])
    def score(text):
        total = -tf.cast(tf.strings.length(text), tf.float32)
        tokens = tf.strings.split(text).to_tensor("")
        perplexity = tf.exp(-total / 10)
        return {"total": total, "perplexity": perplexity, "tokens": tokens}

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, "prompt"),
            *(
                tf.TensorSpec([], dtype, name)
                for name, dtype in [
                    ("temperature", tf.float32),
                    ("top_k", tf.int32),
                    ("top_p", tf.float32),
                    ("max_tokens", tf.int32),
                    ("one_sentence", tf.bool),
                    ("seed", tf.int32),
                ]
            ),
        ]
    )
    def generate(
        prompt, temperature, top_k, top_p, max_tokens, one_sentence, seed
    ):
        tf.debugging.assert_greater_equal(temperature, 0.0)
        words = tf.fill([max_tokens], tf.as_string(seed + top_k))
        written = tf.strings.reduce_join(words, separator=" ")
        return {"text": tf.strings.join([prompt, written], separator=" ")}

    return export(path, {"serving_default": score, "generate": generate})


def heavy(path, version="1"):
    """What a client may try to stop a server with.

    `serving_default` answers in capitals, and refuses texts with "bad" in
    them. `step` answers with 5,000 numbers for each id. `generate` takes a
    millisecond for each token, or far longer for many prompts.
    """

    @tf.function(input_signature=[TEXTS])
    def shout(text):
        bad = tf.strings.regex_full_match(text, ".*bad.*")
        check = tf.debugging.Assert(~tf.reduce_any(bad), ["a bad text"])
        with tf.control_dependencies([check]):
            return {"loud": tf.strings.upper(text)}

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, "ids")])
    def step(ids):
        return {"logits": tf.one_hot(ids, 5000)}

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, "prompt"),
            tf.TensorSpec([], tf.int32, "max_tokens"),
        ]
    )
    def generate(prompt, max_tokens):
        x = tf.ones([tf.size(prompt), 500])
        kernel = tf.fill([500, 500], 1 / 500)
        for _ in tf.range(max_tokens):
            for _ in range(30):
                x = tf.matmul(x, kernel)
        return {"ids": tf.cast(x[:, :1] * tf.ones([1, max_tokens]), tf.int32)}

    functions = {"serving_default": shout, "step": step, "generate": generate}
    return export(path, functions, version=version)
