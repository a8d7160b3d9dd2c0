"""The loss of a conditional random field."""

from typing import Self

import keras
from keras import ops

from kerasrnn.arguments import check_shape
from kerasrnn.layers.crf.crf import CRF
from kerasrnn.layers.crf.crf import serialized
from kerasrnn.layers.crf.crf import unlinked
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.tensors import without_last_axis
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class CRFLoss(keras.losses.Loss):
    """Negative log-likelihood of the true tags under the `CRF` of a model.

        loss = -log p(y)

    It is summed over the steps of a row and averaged over the rows.

    Args:
        crf: The `CRF` at the end of the model. When a saved model is loaded,
            its loss finds the layer again. A model that is made in another way,
            such as by `keras.models.clone_model`, must be compiled with a loss
            for its own `CRF`.
        reduction: As in `keras.losses.Loss`.
        name: Name of the loss.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)` or `(batch, time, 1)`. A
            tag that does not exist makes the loss NaN, unless its step is
            masked.
        y_pred: What the layer returned, of shape `(batch, time, tags)`.
        sample_weight: Optional tensor of shape `(batch,)`.

    Masking:
        Steps that were masked in the call of the `CRF` have no effect, whatever
        their tags are.

    Raises:
        ValueError: when `crf` was never called, when the outputs are those of
            another `CRF` (not noticed on JAX), or when `y_true` or
            `sample_weight` has another shape.

    Example:

    >>> crf = CRF()
    >>> outputs = crf(np.zeros((1, 2, 4)))
    >>> float(CRFLoss(crf)(np.array([[3, 1]]), outputs))   # 2 log 4
    2.7725887298583984

    Reference:
        [Lample et al., 2016](https://arxiv.org/abs/1603.01360).
    """

    def __init__(
        self,
        crf: CRF,
        reduction: str | None = "sum_over_batch_size",
        name: str = "crf_loss",
    ) -> None:
        super().__init__(
            name=name,
            reduction=reduction,
            dtype=wide_dtype(keras.config.floatx()),
        )
        self._link = crf.link

    def __call__(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        # Keras would multiply the losses of rows by the mask of the steps.
        losses = self.call(y_true, y_pred)
        if sample_weight is not None:
            sample_weight = ops.convert_to_tensor(sample_weight)
            if tuple(sample_weight.shape[1:]) == (1,):
                sample_weight = sample_weight[:, 0]
            # Each row has one loss.
            check_shape("sample_weight", sample_weight, ["batch"])
        return Computed(self.name, self.reduction, self.dtype)(
            losses, losses, sample_weight
        )

    @property
    def crf(self) -> CRF | None:
        """The `CRF` of the loss; `None` if it was loaded without its model."""
        return self._link.layer

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns the losses of the rows, of shape `(batch,)`."""
        crf = self.crf
        if (
            crf is None
            or not crf.built
            or getattr(y_pred, "_kerasrnn_link", crf.link) is not crf.link
        ):
            raise ValueError(
                "The loss needs the `CRF` at the end of the model. A loss that "
                "was loaded without its model has none. Expected: a model "
                "compiled with `CRFLoss(model.get_layer(NAME))`. Received: "
                f"{'no layer' if crf is None else crf.name!r}, which did not "
                "return the outputs"
            )
        y_true = without_last_axis(ops.convert_to_tensor(y_true))
        check_shape("y_true", y_true, ("batch", "time"))
        emissions, mask = crf.emissions(y_pred)
        return -crf.log_likelihood(emissions, y_true, mask)

    def get_config(self) -> Config:
        return {
            "link": serialized(self._link),
            "reduction": self.reduction,
            "name": self.name,
        }

    @classmethod
    def from_config(cls, config: Config) -> Self:
        config, link = unlinked(config)
        loss = cls(CRF(), **config)
        loss._link = link
        return loss


class Computed(keras.losses.Loss):
    """Reduces losses that were computed before."""

    def call(self, y_true, y_pred):
        return y_pred
