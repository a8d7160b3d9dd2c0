"""Words of reviews, cleaned as in reports on sentiment analysis."""

import warnings
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import Self

import keras
import tensorflow as tf

from kerasrnn.arguments import one_of
from kerasrnn.tokenizers.invisible import visible
from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.tokenizers.review_cleaning import ABBREVIATIONS
from kerasrnn.tokenizers.review_cleaning import SPECIAL
from kerasrnn.tokenizers.review_cleaning import leave_out
from kerasrnn.tokenizers.review_cleaning import spell_out
from kerasrnn.tokenizers.review_cleaning import string_table
from kerasrnn.tokenizers.review_cleaning import strip_html
from kerasrnn.tokenizers.review_cleaning import treat_special
from kerasrnn.tokenizers.review_cleaning import warn_of_negations
from kerasrnn.tokenizers.review_cleaning import warn_of_parts
from kerasrnn.tokenizers.tokenizer import PAD
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.tokenizers.word_tokenizer import WordTokenizer
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


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
            warn_of_negations(self.stop_words)
            stops = normalize_text(list(self.stop_words), lowercase)
            stops = treat_special(stops, special).numpy().tolist()
            warn_of_parts(self.stop_words, stops)
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
