"""Scores of translations, as text and as tokens."""

import tensorflow as tf

from kerasrnn.metrics import corpus_scores
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.tokenizers import normalize_text
from kerasrnn.tokenizers.scripts import is_spaceless

# Characters for each space. In Finnish there are eight.
_LONGEST_WORDS = 12


def translation_scores(translations, references, tokenizer):
    """Scores translations against one reference each.

    The references are normalized as the tokenizer normalizes its training
    text: lower-cased, for instance, if it lower-cases. If punctuation in a
    reference is separated by spaces, it is joined to the words again. BLEU
    uses the tokenization "13a" of sacrebleu; it splits at white space if the
    tokenizer strips punctuation, and into characters if the references have
    hardly any white space and are in a script that needs none, such as Chinese,
    Japanese or Thai.

    The signatures say `case:lc` if the tokenizer lower-cases, and end in
    `punctuation:stripped` if it strips punctuation.

    If the tokenizer separates punctuation, there are also scores of tokenized
    text, such as `"tokenized_bleu"`, as in papers with tokenized references.
    There, an `<unk>` in a translation is one token that matches no reference.

    Args:
        translations: List of strings.
        references: List of strings, one for each translation.
        tokenizer: The `Tokenizer` of the target.

    Returns:
        The dictionary of `kerasrnn.metrics.corpus_scores`, and
        `"length_ratio"`, the number of words in the translations divided by
        that in the references, or of characters if BLEU is of these.

    Raises:
        ValueError: when there is nothing to score, the lists differ in length,
            or one is not a list of strings.
    """
    translations, references = map(text_list, (translations, references))
    given = normalize_text(
        references, tokenizer.lowercase, tokenizer.strip_punctuation
    )
    apart = tokenizer.normalize(references)
    plain = decoded(tf.where(given == apart, tokenizer.finish(apart), given))
    apart = decoded(apart)
    tokenize = "none" if tokenizer.strip_punctuation else "13a"
    split = str.split
    if _is_without_spaces(plain):
        tokenize, split = "char", _characters
    lowercase = bool(tokenizer.lowercase)
    scores = corpus_scores(translations, plain, tokenize, lowercase)
    if tokenizer.separate_punctuation:
        known = [text.replace("<unk>", "\ufffd") for text in translations]
        translations = tokenizer.normalize_all(known)
        tokenized = corpus_scores(translations, apart, "none", lowercase)
        scores |= {f"tokenized_{name}": x for name, x in tokenized.items()}
    if tokenizer.strip_punctuation:
        for name in scores:
            if name.endswith("signature"):
                scores[name] += "|punctuation:stripped"
    words = [len(split(" ".join(x))) for x in (translations, apart)]
    return scores | {"length_ratio": words[0] / max(1, words[1])}


def _is_without_spaces(texts):
    spaces = sum(max(0, len(text.split()) - 1) for text in texts)
    characters = sum(map(len, map(_characters, texts)))
    # A Latin text may have sentences of one word, as in a dialogue.
    return is_spaceless("".join(texts)) and characters > _LONGEST_WORDS * spaces


def _characters(text):
    return "".join(text.split())
