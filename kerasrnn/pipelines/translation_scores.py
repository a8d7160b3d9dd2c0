"""Scores of translations, as text and as tokens."""

import tensorflow as tf

from kerasrnn.metrics import corpus_scores
from kerasrnn.pipelines.texts import decoded
from kerasrnn.tokenizers import normalize_text

# Characters for each space. In Finnish there are eight.
_LONGEST_WORDS = 12


def translation_scores(translations, references, tokenizer):
    """Scores translations against one reference each.

    The references are normalised as the tokenizer normalises its training
    text: lower-cased, for instance, if it lower-cases. If punctuation in a
    reference is separated by spaces, it is joined to the words again. BLEU
    uses the tokenization "13a" of sacrebleu; it splits at white space if the
    tokenizer strips punctuation, and into characters if the references have
    hardly any white space, as in Chinese, Japanese or Thai.

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
        ValueError: when there is nothing to score, or the lists differ in
            length.
    """
    given = normalize_text(
        list(references), tokenizer.lowercase, tokenizer.strip_punctuation
    )
    apart = tokenizer.normalize(list(references))
    plain = decoded(tf.where(given == apart, tokenizer.finish(apart), given))
    apart = decoded(apart)
    tokenize = "none" if tokenizer.strip_punctuation else "13a"
    split = str.split
    if _is_without_spaces(plain):
        tokenize, split = "char", _characters
    scores = corpus_scores(translations, plain, tokenize)
    if tokenizer.separate_punctuation:
        known = [text.replace("<unk>", "\ufffd") for text in translations]
        translations = tokenizer.normalize_all(known)
        tokenized = corpus_scores(translations, apart, "none")
        scores |= {f"tokenized_{name}": x for name, x in tokenized.items()}
    words = [len(split(" ".join(x))) for x in (translations, apart)]
    return scores | {"length_ratio": words[0] / max(1, words[1])}


def _is_without_spaces(texts):
    spaces = sum(max(0, len(text.split()) - 1) for text in texts)
    return sum(map(len, map(_characters, texts))) > _LONGEST_WORDS * spaces


def _characters(text):
    return "".join(text.split())
