"""The linear-chain conditional random field."""

import contextlib
from typing import Any
from typing import Self
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.crf import chain as chains
from kerasrnn.layers.crf.chain import at_tag
from kerasrnn.layers.crf.chain import maximum
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.saving import ByArguments
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.tag_schemes import PREFIXES
from kerasrnn.tag_schemes import check_scheme
from kerasrnn.tag_schemes import parsed_tag
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor

# The tag before the start and after the end of a path.
_OUTSIDE = "O", ""


@keras.saving.register_keras_serializable("kerasrnn", "CRFLink")
class Link(ByArguments):
    """A reference to a layer, which is set after both are created.

    With it, a loss finds its layer again after both were loaded from a file. If
    the loss held the layer itself, it would be loaded with a copy, because a
    functional model does not save what else uses its layers. And in a model
    that does not save its layers first, their weights would be saved as those
    of the loss.
    """

    layer: Any = None


@keras.saving.register_keras_serializable("kerasrnn")
class CRF(Configured, keras.layers.Layer):
    """A linear-chain conditional random field (Lafferty et al. 2001).

    It is the last layer of a model that tags sequences. A softmax chooses each
    tag independently. A CRF chooses the best path `y` of `n` tags through the
    emissions `U`, with weights for the first tag, the last tag and each pair of
    neighbouring tags (the transitions `A`):

        score(y) = start(y_1) + end(y_n) + sum_t U_t(y_t)
            + sum_t A(y_{t-1}, y_t)
        log p(y) = score(y) - log(Z)        Z = sum_y exp(score(y))

    The loss `CRFLoss(crf)` is `-log p(y)`. All weights start at 0, so the layer
    starts as a softmax in each step. It computes in float32 or wider, whatever
    the dtype of the emissions is.

    The outputs are scores of the tags. In each step, the largest is that of the
    tag on the best path, so `argmax` over the last axis gives the best path,
    and the metric `"accuracy"` works. The other scores are the emissions
    relative to that tag. `emissions` restores the emissions from the outputs,
    for the other methods.

    Args:
        labels: Names of the tags, in the order of the emissions. Needed only
            for `scheme`.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`, the tag scheme of
            the labels. Predicted paths never break it. A true path that breaks
            it adds 10,000 to the loss for each violation.
        transitions_initializer: Initializer of the transitions.
        boundary_initializer: Initializer of the weights of first and last tags.
        transitions_regularizer: Regularizer of the transitions.
        **kwargs: Further arguments of `keras.layers.Layer`.

    Call arguments:
        emissions: Tensor of shape `(batch, time, tags)`: scores (logits), such
            as the outputs of a `keras.layers.Dense`, not probabilities.
        mask: Optional booleans of shape `(batch, time)`, true where a step is
            part of the sequence.

    Returns:
        Tensor of shape `(batch, time, tags)`.

    Masking:
        A masked step is skipped, wherever it is: the steps before and after it
        become neighbours. Its emissions may be NaN, its output is 0, and its
        tag has no effect. A fully masked row has the score 0 and the loss 0.
        The mask is passed on.

    Raises:
        ValueError: when there is a scheme without labels, a label does not
            belong to the scheme, or the number of labels differs from that of
            the tags.

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
        # With autocast, float32 emissions would be rounded to a 16-bit compute
        # dtype.
        super().__init__(autocast=False, **kwargs)
        if isinstance(labels, str) or not (
            labels is None or hasattr(labels, "__iter__")
        ):
            raise ValueError(
                "`labels` must be a list of strings, one for each tag. (The "
                "number of tags is that of the emissions.) Received: "
                f"labels={labels!r}"
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
        self.allowed = allowed_moves(self.labels, scheme)
        self.supports_masking = True
        self.link = Link()
        self.link.layer = self

    def build(self, input_shape: Shape) -> None:
        tags = input_shape[-1]
        if self.labels is not None and len(self.labels) != tags:
            raise ValueError(
                "The number of labels must equal the width of the emissions. "
                f"Expected: {len(self.labels)} tags. Received: {tags}"
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
        emissions, mask = chains.checked(emissions, mask)
        tags, _ = self.decode(ops.stop_gradient(emissions), mask)
        outputs = with_path(emissions, mask, tags)
        # By this, a loss recognizes the outputs. JAX arrays have no attributes.
        with contextlib.suppress(AttributeError):
            outputs._kerasrnn_link = self.link
        return outputs

    def compute_output_shape(self, emissions_shape: Shape) -> Shape:
        return tuple(emissions_shape)

    def compute_output_spec(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> keras.KerasTensor:
        return keras.KerasTensor(
            emissions.shape, dtype=wide_dtype(emissions.dtype)
        )

    def emissions(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Restores the emissions and the mask from outputs of the layer.

        Args:
            outputs: Tensor of shape `(batch, time, tags)` that this layer, or a
                model that ends with it, returned.

        Returns:
            The emissions of shape `(batch, time, tags)`, relative to the
            emission of the best tag in each step, which changes no probability;
            and the mask, booleans of shape `(batch, time)`.
        """
        outputs = ops.convert_to_tensor(outputs)
        on_path = at_tag(ops.argmax(outputs, axis=-1), outputs.shape[-1])
        return ops.where(on_path, 0.0, outputs), ops.any(outputs != 0, axis=-1)

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
        tags = ops.transpose(ops.cast(ops.convert_to_tensor(tags), "int32"))
        return chains.path_score(tags, *self._chain(emissions, mask))

    def log_partition(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns `log(Z)`, of shape `(batch,)`."""
        return chains.log_partition(*self._chain(emissions, mask))

    def marginals(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns the marginal probability of each tag in each step.

        They have the shape of the emissions, and are 0 at masked steps.
        """
        shares = chains.marginals(*self._chain(emissions, mask))
        return ops.transpose(shares, (1, 0, 2))[..., :-1]

    def decode(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the best paths and their scores.

        Returns:
            Integers of shape `(batch, time)`, 0 where a step is masked, and
            scores of shape `(batch,)`. Subtract `log_partition` for
            log-probabilities.
        """
        tags, scores = chains.best_path(*self._chain(emissions, mask))
        return ops.transpose(tags), scores

    def n_best(
        self, emissions: Tensor, n: int, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the `n` best paths and their scores, best first.

        Args:
            emissions: Tensor of shape `(batch, time, tags)`.
            n: Positive integer.
            mask: Optional booleans of shape `(batch, time)`.

        Returns:
            Integers of shape `(batch, n, time)` and scores of shape
            `(batch, n)`. If there are fewer paths, the remaining tags are 0 and
            their scores minus infinity.
        """
        n = positive_integer("n", n)
        tags, scores = chains.best_paths(*self._chain(emissions, mask), count=n)
        return ops.transpose(tags, (1, 2, 0)), scores

    def _chain(self, emissions, mask):
        emissions, mask = chains.checked(emissions, mask)
        build_once(self, emissions.shape)
        weights = self.transitions, self.start, self.end
        return chains.chain(emissions, mask, *weights, self.allowed)

    def get_config(self) -> Config:
        return {**super().get_config(), "link": serialized(self.link)}

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        config, link = unlinked(config)
        layer = super().from_config(config, custom_objects)
        layer.link, link.layer = link, layer
        return layer


def with_path(emissions, mask, tags):
    """Encodes the best path, the emissions and the mask as outputs.

    Adding a number to all emissions of a step does not change the distribution
    over paths. So the emissions of each step are stored relative to that of the
    best tag. The entry of this tag would be 0, so it holds a value larger than
    all others instead, which marks the path. A masked step is all zeros, which
    no real step is.

    Args:
        emissions: Tensor of shape `(batch, time, tags)`.
        mask: Booleans of shape `(batch, time)`.
        tags: Integers of shape `(batch, time)`, the best path.

    Returns:
        Tensor of shape `(batch, time, tags)`, which `CRF.emissions` decodes.
    """
    on_path = at_tag(tags, emissions.shape[-1])
    of_path = ops.sum(
        ops.where(on_path, emissions, 0.0), axis=-1, keepdims=True
    )
    relative = emissions - of_path
    above = maximum(ops.stop_gradient(relative), axis=-1, keepdims=True) + 1.0
    outputs = ops.where(on_path, above, relative)
    return ops.where(mask[..., None], outputs, 0.0)


def serialized(link):
    """Returns a configuration of a link that is shared by all who load it."""
    return {
        **keras.saving.serialize_keras_object(link),
        "shared_object_id": id(link),
    }


def unlinked(config):
    """Splits a configuration into itself without its link, and the link."""
    rest = {name: value for name, value in config.items() if name != "link"}
    return rest, keras.saving.deserialize_keras_object(config["link"])


def allowed_moves(labels, scheme):
    """Returns which moves a tag scheme allows, as booleans.

    Args:
        labels: Names of the tags, in the order of the emissions.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`, or `None`.

    Returns:
        A list of lists `[before][after]`, and two lists: which tags may start,
        and which may end a path. `None` if there is no scheme.

    Raises:
        ValueError: when the scheme is unknown, there are no labels, or a label
            does not belong to the scheme.
    """
    if scheme is None:
        return None
    check_scheme(scheme, labels or ())
    if labels is None:
        raise ValueError(
            "A `scheme` needs the `labels` of all tags. Received: labels=None "
            f"and scheme={scheme!r}"
        )
    tags = [_as_bioes(label, scheme) for label in labels]
    return (
        [[_may_follow(a, b, scheme) for b in tags] for a in tags],
        [_may_follow(_OUTSIDE, tag, scheme) for tag in tags],
        [_may_follow(tag, _OUTSIDE, scheme) for tag in tags],
    )


def _as_bioes(tag, scheme):
    """Returns the BIOES prefix and the type of a tag."""
    prefix, kind = parsed_tag(tag)
    if kind:
        prefix = PREFIXES["BIOES"][PREFIXES[scheme].index(prefix)]
    return prefix, kind


def _may_follow(before, after, scheme):
    """Whether a tag may follow another.

    The tags are pairs of a prefix, with I, O, B, E and S as in BIOES, and a
    label, which is empty for O.
    """
    (a, kind), (b, kind_after) = before, after
    within = a in "BI" and kind == kind_after
    if scheme == "IOB1":
        return b != "B" or within
    if scheme == "IOB2":
        return b != "I" or within
    # BIOES: after B and I the phrase must continue, otherwise it must not.
    goes_on = b in "IE"
    return within and goes_on if a in "BI" else not goes_on
