"""A translator with and without a mask of padding."""

import numpy as np
import pytest
from studies import padding

from tests.recipes import brief


@pytest.mark.slow
def test_attention_on_padding_with_and_without_a_mask(tmp_path):
    corpus = brief.write_vietnamese_corpus(tmp_path / "en_vi")
    output = tmp_path / "out"

    def run(*flags):
        brief.run(
            *(padding, "--corpus", corpus / "train.en"),
            *("--units", 4, "--depth", 2, "--batch-size", 4, "--epochs", 26),
            *("--dtype", "float32", "--beam-width", 2, "--max-words", "None"),
            *("--max-tokens", 25, "--output", output, *flags),
        )
        return brief.card(output)["attention_on_padding"]

    assert run() > 0.05
    assert run("--masked") == 0
    for name in ("attention_and_padding", "gradients"):
        assert (output / f"{name}.png").exists()
    # Each training has norms of its own, of each layer.
    first, second = (
        np.genfromtxt(path, delimiter=",", names=True)
        for path in sorted(output.glob("gradients-*.csv"))
    )
    assert first.dtype.names == ("step", "layer_1", "layer_2")
    assert len(np.atleast_1d(first)) == len(np.atleast_1d(second)) == 1


def test_what_the_study_ignores_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        brief.run(padding, "--members", 2, "--output", tmp_path)
    assert capsys.readouterr().err.endswith("Received: --members\n")
