"""Every public name is documented, tested and, where it saves, registered."""

import importlib
import inspect
import pathlib
import re
import typing

import keras
import pytest

from tests.test_layering import public_names

TESTS = pathlib.Path(__file__).parent
# The parts that need TensorFlow are looked at where it is the backend.
ANYWHERE = [
    *("layers", "models", "decoding", "metrics", "training"),
    "distribute",
]
TENSORFLOW = ["data", "tokenizers", "pipelines", "plots"]
PARTS = ANYWHERE + TENSORFLOW * (keras.backend.backend() == "tensorflow")
NAMES = [
    (f"kerasrnn.{part}", name)
    for part in PARTS
    for name in sorted(public_names(f"kerasrnn.{part}"))
]
SAVED = (keras.layers.Layer, keras.losses.Loss, keras.metrics.Metric)

every_name = pytest.mark.parametrize("module, name", NAMES)


def find(module, name):
    return getattr(importlib.import_module(module), name)


def public_functions(thing):
    """Yields the functions that make up the signature of a public name."""
    if inspect.isfunction(thing):
        yield thing
    for base in inspect.getmro(thing) if inspect.isclass(thing) else ():
        if not base.__module__.startswith("kerasrnn."):
            continue
        for name, member in vars(base).items():
            if name not in ("__init__", "__call__") and name.startswith("_"):
                continue
            if isinstance(member, property):
                yield member.fget
            elif isinstance(member, (classmethod, staticmethod)):
                yield member.__func__
            elif inspect.isfunction(member):
                yield member


def is_saved(module, name):
    """Whether a `.keras` file may hold it."""
    thing = find(module, name)
    return inspect.isclass(thing) and issubclass(thing, SAVED)


@every_name
def test_it_has_a_docstring_with_its_arguments(module, name):
    thing = find(module, name)
    if typing.get_origin(thing) is not None:
        return  # A type, whose own documentation is all that Python shows.
    doc = thing.__doc__
    assert doc and doc.strip()
    if inspect.isclass(thing) and issubclass(thing, (Exception, Warning)):
        return
    parameters = inspect.signature(thing).parameters
    sections = r"^ *(Args|Arguments|Call arguments|Attributes):$"
    assert not parameters or re.search(sections, doc, re.MULTILINE)
    for parameter in parameters.values():
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            assert re.search(rf"\b{parameter.name}\b", doc), parameter.name


@every_name
def test_its_signature_is_annotated(module, name):
    for function in public_functions(find(module, name)):
        where = function.__qualname__
        signature = inspect.signature(function)
        for parameter in signature.parameters.values():
            if parameter.name not in ("self", "cls"):
                missing = parameter.annotation is parameter.empty
                assert not missing, f"{where}: {parameter.name}"
        if function.__name__ != "__init__":
            missing = signature.return_annotation is signature.empty
            assert not missing, f"{where}: what it returns"


@every_name
def test_a_layer_states_its_shapes(module, name):
    takes_text = module in ("kerasrnn.tokenizers", "kerasrnn.pipelines")
    if is_saved(module, name) and not takes_text:
        assert re.search(r"shapes?\s+`\(", find(module, name).__doc__)


@every_name
def test_it_is_tested(module, name):
    if hasattr(find(module, name), "_fields"):
        return  # A record is tested with the function that returns it.
    texts = (
        path.read_text(encoding="utf-8")
        for path in TESTS.rglob("test_*.py")
        if path.name != pathlib.Path(__file__).name
    )
    assert any(re.search(rf"\b{name}\b", text) for text in texts)


@every_name
def test_what_a_model_saves_is_registered(module, name):
    if is_saved(module, name):
        thing = find(module, name)
        registered = keras.saving.get_registered_name(thing)
        assert registered == f"kerasrnn>{name}"
        assert keras.saving.get_registered_object(registered) is thing


@pytest.mark.parametrize("part", PARTS)
def test_all_is_what_is_public(part):
    module = importlib.import_module(f"kerasrnn.{part}")
    listed = getattr(module, "__all__", None)
    if listed is not None:
        assert sorted(listed) == list(listed)
        assert set(listed) == public_names(f"kerasrnn.{part}")
