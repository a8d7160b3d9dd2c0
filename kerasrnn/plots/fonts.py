"""Chooses fonts by the characters of a text."""

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

# Part of matplotlib; has Latin with stacked marks, Greek and Cyrillic.
BASE_FAMILY = "DejaVu Sans"


def font_family(texts):
    """Returns a list of font families that can draw all texts.

    The base family is used if it has every character. Otherwise, the first font
    with the missing characters precedes it: FiraGO from the package
    `pymupdf-fonts`, which has Devanagari and other scripts, or a system font.
    If no single font has them all, several fonts are combined. matplotlib takes
    each character from the first family that has it, and shapes each run of
    text (conjuncts, reordered vowel signs) with that font.

    Args:
        texts: Iterable of strings that are shown together, such as the labels
            of an axis.

    Returns:
        List of names of font families, first choice first. A `UserWarning`
        lists characters that no font has.

    Example:

    >>> font_family(["where", "is", "thưởng"])
    ['DejaVu Sans']
    >>> font_family(["कहाँ", "है", "?"])
    ['FiraGO', 'DejaVu Sans']
    """
    # Spaces, controls and joiners (Z*, Cc, Cf) draw nothing.
    needed = {
        character
        for character in "".join(texts)
        if unicodedata.category(character)[0] != "Z"
        and unicodedata.category(character) not in ("Cc", "Cf")
    }
    missing = needed - _characters(findfont(BASE_FAMILY))
    if not missing:
        return [BASE_FAMILY]
    fonts = [(entry.name, entry.fname, entry.index) for entry in system_fonts()]
    if packaged := packaged_font():
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
            f"{''.join(sorted(missing))!r}, so the figure shows boxes. For "
            "Devanagari, install the package `pymupdf-fonts`; for other "
            "scripts, install a Noto font.",
        )
    return [*families, BASE_FAMILY]


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
    """Returns the path of FiraGO, or `None` if it is not installed.

    The font has Devanagari. It is registered with matplotlib.
    """
    try:
        import pymupdf_fonts
    except ImportError:
        return None
    # The package contains the font as bytes, but matplotlib reads files.
    path = Path(matplotlib.get_cachedir(), "kerasrnn", "FiraGO-Regular.ttf")
    content = pymupdf_fonts.myfont("figo")
    if not path.is_file() or path.read_bytes() != content:
        output_folder(path.parent)
        with atomic_write(path) as partial:
            partial.write_bytes(content)
    fontManager.addfont(path)
    return str(path)


def system_fonts():
    """Returns upright fonts of regular weight, without placeholders."""
    return [
        entry
        for entry in fontManager.ttflist
        if entry.style == "normal"
        and entry.weight in (400, "normal", "regular", "book")
        and "LastResort" not in entry.fname
    ]
