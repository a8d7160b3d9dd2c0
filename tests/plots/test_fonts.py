import dataclasses

import pytest
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


@pytest.mark.parametrize("tokens", [HINDI, VIETNAMESE, [JOINED], ["▁कर्म"]])
def test_the_fonts_have_a_glyph_for_every_character(tokens):
    charmaps = [
        FT2Font(findfont(family)).get_charmap()
        for family in font_family(tokens)
    ]
    for character in "".join(tokens):
        assert any(ord(character) in charmap for charmap in charmaps), character


def test_a_script_has_one_font_and_latin_keeps_the_base():
    assert font_family(["where", "</s>"]) == ["DejaVu Sans"]
    assert font_family(VIETNAMESE) == ["DejaVu Sans"]
    # The question mark of a Hindi sentence looks like the words around it.
    assert font_family(["है", "?"]) == ["FiraGO", "DejaVu Sans"]


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
