"""The linear-chain conditional random field."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.crf import forward_backward
from kerasrnn.layers.crf import paths
from kerasrnn.layers.crf.allowed_moves import allowed_moves
from kerasrnn.layers.crf.chain import chain
from kerasrnn.layers.crf.chain import checked
from kerasrnn.layers.crf.link import Linked
from kerasrnn.layers.crf.outputs import emissions_and_mask
from kerasrnn.layers.crf.outputs import with_path
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.saving import Configured
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class CRF(Linked, Configured, keras.layers.Layer):
    """A linear-chain conditional random field (Lafferty et al. 2001).

    It is the last layer of a model that tags sequences. Where a softmax chooses
    each tag by itself, it chooses the best path `y` of `n` tags through the
    emissions `U`, by weights for the first tag, the last one, and each pair `A`
    of neighbours, the transitions:

        score(y) = start(y_1) + end(y_n) + sum_t U_t(y_t)
            + sum_t A(y_{t-1}, y_t)
        log p(y) = score(y) - log(Z)        Z = sum_y exp(score(y))

    The loss `CRFLoss(crf)` is `-log p(y)`. All weights start at 0, where the
    layer is a softmax in each step. It computes in float32 or wider, whatever
    the dtype of the emissions.

    The outputs are scores of the tags whose largest in each step is that of
    the best path: `argmax` over the last axis gives the tags, and `"accuracy"`
    counts them. The others are the emissions relative to the tag of the path,
    so that the outputs hold all that the methods need: `emissions` takes it out
    again.

    Args:
        labels: Names of the tags, in the order of the emissions. Needed for
            `scheme` alone.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`, the tag scheme of
            the labels: no path breaks it. A true path that does so costs 10,000
            for each fault.
        transitions_initializer: Initializer of the transitions.
        boundary_initializer: Initializer of the weights of the first and of
            the last tag.
        transitions_regularizer: Regularizer of the transitions.
        **kwargs: Further arguments of `keras.layers.Layer`.

    Call arguments:
        emissions: Tensor of shape `(batch, time, tags)`: scores, not
            probabilities, such as those of a `keras.layers.Dense`.
        mask: Optional booleans of shape `(batch, time)`, true where a step is
            part of the sequence.

    Returns:
        Tensor of shape `(batch, time, tags)`.

    Masking:
        A masked step, wherever it is, is skipped: the steps around it are
        neighbours. Its emissions may be NaN, its output is 0, and its tag has
        no effect. A row that is wholly masked has the score, and the loss, 0.
        The mask is passed on.

    Raises:
        ValueError: when there is a scheme without labels, a label is not part
            of it, or the number of labels is not that of the tags.

    Example:

    >>> crf = CRF()
    >>> model = keras.Sequential(
    ...     [
    ...         keras.layers.Embedding(50, 8, mask_zero=True),
    ...         FastLSTM(16, return_sequences=True),
    ...         keras.layers.Dense(3),
    ...         crf,
    ...     ]
    ... )
    >>> model.compile("adam", CRFLoss(crf), metrics=["accuracy"])
    >>> words = np.array([[4, 7, 5, 0]])
    >>> outputs = model(words)   # after model.fit(words, tags)
    >>> ops.argmax(outputs, axis=-1).shape
    (1, 4)
    >>> crf.marginals(*crf.emissions(outputs)).shape
    (1, 4, 3)

    References:
        [Lafferty et al., 2001](https://repository.upenn.edu/cis_papers/159/),
        [Lample et al., 2016](https://arxiv.org/abs/1603.01360).
    """

    def __init__(
        self,
        labels: Strings | None = None,
        scheme: str | None = None,
        transitions_initializer: Initializer = "zeros",
        boundary_initializer: Initializer = "zeros",
        transitions_regularizer: Regularizer = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        # Emissions in float32 would be rounded to a compute dtype of 16 bits.
        super().__init__(autocast=False, **kwargs)
        if isinstance(labels, str) or not (
            labels is None or hasattr(labels, "__iter__")
        ):
            raise ValueError(
                "`labels` must be a list of strings, one for each tag. How "
                "many tags there are follows from the emissions. "
                f"Received: labels={labels!r}"
            )
        self.labels = None if labels is None else list(labels)
        self.scheme = scheme
        self.transitions_initializer = keras.initializers.get(
            transitions_initializer
        )
        self.boundary_initializer = keras.initializers.get(boundary_initializer)
        self.transitions_regularizer = keras.regularizers.get(
            transitions_regularizer
        )
        self._allowed = allowed_moves(self.labels, scheme)
        self.supports_masking = True

    @property
    def allowed(self) -> tuple[list[Any], list[bool], list[bool]] | None:
        """What the scheme allows: transitions, first tags and last tags.

        `None` without a scheme.
        """
        return self._allowed

    def build(self, input_shape: Shape) -> None:
        tags = input_shape[-1]
        if self.labels is not None and len(self.labels) != tags:
            raise ValueError(
                "There must be a label for each tag, and an emission for each "
                f"label. Expected: {len(self.labels)} tags. Received: {tags}"
            )
        self.transitions = self.add_weight(
            (tags, tags),
            self.transitions_initializer,
            name="transitions",
            regularizer=self.transitions_regularizer,
            autocast=False,
        )
        self.start, self.end = (
            self.add_weight(
                (tags,),
                reseeded(self.boundary_initializer, name),
                name=name,
                autocast=False,
            )
            for name in ("start", "end")
        )

    def call(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        emissions, mask = checked(emissions, mask)
        tags, _ = self.decode(ops.stop_gradient(emissions), mask)
        return self.marked(with_path(emissions, mask, tags))

    def compute_output_shape(self, emissions_shape: Shape) -> Shape:
        return tuple(emissions_shape)

    def compute_output_spec(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> keras.KerasTensor:
        return keras.KerasTensor(
            emissions.shape, dtype=wide_dtype(emissions.dtype)
        )

    def emissions(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the emissions, and the mask, that are in outputs.

        Args:
            outputs: Tensor of shape `(batch, time, tags)`, which this layer,
                or a model with it at its end, has returned.

        Returns:
            The emissions of shape `(batch, time, tags)`, each step less that of
            the tag of the best path, which changes no probability; and booleans
            of shape `(batch, time)`.
        """
        return emissions_and_mask(ops.convert_to_tensor(outputs))

    def log_likelihood(
        self, emissions: Tensor, tags: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns `log p(y)` of given paths.

        Args:
            emissions: Tensor of shape `(batch, time, tags)`.
            tags: Integers of shape `(batch, time)`.
            mask: Optional booleans of shape `(batch, time)`.

        Returns:
            Tensor of shape `(batch,)`. It is NaN for a tag that does not exist.
        """
        score = self.score(emissions, tags, mask)
        return score - self.log_partition(emissions, mask)

    def score(
        self, emissions: Tensor, tags: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns `score(y)` of given paths, of shape `(batch,)`."""
        emissions, mask, *weights = self._chain(emissions, mask)
        tags = ops.transpose(ops.cast(ops.convert_to_tensor(tags), "int32"))
        return paths.path_score(emissions, tags, mask, *weights)

    def log_partition(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns `log(Z)`, of shape `(batch,)`."""
        emissions, mask, *weights = self._chain(emissions, mask)
        mask = ops.cast(mask, emissions.dtype)
        return forward_backward.log_partition(emissions, mask, *weights)

    def marginals(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns the probability of each tag in each step.

        The shape is that of the emissions. A masked step is 0.
        """
        emissions, mask, *weights = self._chain(emissions, mask)
        mask = ops.cast(mask, emissions.dtype)
        shares = forward_backward.marginals(emissions, mask, *weights)
        return ops.transpose(shares, (1, 0, 2))[..., :-1]

    def decode(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the best paths, and their scores.

        Returns:
            Integers of shape `(batch, time)`, 0 where a step is masked, and
            scores of shape `(batch,)`. Less `log_partition`, these are
            log-probabilities.
        """
        tags, scores = paths.best_path(*self._chain(emissions, mask))
        return ops.transpose(tags), scores

    def n_best(
        self, emissions: Tensor, n: int, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the `n` best paths, and their scores, the best ones first.

        Args:
            emissions: Tensor of shape `(batch, time, tags)`.
            n: Positive integer.
            mask: Optional booleans of shape `(batch, time)`.

        Returns:
            Integers of shape `(batch, n, time)` and scores of shape
            `(batch, n)`. If there are fewer paths, the others are 0, and their
            scores minus infinity.
        """
        n = positive_integer("n", n)
        tags, scores = paths.best_paths(*self._chain(emissions, mask), count=n)
        return ops.transpose(tags, (1, 2, 0)), scores

    def _chain(self, emissions, mask):
        emissions, mask = checked(emissions, mask)
        if not self.built:
            self.build(emissions.shape)
        weights = self.transitions, self.start, self.end
        return chain(emissions, mask, *weights, self._allowed)
