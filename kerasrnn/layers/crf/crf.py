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
from kerasrnn.saving import Configured
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

# The tag beside a path, before it and after it.
_OUTSIDE = "O", ""


@keras.saving.register_keras_serializable("kerasrnn", "CRFLink")
class Link:
    """Refers to a layer, which is set after both are made.

    So a loss finds its layer again after both were loaded from a file. A loss
    that had the layer itself would be loaded with a copy of it, since a
    functional model saves its layers without a word on what else uses them. And
    where a model does not save its layers first, their weights would be saved
    as those of the loss.
    """

    def __init__(self) -> None:
        self.layer: Any = None

    def get_config(self) -> Config:
        return {}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls()


class Linked:
    """A layer with a link to it, which a loss can have."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._set_link(Link())

    def get_config(self) -> Config:
        config = super().get_config()  # type: ignore[misc]
        return {**config, "link": serialized(self.link)}

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        config, link = unlinked(config)
        layer = super().from_config(config, custom_objects)  # type: ignore
        layer._set_link(link)
        return layer

    def marked(self, outputs: Tensor) -> Tensor:
        """Returns outputs that `link_of` knows as those of this layer.

        The arrays of JAX cannot be marked, and stay as they are.
        """
        with contextlib.suppress(AttributeError):
            outputs._kerasrnn_link = self.link
        return outputs

    def _set_link(self, link):
        self.link = link
        link.layer = self


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
        self.allowed = allowed_moves(self.labels, scheme)
        self.supports_masking = True

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
        emissions, mask = chains.checked(emissions, mask)
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
        return chains.path_score(emissions, tags, mask, *weights)

    def log_partition(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns `log(Z)`, of shape `(batch,)`."""
        emissions, mask, *weights = self._chain(emissions, mask)
        mask = ops.cast(mask, emissions.dtype)
        return chains.log_partition(emissions, mask, *weights)

    def marginals(
        self, emissions: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Returns the probability of each tag in each step.

        The shape is that of the emissions. A masked step is 0.
        """
        emissions, mask, *weights = self._chain(emissions, mask)
        mask = ops.cast(mask, emissions.dtype)
        shares = chains.marginals(emissions, mask, *weights)
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
        tags, scores = chains.best_path(*self._chain(emissions, mask))
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
        tags, scores = chains.best_paths(*self._chain(emissions, mask), count=n)
        return ops.transpose(tags, (1, 2, 0)), scores

    def _chain(self, emissions, mask):
        emissions, mask = chains.checked(emissions, mask)
        if not self.built:
            self.build(emissions.shape)
        weights = self.transitions, self.start, self.end
        return chains.chain(emissions, mask, *weights, self.allowed)


def with_path(emissions, mask, tags):
    """Returns outputs, which hold the best path, the emissions and the mask.

    The distribution over paths stays the same if a number is added to all
    emissions of a step. So each step's emissions are stored relative to that of
    the best tag. That tag's own entry would be 0, so its place instead holds a
    value larger than all others, which marks the path. A masked step is all
    zeros, which no real step is.

    Args:
        emissions: Tensor of shape `(batch, time, tags)`.
        mask: Booleans of shape `(batch, time)`.
        tags: Integers of that shape, the best path.

    Returns:
        Tensor of shape `(batch, time, tags)`.
    """
    on_path = at_tag(tags, emissions.shape[-1])
    of_path = ops.sum(
        ops.where(on_path, emissions, 0.0), axis=-1, keepdims=True
    )
    relative = emissions - of_path
    above = maximum(ops.stop_gradient(relative), axis=-1, keepdims=True) + 1.0
    outputs = ops.where(on_path, above, relative)
    return ops.where(mask[..., None], outputs, 0.0)


def emissions_and_mask(outputs):
    """Returns what `with_path` was given: emissions up to a number, and mask.

    Args:
        outputs: Tensor of shape `(batch, time, tags)`.
    """
    tags = ops.argmax(outputs, axis=-1)
    on_path = at_tag(tags, outputs.shape[-1])
    mask = ops.any(outputs != 0, axis=-1)
    return ops.where(on_path, 0.0, outputs), mask


def link_of(outputs):
    """Returns the link of the layer of outputs; `None` if it is unknown."""
    return getattr(outputs, "_kerasrnn_link", None)


def serialized(link):
    """Returns a configuration that is the same link wherever it is loaded."""
    config = keras.saving.serialize_keras_object(link)
    return {**config, "shared_object_id": id(link)}


def unlinked(config):
    """Returns a configuration without its link, and the link."""
    rest = {name: value for name, value in config.items() if name != "link"}
    return rest, keras.saving.deserialize_keras_object(config["link"])


def allowed_moves(labels, scheme):
    """Returns what a tag scheme allows, as booleans.

    Args:
        labels: Names of the tags, in the order of the emissions.
        scheme: `"IOB1"`, `"IOB2"`, `"BIOES"` or `"BILOU"`, or `None`.

    Returns:
        A list of lists, by the tag before and the tag after it, and two lists:
        which tags may start and end a path. `None` if there is no scheme.

    Raises:
        ValueError: when there is no such scheme, there are no labels for it, or
            a label is not one of its tags.
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
    """Returns the type of a tag, after the prefix that BIOES has for it."""
    prefix, kind = parsed_tag(tag)
    if kind:
        prefix = PREFIXES["BIOES"][PREFIXES[scheme].index(prefix)]
    return prefix, kind


def _may_follow(before, after, scheme):
    (a, kind), (b, kind_after) = before, after
    within = a in "BI" and kind == kind_after
    if scheme == "IOB1":
        return b != "B" or within
    if scheme == "IOB2":
        return b != "I" or within
    # A phrase goes on until its end, and only then.
    goes_on = b in "IE"
    return within and goes_on if a in "BI" else not goes_on
