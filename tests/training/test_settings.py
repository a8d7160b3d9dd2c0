import dataclasses
import functools
import math
import pathlib
import typing

import pytest

from kerasrnn.training import AttentionName
from kerasrnn.training import BackboneSettings
from kerasrnn.training import CellName
from kerasrnn.training import ClassificationSettings
from kerasrnn.training import Count
from kerasrnn.training import EncoderSettings
from kerasrnn.training import Existing
from kerasrnn.training import NotNegative
from kerasrnn.training import Positive
from kerasrnn.training import Rate
from kerasrnn.training import SelfAttentionName
from kerasrnn.training import Settings
from kerasrnn.training import TranslationSettings
from kerasrnn.training import Whole
from kerasrnn.training import by_size
from kerasrnn.training import fingerprint
from kerasrnn.training import identity
from kerasrnn.training import read_settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class SomeSettings(Settings):
    not_identity = Settings.not_identity | {"vectors_dir"}

    output: pathlib.Path = pathlib.Path("saved_models/some")
    vectors_dir: pathlib.Path | None = None
    """Where word vectors are."""
    cell: CellName = "rhn"
    """Recurrent cell."""
    attention: AttentionName | None = None
    """To what was read."""
    units: Count = 8
    """Width of a cell."""
    warmup: Whole = 0
    """Batches in which the rate rises."""
    penalty: NotNegative = 1.0
    """Of length."""
    clip: Positive = 1
    """Norm of a gradient at most."""
    dropout: Rate = 0.0
    """Of units."""
    tied: bool = True
    """One matrix at both ends."""
    decay: tuple[float, int] | None = None
    """Of the rate, and from which epoch on."""


SMALL = SomeSettings(epochs=9, batch_size=4, learning_rate=0.1)
PRESETS = {
    "small": SMALL,
    "large": dataclasses.replace(SMALL, units=300, attention="additive"),
}


def read(*args):
    description = "Trains.\n\n    python it.py  # an example\n\nMore."
    return read_settings(PRESETS, "small", description, args)


def test_a_flag_is_stronger_than_the_preset():
    assert read() == dataclasses.replace(SMALL, preset="small")
    found = read("--preset", "large", "--batch-size", "5", "--no-tied")
    assert (found.preset, found.units, found.batch_size) == ("large", 300, 5)
    assert (found.attention, found.tied) == ("additive", False)
    found = read(
        "--preset=large", "--attention", "None", "--decay", "1.02", "3"
    )
    assert (found.attention, found.decay) == (None, (1.02, 3))
    assert read("--limit", "None").limit is None


def test_the_command_line_of_the_process_is_the_default(monkeypatch):
    monkeypatch.setattr("sys.argv", ["some.py", "--seed", "7"])
    assert read_settings(PRESETS, "small").seed == 7


@pytest.mark.parametrize(
    "args, message",
    [
        (["--preset", "none"], "invalid choice: 'none'"),
        (["--units", "many"], "many"),
        (["--units", "0"], "--units must be a positive integer"),
        (["--attention", "adittive"], "adittive"),
        (["--unit5", "8"], "--unit5"),
    ],
)
def test_a_wrong_flag_ends_with_a_message(args, message, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit) as exit:
        read(*args)
    assert exit.value.code == 2
    shown = capsys.readouterr().err
    assert message in shown and "Traceback" not in shown


def test_help_has_every_flag_and_its_line(capsys):
    with pytest.raises(SystemExit) as exit:
        read("--help")
    assert exit.value.code == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    # Types are plain.
    assert "{None}|" not in shown
    for flag in ("--limit INT", "--vectors-dir PATH", "--decay FLOAT INT"):
        assert f"{flag} " in shown
    for field in dataclasses.fields(SomeSettings):
        name = field.name.replace("_", "-").removeprefix("start-")
        assert f"--{name}" in shown
    assert "Saved pipeline to fine-tune" in shown
    assert "Trains." in shown and "More." not in shown
    assert "python it.py # an example" in shown
    assert "Presets: small, large." in shown
    with pytest.raises(SystemExit):
        read_settings({"small": SMALL}, "small", "Trains.", ["--help"])
    assert "Presets:" not in capsys.readouterr().out
    assert "default: None" not in shown
    names = [f"a-long-name-{n}" for n in range(9)]
    with pytest.raises(SystemExit):
        read_settings(
            dict.fromkeys(names, SMALL), names[0], "Trains.", ["--help"]
        )
    listed = capsys.readouterr().out.partition("Presets: ")[2]
    listed = listed.partition(".")[0].splitlines()
    assert len(listed) > 1 and max(map(len, listed)) < 80
    assert ", ".join(names) == " ".join(x.strip() for x in listed)
    for line in (
        "Folder to write to.",
        "Passes over",
        "Where word vectors are.",
    ):
        assert line in shown


def test_folders_and_epochs_do_not_identify_a_training():
    here = read(
        *("--output", "here", "--epochs", "2", "--vectors-dir", "x"),
        *("--distribute", "mirrored", "--devices", "2", "--tensorboard"),
        *("--data-license", "MIT"),
    )
    there = read("--data-dir", "there")
    assert identity(here) == identity(there)
    assert identity(read("--seed", "14")) != identity(here)
    assert {"cell", "units", "learning_rate"} <= identity(here).keys()
    assert len(fingerprint(identity(here))) == 8


def test_the_names_of_attention_are_those_of_the_layers():
    assert {"additive", "coverage"} <= set(typing.get_args(AttentionName))
    names = typing.get_args(SelfAttentionName)
    assert "multi_head" in names and "coverage" not in names


# What a saved pipeline brings along.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Continued(SomeSettings):
    saved = SomeSettings.saved | {"units", "warmup", "tied"}


def continued(*args):
    values = {"epochs": 9, "batch_size": 4, "learning_rate": 0.1}
    presets = {
        "small": Continued(**values),
        "large": Continued(**values, units=300),
    }
    return read_settings(presets, "small", "", [str(arg) for arg in args])


def test_help_has_boxes_and_the_data_first(capsys):
    with pytest.raises(SystemExit):
        continued("--help")
    shown = capsys.readouterr().out
    boxes = [f" {x} options " for x in ("data", "model", "training", "output")]
    places = [shown.index(text) for text in boxes]
    assert places == sorted(places)
    for flag, after in (("--limit", 0), ("--units", 1), ("--epochs", 2)):
        assert places[after] < shown.index(flag) < places[after + 1]


def test_settings_saved_in_a_pipeline_are_not_in_force(tmp_path):
    saved = tmp_path / "it.keras"
    saved.touch()
    found = continued("--from", saved, "--preset", "large", "--seed", "3")
    assert found.start_from == saved
    assert "units" not in found.in_force() and found.in_force()["seed"] == 3
    assert "units" not in identity(found)
    assert continued("--units", "9").in_force()["units"] == 9
    # By size nothing is chosen that is the pipeline's.
    open_ = dataclasses.replace(found, limit=None)
    sizes = {math.inf: {"units": 1, "limit": 5}}
    assert by_size(open_, 3, sizes).limit == 5
    assert by_size(open_, 3, sizes).units == 300


def test_flags_that_a_saved_pipeline_makes_useless(tmp_path, capsys):
    saved = tmp_path / "it.keras"
    saved.touch()
    with pytest.raises(SystemExit) as exit:
        continued(
            *("--from", saved, "--units", "9", "--warmup=2", "--no-tied"),
            *("--seed", 1),
        )
    assert exit.value.code == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "Received: --no-tied, --units, --warmup" in shown
    # Also if the value is that of the preset: the file may have another.
    with pytest.raises(SystemExit):
        continued("--from", saved, f"--units={continued().units}")
    assert capsys.readouterr().err.endswith("Received: --units\n")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Growing(SomeSettings):
    epochs: int = 9
    batch_size: int = 4
    learning_rate: Positive = 0.1
    grow: bool = True

    def without_effect(self):
        return super().without_effect() | ({"warmup"} if self.grow else set())


def test_flags_that_another_setting_makes_useless(capsys):
    presets = {"any": Growing()}
    flags = ["--warmup", "2", "--seed", "1"]
    with pytest.raises(SystemExit) as exit:
        read_settings(presets, "any", args=flags)
    assert exit.value.code == 2
    shown = capsys.readouterr().err
    assert shown.endswith("Received: --warmup\n") and "--from" not in shown
    found = read_settings(presets, "any", args=["--no-grow", *flags])
    assert identity(found)["warmup"] == 2
    assert "warmup" not in identity(Growing())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Needy(Growing):
    needs = Growing.needs | {
        "memory": ("attention",),
        "blocks": ("attention", "transformer"),
        "width": ("vectors", None, "cbow"),
    }

    attention: str | None = None
    memory: int = 32
    blocks: int = 1
    vectors: str | pathlib.Path | None = None
    width: int = 9


@pytest.mark.parametrize(
    "name, useless, useful",
    [
        ("memory", {"attention": None}, {"attention": "dot"}),
        ("blocks", {"attention": "dot"}, {"attention": "transformer"}),
        ("width", {"vectors": pathlib.Path("a.txt")}, {"vectors": "cbow"}),
        ("devices", {"distribute": "workers"}, {"distribute": "mirrored"}),
    ],
)
def test_settings_need_others_for_an_effect(name, useless, useful):
    assert name in Needy(**useless).without_effect()
    assert name not in Needy(**useful).without_effect()
    assert "width" not in Needy().without_effect()
    assert name in Needy(**useless).lacking()
    # Without an effect for another reason.
    assert "warmup" in Needy().without_effect() - Needy().lacking()


HERE = pathlib.Path(__file__)
OF_A_BACKBONE = "backbone_layers layers_as backbone_rate"
OF_TEXT = "lowercase clean_reviews special drop_stop_words vocabulary_size"
# What else has no effect, unless another setting is as it has to be.
IDLE = f"train_vectors backwards_model tune_thresholds {OF_A_BACKBONE}"
IDLE_IN_TRANSLATION = "source_vectors target_vectors copy_unknown"


@pytest.mark.parametrize(
    "kind, options, idle",
    [
        (ClassificationSettings, {}, IDLE),
        (ClassificationSettings, {"summary": "last"}, f"{IDLE} attention"),
        (
            ClassificationSettings,
            {"vectors": "cbow", "multi_label": True},
            f"backwards_model {OF_A_BACKBONE}",
        ),
        (
            ClassificationSettings,
            {"vectors": HERE},
            f"embedding_dim backwards_model tune_thresholds {OF_A_BACKBONE}",
        ),
        (
            ClassificationSettings,
            {"language_model": HERE},
            f"{OF_TEXT} vectors train_vectors cell units depth bidirectional"
            f" embedding_dim tune_thresholds {OF_A_BACKBONE}",
        ),
        (
            ClassificationSettings,
            {"backbone": "bert"},
            f"{OF_TEXT} vectors train_vectors embedding_dim ngrams"
            " language_model backwards_model tune_thresholds",
        ),
        (
            ClassificationSettings,
            {"start_from": HERE},
            f"{OF_TEXT} {IDLE} dtype cell units depth bidirectional dropout"
            " word_dropout backbone max_tokens summary attention vectors"
            " embedding_dim ngrams language_model",
        ),
        (TranslationSettings, {}, f"{IDLE_IN_TRANSLATION} alignment_weight"),
        (
            TranslationSettings,
            {"start_from": HERE},
            f"{IDLE_IN_TRANSLATION} alignment_weight dtype cell units depth"
            " bidirectional dropout word_dropout max_tokens lowercase"
            " strip_punctuation separate_punctuation tokenizer vocabulary_size"
            " subword_sampling lexical lexicon shortlist attention beam_width"
            " length_penalty no_repeat_ngram members",
        ),
        (
            TranslationSettings,
            {"tokenizer": "word", "attention": None},
            "vocabulary_size subword_sampling copy_unknown alignment_weight",
        ),
        (
            TranslationSettings,
            {"tokenizer": "unigram-word", "lexicon": False},
            "source_vectors shortlist alignment_weight",
        ),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, dict) else "",
)
def test_what_has_no_effect_in_a_recipe(kind, options, idle):
    found = kind(output=pathlib.Path("out"), **options).without_effect()
    assert found == {"devices", *idle.split()}


@pytest.mark.parametrize(
    "kind, names",
    [
        (ClassificationSettings, "calibrate tune_thresholds"),
        (
            TranslationSettings,
            "beam_width length_penalty no_repeat_ngram members shortlist"
            " copy_unknown",
        ),
    ],
)
def test_a_search_may_change_without_a_new_training(kind, names):
    assert kind.not_identity - Settings.not_identity == set(names.split())


def test_a_backbone_is_trained_at_the_rate_that_it_is_given():
    def options(**given):
        return BackboneSettings(
            output=pathlib.Path("out"), learning_rate=1e-3, **given
        )

    rate = {"backbone_rate": 1e-4}
    assert rate.keys() <= options(**rate).without_effect()
    how = {"backbone": "bert", "backbone_layers": 3, "layers_as": "mean"}
    found, frozen = options(**how, **rate), options(**how)
    expected = {"last_layers": 3, "layers_as": "mean", "trainable": True}
    expected["rate_factor"] = pytest.approx(0.1)
    assert found.backbone_options == expected
    expected |= {"trainable": False, "rate_factor": 0}
    assert frozen.backbone_options == expected


@dataclasses.dataclass(frozen=True, kw_only=True)
class OtherSettings(EncoderSettings):
    output: pathlib.Path = pathlib.Path("saved_models/other")
    learning_rate: Positive = 0.1
    vectors: typing.Literal["mine"] | Existing | None = None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                functools.partial(dataclasses.replace, SMALL, **{name: value}),
                f"`{name}` must be {words}.*{name}=",
            )
            for name, value, words in [
                ("units", 0, "a positive integer"),
                ("units", True, "a positive integer"),
                ("units", 2.0, "a positive integer"),
                ("limit", -1, "a positive integer or None"),
                ("seed", -1, r"an integer from 0 to 2\*\*32 - 1"),
                ("seed", 2**32, r"an integer from 0 to 2\*\*32 - 1"),
                ("dropout", 1.0, r"a number in \[0, 1\)"),
                ("dropout", math.nan, r"a number in \[0, 1\)"),
                ("learning_rate", math.nan, "a finite positive number"),
                ("learning_rate", 0.0, "a finite positive number"),
                ("clip", math.inf, "a finite positive number"),
                ("penalty", -1.0, "a finite number of at least 0"),
                (
                    "cell",
                    "ltsm",
                    "one of 'rnn', 'lstm', 'gru', 'rhn', 'gam_rhn'",
                ),
                ("attention", "adittive", "one of 'dot', .* or None"),
                ("tied", "no", "of type bool"),
            ]
        ),
        (
            lambda: ClassificationSettings(
                output=pathlib.Path("out"), attention=None
            ),
            "Received: .*attention=None",
        ),
        (
            lambda: OtherSettings(vectors=pathlib.Path("absent")),
            "'mine' or a file or folder that ex",
        ),
        # It would overwrite the file that it starts from.
        *(
            (
                lambda output=output: dataclasses.replace(
                    SMALL, start_from=pathlib.Path(__file__), output=output
                ),
                "`output` must not be the folder",
            )
            for output in (
                pathlib.Path(__file__).parent,
                pathlib.Path(__file__).parent / "more" / "..",
            )
        ),
    ],
)
def test_a_wrong_value_is_refused_when_it_is_given(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_identity_has_the_content_of_a_file(tmp_path):
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        path.write_text("same", "utf-8")
    first, second = (identity(OtherSettings(vectors=path)) for path in paths)
    assert first == second
    paths[0].write_text("other", "utf-8")
    assert identity(OtherSettings(vectors=paths[0])) != second


def test_help_says_what_happens_without_a_value(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    unset = "(default: by the size of the corpus)"
    for epochs, shown in ((None, unset), (5, "(default: 5)")):
        with pytest.raises(SystemExit):
            read_settings(
                {"own": OtherSettings(epochs=epochs)},
                args=["--help"],
                default="own",
            )
        help_ = " ".join(capsys.readouterr().out.replace("│", " ").split())
        assert f"continues a finished run. {shown} --" in help_
        assert f"Width of the cells. {unset}" in help_


def test_by_size_fills_in_settings_that_are_none(capsys):
    sizes = {
        10: {"units": 2, "epochs": 9},
        math.inf: {"units": 8, "epochs": 1},
    }
    open_ = OtherSettings(epochs=4)
    found = [by_size(open_, count, sizes) for count in (10, 11)]
    assert [(x.units, x.epochs) for x in found] == [(2, 4), (8, 4)]
    printed = capsys.readouterr().out
    assert "Chosen for a corpus of this size: units 2.\n" in printed
    assert by_size(found[0], 99, sizes) == found[0]
    assert not capsys.readouterr().out
