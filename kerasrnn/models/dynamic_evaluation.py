"""Learning from a text while being evaluated on it."""

import keras


@keras.saving.register_keras_serializable("kerasrnn")
class DynamicEvaluation(keras.Model):
    """Lets a language model learn from a text while it is evaluated on it.

    Fitted for one epoch to windows of the text in a batch of 1, what its
    metrics report is dynamic evaluation: each window is predicted before it
    is learnt from. There is no dropout. It changes the weights of `model`.

    Compiled with plain gradient descent, it is that of Mikolov et al. 2010;
    with `RMSDynamicEvaluation`, that of Krause et al. 2018.

    Args:
        model: A `LanguageModel`.
        **kwargs: Base model arguments, such as `name`.

    Call arguments:
        inputs: What `model` takes: ids of shape `(batch, time)`, or a
            dictionary with `"fresh"`.

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`.

    Example:

    >>> model = LanguageModel(50, RHNCell(8), batch_size=20)
    >>> dynamic = DynamicEvaluation(model.with_batch_size(1))
    >>> dynamic.compile("sgd", TokenCrossentropy(-1), metrics=[Perplexity(-1)])
    >>> windows = text_windows(np.arange(40), batch_size=1, window=20)
    >>> history = dynamic.fit(windows, shuffle=False, verbose=0)
    >>> sorted(history.history)
    ['loss', 'perplexity']

    References:
        [Mikolov et al., 2010](https://doi.org/10.21437/Interspeech.2010-343),
        [Krause et al., 2018](https://arxiv.org/abs/1709.07432).
    """

    def __init__(self, model, **kwargs):
        super().__init__(**kwargs)
        self.model = model

    def call(self, inputs):
        return self.model(inputs, training=False)

    def get_config(self):
        return {
            **super().get_config(),
            "model": keras.saving.serialize_keras_object(self.model),
        }

    @classmethod
    def from_config(cls, config):
        model = keras.saving.deserialize_keras_object(config["model"])
        return cls(**{**config, "model": model})
