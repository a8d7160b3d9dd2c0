"""Operations that differ by backend and that `keras.ops` does not have.

`scan(step, carry, time, reverse=False, blank=None)` is a loop over time. A step
is a function `(carry, index) -> (carry, saved)` of nests of tensors, and the
carry keeps its shapes. `scan` returns the last carry and the saved tensors,
stacked. TensorFlow computes one step to find the shapes of the saved tensors,
unless the nest `blank` gives them. In
`scan_reading(read, step, carry, time, blank=None)`, the step
`(carry, index, here)` also gets what `read(index)` returns, a nest of entries
of sequences. `reader(sequences)` returns such a function of a list, whose
gradient takes linear time. `unrolled` is `scan` with all steps written out.

`gradients(function, arguments, cotangents)` returns the gradients of a function
`(*arguments) -> (results, others)`, and the others. The gradient of an argument
that does not influence the results is `None`. Arguments, results and cotangents
are flat lists of tensors. PyTorch differentiates its loops itself and does not
need this function.

`custom_gradient(function)` gives a function a gradient of its own:
`function(*arguments)` returns its results and a function `gradient`. This gets
the gradients of all results as one flat list, and returns those of the
arguments. Results and arguments may be nests. (With
`keras.ops.custom_gradient`, TensorFlow and JAX pass the gradients one by one or
as a nest. PyTorch passes the arguments one by one and, as `upstream`, the
gradient of the result, which must be a single tensor.) PyTorch ignores
`gradient` and differentiates the function itself, unless the gradient is
`required`. Then results and arguments must be single tensors.

`log_gamma(x)`, `incomplete_gamma(a, x)` and `incomplete_beta(a, b, x)` are the
logarithm of the gamma function, and the regularized lower incomplete gamma
function and incomplete beta function. PyTorch lacks the last.

`rows(table, places)` returns rows of a table, as `keras.ops.take` does. LiteRT
may store a table in 8 bits if `gather` reads it, but not if `gather_nd` does,
which is used here.

`on_gpu()` returns whether the backend computes on a GPU, and `is_eager()`
whether TensorFlow runs eagerly.
"""

import keras

BACKEND = keras.backend.backend()

if BACKEND == "tensorflow":
    import tensorflow as tf

    def scan(step, carry, time, reverse=False, blank=None):
        # `keras.ops.scan` would also stack the carries of all steps. Only the
        # shapes of this additional step are used, so a graph never computes it.
        if blank is None:
            _, blank = step(carry, 0)
        arrays = [
            tf.TensorArray(x.dtype, time, element_shape=x.shape)
            for x in keras.tree.flatten(blank)
        ]

        def body(index, flat, arrays):
            new, saved = step(keras.tree.pack_sequence_as(carry, flat), index)
            arrays = [
                array.write(index, x)
                for array, x in zip(
                    arrays, keras.tree.flatten(saved), strict=True
                )
            ]
            following = index - 1 if reverse else index + 1
            return following, keras.tree.flatten(new), arrays

        _, flat, arrays = tf.while_loop(
            lambda index, *_: index >= 0 if reverse else index < time,
            body,
            (time - 1 if reverse else 0, keras.tree.flatten(carry), arrays),
            # Otherwise TensorFlow would compute what does not depend on the
            # carry for several steps ahead, and keep it.
            parallel_iterations=1,
            # Without it, XLA could not differentiate the loop.
            maximum_iterations=time,
        )
        saved = [array.stack() for array in arrays]
        static = time if isinstance(time, int) else None
        for x in saved:
            x.set_shape((static, *x.shape[1:]))
        return (
            keras.tree.pack_sequence_as(carry, flat),
            keras.tree.pack_sequence_as(blank, saved),
        )

    def reader(sequences):
        # The gradient of an entry of a tensor would be as large as the tensor.
        arrays = [
            tf.TensorArray(x.dtype, tf.shape(x)[0], clear_after_read=False)
            for x in sequences
        ]
        arrays = [
            array.unstack(x) for array, x in zip(arrays, sequences, strict=True)
        ]
        return lambda index: [array.read(index) for array in arrays]

    def gradients(function, arguments, cotangents):
        # If a tensor is passed twice, each of the two would get the gradient of
        # both.
        arguments = [tf.identity(x) for x in arguments]
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            results, others = function(*arguments)
        return tape.gradient(results, arguments, cotangents), others

    def rows(table, places):
        return tf.gather_nd(table, places[..., None])

    def on_gpu():
        return bool(tf.config.list_physical_devices("GPU"))

    is_eager = tf.executing_eagerly

    log_gamma = tf.math.lgamma

    incomplete_gamma = tf.math.igamma

    def incomplete_beta(a, b, x):
        # Not every version of it broadcasts.
        shape = tf.shape(a + b + x)
        return tf.math.betainc(
            *(tf.broadcast_to(tf.cast(y, x.dtype), shape) for y in (a, b, x))
        )

elif BACKEND == "jax":
    import jax

    log_gamma = jax.scipy.special.gammaln
    incomplete_gamma = jax.scipy.special.gammainc
    incomplete_beta = jax.scipy.special.betainc

    def scan(step, carry, time, reverse=False, blank=None):
        return jax.lax.scan(
            step, carry, jax.numpy.arange(time), reverse=reverse
        )

    def scan_reading(read, step, carry, time, blank=None):
        # A symbolic time, as in an export, cannot be compared.
        on_cpu = jax.default_backend() == "cpu"
        if not on_cpu or not isinstance(time, int) or time < 2:
            return scan(_with(read, step), carry, time)

        # On a CPU, XLA fuses reading an entry with the operations that use a
        # part of it, such as a gate, and then does not vectorize them. So each
        # step reads the entries of the next one.
        def step_and_read(carry, index):
            carry, here = carry
            new, saved = step(carry, index, here)
            return (new, read(jax.numpy.minimum(index + 1, time - 1))), saved

        (last, _), saved = scan(step_and_read, (carry, read(0)), time)
        return last, saved

    def on_gpu():
        return jax.default_backend() == "gpu"

    def gradients(function, arguments, cotangents):
        _, back, others = jax.vjp(function, *arguments, has_aux=True)
        traced = jax.make_jaxpr(function)(*arguments).jaxpr
        used = {id(x) for equation in traced.eqns for x in equation.invars}
        used.update(id(x) for x in traced.outvars)
        return [
            gradient if id(argument) in used else None
            for gradient, argument in zip(
                back(cotangents), traced.invars, strict=True
            )
        ], others

else:
    import torch

    on_gpu = torch.cuda.is_available

    log_gamma = torch.lgamma
    incomplete_gamma = torch.special.gammainc

    def incomplete_beta(a, b, x):
        raise NotImplementedError(
            "The quantiles of this distribution need the incomplete beta "
            "function, which PyTorch does not have. Expected: "
            "KERAS_BACKEND=tensorflow or jax. Received: KERAS_BACKEND=torch"
        )

    def scan(step, carry, time, reverse=False, blank=None):
        return unrolled(step, carry, time, reverse)


if BACKEND != "jax":

    def scan_reading(read, step, carry, time, blank=None):
        return scan(_with(read, step), carry, time, blank=blank)


if BACKEND == "torch":

    def custom_gradient(function, required=False):
        if not required:
            return lambda *arguments: function(*arguments)[0]

        @keras.ops.custom_gradient
        def run(*arguments):
            result, gradient = function(*arguments)
            return result, lambda *_, upstream: gradient([upstream])

        return run

else:

    def custom_gradient(function, required=False):
        @keras.ops.custom_gradient
        def run(*arguments):
            results, gradient = function(*arguments)
            return results, lambda *upstream: gradient(
                keras.tree.flatten(upstream)
            )

        return run


if BACKEND != "tensorflow":

    def reader(sequences):
        return lambda index: [x[index] for x in sequences]

    def is_eager():
        return False

    def rows(table, places):
        return keras.ops.take(table, places, axis=0)


def unrolled(step, carry, time, reverse=False):
    saved = []
    for index in reversed(range(time)) if reverse else range(time):
        carry, here = step(carry, index)
        saved.append(here)
    saved = saved[::-1] if reverse else saved
    return carry, keras.tree.map_structure(
        lambda *x: keras.ops.stack(x), *saved
    )


def _with(read, step):
    """Returns a step that reads its entries itself."""
    return lambda carry, index: step(carry, index, read(index))
