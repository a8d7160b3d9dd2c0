"""The metrics of a continuous text, by token, word and byte."""

import math

from kerasrnn.metrics import BitsPerCharacter
from kerasrnn.metrics import Perplexity
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.pipelines.language.unit_scores import unit_scores
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.invisible import visible


def text_metrics(tokenizer):
    """Returns metrics of the tokens of a tokenizer, for `compile`."""
    metrics = [Perplexity(-1), TokenAccuracy(-1)]
    if isinstance(tokenizer, CharacterTokenizer):
        metrics.append(BitsPerCharacter(-1))
    return metrics


def of_tokens(scores, count, lines):
    """Returns scores by word and byte, too, and the loss as a mean over tokens.

    That of Keras is a mean over windows.

    Args:
        scores: Dictionary, what Keras returned, with `"perplexity"`.
        count: Integer, the number of tokens.
        lines: List of strings, the text.
    """
    loss = math.log(scores["perplexity"])
    units = unit_scores(-loss * count, visible(lines).numpy())
    return {**scores, "loss": loss, **units}
