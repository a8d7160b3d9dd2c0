"""The base class of the attention mechanisms, and helpers."""

from collections.abc import Callable
from collections.abc import Mapping
from typing import ClassVar
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import check_mask
from kerasrnn.arguments import check_not_ragged
from kerasrnn.arguments import rate
from kerasrnn.arguments import same_shape
from kerasrnn.layers import _backend
from kerasrnn.layers.loop.products import may_multiply
from kerasrnn.layers.loop.products import of_the_loop
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.saving import Configured
from kerasrnn.typing import Config
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


class AttentionMechanism(Configured, KeepsQuantization):
    """Base class of the attention mechanisms.

    For a query `q` and a memory with keys `k_i` and values `v_i`:

        alpha = softmax_i(score(q, k_i))       over the unmasked positions
        context = sum_i alpha_i v_i

    A subclass overrides `score`. It also overrides `keys_and_values` if keys
    and values are not the memory itself, and `align` if its weights are not the
    softmax of the scores. Optional short `names` identify it in the argument
    `attention` of cells and in the settings of recipes.

    `project` projects a memory once, and `attend` attends to it at every step.
    A mechanism whose weights depend on earlier steps has a state: a tensor that
    `initial_state` returns and that each step replaces. For all others the
    state is `()`. Calling the layer does all of this.

    Args:
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of `dropout`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`. For a mechanism
            with a state, the queries are consecutive steps.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`,
            `True` at the positions that may be attended to.
        training: Whether to behave as in training (dropout).

    Returns:
        A tuple `(context, weights)` of shapes `(batch, queries, context_dim)`
        and `(batch, queries, positions)`. Both are always returned, as in
        Keras's layers with `return_attention_scores=True`. The weights are
        those before dropout.

    Masking: a masked position has weight exactly 0, and its content has no
    influence, even if it is NaN. If a memory is fully masked or has no
    positions, the context is 0.

    Raises:
        ValueError: when `dropout` is not in `[0, 1)`.
    """

    # Short names, each with a function from the width of a cell to arguments.
    names: ClassVar[Mapping[str, Callable[[int], Config]]] = {}
    # Whether there is a state, and whether each step needs that of the previous
    # step, so that steps cannot be computed at once.
    stateful = False
    sequential = False
    # Whether each position is projected independently and there is no state, as
    # self-attention requires.
    positionwise = True
    # Whether the weights depend on the distances between positions, counting
    # masked ones.
    counts_masked = False
    # Whether it already belongs to a cell: see `get_attention`.
    is_given = False

    def __init__(
        self,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.dropout = rate("dropout", dropout)
        self.seed = seed
        if dropout:
            self.seed_generator = keras.random.SeedGenerator(seed)
        self.supports_masking = True

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        """Creates the weights, if there are any."""

    def project(
        self, memory: Tensor, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Projects a memory once, for any number of steps.

        Args:
            memory: Tensor of shape `(batch, positions, memory_dim)`.
            memory_mask: Boolean tensor of shape `(batch, positions)`, or
                `None`.

        Returns:
            A tuple of tensors `(batch, ...)` for `attend`. The first two are
            keys and values.
        """
        if memory_mask is not None:
            check_mask("memory_mask", memory_mask, memory)
            # A weight of 0 is not enough, because 0 times NaN is NaN.
            memory = ops.where(ops.expand_dims(memory_mask, -1), memory, 0)
        return self.keys_and_values(memory)

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the keys and values of a memory `(batch, positions, dim)`."""
        return memory, memory

    def initial_state(
        self, batch_size: int | Tensor, projected: tuple[Tensor, ...]
    ) -> Tensor:
        """Returns the state before the first step: `(batch, ...)`, or `()`."""
        return ()

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Returns the scores, of shape `(batch, queries, positions)`."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `score(query, keys)`."
        )

    def align(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        state: Tensor,
        training: bool,
        noise: dict[str, Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Returns the weights `(batch, queries, positions)` and the new state.

        The arguments are those of `attend`, but a mask has the shape
        `(batch, queries, positions)` or `(batch, 1, positions)`.
        """
        scores = self.score(query, projected[0])
        return masked_softmax(scores, memory_mask), state

    def read(
        self, weights: Tensor, values: Tensor, noise: dict[str, Tensor]
    ) -> Tensor:
        """Returns the context: the weighted sum of the values."""
        if "dropout" in noise:
            weights = weights * ops.cast(noise["dropout"], weights.dtype)
        return ops.matmul(ops.cast(weights, values.dtype), values)

    def attend(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None = None,
        state: Tensor = (),
        training: bool = False,
        noise: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Computes one step for each query, independently.

        The queries may be hypotheses for the same sentence, or steps of a
        mechanism without a state.

        Args:
            query: Tensor of shape `(batch, queries, query_dim)`.
            projected: The result of `project`.
            memory_mask: Boolean tensor of shape `(batch, positions)`, or
                `(batch, queries, positions)` with one mask for each query, or
                `None`.
            state: The previous state, `(batch, queries, ...)` or `()`.
            training: Whether to behave as in training.
            noise: The result of `draw_noise`; `None` to draw it here, which
                does not work inside a loop.

        Returns:
            `(context, weights, state)`: context and weights as in a call of the
                layer, and the new state.
        """
        if noise is None:
            noise = self.draw_noise(query, projected) if training else {}
        if memory_mask is not None and len(memory_mask.shape) == 2:
            memory_mask = ops.expand_dims(memory_mask, 1)
        weights, state = self.align(
            query, projected, memory_mask, state, training, noise
        )
        return self.read(weights, projected[1], noise), weights, state

    def attend_in_turn(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        state: Tensor,
        training: bool,
        noise: dict[str, Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Computes one step for each query, one after another.

        Args:
            query: Tensor of shape `(batch, time, query_dim)`.
            projected: The result of `project`.
            memory_mask: Boolean tensor of shape `(batch, positions)`, or
                `None`.
            state: The state before the first step, `(batch, ...)` or `()`.
            training: Whether to behave as in training.
            noise: The result of `draw_noise`.

        Returns:
            `(context, weights, state)`, with the state after the last step.
        """
        if not self.sequential:
            return self.attend(
                query, projected, memory_mask, state, training, noise
            )

        steps = swap_time((query, noise))

        def step(state, index):
            query, noise = keras.tree.map_structure(
                lambda x: x[index][:, None], steps
            )
            found = self.attend(
                query, projected, memory_mask, state[:, None], training, noise
            )
            *found, state = (x[:, 0] for x in found)
            return state, found

        state, found = _backend.scan(step, state, ops.shape(query)[1])
        return *swap_time(found), state

    def draw_noise(
        self, query: Tensor, projected: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        """Draws the random tensors of training, such as dropout masks.

        Returns:
            A dictionary of tensors `(batch, queries, ...)` for `attend`, empty
            if nothing is random.
        """
        if not self.dropout:
            return {}
        mask = keras.random.dropout(
            ops.ones(self.noise_shape(query, projected)),
            self.dropout,
            seed=self.seed_generator,
        )
        return {"dropout": mask}

    def noise_shape(
        self, query: Tensor, projected: tuple[Tensor, ...]
    ) -> tuple[int | Tensor, ...]:
        """Returns the shape of the weights; batch and queries come first."""
        return (*ops.shape(query)[:2], ops.shape(projected[1])[-2])

    def call(
        self,
        query: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        check_memory(memory, query.shape[0])
        projected = self.project(memory, memory_mask)
        state = self.initial_state(ops.shape(query)[0], projected)
        noise = self.draw_noise(query, projected) if training else {}
        context, weights, _ = self.attend_in_turn(
            query, projected, memory_mask, state, training, noise
        )
        return context, weights

    def projected_shapes(
        self, query_dim: int, memory_dim: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the shapes of the keys and of the values of one position.

        The axis of positions, before the last one, is left out: `(heads, dim)`
        stands for keys of shape `(batch, heads, positions, dim)`.
        """
        return (memory_dim,), (memory_dim,)

    def context_dim(self, memory_dim: int) -> int:
        """Returns the width of the context, for a memory of `memory_dim`."""
        return memory_dim


class _NoAttention(AttentionMechanism):
    """Attends to nothing: the context has width 0, and all weights are 0."""

    def keys_and_values(self, memory):
        return memory[..., :0], memory[..., :0]

    def align(self, query, projected, memory_mask, state, training, noise):
        return ops.zeros(self.noise_shape(query, projected)), state

    def context_dim(self, memory_dim):
        return 0


NO_ATTENTION = _NoAttention()


def swap_time(nest):
    """Swaps the first two axes, batch and time, of all tensors."""
    return keras.tree.map_structure(lambda x: ops.swapaxes(x, 0, 1), nest)


def check_memory(memory, batch_size):
    """Raises `ValueError` unless a memory is `(batch, positions, memory_dim)`.

    Args:
        memory: Tensor.
        batch_size: Integer, number of rows, each of which attends to its own
            memory; `None` if unknown.
    """
    check_not_ragged(memory)
    if not same_shape(memory.shape, (batch_size, None, None)):
        raise ValueError(
            "`memory` must have the shape (batch, positions, memory_dim). "
            "Reshape features of images to (batch, height * width, channels). "
            f"Expected: ({batch_size}, positions, memory_dim). Received: "
            f"memory.shape={tuple(memory.shape)}"
        )


def positions(memory, memory_mask=None):
    """Numbers the unmasked positions of a memory from 0.

    Args:
        memory: Tensor of shape `(batch, positions, dim)`.
        memory_mask: Boolean tensor of shape `(batch, positions)`, or `None`.

    Returns:
        Two integer tensors: the numbers, of shape `(batch, positions)`, and the
        count of unmasked positions, of shape `(batch, 1)`. A masked position
        has the number of the last unmasked one before it, or -1.
    """
    if memory_mask is None:
        memory_mask = ops.ones((1, 1))
    memory_mask = ops.broadcast_to(
        ops.cast(memory_mask, "int32"), ops.shape(memory)[:2]
    )
    count = ops.sum(memory_mask, axis=1, keepdims=True)
    return ops.cumsum(memory_mask, axis=1) - 1, count


_LINEAR = keras.activations.linear


def over_last(project, x):
    """Projects the last axis as a product of two matrices.

    With more than two axes TensorFlow would use `tensordot`, which takes most
    of the time of a decoding step, and which XLA rejects in a loop.

    In a loop over time, products of one vector per row use the `product` of
    that loop.

    Args:
        project: Function of a tensor of shape `(rows, dim)`, such as a `Dense`
            layer; or a matrix, which is cast to the dtype of `x`.
        x: Tensor of shape `(..., dim)`.

    Returns:
        Tensor of shape `(..., width)`.
    """
    flat = ops.reshape(x, (-1, x.shape[-1]))
    product = of_the_loop()
    kernel, bias = _weights_of(project)
    one_each = all(size == 1 for size in x.shape[1:-1])
    if product and one_each and may_multiply(kernel):
        # In the dtype that the layer would return.
        dtype = getattr(project, "compute_dtype", x.dtype)
        flat = ops.cast(product(flat, kernel, bias), dtype)
    elif callable(project):
        flat = project(flat)
    else:
        flat = ops.matmul(flat, ops.cast(project, x.dtype))
    return ops.reshape(flat, (*ops.shape(x)[:-1], flat.shape[-1]))


def _weights_of(project):
    """Returns kernel and bias of a plain `Dense` layer or a matrix."""
    if not isinstance(project, keras.layers.Dense):
        return project, None
    if project.quantization_mode or project.activation is not _LINEAR:
        return None, None
    return project.kernel, project.bias
