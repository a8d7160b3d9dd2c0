"""Words of reviews, cleaned as in reports on sentiment analysis."""

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


@keras.saving.register_keras_serializable("kerasrnn")
class ReviewTokenizer(WordTokenizer):
    """Cleans texts, splits at white space and looks words up.

    The steps, all optional but the second:

    1. HTML: tags become a space, and then common entities become their
       character. This comes first, because the later steps would break tags.
    2. Unicode form C and single spaces. Bytes that are not UTF-8 become
       U+FFFD.
    3. Lower case.
    4. Abbreviations are spelled out, in any case, with or without other
       characters around them: "u" and "(u)." are abbreviations, the parts of
       "u.s." and "u-turn" are not. This comes before the next step, which would
       turn "u.s." into "us".
    5. Every character other than letters, digits and white space is dropped,
       set apart or kept. Marks and joiners belong to the letter before them.
       Dropped, "don't" is "dont" and "dull...bad" is "dullbad"; apart, they
       are "don ' t" and "dull . . . bad". Unless they are kept, each character
       of Chinese, Japanese, Thai and other scripts without spaces is a word.
    6. Stop words are removed. This comes last, so that "The," is one if the
       comma is dropped or set apart. Steps 2, 3 and 5 apply to the stop words,
       too: if characters are dropped, "Don't" removes "dont".

    Words outside the vocabulary become `<unk>`; if the vocabulary has no
    `<unk>`, they are dropped.

    Args:
        vocabulary: List of tokens, in the order of their ids; `None` for a
            tokenizer that is given them later. `train` makes a list with
            `<unk>` and `<pad>` at ids 0 and 1.
        lowercase: Whether texts are lower-cased; see `normalize_text`.
        expand_abbreviations: Whether the `ABBREVIATIONS` of
            `review_cleaning` are spelled out.
        strip_html: Whether tags and entities are replaced.
        special: How to treat characters other than letters, digits and white
            space: "drop", "apart", which makes each a token, or "keep".
        stop_words: List of words to remove, such as scikit-learn's
            `ENGLISH_STOP_WORDS`. A warning names the negations among them,
            since without "not", "not good" becomes "good", and those that
            `special` divides into several words, which are not removed.
        name: String, the name of the layer.

    Raises:
        ValueError: when `special` is not one of the three, or `stop_words` is a
            string.

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
                    "`stop_words` has negations. Without them a text may mean "
                    f"the opposite. Received: {', '.join(map(repr, found))}"
                )
            if found := [
                word
                for word, parts in zip(self.stop_words, stops, strict=True)
                if b" " in parts
            ]:
                warn(
                    "`stop_words` must each be one word of the treated text. "
                    f"Not removed: {', '.join(map(repr, found))}"
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
        # Flat, since splitting into words adds an axis.
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
        # `special` takes their place.
        for option in ("strip_punctuation", "separate_punctuation"):
            del config[option]
        return {**config, "stop_words": list(self.stop_words)}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        with warnings.catch_warnings():
            # The original tokenizer has already warned of the stop words.
            warnings.simplefilter("ignore")
            return cls(**config)
