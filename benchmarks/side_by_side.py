"""Trains models of equal shapes in parallel with JAX, in one program.

On a GPU, a step of a recurrent network takes as long for several models as for
one, because most of the time is spent on launching kernels.
"""

import jax
from jax import numpy as jnp


class SideBySide:
    """Models as functions of their weights, for `jax.vmap` over the models.

    Args:
        models: List of built models that differ only in their weights.
        optimizer: Keras optimizer. Each model has its own optimizer state.
        loss: Function from labels and answers to a scalar.

    Attributes:
        state: Nested arrays that training changes. The first axis is the model.
    """

    def __init__(self, models, optimizer, loss):
        self.models, self.optimizer, self.loss = models, optimizer, loss
        optimizer.build(models[0].trainable_variables)
        states = [
            [
                [jnp.array(variable.value) for variable in part]
                for part in (*self._variables(model), optimizer.variables)
            ]
            for model in models
        ]
        self.state = jax.tree.map(lambda *x: jnp.stack(x), *states)

    def step(self, state, x, y):
        """Returns the result of one optimizer step on a batch.

        Args:
            state: The state of one model.
            x: Inputs of the model.
            y: Labels of the model.

        Returns:
            The new state, and the loss before the step.
        """
        weights, others, slots = state

        def loss(weights):
            answer, after = self.models[0].stateless_call(
                weights, others, x, training=True
            )
            return self.loss(y, answer), after

        (value, others), gradients = jax.value_and_grad(loss, has_aux=True)(
            weights
        )
        weights, slots = self.optimizer.stateless_apply(
            slots, gradients, weights
        )
        return [weights, others, slots], value

    def answer(self, state, x):
        """Returns the outputs of one model, and its new state."""
        weights, others, slots = state
        answer, others = self.models[0].stateless_call(weights, others, x)
        return answer, [weights, others, slots]

    def assign(self):
        """Gives the models the weights of the state."""
        for i, model in enumerate(self.models):
            weights, others, _ = self.state
            parts = zip(self._variables(model), (weights, others), strict=True)
            for variables, values in parts:
                for variable, value in zip(variables, values, strict=True):
                    variable.assign(value[i])

    def _variables(self, model):
        return model.trainable_variables, model.non_trainable_variables


def chosen(mask, new, old):
    """Returns new states where a mask of shape `(models,)` is true."""

    def each(x, y):
        return jnp.where(mask.reshape(-1, *[1] * (x.ndim - 1)), x, y)

    return jax.tree.map(each, new, old)
