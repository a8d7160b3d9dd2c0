"""What an `AttentionCell` asks of its attention, if it has one."""

from keras import ops

from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.rows import attend_rows
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


class Attending:
    """The part of `AttentionCell` that attends to the memory, or to nothing.

    Without an attention a context has no width, and all weights are 0.
    """

    attention: AttentionMechanism | None
    compute_dtype: str

    def build_attention(self, query_dim: int, memory_shape: Shape) -> int:
        """Builds the mechanism; returns the width of its context."""
        if self.attention is None:
            return 0
        if not self.attention.built:
            self.attention.build((None, None, query_dim), memory_shape)
        self._check_widths(query_dim, memory_shape[-1])
        return self.attention.context_dim(memory_shape[-1])

    def _check_widths(self, query_dim, memory_dim):
        """Raises `ValueError` if the attention was built for other widths."""
        config = self.attention.get_build_config() or {}
        shapes = config.get("shapes_dict")
        if not shapes:
            return
        built_for = shapes["query_shape"][-1], shapes["memory_shape"][-1]
        if built_for != (query_dim, memory_dim):
            raise ValueError(
                "`attention` is already built, for a query of width "
                f"{built_for[0]} and a memory of width {built_for[1]}, but "
                f"here they have the widths {query_dim} and {memory_dim}. "
                f"Received: attention={self.attention!r}"
            )

    def project(
        self, memory: Tensor, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Prepares a memory `(batch, positions, dim)` once for all steps."""
        if self.attention is None:
            return memory[..., :0], memory[..., :0]
        return self.attention.project(memory, memory_mask)

    def draw_noise(
        self, sequence: Tensor, projected: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        """Draws the noise of the attention in training, for all steps.

        Args:
            sequence: Tensor of shape `(batch, time, dim)`.
            projected: What `project` returned.

        Returns:
            A dictionary of tensors `(batch, time, ...)`.
        """
        if self.attention is None:
            return {}
        return self.attention.draw_noise(sequence, projected)

    def attend(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None = None,
        state: Tensor = (),
        training: bool = False,
        noise: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attends with one query per row, `(rows, query_dim)`.

        Arguments and results are those of `AttentionMechanism.attend`, without
        the axis of queries.
        """
        if self.attention is None:
            return _nothing(query, projected)
        return attend_rows(
            self.attention,
            # A loop has its states in float32.
            ops.cast(query, self.compute_dtype),
            projected,
            memory_mask,
            state,
            training,
            noise,
        )

    def attend_in_turn(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None = None,
        state: Tensor = (),
        training: bool = False,
        noise: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attends with the queries of all steps; see `AttentionMechanism`."""
        if self.attention is None:
            return _nothing(query, projected)
        return self.attention.attend_in_turn(
            query, projected, memory_mask, state, training, noise
        )


def _nothing(query, projected):
    """Returns an empty context, weights of 0, and no state."""
    positions = ops.shape(projected[1])[-2]
    return query[..., :0], ops.zeros((*ops.shape(query)[:-1], positions)), ()
