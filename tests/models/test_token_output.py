import keras
import numpy as np
import pytest

from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_output import TokenOutput
from tests import helpers

X = helpers.random(2, 5, 4)
WORDS = np.array([[3, 8, 1], [0, 2, 9]])
# Width of the projection and of the tied embedding.
VARIANTS = {
    "plain": (None, None),
    "projected": (3, None),
    "tied": (None, 4),
    "tied_and_projected": (None, 3),
}


def make(name):
    units, width = VARIANTS[name]
    embedding = None
    if width is not None:
        embedding = TokenEmbedding(10, width)
        embedding.build()
    output = TokenOutput(10, units, embedding)
    output.build(X.shape)
    helpers.randomize(output)
    return output


def kernel_and_bias(output):
    """The product of all its kernels, `(4, 10)`, and what is added to it."""
    bias = helpers.as_numpy(output.bias.value)
    if output.tied_to is None:
        kernel = output.dense.get_weights()[0]
    else:
        kernel = output.tied_to.get_weights()[0].T
    if output.projection is not None:
        first, *biases = output.projection.get_weights()
        # That of a tied embedding is linear.
        assert len(biases) == (output.tied_to is None)
        bias = bias + sum(x @ kernel for x in biases)
        kernel = first @ kernel
    return kernel, bias


@pytest.mark.parametrize("name", VARIANTS)
def test_logits_are_one_product_and_a_bias(name):
    output = make(name)
    kernel, bias = kernel_and_bias(output)
    expected = X @ kernel + bias
    assert np.any(bias)
    assert (output.projection is None) == (name in ("plain", "tied"))
    helpers.assert_close(output(X), expected)
    few = np.take_along_axis(expected, WORDS[:, None], axis=2)
    helpers.assert_close(output(X, output.select(WORDS)), few)
    model = helpers.functional(output, {"outputs": X})
    assert model.output.shape == (None, None, 10)


@pytest.mark.parametrize("name", ["plain", "tied"])
def test_at_first_tokens_are_as_likely_as_they_are_frequent(name):
    output = make(name)
    counts = [0, 5, 0, 0, 1, 2, 3, 4, 5, 70]
    output.assign_frequencies(counts)
    logits = helpers.as_numpy(output(np.zeros((1, 1, 4))))[0, 0]
    expected = (np.array(counts) + 1) / 100
    helpers.assert_close(np.exp(logits), expected)


@pytest.mark.parametrize("name", VARIANTS)
def test_configuration_round_trip(name):
    output = make(name)
    copy = helpers.copy_of(output)
    assert copy.get_config() == output.get_config()
    copy.set_weights(output.get_weights())
    helpers.assert_close(copy(X), output(X))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_tied_kernel_is_transposed_once_for_many_calls(name):
    """Within, another kernel is not seen; another output is not changed."""
    output, other = make(name), make(name)
    before, theirs = (helpers.as_numpy(x(X)) for x in (output, other))
    with output.many_calls(), other.many_calls():
        helpers.assert_close(output(X), before)
        helpers.assert_close(other(X), theirs)
        # That of PyTorch is a view.
        if output.tied_to is not None and keras.backend.backend() != "torch":
            output.tied_to.embeddings.assign(output.tied_to.embeddings * 2)
            helpers.assert_close(output(X), before)
    kernel, bias = kernel_and_bias(output)
    helpers.assert_close(output(X), X @ kernel + bias)


def test_a_quantized_tied_kernel_keeps_its_scale_in_many_calls():
    output = make("tied")
    output.tied_to.quantize("int8")
    before = helpers.as_numpy(output(X))
    with output.many_calls():
        helpers.assert_close(output(X), before)


@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize`")
def test_quantized_weights_refuse_a_shortlist():
    output = make("projected")
    before = output(X)
    output.dense.quantize("int8")
    helpers.assert_close(output(X), before, atol=0.1)
    with pytest.raises(ValueError, match="Received: output weights in 'int8'"):
        output.select(WORDS)
