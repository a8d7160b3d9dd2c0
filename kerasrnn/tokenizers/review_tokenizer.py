"""Tokenizer of reviews, with cleaning as in sentiment analysis."""

import re
import warnings
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import Self

import keras
import tensorflow as tf

from kerasrnn.arguments import one_of
from kerasrnn.tokenizers.invisible import INVISIBLE
from kerasrnn.tokenizers.invisible import SPACELESS
from kerasrnn.tokenizers.invisible import visible
from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.tokenizers.table_tokenizers import WordTokenizer
from kerasrnn.tokenizers.tokenizer import PAD
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor
from kerasrnn.warning import warn

# None of these is also a word. "r" is left out, because films are rated R.
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

# In this order, the result of `&amp;` is not read as an entity again.
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
# Marks and joiners belong to the preceding character.
_MARKS = rf"\p{{M}}{INVISIBLE}"
_OTHER = rf"([^\p{{L}}\p{{N}}{_MARKS} ])[{_MARKS}]*"
# In these scripts, words are not separated by spaces.
_ALONE = rf"([{SPACELESS}][{_MARKS}]*)"


def strip_html(texts):
    """Replaces HTML tags by spaces, and common entities by characters."""
    texts = tf.strings.regex_replace(texts, _TAG, " ")
    for entity, character in _ENTITIES.items():
        texts = tf.strings.regex_replace(texts, entity, character)
    return texts


def spell_out(texts, table):
    """Spells out the abbreviations of a table, in texts `(batch,)`.

    Other characters than letters and digits may surround them.
    """
    words = tf.strings.split(texts)
    bare = tf.strings.regex_replace(
        words.flat_values, r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$", ""
    )
    meanings = table.lookup(tf.strings.lower(bare, encoding="utf-8"))
    positions = tf.where(meanings != "")
    found = tf.gather_nd(words.flat_values, positions)
    before = tf.strings.regex_replace(found, r"[\p{L}\p{N}].*", "")
    after = tf.strings.regex_replace(found, r".*[\p{L}\p{N}]", "")
    spelled = tf.strings.join(
        [before, tf.gather_nd(meanings, positions), after]
    )
    flat = tf.tensor_scatter_nd_update(words.flat_values, positions, spelled)
    return _join(words.with_flat_values(flat))


def treat_special(texts, special):
    """Drops or separates characters other than letters, digits and spaces.

    Characters of scripts without spaces are separated in both cases.
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
    """Returns a table from strings to strings, with the default `""`.

    It can be part of an exported model.
    """
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(list(values)), tf.constant(list(values.values()))
        ),
        default_value="",
    )


@keras.saving.register_keras_serializable("kerasrnn")
class ReviewTokenizer(WordTokenizer):
    """Cleans texts, splits at white space and looks up words.

    The steps are (all optional except the second):

    1. HTML tags become spaces, and then common entities become characters. This
      comes first, because later steps would break tags.
    2. Unicode form C and single spaces. Bytes that are not UTF-8 become
       U+FFFD.
    3. Lower case.
    4. Abbreviations are spelled out, in upper or lower case, with or without
      other characters around them: "u" and "(u)." are abbreviations, the parts
      of "u.s." and "u-turn" are not. This comes before the next step, which
      would turn "u.s." into "us".
    5. Special characters, which are all except letters, digits and white space,
      are dropped, separated or kept. Marks and joiners belong to the letter
      before them. With "drop", "don't" becomes "dont" and "dull...bad" becomes
      "dullbad"; with "apart", they become "don ' t" and "dull . . . bad". With
      both, each character of Chinese, Japanese, Thai and other scripts without
      spaces becomes a word.
    6. Stop words are removed. This comes last, so that "The," counts as one if
      the comma is dropped or separated. Steps 2, 3 and 5 are also applied to
      the stop words: if characters are dropped, the stop word "Don't" removes
      "dont".

    Words outside the vocabulary become `<unk>`; if the vocabulary has no
    `<unk>`, they are dropped.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` to set
            them later. `train` makes a list with `<unk>` and `<pad>` at ids 0
            and 1.
        lowercase: Whether to lower-case texts; see `normalize_text`.
        expand_abbreviations: Whether to spell out the `ABBREVIATIONS` of this
            module.
        strip_html: Whether to replace tags and entities.
        special: How to treat special characters: "drop", "apart" (each becomes
            a token) or "keep".
        stop_words: List of words to remove, such as scikit-learn's
            `ENGLISH_STOP_WORDS`. A warning lists negations among them, because
            without "not", "not good" becomes "good". It also lists those that
            `special` splits into several words, which are not removed.
        name: String, the name of the layer.

    Raises:
        ValueError: when `special` is unknown, or `stop_words` is a string.

    Example:

    >>> texts = ["I did <b>NOT</b> like it, tho u may!", "I like it"]
    >>> tokenizer = ReviewTokenizer.train(texts)
    >>> tokenizer.normalize(texts[:1]).numpy().tolist()
    [b'i did not like it though you may']
    >>> tokenizer.vocabulary[:5]
    ('<unk>', '<pad>', 'i', 'like', 'it')
    >>> tokenizer.tokenize(["Like it?", "I love it."]).to_list()
    [[3, 4], [2, 0, 4]]
    """

    options = (
        *WordTokenizer.options,
        "expand_abbreviations",
        "strip_html",
        "special",
        "stop_words",
    )

    def __init__(
        self,
        vocabulary: Iterable[str] | None = None,
        lowercase: bool | Literal["tr"] = True,
        expand_abbreviations: bool = True,
        strip_html: bool = True,
        special: Literal["drop", "apart", "keep"] = "drop",
        stop_words: Iterable[str] = (),
        name: str | None = None,
    ) -> None:
        one_of("special", special, SPECIAL)
        if isinstance(stop_words, (str, bytes)):
            raise ValueError(
                "`stop_words` must be a list of words. "
                f"Received: the string {stop_words!r}"
            )
        super().__init__(vocabulary, lowercase=lowercase, name=name)
        self.expand_abbreviations = expand_abbreviations
        self.strip_html = strip_html
        self.special = special
        self.stop_words = tuple(sorted(stop_words))
        self.abbreviation_table = string_table(ABBREVIATIONS)
        if self.stop_words:
            stops = normalize_text(list(self.stop_words), lowercase)
            stops = treat_special(stops, special).numpy().tolist()
            if found := [
                word
                for word in self.stop_words
                if _NEGATIONS.fullmatch(word.lower())
            ]:
                warn(
                    "`stop_words` contains negations. Without them, a text may "
                    "mean the opposite. Received: "
                    f"{', '.join(map(repr, found))}"
                )
            if found := [
                word
                for word, parts in zip(self.stop_words, stops, strict=True)
                if b" " in parts
            ]:
                warn(
                    "Some `stop_words` are split into several words and cannot "
                    f"be removed. Not removed: {', '.join(map(repr, found))}"
                )
            self.stop_table = string_table(dict.fromkeys(stops, "1"))

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary_size: int | None = None,
        min_count: int = 1,
        specials: Sequence[str] = (UNKNOWN, PAD),
        **options: Any,
    ) -> Self:
        return super().train(
            texts, vocabulary_size, min_count, specials, **options
        )

    def normalize(self, texts: Tensor) -> tf.Tensor:
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
        if self.strip_html:
            texts = strip_html(visible(texts))
        texts = normalize_text(texts, self.lowercase)
        # Flattened, because splitting into words adds an axis.
        shape = tf.shape(texts)
        texts = tf.reshape(texts, [-1])
        if self.expand_abbreviations:
            texts = spell_out(texts, self.abbreviation_table)
        texts = treat_special(texts, self.special)
        if self.stop_words:
            texts = leave_out(texts, self.stop_table)
        return tf.reshape(texts, shape)

    def get_config(self) -> Config:
        config = super().get_config()
        # Replaced by `special`.
        for option in ("strip_punctuation", "separate_punctuation"):
            del config[option]
        return {**config, "stop_words": list(self.stop_words)}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        with warnings.catch_warnings():
            # The original tokenizer already warned about the stop words.
            warnings.simplefilter("ignore")
            return cls(**config)
