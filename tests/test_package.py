import pytest

from kerasrnn.decoding import BeamSearch
from kerasrnn.layers import RHNCell
from kerasrnn.metrics import Perplexity
from kerasrnn.models import LanguageModel
from kerasrnn.models import RMSDynamicEvaluation
from kerasrnn.training import TokenCrossentropy
from tests import fresh_process
from tests.models.small import translator

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
