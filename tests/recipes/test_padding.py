"""A translator with and without a mask of padding."""

import numpy as np
import pytest
from studies import padding

from tests.helpers import one_now
from tests.recipes import brief
from tests.recipes.brief import untranslated  # noqa: F401  a fixture


@pytest.fixture
def found(monkeypatch):
    """What a run ends with; the recipe's own tests see the rest."""
    found = {}
    monkeypatch.setattr(
        "kerasrnn.pipelines.Run.finish",
        lambda run, translator, dev, **facts: found.update(facts),
    )
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*are not trained on")
@pytest.mark.usefixtures("untranslated")
@pytest.mark.parametrize("flag", one_now(["--no-masked", "--masked"]))
def test_attention_on_padding_with_and_without_a_mask(flag, found, tmp_path):
    corpus = brief.write_vietnamese_corpus(tmp_path / "en_vi")
    output = tmp_path / "out"
    brief.run(
        *(padding, "--corpus", corpus / "train.en", "--max-words", "None"),
        *("--units", 4, "--depth", 2, "--batch-size", 1, "--epochs", 7),
        *("--dtype", "float32", "--beam-width", 2, "--max-tokens", 25),
        *("--output", output, flag),
    )
    lost = found["attention_on_padding"]
    assert lost == 0 if flag == "--masked" else lost > 0.05
    assert set(found["pictures"]) == {"attention_and_padding", "gradients"}
    # A training has a file of its own, with the norms of each layer.
    [path] = output.glob("gradients-*.csv")
    norms = np.genfromtxt(path, delimiter=",", names=True)
    assert norms.dtype.names == ("step", "layer_1", "layer_2")
    assert norms["step"] == 50 and norms["layer_1"] > 0


def test_what_the_study_ignores_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        brief.run(padding, "--members", 2, "--output", tmp_path)
    assert capsys.readouterr().err.endswith("Received: --members\n")
