"""Greedy search."""

import keras
from keras import ops

from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.independent_search import IndependentSearch
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class GreedySearch(IndependentSearch):
    """Takes the most likely token at every step.

    Returns:
        `Hypotheses` with one hypothesis a sentence, whose score is its total
        log-probability.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = GreedySearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> found = search(step, np.zeros((1, 1)))
    >>> ops.convert_to_numpy(found.ids).tolist()
    [[[1, 2, 3, 4, -1, -1]]]
    """

    def choose(self, logits: Tensor, noise: Tensor | None) -> Tensor:
        # The same as `argmax`, and faster on a CPU.
        _, columns = top_k(logits, 1)
        return ops.squeeze(columns, 1)
