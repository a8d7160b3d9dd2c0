"""A pipeline that is saved and opened again is the same pipeline."""

import io
import json
import zipfile

import keras
import pytest
import tensorflow as tf

import kerasrnn
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextTranslator
from tests.helpers import flipped
from tests.helpers import one_now
from tests.helpers import reloaded
from tests.pipelines import small
from tests.pipelines.small import PAIRS
from tests.pipelines.small import REVIEWS
from tests.pipelines.small import SOURCES

KINDS = {
    "translator": (small.translator, [PAIRS], SOURCES),
    "labeller": (small.labeller, [REVIEWS, small.CLASSES], REVIEWS),
    "language": (small.language, [SOURCES], SOURCES),
}


@pytest.fixture(scope="module", params=one_now([*KINDS][::-1]))
def trained(request):
    """A pipeline after some training, its examples and its texts."""
    make, examples, texts = KINDS[request.param]
    pipeline = make()
    pipeline.compile(keras.optimizers.Adam(0.01))
    pipeline.fit(*examples, epochs=2, verbose=0)
    return pipeline, examples, texts


def answers(pipeline, texts):
    """What the main functions of a pipeline answer."""
    texts = tf.constant([*texts, "", "zzz the"])
    names = {"serving_default", "explain"} & {*pipeline.signatures}
    return {
        # As text, in which NaN is what it is.
        f"{name}, {key}": str(value.numpy().tolist())
        for name in sorted(names)
        for key, value in pipeline.signatures[name](texts).items()
    }


def test_it_answers_and_learns_on_as_if_never_closed(trained, tmp_path):
    pipeline, examples, texts = trained
    opened = reloaded(pipeline, tmp_path)
    configs = [json.dumps(each.get_config()) for each in (opened, pipeline)]
    assert configs[0] == configs[1]
    assert answers(opened, texts) == answers(pipeline, texts)
    learnt = [
        each.fit(*examples, epochs=2, verbose=0).history["loss"]
        for each in (opened, pipeline)
    ]
    assert learnt[0] == learnt[1]
    assert learnt[0][1] < learnt[0][0]
    assert answers(opened, texts) == answers(pipeline, texts)


@pytest.mark.slow
def test_two_languages_may_have_one_tokenizer(tmp_path):
    given = small.translator()
    model, tokenizer = given.model, given.target_tokenizer
    shared = TextTranslator(model, tokenizer, tokenizer, GreedySearch())
    opened = reloaded(shared, tmp_path)
    assert opened.source_tokenizer is opened.target_tokenizer
    assert opened.translate(["Lal ghar"]) == shared.translate(["Lal ghar"])


@pytest.mark.filterwarnings("ignore:.*does not have a `quantize`")
def test_a_quantized_model_answers_as_such():
    labeller, language = small.labeller(), small.language()
    search = BeamSearch(max_length=9, beam_width=2)
    # Without their shortlists, which need output weights in float.
    translator, *others = (
        TextTranslator(x.model, x.source_tokenizer, x.target_tokenizer, search)
        for x in (small.translator(), small.translator(), small.translator())
    )
    both = TextTranslator.ensemble(others)
    pairs = list(zip(SOURCES, SOURCES, strict=True))[:2]

    def answers():
        return [
            labeller.probabilities(REVIEWS[:2])[0, 0],
            language.evaluate(REVIEWS[:2])["loss"],
            translator.n_best(SOURCES[:1])[0][0].score,
            both.score(pairs)["log_probability"][0],
        ]

    before = answers()
    for pipeline in labeller, language, translator, *both.model.models:
        model = getattr(pipeline, "model", pipeline)
        if pipeline is labeller:  # Also one layer of it counts.
            model.encoder.embedding.quantize("int8")
        else:
            model.quantize("int8")
    after = answers()
    for one, other in zip(before, after, strict=True):
        assert one != other and abs(one - other) < 0.1


def test_a_file_that_holds_something_else(tmp_path):
    path = tmp_path / "it.keras"
    keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]).save(path)
    with pytest.raises(ValueError, match="TextTranslator.save wrote.*Sequent"):
        TextTranslator.open(path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "labeller.keras"
    small.labeller().save(path)
    return path


def flip(content):
    """Changes one bit of a weight."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        weights = file.read("model.weights.h5")
    return content.replace(weights, flipped(weights))


def other_archive(content):
    with zipfile.ZipFile(found := io.BytesIO(), "w") as file:
        file.writestr("a.txt", content[:9])
    return found.getvalue()


@pytest.mark.parametrize(
    "harm, found",
    [
        (flip, "damaged.*CRC-32.*model.weights.h5"),
        (lambda x: x[: len(x) // 2], "damaged"),
        (lambda x: b"", "damaged"),
        (lambda x: b"some text", "damaged or of another kind"),
        (other_archive, "of another kind.*config.json"),
    ],
)
def test_damage_is_said_in_a_sentence(saved, tmp_path, harm, found):
    path = tmp_path / "it.keras"
    path.write_bytes(harm(saved.read_bytes()))
    with pytest.raises(ValueError, match=found) as error:
        TextLabeller.open(path)
    expected = f"a file that TextLabeller.save wrote. Received: '{path}'"
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match="read: no such file.*none.keras'"):
        TextLabeller.open(tmp_path / "none.keras")
    with pytest.raises(ValueError, match="read: is a directory.*Received"):
        TextLabeller.open(tmp_path)


def copied(path, copy, change=None, without="-"):
    """Copies an archive, with a changed configuration and without a part."""
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(copy, "w") as written:
        for name in given.namelist():
            content = given.read(name)
            if name == "config.json" and change:
                config = json.loads(content)
                change(config["config"])
                content = json.dumps(config)
            if without not in name:
                written.writestr(name, content)


def test_a_file_without_its_vocabulary(saved, tmp_path):
    copied(saved, tmp_path / "it.keras", without="vocabulary")
    with pytest.raises(ValueError, match="damaged.*a vocabulary is missing"):
        TextLabeller.open(tmp_path / "it.keras")


@pytest.mark.parametrize(
    "new",
    [
        {"newer": 1},
        {"model": {"class_name": "New", "config": {}, "module": None}},
    ],
)
def test_a_file_of_another_version_is_no_damage(saved, tmp_path, new):
    path = tmp_path / "it.keras"

    def change(config, version="9.1.0"):
        assert config["kerasrnn"] == kerasrnn.__version__
        config.update(new, kerasrnn=version)

    copied(saved, path, change)
    with pytest.raises(ValueError, match="cannot read a file of version 9.1.0"):
        TextLabeller.open(path)
    # What this version wrote itself does not fail because of it.
    copied(saved, path, lambda x: change(x, kerasrnn.__version__))
    with pytest.raises((TypeError, ValueError), match="newer|'New'"):
        TextLabeller.open(path)
