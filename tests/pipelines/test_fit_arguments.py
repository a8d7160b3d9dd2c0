import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.pipelines import small


@pytest.mark.parametrize(
    "given, words",
    [
        ({"validation_split": 0.2}, "`validation_data`.*validation_split=0.2"),
        ({"shuffle": False}, "`batches` returns. Received: shuffle=False"),
        ({"sample_weight": [1.0]}, r"no weights in `fit`.*sample_weight=\[1.0"),
        ({"class_weight": {0: 2.0}}, r"no class weights.*class_weight=\{0: 2"),
        (
            {"callbacks": keras.callbacks.ModelCheckpoint("best.keras")},
            r"a TextLanguageModel. Expected.*Run`.*Checkpoint\('best.keras",
        ),
    ],
)
def test_arguments_of_keras_that_mislead_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        small.language().fit(small.SOURCES, verbose=0, **given)


@pytest.mark.slow
def test_shuffling_is_what_it_does():
    losses = [
        small.language().fit(small.SOURCES, verbose=0, **given).history["loss"]
        for given in ({}, {"shuffle": True})
    ]
    assert losses[0] == losses[1]


def test_a_dataset_of_strings_is_refused():
    strings = tf.data.Dataset.from_tensor_slices((small.REVIEWS, [0, 1, 0, 1]))
    with pytest.raises(ValueError, match="TextLabeller cannot.*of strings"):
        small.labeller().fit(strings.batch(2))


@pytest.mark.slow
def test_weights_are_saved_while_it_trains(tmp_path):
    path = str(tmp_path / "{epoch}.weights.h5")
    saving = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    trained, other = small.language(), small.language()
    trained.fit(small.SOURCES, verbose=0, callbacks=[saving])
    other.model.load_weights(tmp_path / "1.weights.h5")
    assert other.score(["the"])["total"] == trained.score(["the"])["total"]


def test_a_table_is_no_list_of_rows():
    frame = small.series(4)[["load", "temp"]]
    with pytest.raises(ValueError, match="as `zip` makes.*a DataFrame"):
        small.translator().fit(frame)
    with pytest.raises(ValueError, match="a list of its words, each with"):
        small.tagger().fit(frame)


@pytest.mark.parametrize("weight", ["equal", [1.0, 2.0]])
def test_class_weights_are_a_dictionary(weight):
    received = re.escape(f"Received: class_weight={weight!r}")
    with pytest.raises(ValueError, match=f"dictionary from tags.*{received}"):
        small.tagger(scheme=None).fit(small.SENTENCES, class_weight=weight)
    with pytest.raises(ValueError, match=f"dictionary from labels.*{received}"):
        small.labeller().fit(small.REVIEWS, small.CLASSES, class_weight=weight)


def test_weights_beside_a_dataset_are_refused():
    tagger = small.tagger()
    with pytest.raises(ValueError, match="beside a dataset"):
        tagger.fit(tagger.batches(small.SENTENCES), sample_weight=np.ones(12))
