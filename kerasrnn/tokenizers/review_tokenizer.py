"""Words of reviews, cleaned as reports on sentiment do it."""

import re
import warnings

import tensorflow as tf

from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.tokenizers.tokenizer import PAD
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.tokenizers.word_tokenizer import WordTokenizer

# None is a word in its own right: "r" is left out, because films are rated R.
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

# In this order: what `&amp;` gives is not read as an entity again.
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
_SPECIAL = ("drop", "apart", "keep")
# Marks and joiners belong to the letter, digit or other character before them.
_MARKS = r"\p{M}\x{200c}\x{200d}"
_OTHER = rf"([^\p{{L}}\p{{N}}{_MARKS} ])[{_MARKS}]*"


class ReviewTokenizer(WordTokenizer):
    """Cleans texts, splits at white space and looks words up.

    The steps, each of which can be left out but the second:

    1. HTML: tags become a space, and then the common entities the character
       they stand for. First, because the later steps would tear tags apart.
    2. Unicode form C and single spaces. Bytes that are not UTF-8 become
       U+FFFD.
    3. Lower case.
    4. Abbreviations are spelled out, in any case, with or without other
       characters around them: "u" and "(u)." are abbreviations, the parts of
       "u.s." and "u-turn" are not. Therefore this comes before the next step,
       which would make "us" of "u.s.".
    5. Every character that is no letter, digit or white space is dropped, set
       apart or kept. Marks and joiners belong to the letter before them.
       Dropped, "don't" is "dont" and "dull...bad" is "dullbad"; apart, they
       are "don ' t" and "dull . . . bad".
    6. Stop words fall away. Last, so that "The," is one where the comma is
       dropped or apart. The stop words themselves go through steps 2, 3 and
       5: where characters are dropped, "Don't" stops "dont".

    Words outside the vocabulary become `<unk>`; where the vocabulary has no
    `<unk>`, they fall away.

    Args:
        vocabulary: List of tokens, in the order of their ids. `train` makes
            one, with `<unk>` and `<pad>` at ids 0 and 1.
        lowercase: Whether texts are lower-cased.
        expand_abbreviations: Whether the `ABBREVIATIONS` of this module are
            spelled out.
        strip_html: Whether tags and entities are replaced.
        special: What becomes of other characters than letters, digits and
            white space: "drop", "apart", which makes each a token, or "keep".
        stop_words: List of words to leave out, such as scikit-learn's
            `ENGLISH_STOP_WORDS`. A warning names the negations among
            them, without which "not good" is "good".

    Raises:
        ValueError: when `special` is none of the three, or `stop_words` is a
            string.

    Example:

    >>> texts = ["I did <b>NOT</b> like it, tho u may!", "I like it"]
    >>> tokenizer = ReviewTokenizer.train(texts)
    >>> tokenizer.normalize(texts[:1])
    [b'i did not like it though you may']
    >>> tokenizer.vocabulary[:5]
    ('<unk>', '<pad>', 'i', 'like', 'it')
    >>> tokenizer.tokenize(["Like it?", "I love it."])
    [[3, 4], [2, 0, 4]]
    """

    def __init__(
        self,
        vocabulary,
        lowercase=True,
        expand_abbreviations=True,
        strip_html=True,
        special="drop",
        stop_words=(),
    ):
        if special not in _SPECIAL:
            raise ValueError(
                f"`special` must be one of {', '.join(map(repr, _SPECIAL))}. "
                f"Received: special={special!r}"
            )
        if isinstance(stop_words, (str, bytes)):
            raise ValueError(
                "`stop_words` must be a list of words. "
                f"Received: the string {stop_words!r}"
            )
        super().__init__(vocabulary, lowercase=lowercase)
        self.expand_abbreviations = expand_abbreviations
        self.strip_html = strip_html
        self.special = special
        self.stop_words = tuple(sorted(stop_words))
        self.abbreviation_table = _table(ABBREVIATIONS, "")
        if self.stop_words:
            _warn_of_negations(self.stop_words)
            stops = normalize_text(list(self.stop_words), lowercase)
            stops = self._treat_special(stops).numpy().tolist()
            self.stop_table = _table(dict.fromkeys(stops, "1"), "")

    @classmethod
    def train(
        cls,
        texts,
        vocabulary_size=None,
        min_count=1,
        specials=(UNKNOWN, PAD),
        **options,
    ):
        return super().train(
            texts, vocabulary_size, min_count, specials, **options
        )

    def normalize(self, texts):
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
        if self.strip_html:
            texts = tf.strings.regex_replace(texts, _TAG, " ")
            for entity, character in _ENTITIES.items():
                texts = tf.strings.regex_replace(texts, entity, character)
        texts = normalize_text(texts, self.lowercase)
        # Any shape: the words of a text are in one row.
        shape = tf.shape(texts)
        texts = tf.reshape(texts, [-1])
        if self.expand_abbreviations:
            texts = _join(
                tf.ragged.map_flat_values(self._expand, tf.strings.split(texts))
            )
        texts = self._treat_special(texts)
        if self.stop_words:
            words = tf.strings.split(texts)
            kept = tf.ragged.map_flat_values(self.stop_table.lookup, words)
            texts = _join(tf.ragged.boolean_mask(words, kept == ""))
        return tf.reshape(texts, shape)

    def _expand(self, words):
        """Spells out those of the words, `(words,)`, that are abbreviations.

        They may be surrounded by what is neither letter nor digit.
        """
        bare = tf.strings.regex_replace(
            words, r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$", ""
        )
        bare = tf.strings.lower(bare, encoding="utf-8")
        meanings = self.abbreviation_table.lookup(bare)
        places = tf.where(meanings != "")
        found = tf.gather_nd(words, places)
        before = tf.strings.regex_replace(found, r"[\p{L}\p{N}].*", "")
        after = tf.strings.regex_replace(found, r".*[\p{L}\p{N}]", "")
        spelled = tf.strings.join(
            [before, tf.gather_nd(meanings, places), after]
        )
        return tf.tensor_scatter_nd_update(words, places, spelled)

    def _treat_special(self, texts):
        """Drops or sets apart what is neither letter, digit nor space."""
        if self.special == "keep":
            return texts
        replacement = {"drop": "", "apart": r" \1 "}[self.special]
        texts = tf.strings.regex_replace(texts, _OTHER, replacement)
        # Marks of no letter.
        texts = tf.strings.regex_replace(texts, f"(^| )[{_MARKS}]+", r"\1")
        return tf.strings.strip(tf.strings.regex_replace(texts, " +", " "))


def _join(words):
    return tf.strings.reduce_join(words, axis=-1, separator=" ")


def _table(values, default):
    """A table from strings to strings that an exported model can hold."""
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(list(values)), tf.constant(list(values.values()))
        ),
        default_value=default,
    )


def _warn_of_negations(stop_words):
    found = [w for w in stop_words if _NEGATIONS.fullmatch(w.lower())]
    if found:
        warnings.warn(
            "`stop_words` has negations. Without them a text may say the "
            f"opposite. Received: {', '.join(map(repr, found))}",
            stacklevel=3,
        )
