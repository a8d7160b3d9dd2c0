"""The steps of cleaning reviews, as graph operations."""

import re

import tensorflow as tf

from kerasrnn.tokenizers.invisible import INVISIBLE
from kerasrnn.tokenizers.scripts import SPACELESS
from kerasrnn.warning import warn

# None of these is also a word: "r" is left out, since films are rated R.
ABBREVIATIONS = {
    "2moro": "tomorrow",
    "abt": "about",
    "asap": "as soon as possible",
    "b4": "before",
    "bc": "because",
    "bday": "birthday",
    "btw": "by the way",
    "coz": "because",
    "cuz": "because",
    "dunno": "do not know",
    "esp": "especially",
    "fav": "favourite",
    "fyi": "for your information",
    "gimme": "give me",
    "gonna": "going to",
    "gotta": "got to",
    "gr8": "great",
    "idk": "i do not know",
    "imho": "in my humble opinion",
    "imo": "in my opinion",
    "kinda": "kind of",
    "l8r": "later",
    "lemme": "let me",
    "lol": "laughing out loud",
    "msg": "message",
    "nvm": "never mind",
    "omg": "oh my god",
    "outta": "out of",
    "pls": "please",
    "plz": "please",
    "ppl": "people",
    "rly": "really",
    "rofl": "rolling on the floor laughing",
    "smh": "shaking my head",
    "sorta": "sort of",
    "srsly": "seriously",
    "tbh": "to be honest",
    "tho": "though",
    "thru": "through",
    "thx": "thanks",
    "tmrw": "tomorrow",
    "tonite": "tonight",
    "u": "you",
    "ur": "your",
    "wanna": "want to",
    "ya": "you",
}

# In this order: the result of `&amp;` is not read as an entity again.
_ENTITIES = {
    "&nbsp;": " ",
    "&quot;|&#0*34;": '"',
    "&apos;|&#0*39;": "'",
    "&hellip;": "…",
    "&ndash;": "–",
    "&mdash;": "—",
    "&lt;": "<",
    "&gt;": ">",
    "&amp;|&#0*38;": "&",
}
_TAG = r"</?[A-Za-z][^<>]*>|<!--(?s:.*?)-->|<![A-Za-z][^<>]*>"
_NEGATIONS = re.compile(
    r"no|not|nor|never|none|nobody|nothing|neither|nowhere|cannot|"
    r"(ai|are|ca|could|did|does|do|had|has|have|is|might|must|need|should|"
    r"was|were|wo|would|)n['’]?t"
)
# How to treat characters other than letters, digits and white space.
SPECIAL = ("drop", "apart", "keep")
# Marks and joiners belong to the letter, digit or other character before them.
_MARKS = rf"\p{{M}}{INVISIBLE}"
_OTHER = rf"([^\p{{L}}\p{{N}}{_MARKS} ])[{_MARKS}]*"
# No space separates words there.
_ALONE = rf"([{SPACELESS}][{_MARKS}]*)"


def strip_html(texts):
    """Replaces tags by spaces, and common entities by their characters."""
    texts = tf.strings.regex_replace(texts, _TAG, " ")
    for entity, character in _ENTITIES.items():
        texts = tf.strings.regex_replace(texts, entity, character)
    return texts


def spell_out(texts, table):
    """Spells out the abbreviations of a table, in texts `(batch,)`.

    They may be surrounded by characters other than letters and digits.
    """
    words = tf.strings.split(texts)
    return _join(tf.ragged.map_flat_values(_spelled, words, table))


def _spelled(words, table):
    bare = tf.strings.regex_replace(
        words, r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$", ""
    )
    meanings = table.lookup(tf.strings.lower(bare, encoding="utf-8"))
    positions = tf.where(meanings != "")
    found = tf.gather_nd(words, positions)
    before = tf.strings.regex_replace(found, r"[\p{L}\p{N}].*", "")
    after = tf.strings.regex_replace(found, r".*[\p{L}\p{N}]", "")
    spelled = tf.strings.join(
        [before, tf.gather_nd(meanings, positions), after]
    )
    return tf.tensor_scatter_nd_update(words, positions, spelled)


def treat_special(texts, special):
    """Drops or separates characters other than letters, digits and spaces.

    What is in scripts without spaces is separated in either case.
    """
    if special == "keep":
        return texts
    replacement = {"drop": "", "apart": r" \1 "}[special]
    texts = tf.strings.regex_replace(texts, _OTHER, replacement)
    texts = tf.strings.regex_replace(texts, _ALONE, r" \1 ")
    # Marks without a letter.
    texts = tf.strings.regex_replace(texts, f"(^| )[{_MARKS}]+", r"\1")
    return tf.strings.strip(tf.strings.regex_replace(texts, " +", " "))


def leave_out(texts, table):
    """Removes the words of a table from texts of shape `(batch,)`."""
    words = tf.strings.split(texts)
    found = tf.ragged.map_flat_values(table.lookup, words)
    return _join(tf.ragged.boolean_mask(words, found == ""))


def _join(words):
    return tf.strings.reduce_join(words, axis=-1, separator=" ")


def string_table(values):
    """A table from strings to strings, `""` for other keys.

    An exported model can hold it.
    """
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(list(values)), tf.constant(list(values.values()))
        ),
        default_value="",
    )


def warn_of_parts(stop_words, treated):
    """Warns of stop words that are several once they are treated, as bytes."""
    found = [
        word
        for word, parts in zip(stop_words, treated, strict=True)
        if b" " in parts
    ]
    if found:
        warn(
            "`stop_words` must each be one word of the treated text. Not "
            f"removed: {', '.join(map(repr, found))}",
        )


def warn_of_negations(stop_words):
    """Warns of stop words that negate, such as "not"."""
    found = [w for w in stop_words if _NEGATIONS.fullmatch(w.lower())]
    if found:
        warn(
            "`stop_words` has negations. Without them a text may mean the "
            f"opposite. Received: {', '.join(map(repr, found))}",
        )
