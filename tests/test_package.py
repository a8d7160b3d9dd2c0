import re
import shutil
import tomllib

import addresses
import pytest
import yaml

import kerasrnn
from kerasrnn.decoding import BeamSearch
from kerasrnn.layers import RHNCell
from kerasrnn.metrics import Perplexity
from kerasrnn.models import LanguageModel
from kerasrnn.models import RMSDynamicEvaluation
from kerasrnn.training import TokenCrossentropy
from tests import fresh_process
from tests.models.small import translator
from tests.test_layering import ROOT

SCRIPT = """
import json, sys

import kerasrnn
import keras

parts = kerasrnn.layers.RHNCell, kerasrnn.decoding.BeamSearch
names = [part.__name__ for part in parts]
for path in sys.argv[1:]:
    names.append(type(keras.saving.load_model(path)).__name__)
print(json.dumps(names))
"""


@pytest.mark.slow
def test_importing_the_package_is_enough_to_load_a_model(tmp_path):
    language = LanguageModel(9, RHNCell(4, 2), batch_size=1)
    language.build()
    language.compile(
        RMSDynamicEvaluation(), TokenCrossentropy(), metrics=[Perplexity()]
    )
    models = {"first": translator(), "second": language}
    paths = [tmp_path / f"{name}.keras" for name in models]
    for model, path in zip(models.values(), paths, strict=True):
        model.save(path)
    assert fresh_process.answer(SCRIPT, *paths) == [
        RHNCell.__name__,
        BeamSearch.__name__,
        "Translator",
        "LanguageModel",
    ]


def project():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


def test_the_base_is_what_conda_installs_and_has_no_backend():
    required = {
        re.sub(r"(?<=\w)>", " >", one) for one in project()["dependencies"]
    }
    names = {one.split()[0] for one in required}
    assert names == {"filelock", "h5py", "keras", "numpy"}
    recipe = ROOT / "conda" / "recipe.yaml"
    run = yaml.safe_load(recipe.read_text("utf-8"))["requirements"]["run"]
    assert set(run) == required | {"python " + project()["requires-python"]}


def test_the_version_is_the_same_everywhere():
    for path, line in (
        ("CITATION.cff", "version: {}"),
        ("conda/recipe.yaml", '  version: "{}"'),
    ):
        lines = (ROOT / path).read_text("utf-8").splitlines()
        assert line.format(kerasrnn.__version__) in lines, path


def test_a_release_names_the_address_of_its_repository(tmp_path):
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    addresses.fill_in(tmp_path, "https://example.org/it", "v1")
    text = (tmp_path / "README.md").read_text("utf-8")
    assert "](https://example.org/it/raw/v1/docs/images/speeds.png)" in text
    assert 'src="https://example.org/it/raw/v1/docs/images/' in text
    assert "](https://example.org/it/blob/v1/CONTRIBUTING.md)" in text
    code = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    before = (ROOT / "README.md").read_text("utf-8")
    assert code.findall(text) == code.findall(before)
    assert not re.search(r"\]\((?!https://|#)", code.sub("", text))
    with (tmp_path / "pyproject.toml").open("rb") as file:
        urls = tomllib.load(file)["project"]["urls"]
    assert urls["Issues"] == "https://example.org/it/issues"
