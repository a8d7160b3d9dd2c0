"""What is exported answers without this package as the live pipeline does."""

import json
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import read_series
from kerasrnn.decoding import BeamSearch
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.models import LanguageModel
from kerasrnn.models import PianoRollModel
from kerasrnn.models import QuantileHead
from kerasrnn.pipelines import MusicPipeline
from kerasrnn.pipelines import SeriesForecaster
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.serving.warm_up import recorded_requests
from tests import fresh_process
from tests.helpers import randomize
from tests.helpers import reloaded
from tests.pipelines import served
from tests.pipelines import small

pytestmark = pytest.mark.slow
TEXT = {"text": ["string", [None]]}
# As they come from outside; surrogates are bytes that are no UTF-8.
STRANGE = [
    [""],
    ["  \t\u00a0"],
    ["日本 ਪੰਜਾਬ"],
    ["the red book is " * 500],
    ["the किताब is ру́сский"],
    ["\udcff\udcfe\udc80 the \udcc3"],
    [],
]


def translator():
    found = small.translator()
    found.search = BeamSearch(
        max_length=12, beam_width=3, **found.target_tokenizer.special_ids
    )
    batches = small.SOURCES[:3], ["", "the red book", " "], *STRANGE
    states = ["encode", {"text": ["who knows?"]}]
    phrases = {"prefix": ["Lal", ""], "required": [["ghar"], [""]]}
    texts = ["the red book.", "who knows?"]
    given = {"text": texts, "translation": ["Lal kitab", "Lal kitab"]}
    return found, [
        *(["serving_default", {"text": x}] for x in batches),
        ["translate_ids", {"ids": [[5, 6, 7, 2], [9, 2, -1, -1]]}],
        ["translate_with", {"text": texts, **phrases, "forbidden": [[], []]}],
        *([x, {"text": [*texts, ""]}] for x in ("attend", "greedy", "n_best")),
        ["score", given],
        states,
        ["decode_step", {"ids": [1]}],
        ["decode_step", {"ids": [4]}],
    ]


def language():
    tokenizer = small.language().tokenizer
    cell = GAMRHNCell(6, depth=1, num_groups=3, group_size=2, head_units=4)
    attending = SelfAttentionCell(cell, "additive", window=3)
    # With carried states, as it was trained.
    size = tokenizer.vocabulary_size
    model = LanguageModel(size, attending, batch_size=2)
    model.build()
    randomize(model)
    texts = small.SOURCES[:2], ["", "the red book", " \n"], *STRANGE
    prompts = {"prompt": ["the red", "", "who knows\n", *STRANGE[5]]}
    options = {"seed": 1, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    options |= {"max_tokens": 8, "one_sentence": False, **prompts}
    ways = [
        {},
        {"temperature": 0.0},
        {"seed": 2, "top_p": 0.9, "one_sentence": True},
        {"temperature": 0.5, "top_k": 3},
        {"max_tokens": 0},
    ]
    states = model.initial_states(2)
    states = {f"state_{i}": x.numpy().tolist() for i, x in enumerate(states)}
    return TextLanguageModel(model, tokenizer), [
        *(["serving_default", {"text": x}] for x in texts),
        ["score_ids", {"ids": [[2, 3, 4, 0, 5, 6], [4, 0, -1, -1, -1, -1]]}],
        *(["generate", options | way] for way in ways),
        ["step", {"ids": [[0], [0]], **states}],
        ["step", {"ids": [[3], [4]]}],
        ["step", {"ids": [[2], [5]]}],
    ]


def of_texts(pipeline, label="good"):
    texts = [*small.REVIEWS, "", "zzz " * 20, *STRANGE[3]]
    labels = {"label": [label] * len(texts)}
    return pipeline, [
        *(["serving_default", {"text": x}] for x in (texts, [])),
        ["label_ids", {"ids": [[3, 4, 2], [5, 0, 0]]}],
        ["explain", {"text": texts}],
        ["explain_label", {"text": texts, **labels}],
        ["tokenize", {"text": texts}],
    ]


def several_labels():
    one = small.labeller()
    parts = one.model, one.tokenizer, one.labels, 3
    options = {"multi_label": True, "thresholds": [0.3, 0.5, 0.6]}
    return of_texts(TextLabeller(*parts, **options))


def ensemble():
    members = [small.labeller(), small.labeller()]
    members[1].temperature = 2.0
    randomize(members[1].model, seed=2)
    return of_texts(TextLabeller.ensemble(members))


def tagger():
    found = small.tagger()
    randomize(found.model)
    words = [["Anna", "lives"], ["Bob", ""]]
    ids = found.ids(tf.ragged.constant([["Anna", "lives"], ["Bob"]]))
    ids = {name: x.to_tensor(-1).numpy().tolist() for name, x in ids.items()}
    texts = ["Anna Maria lives in Rome.", "", "Bob 😀", *STRANGE[5]]
    return found, [
        *(["serving_default", {"text": x}] for x in (texts, [""], [])),
        ["tag_tokens", {"tokens": words}],
        ["tag_ids", ids],
    ]


def forecaster(window="last"):
    found = small.forecaster(QuantileHead(), window=window, missing=True)
    rows = read_series(small.series(gaps=0.2), "date")
    found.adapt(rows)
    values = rows.series[0].values
    windows = np.stack([values[:48], values[60:108]])
    return found, [
        ["start", {"count": 2}],
        *(["step", {"past": x.tolist()}] for x in windows.swapaxes(0, 1)),
        ["serving_default", {"past": windows.tolist()}],
    ]


def music():
    cell = SelfAttentionCell(keras.layers.LSTMCell(4), "additive", window=3)
    model = PianoRollModel(cell, keys=5)
    model.build()
    randomize(model)
    padded = np.random.default_rng(0).integers(0, 2, (2, 9, 5))
    padded[1, 6:] = -1
    states = [np.full((2, size), 0.5).tolist() for size in model.state_sizes]
    states = {f"state_{i}": state for i, state in enumerate(states)}
    options = {"seed": 3, "temperature": 0.8, "steps": 9}
    return MusicPipeline(model), [
        ["serving_default", {"roll": padded.tolist()}],
        ["step", {"roll": padded[:, :2].tolist(), **states}],
        ["generate", {"prompt": padded[:, :2].tolist(), **options}],
    ]


@pytest.mark.parametrize(
    "make",
    [
        *(translator, language, several_labels, ensemble, tagger, music),
        pytest.param(forecaster, id="forecaster"),
        pytest.param(lambda: forecaster(None), id="forecaster of streams"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* texts were cut")
def test_an_export_of_a_file_answers_as_the_pipeline(make, tmp_path):
    pipeline, calls = make()
    path = reloaded(pipeline, tmp_path).export(tmp_path / "model" / "1")
    script = pathlib.Path(served.__file__).read_text("utf-8")
    found = fresh_process.answer(script, path, json.dumps(calls))
    live = {
        name: (lambda given, f=pipeline.signatures[name]: f(*given), specs)
        for name, (_, *specs) in pipeline.functions().items()
    }
    expected = served.ask(live, calls)
    for (name, _), answer, other in zip(
        calls, found["answers"], expected, strict=True
    ):
        assert answer.keys() == other.keys(), name
        for key, value in other.items():
            if value and isinstance(value[0], str):
                assert answer[key] == value, name
            else:
                np.testing.assert_allclose(answer[key], value, 1e-4, 1e-4)
    card = json.loads((path / "card.json").read_text("utf-8"))
    assert card.items() >= pipeline.served_facts().items()
    # Each function of texts alone is ready before anybody waits for it.
    ready = {name for name, _ in recorded_requests(path)}
    signatures = found["signatures"]
    assert {name for name in signatures if signatures[name][0] == TEXT} <= ready
    if isinstance(pipeline, SeriesForecaster):
        *_, step, whole = found["answers"]
        for name in "forecast", "quantiles":
            np.testing.assert_allclose(step[name], whole[name], rtol=1e-4)
        assert 300 < np.mean(np.array(whole["forecast"])[..., 0]) < 700
