"""Models that return logits, and the losses that take them."""

import inspect
from typing import Any

import keras

from kerasrnn.typing import Config


class GivesLogits:
    """Base of models that return logits, where a loss may expect probabilities.

    Such a loss would clip the logits to 0 and 1 without a word.
    """

    built: bool
    optimizer: Any
    trainable_variables: list[Any]

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        for each in keras.tree.flatten(loss):
            self.check_loss(keras.losses.get(each))
        super().compile(  # type: ignore[misc]
            optimizer, loss, *args, **kwargs
        )

    def compile_from_config(self, config: Config) -> None:
        # Keras would not compile a model whose `compile` is not its own.
        arguments = keras.saving.deserialize_keras_object(config)
        try:
            self.compile(**arguments)
        except ValueError as error:
            raise ValueError(
                f"{error}. `compile=False` opens the file of the model itself, "
                "not of a pipeline, without a loss."
            ) from error
        if self.built and self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def check_loss(self, loss: Any) -> None:
        """Raises `ValueError` if a loss does not take what the model returns.

        Args:
            loss: A loss of Keras or any function, or `None`.
        """
        if _takes_logits(loss) is False:
            raise ValueError(
                f"{type(self).__name__} returns logits, which this loss would "
                "take for probabilities. Expected: the loss with "
                "`from_logits=True`, or for tokens "
                "`kerasrnn.training.TokenCrossentropy`. "
                f"Received: loss={name_of(loss)}"
            )


def _takes_logits(loss):
    """Whether a loss takes logits; `None` if it does not say."""
    if loss is None or hasattr(loss, "from_logits"):
        return getattr(loss, "from_logits", None)
    argument = inspect.signature(loss).parameters.get("from_logits")
    return None if argument is None else argument.default


def name_of(loss):
    """Returns the name of a loss, of a class or of a function."""
    return getattr(loss, "__name__", type(loss).__name__)
