"""Fonts that can draw a text, chosen by its characters."""

import functools
import unicodedata
from pathlib import Path

import matplotlib
from matplotlib.font_manager import FontProperties
from matplotlib.font_manager import findfont
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font

from kerasrnn.files import atomic_write
from kerasrnn.files import output_folder
from kerasrnn.warning import warn

# Comes with matplotlib. Has Latin with stacked marks, Greek and Cyrillic.
BASE_FAMILY = "DejaVu Sans"


def font_family(texts):
    """Chooses one list of font families that draws all of the texts.

    The base family is used if it has every character. Otherwise the first font
    with the missing characters is put before it: FiraGO from the package
    `pymupdf-fonts`, which has Devanagari among other scripts, or a font
    installed on the system. If no single font has them all, several fonts are
    combined. matplotlib takes each character from the first family that has it,
    and shapes each run of text (conjuncts, reordered vowel signs) with the font
    that draws it.

    Args:
        texts: Iterable of strings that are shown together, such as the labels
            of an axis.

    Returns:
        List of names of font families, first choice first. A `UserWarning`
        names the characters that no font has.

    Example:

    >>> font_family(["where", "is", "thưởng"])
    ['DejaVu Sans']
    >>> font_family(["कहाँ", "है", "?"])
    ['FiraGO', 'DejaVu Sans']
    """
    needed = _visible_characters("".join(texts))
    missing = needed - _characters(findfont(BASE_FAMILY))
    if not missing:
        return [BASE_FAMILY]
    fonts = [(entry.name, entry.fname, entry.index) for entry in system_fonts()]
    packaged = packaged_font()
    if packaged:
        name = FontProperties(fname=packaged).get_name()
        fonts.insert(0, (name, packaged, 0))
    for family, *file in fonts:
        if missing <= _characters(*file):
            return [family, BASE_FAMILY]
    families = []
    for family, *file in fonts:
        if missing & _characters(*file):
            families.append(family)
            missing -= _characters(*file)
    if missing:
        warn(
            "No font was found for the characters "
            f"{''.join(sorted(missing))!r}: the figure shows them as boxes. "
            "For Devanagari, install the package `pymupdf-fonts`; for other "
            "scripts, a font of the Noto family.",
        )
    return [*families, BASE_FAMILY]


def _visible_characters(text):
    # Spaces, controls and joiners (Z*, Cc, Cf) draw nothing.
    return frozenset(
        character
        for character in text
        if unicodedata.category(character)[0] != "Z"
        and unicodedata.category(character) not in ("Cc", "Cf")
    )


@functools.cache
def _characters(path, index=0):
    """The characters that the font file has a glyph for."""
    try:
        charmap = FT2Font(path, face_index=index).get_charmap()
    except (OSError, RuntimeError):
        return frozenset()  # Listed, but missing or damaged.
    return frozenset(map(chr, charmap))


@functools.cache
def packaged_font():
    """Returns the path of FiraGO, `None` if its package is not installed.

    The font has Devanagari. It is registered with matplotlib.
    """
    try:
        import pymupdf_fonts
    except ImportError:
        return None
    # The package holds the font as bytes, and matplotlib reads files.
    path = Path(matplotlib.get_cachedir(), "kerasrnn", "FiraGO-Regular.ttf")
    content = pymupdf_fonts.myfont("figo")
    if not path.is_file() or path.read_bytes() != content:
        output_folder(path.parent)
        with atomic_write(path) as partial:
            partial.write_bytes(content)
    fontManager.addfont(path)
    return str(path)


def system_fonts():
    """Upright fonts of regular weight, without placeholder fonts."""
    return [
        entry
        for entry in fontManager.ttflist
        if entry.style == "normal"
        and entry.weight in (400, "normal", "regular", "book")
        and "LastResort" not in entry.fname
    ]
