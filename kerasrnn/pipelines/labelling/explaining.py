"""Why a classifier labels a text as it does: its words, one by one."""

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import is_text
from kerasrnn.data.batches import pad_to
from kerasrnn.pipelines.finite import check_answer
from kerasrnn.pipelines.labelling.functions import gradient_norms
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.pipelines.xla_pipeline import XlaPipeline
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Tensor


class Explaining(XlaPipeline):
    """The part of `TextLabeller` that shows the words of one text.

    See `TextLabeller`.
    """

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    max_length: int | None

    def explain(
        self, text: str, label: str | None = None
    ) -> tuple[list[str], np.ndarray]:
        """Returns the words of one string and the weight of each.

        The weights are those of the attention. For a model without attention,
        they are the norms of the gradients of the words (`gradient_norms`),
        divided by their sum. They do not say for which label a word speaks.
        With a `label`, weights do: above 0 for the label, below 0 against it. A
        weight is then the product of the embedding of the word and the gradient
        of the log odds of the label.

        Args:
            text: String.
            label: String, the label to explain; `None` for the attention.

        Returns:
            A tuple of a list of strings and a float array of shape
            `(words,)`. A text without words has one empty word of weight 0.

        Raises:
            ValueError: when the label is unknown, or `text` is not a string.

        Reference:
            [Denil et al., 2014](https://arxiv.org/abs/1412.6815).
        """
        given = [self._given(text)]
        if label is None:
            found = self.signatures["explain"](*given)
        elif label in self.labels:
            given.append(tf.constant([label]))
            found = self.signatures["explain_label"](*given)
        else:
            raise ValueError(
                f"`label` must be one of {self.labels}. "
                f"Received: label={label!r}"
            )
        check_answer(self.model, found)
        words = [token.decode() for token in found["tokens"].numpy()[0]]
        return words, found["weights"].numpy()[0]

    def hidden_states(self, text: str) -> tuple[list[str], np.ndarray]:
        """Returns the words of one string and the outputs of the encoder.

        Args:
            text: String.

        Returns:
            A tuple of a list of strings and a float32 array of shape
            `(words, units)`.
        """
        ids = self.ids(self._given(text))
        states = self.model.hidden_states(ids)
        mask = self.model.mask(ids)
        words = tf.where(mask, self.tokenizer.tokens(ids), "")[0]
        return decoded(words), tf.cast(states[0], tf.float32).numpy()

    def gradient_norms(self, text: str) -> np.ndarray:
        """Returns how strongly each word of one string affects the label.

        It is the norm of the gradient of the largest logit with respect to
        the embedding of the word, of shape `(words,)`.
        """
        ids = self.ids(self._given(text))
        return gradient_norms(self.model, ids)[0].numpy()

    def ids(self, texts: Tensor) -> Tensor:
        """Tokenizes texts for the model.

        Args:
            texts: String tensor of shape `(batch,)`.

        Returns:
            Int32 tensor of shape `(batch, time)`, padded, with at least one
            column.
        """
        ids = self.tokenizer.tokenize(texts, self.max_length)
        return pad_to(ids, self.tokenizer.pad_id)

    def _given(self, text):
        """A batch of one text, with a warning if it is cut."""
        if not is_text(text):
            raise ValueError(f"A string is expected. Received: {text!r:.80}")
        warn_of_cut([text], self.tokenizer, self.max_length)
        return tf.constant([text])
