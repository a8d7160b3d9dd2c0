"""Text in, label out, as one graph."""

import numpy as np
import tensorflow as tf

from kerasrnn.data.labelled_batches import pad_rows


class TextLabeller:
    """Labels strings, the same way in evaluation and when served.

    Args:
        model: A `kerasrnn.models.TextClassifier`.
        tokenizer: The `Tokenizer` it was trained with.
        labels: List of strings, one for each class. A model with one logit
            has two classes: what a probability of 0 and one of 1 mean.
        max_length: Positive integer; of longer texts the first tokens are
            read. `None` reads all.

    Raises:
        ValueError: when there are not as many `labels` as classes.

    Example:

    ```python
    labeller = TextLabeller(model, tokenizer)
    labeller.label(tf.constant(["a fine film"]))["probability"]
    ```
    """

    def __init__(
        self,
        model,
        tokenizer,
        labels=("negative", "positive"),
        max_length=None,
    ):
        self.model = model
        self.tokenizer = tokenizer
        self.labels = tuple(labels)
        classes = max(2, model.num_classes)
        if len(self.labels) != classes:
            raise ValueError(
                f"`labels` must be {classes}, one for each class of the model. "
                f"Received: labels={labels!r}"
            )
        self.max_length = max_length
        texts = tf.TensorSpec([None], tf.string, name="text")
        ids = tf.TensorSpec([None, None], tf.int32, name="ids")
        self.label = tf.function(self._label, [texts])
        self.label_ids = tf.function(self._label_ids, [ids])
        self.explain = tf.function(self._explain, [texts])

    @property
    def signatures(self):
        """The functions to export, by the names they are served under."""
        return {
            "serving_default": self.label,
            "label_ids": self.label_ids,
            "explain": self.explain,
        }

    def probabilities(self, texts, batch_size=64):
        """Returns the probabilities of a list of strings.

        They have shape `(texts,)`, or `(texts, classes)` where each class has
        a logit.
        """
        order = np.argsort([len(text) for text in texts], kind="stable")
        classes = self.model.num_classes
        shape = (len(texts), classes) if classes > 1 else (len(texts),)
        found = np.zeros(shape, "float32")
        for start in range(0, len(texts), batch_size):
            batch = order[start : start + batch_size]
            answer = self.label(tf.constant([texts[i] for i in batch]))
            found[batch] = answer["probability"].numpy()
        return found

    def weights(self, text):
        """Returns the words of one string, and the weight of each."""
        found = self.explain(tf.constant([text]))
        words = [token.decode() for token in found["tokens"].numpy()[0]]
        return words, found["weights"].numpy()[0]

    def hidden_states(self, text):
        """Returns the words of one string, and the outputs of the encoder.

        They have shape `(words, units)`.
        """
        ids = self._ids(tf.constant([text]))
        memory, mask, _ = self.model.encoder(ids)
        words = tf.where(mask, self.tokenizer.tokens(ids), "")[0].numpy()
        return [word.decode() for word in words], memory[0].numpy()

    def gradient_norms(self, text):
        """Returns what each word's embedding matters to the label.

        That is the norm of the gradient of the greatest logit, of shape
        `(words,)`.
        """
        return self._gradients(self._ids(tf.constant([text])))[0].numpy()

    def _ids(self, texts):
        ids = self.tokenizer.tokenize(texts)[:, : self.max_length]
        return pad_rows(ids, self.tokenizer.pad_id)

    def _label(self, text):
        return self._answer(self.model(self._ids(text)))

    def _label_ids(self, ids):
        missing = tf.maximum(0, 1 - tf.shape(ids)[1])
        pad_id = self.tokenizer.pad_id
        ids = tf.pad(ids, [[0, 0], [0, missing]], constant_values=pad_id)
        return self._answer(self.model(ids[:, : self.max_length]))

    def _answer(self, logits):
        logits = tf.cast(logits, tf.float32)
        if self.model.num_classes == 1:
            probability = tf.sigmoid(logits[:, 0])
            label = tf.cast(probability > 0.5, tf.int32)
        else:
            probability = tf.nn.softmax(logits)
            label = tf.argmax(logits, axis=1)
        return {
            "probability": probability,
            "label": tf.gather(tf.constant(self.labels), label),
        }

    def _explain(self, text):
        ids = self._ids(text)
        memory, mask, final = self.model.encoder(ids)
        logits, weights = self.model.classify(memory, mask, final)
        if weights is None:
            weights = self._gradients(ids)
            total = tf.reduce_sum(weights, axis=1, keepdims=True)
            weights = tf.math.divide_no_nan(weights, total)
        tokens = self.tokenizer.tokens(ids)
        return {
            "tokens": tf.where(mask, tokens, ""),
            "weights": tf.where(mask, tf.cast(weights, tf.float32), 0.0),
            **self._answer(logits),
        }

    def _gradients(self, ids):
        """Norms of the gradients of the logits, of shape `(batch, time)`.

        Of several logits it is the greatest one.
        """
        encoder = self.model.encoder
        mask = tf.not_equal(ids, self.tokenizer.pad_id)
        embeddings = encoder.embedding(ids)
        with tf.GradientTape() as tape:
            tape.watch(embeddings)
            memory, final = encoder.read(embeddings, mask)
            logits, _ = self.model.classify(memory, mask, final)
            greatest = tf.reduce_max(logits, axis=1)
        gradients = tape.gradient(greatest, embeddings)
        return tf.norm(tf.cast(gradients, tf.float32), axis=-1)
