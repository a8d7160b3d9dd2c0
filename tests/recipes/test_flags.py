"""Each recipe refuses a flag that has no effect with its others."""

import imdb
import imdb_lm
import nmt_vietnamese
import ptb_lm
import pytest
import translate

from kerasrnn import training

PRESETS = {
    "imdb": imdb.PRESETS,
    "imdb_lm": imdb_lm.PRESETS,
    "nmt_vietnamese": nmt_vietnamese.PRESETS,
    "ptb_lm": ptb_lm.PRESETS,
    "translate": {"any": translate.Settings()},
}
# A recipe, what makes a flag useless, the flag, and what makes it useful.
FLAGS = [
    ("imdb", "--vectors FILE", "--embedding-dim 9", ""),
    ("imdb", "--vectors None", "--no-train-vectors", "--vectors FILE"),
    ("imdb", "--summary last", "--attention dot", ""),
    ("imdb", "", "--label-separator ,", "--multi-label --corpus FILE"),
    ("imdb", "", "--tune-thresholds", "--multi-label --corpus FILE"),
    ("imdb", "--language-model FILE", "--units 9", ""),
    ("imdb", "--language-model FILE", "--no-lowercase", ""),
    ("imdb", "--language-model FILE", "--vectors cbow", ""),
    # The reviews determine the parts and the words.
    ("imdb_lm", "", "--dev FILE", None),
    ("imdb_lm", "", "--test FILE", None),
    ("imdb_lm", "", "--tokens words", None),
    ("nmt_vietnamese", "--corpus en_vi", "--dev-size 100", "--corpus x.tsv"),
    ("ptb_lm", "--cell lstm", "--micro-steps 2", "--cell gam_rhn"),
    ("ptb_lm", "", "--memory 9", "--attention sha"),
    ("ptb_lm", "--attention dot", "--blocks 2", "--attention transformer"),
    ("ptb_lm", "", "--loss-temperature 5", "--augmented-loss 0.5"),
    ("ptb_lm", "", "--devices 2", "--distribute mirrored"),
    ("translate", "--no-lexicon", "--shortlist 9", "--lexicon"),
    ("translate", "--tokenizer word", "--vocabulary-size 9", ""),
    ("translate", "--tokenizer word", "--subword-sampling 0.1", ""),
    ("translate", "", "--source-vectors FILE", "--tokenizer word"),
    ("translate", "", "--old old.tsv", "--from FILE"),
    ("translate", "", "--old-columns de en", "--from FILE --old old.tsv"),
    ("translate", "", "--reverse FILE", "--back-translate FILE"),
    ("translate", "", "--alignment-weight 0.5", "--alignments FILE"),
    ("translate", "", "--no-copy-unknown", "--tokenizer word"),
    ("translate", "--attention None", "--alignments FILE", ""),
]


@pytest.mark.parametrize("recipe, without, flag, useful", FLAGS)
def test_a_flag_without_effect_is_refused(
    recipe, without, flag, useful, capsys
):
    def read(*flags):
        words = " ".join(flags).replace("FILE", __file__).split()
        return training.read_settings(PRESETS[recipe], args=words)

    with pytest.raises(SystemExit):
        read(without, flag)
    name = flag.split()[0]
    shown = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert shown.endswith(f"Received: {name}"), shown
    if recipe == "translate":
        assert f"Expected: {name.replace('--no-', '--')} needs --" in shown
    if useful is not None:
        read(useful, flag)
