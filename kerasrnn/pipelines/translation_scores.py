"""What translations are worth, as text and as tokens."""

import tensorflow as tf

from kerasrnn.metrics import corpus_scores
from kerasrnn.pipelines.text_pipeline import decoded
from kerasrnn.tokenizers import normalize_text


def translation_scores(translations, references, tokenizer):
    """Scores translations of plain text against one reference each.

    The references are normalised as the tokenizer does with the text that is
    learnt from: lower-cased, for instance, if it lower-cases. Where a
    reference comes with punctuation set apart, it is joined again. BLEU splits
    them as sacrebleu's "13a" does, or at white space alone where punctuation
    is stripped.

    A tokenizer that sets punctuation apart adds `"tokenized_bleu"` and the
    like, scores of both with punctuation apart: as papers have them whose
    references are tokenized. What a model says in place of a word that it
    does not know is one token there, and no word.

    Args:
        translations: List of strings.
        references: List of strings, as many.
        tokenizer: The `Tokenizer` of the target.

    Returns:
        The dictionary of `kerasrnn.metrics.corpus_scores`, and
        `"length_ratio"`, the words of the translations to one word of the
        references.

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
    scores = corpus_scores(translations, plain, tokenize)
    if tokenizer.separate_punctuation:
        known = [text.replace("<unk>", "\ufffd") for text in translations]
        translations = tokenizer.normalize_all(known)
        tokenized = corpus_scores(translations, apart, "none")
        scores |= {f"tokenized_{name}": x for name, x in tokenized.items()}
    words = [len(" ".join(x).split()) for x in (translations, apart)]
    return scores | {"length_ratio": words[0] / max(1, words[1])}
