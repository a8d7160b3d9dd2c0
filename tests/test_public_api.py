"""Every public name is documented, tested and, where it saves, registered."""

import importlib
import inspect
import pathlib
import re
import typing

import keras

from tests.test_layering import assert_none
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


def find(module, name):
    return getattr(importlib.import_module(module), name)


PUBLIC = {find(*x) for x in NAMES}
SAVED = (keras.layers.Layer, keras.losses.Loss, keras.metrics.Metric)


def assert_kept(rule):
    """Fails if a public name breaks a rule, and lists all that do.

    Args:
        rule: Function of a public thing, its module and its name, which
            yields its faults.
    """
    assert_none(
        f"{module}.{name}: {fault}"
        for module, name in NAMES
        for fault in rule(find(module, name), module, name)
    )


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


def functions(thing):
    """Yields a function, or those that a class and its private bases have."""
    if inspect.isfunction(thing):
        yield thing.__name__, thing
    if not inspect.isclass(thing):
        return
    classes = [x for x in inspect.getmro(thing) if x in PUBLIC]
    for name in dir(thing):
        method, *inherited = (
            getattr(found, "__func__", found)
            for found in (
                inspect.getattr_static(x, name, None) for x in classes
            )
        )
        is_public = name in ("__init__", "__call__") or name[0] != "_"
        if is_public and inspect.isfunction(method) and method not in inherited:
            yield f"{thing.__name__}.{name}", method


def is_saved(thing):
    """Whether a `.keras` file may hold it."""
    return inspect.isclass(thing) and issubclass(thing, SAVED)


def test_every_name_has_a_docstring_with_its_arguments():
    sections = r"^ *(Args|Arguments|Call arguments|Attributes):$"

    def rule(thing, module, name):
        if typing.get_origin(thing) is not None:
            return  # A type, whose own documentation is all that Python shows.
        doc = thing.__doc__ or ""
        if not doc.strip():
            yield "no docstring"
        if inspect.isclass(thing) and issubclass(thing, (Exception, Warning)):
            return
        parameters = inspect.signature(thing).parameters.values()
        if parameters and not re.search(sections, doc, re.MULTILINE):
            yield "no section of arguments"
        for parameter in parameters:
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                # `a: ...`, or `a, b: ...` where both are the same.
                listed = rf"^ +(\w+, )*{parameter.name}(, \w+)*: "
                if not re.search(listed, doc, re.MULTILINE):
                    yield f"nothing of `{parameter.name}`"

    assert_kept(rule)


def test_every_signature_is_annotated():
    def rule(thing, module, name):
        for function in public_functions(thing):
            where = function.__qualname__
            signature = inspect.signature(function)
            for parameter in signature.parameters.values():
                if parameter.name not in ("self", "cls"):
                    if parameter.annotation is parameter.empty:
                        yield f"`{parameter.name}` of {where}"
            if function.__name__ != "__init__":
                if signature.return_annotation is signature.empty:
                    yield f"what {where} returns"

    assert_kept(rule)


def test_defaults_are_as_listed():
    """Programs of users rely on them: whoever changes one says so."""

    def lines():
        for part, public in NAMES:
            for name, function in functions(find(part, public)):
                if function.__module__.startswith("kerasrnn."):
                    shown = ", ".join(
                        f"{x.name}={getattr(x.default, '__name__', x.default)}"
                        for x in inspect.signature(function).parameters.values()
                        if x.default is not x.empty
                    )
                    yield f"{part}.{name}: {shown}"

    text = pathlib.Path(TESTS, "defaults.txt").read_text(encoding="utf-8")
    parts = tuple(f"kerasrnn.{part}." for part in PARTS)
    listed = {x for x in text.split("\n") if x.startswith(parts)}
    assert_none(listed ^ {x for x in lines() if x[-2:] != ": "})


def test_every_layer_states_its_shapes():
    def rule(thing, module, name):
        takes_text = module in ("kerasrnn.tokenizers", "kerasrnn.pipelines")
        if is_saved(thing) and not takes_text:
            if not re.search(r"shapes?\s+`\(", thing.__doc__ or ""):
                yield "no shape"

    assert_kept(rule)


def test_every_name_is_tested():
    texts = "\n".join(
        path.read_text(encoding="utf-8")
        for path in TESTS.rglob("test_*.py")
        if path.name != pathlib.Path(__file__).name
    )
    words = set(re.findall(r"\w+", texts))

    def rule(thing, module, name):
        # A record is tested with the function that returns it.
        if not hasattr(thing, "_fields") and name not in words:
            yield "no test"

    assert_kept(rule)


def test_what_a_model_saves_is_registered():
    def rule(thing, module, name):
        if is_saved(thing):
            registered = keras.saving.get_registered_name(thing)
            if registered != f"kerasrnn>{name}":
                yield f"registered as {registered}"
            elif keras.saving.get_registered_object(registered) is not thing:
                yield f"{registered} is something else"

    assert_kept(rule)


def test_all_is_what_is_public():
    def offences():
        for part in PARTS:
            module = importlib.import_module(f"kerasrnn.{part}")
            listed = getattr(module, "__all__", None)
            if listed is None:
                continue
            if sorted(listed) != list(listed):
                yield f"kerasrnn.{part}.__all__ is not sorted"
            for name in {*listed} ^ public_names(f"kerasrnn.{part}"):
                yield f"kerasrnn.{part}.{name} is public or listed, not both"

    assert_none(offences())
