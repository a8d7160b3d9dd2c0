import dataclasses
import warnings

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font

from kerasrnn.plots import fonts
from kerasrnn.plots.fonts import font_family

HINDI = (
    "लाल किताब कहाँ है ? क्षत्रिय विद्यार्थी हिंदी स्वास्थ्य ज्ञान श्री कर्म दृष्टि शुद्ध "
    "अँग्रेज़ी पढ़ना बूढ़ा ऋषि ॐ १२३ । </s>"
).split()
VIETNAMESE = "▁Nguyễn được thưởng, những ngôi nhà ở Việt Nam: ỹ ặ ợ".split()
# The zero width joiner asks for the half form क्, which stands by itself.
JOINED = "क्\u200d"


def ink(text, family=None):
    """What a figure shows for the text: rows by columns, true where dark."""
    figure = Figure(figsize=(4.0, 2.0), dpi=100)
    canvas = FigureCanvasAgg(figure)
    family = font_family([text]) if family is None else family
    figure.text(0.3, 0.4, text, fontsize=60, family=family)
    canvas.draw()
    dark = np.asarray(canvas.buffer_rgba())[..., 0] < 128
    rows, columns = dark.any(axis=1).nonzero()[0], dark.any(axis=0).nonzero()[0]
    return dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def width(text):
    return ink(text).shape[1]


@pytest.mark.parametrize("tokens", [HINDI, VIETNAMESE, [JOINED], ["▁कर्म"]])
def test_the_fonts_have_a_glyph_for_every_character(tokens):
    charmaps = [
        FT2Font(findfont(family)).get_charmap()
        for family in font_family(tokens)
    ]
    for character in "".join(tokens):
        assert any(ord(character) in charmap for charmap in charmaps), character


@pytest.mark.parametrize("tokens", [HINDI, VIETNAMESE, [JOINED], ["▁कर्म"]])
def test_drawing_warns_of_no_missing_glyph(tokens):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ink(" ".join(tokens), font_family(tokens))


def test_the_test_above_sees_missing_glyphs():
    with pytest.warns(UserWarning, match="missing from font"):
        ink("क", ["DejaVu Sans"])


def test_a_script_has_one_font_and_latin_keeps_the_base():
    assert font_family(["where", "</s>"]) == ["DejaVu Sans"]
    assert font_family(VIETNAMESE) == ["DejaVu Sans"]
    # The question mark of a Hindi sentence looks like the words around it.
    assert font_family(["है", "?"]) == ["FiraGO", "DejaVu Sans"]


@pytest.mark.parametrize("conjunct", ["क्ष", "त्र", "स्व", "ज्ञ", "द्ध", "र्म"])
def test_conjuncts_are_joined(conjunct):
    first, sign, second = conjunct
    assert sign == "\N{DEVANAGARI SIGN VIRAMA}"
    apart = width(first + second)
    assert width(conjunct) < 0.9 * apart


def test_r_before_a_consonant_is_a_hook_above_it():
    assert width("र्म") < 1.2 * width("म")
    assert ink("र्म").shape[0] > 1.2 * ink("म").shape[0]


def test_the_short_i_stands_before_its_consonant():
    letter, syllable = ink("क"), ink("कि")
    # Below the head line there is only the stem of the vowel sign.
    height = letter.shape[0] // 2
    letter, syllable = letter[-height:], syllable[-height:]
    at_left = (syllable[:, : letter.shape[1]] == letter).mean()
    at_right = (syllable[:, -letter.shape[1] :] == letter).mean()
    assert at_right > 0.9 > at_left


def test_shaping_survives_a_second_font_in_the_same_text():
    # The marker of SentencePiece comes from the base font.
    marker, word = ink("▁"), ink("र्म")
    whole = ink("▁र्म")
    assert whole.shape[1] < marker.shape[1] + 1.2 * word.shape[1]
    np.testing.assert_allclose(
        whole[: word.shape[0], -word.shape[1] :].mean(), word.mean(), atol=0.02
    )


def test_a_font_of_the_system_serves_without_the_package(monkeypatch):
    registered = fonts.packaged_font()
    monkeypatch.setattr(fonts, "packaged_font", lambda: None)
    entry = next(
        entry
        for entry in fonts.fontManager.ttflist
        if str(entry.fname) == registered
    )
    monkeypatch.setattr(fonts, "system_fonts", lambda: [entry])
    assert font_family(HINDI) == [entry.name, "DejaVu Sans"]


def test_no_font_at_all_says_which_package_to_install(monkeypatch):
    monkeypatch.setattr(fonts, "packaged_font", lambda: None)
    monkeypatch.setattr(fonts, "system_fonts", lambda: [])
    with pytest.warns(UserWarning, match="`pymupdf-fonts`"):
        assert font_family(["ab", "कख"]) == ["DejaVu Sans"]


def test_what_can_be_drawn_is_drawn(monkeypatch):
    monkeypatch.setattr(fonts, "system_fonts", lambda: [])
    with pytest.warns(UserWarning, match="characters '書本'"):
        assert font_family(["कर्म", "書本"]) == ["FiraGO", "DejaVu Sans"]


def test_several_fonts_may_have_together_what_none_has(monkeypatch):
    entries = [e for e in fonts.system_fonts() if e.name == "STIXGeneral"]
    monkeypatch.setattr(fonts, "system_fonts", lambda: entries)
    families = font_family(["a\N{COMBINING ASTERISK BELOW}", "है"])
    assert families == ["FiraGO", "STIXGeneral", "DejaVu Sans"]


def test_a_font_that_is_gone_is_passed_over(monkeypatch, tmp_path):
    gone = fonts.fontManager.ttflist[0]
    gone = dataclasses.replace(gone, fname=str(tmp_path / "gone.ttf"))
    system = [gone, *fonts.system_fonts()]
    monkeypatch.setattr(fonts, "system_fonts", lambda: system)
    with pytest.warns(UserWarning, match="characters '書本'"):
        assert font_family(["कर्म", "書本"])[0] == "FiraGO"


def test_the_boxes_of_last_resort_are_no_font_for_a_text():
    names = {entry.name for entry in fonts.system_fonts()}
    assert "DejaVu Sans" in names
    assert not any("Last Resort" in name for name in names)
