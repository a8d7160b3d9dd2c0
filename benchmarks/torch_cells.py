"""The recurrent layers of `benchmarks/cells.py` as plain PyTorch modules.

Written as without a library: one input product for the whole sequence, one
product for gates that share an input, a Python loop over time, and automatic
differentiation. Each takes the weights of its Keras counterpart by name, and
sequences of shape `(time, batch, width)`.
"""

import torch
from torch import nn
from torch.nn import functional


class Recurrent(nn.Module):
    """Runs `self.step` over time; a subclass has `start` and `hoist`."""

    def __init__(self, weights, compiled=False):
        super().__init__()
        for name, value in weights.items():
            setattr(self, name, nn.Parameter(torch.tensor(value)))
        self.depth = len(self.bias if hasattr(self, "bias") else self.gate_bias)
        self.compiled_step = torch.compile(self.step) if compiled else self.step

    def forward(self, x):
        states, outputs = self.start(x), []
        for given in self.hoist(x):
            states = self.compiled_step(given, *states)
            outputs.append(states[0])
        return torch.stack(outputs)


class RHN(Recurrent):
    """The equations of `kerasrnn.layers.RHNCell`, coupled."""

    def start(self, x):
        units = self.recurrent_kernel_0.shape[0]
        return (x.new_zeros(x.shape[1], units, dtype=torch.float32),)

    def hoist(self, x):
        return x @ self.kernel

    def step(self, given, s):
        for layer in range(self.depth):
            kernel = getattr(self, f"recurrent_kernel_{layer}")
            gates = s @ kernel + self.bias[layer]
            h, t = (gates + given if layer == 0 else gates).chunk(2, -1)
            s = s + torch.sigmoid(t) * (torch.tanh(h) - s)
        return (s,)


class GAMRHN(Recurrent):
    """The equations of `kerasrnn.layers.GAMRHNCell` with `inner="gru"`."""

    def start(self, x):
        self.units = self.reset_kernel.shape[1]
        self.groups = self.candidate_kernel.shape[1]
        batch, places = x.shape[1], self.write_kernel.shape[1]
        zeros = x.new_zeros(batch, self.units, dtype=torch.float32)
        return zeros, x.new_zeros(batch, places, dtype=torch.float32)

    def hoist(self, x):
        # Slice once per sequence: a slice has a gradient as wide as its source.
        kernels = self.head_kernel, self.reset_kernel, self.candidate_kernel
        above, self.below = zip(
            *(kernel.split([x.shape[-1], self.units]) for kernel in kernels),
            strict=True,
        )
        return x @ torch.cat(above, 1)

    def address(self, scores):
        return scores.view(len(scores), self.groups, -1).softmax(-1)

    def step(self, given, s, m):
        head_kernel, reset_kernel, candidate_kernel = self.below
        widths = [self.head_kernel.shape[1], self.units, self.groups]
        head, reset, candidate = given.split(widths, -1)
        head = head + s @ head_kernel
        reset = torch.sigmoid(reset + s @ reset_kernel + self.reset_bias)
        candidate = candidate + (reset * s) @ candidate_kernel
        candidate = torch.tanh(candidate + self.candidate_bias)
        address = self.address(head @ self.write_kernel)
        groups = m.view(len(m), self.groups, -1)
        groups = groups + address * (candidate[..., None] - groups)
        for layer in range(self.depth):

            def kernel(name, layer=layer):
                return getattr(self, f"{name}_kernel_{layer}")

            if layer > 0:
                head = s @ kernel("next_head", layer - 1)
            scores = head @ kernel("read") + self.read_bias[layer]
            read = (self.address(scores) * groups).sum(-1)
            gates = torch.cat([read, s], -1) @ kernel("gate")
            gates = torch.sigmoid(gates + self.gate_bias[layer])
            r, z = gates.chunk(2, -1)
            h = torch.cat([read, r * s], -1) @ kernel("state")
            h = torch.tanh(h + self.state_bias[layer])
            s = h + z * (s - h)
        return s, groups.flatten(1)


class SelfAttention(nn.Module):
    """Additive attention to the last outputs of `inner`, after `inner`."""

    def __init__(self, inner, weights, window):
        super().__init__()
        self.inner, self.window = inner, window
        for name, value in weights.items():
            setattr(self, name, nn.Parameter(torch.tensor(value)))

    def forward(self, x):
        h = self.inner(x).transpose(0, 1)  # (batch, time, units)
        time, window = h.shape[1], self.window
        keys = (h @ self.memory).to(h.dtype)

        def windows(x):
            # (batch, time, units) -> (batch, time, window, units)
            padded = functional.pad(x, (0, 0, window, 0))
            return padded.unfold(1, window, 1)[:, :time].transpose(2, 3)

        hidden = torch.tanh((h @ self.query).unsqueeze(2) + windows(keys))
        scores = (hidden @ self.score).squeeze(-1).float()
        steps, places = (
            torch.arange(count, device=h.device) for count in (time, window)
        )
        steps = steps[:, None] + places
        filled = steps >= window
        scores = scores.masked_fill(~filled, -1e9)
        weights = scores.softmax(-1) * filled
        context = (weights.unsqueeze(-1) * windows(h)).sum(2)
        joined = torch.cat([context, h], -1)
        return torch.tanh(joined @ self.kernel).transpose(0, 1)


class Outputs(nn.Module):
    """The outputs of `torch.nn.LSTM` or `torch.nn.GRU`, without the states."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class LanguageModel(nn.Module):
    """Embedding, recurrent layer, softmax over the vocabulary."""

    def __init__(self, embedding, recurrent, kernel, bias):
        super().__init__()
        self.embedding = nn.Parameter(torch.tensor(embedding))
        self.recurrent = recurrent
        self.kernel = nn.Parameter(torch.tensor(kernel))
        self.bias = nn.Parameter(torch.tensor(bias))

    def loss(self, ids, targets):
        """Both `(batch, time)`."""
        x = functional.embedding(ids.T, self.embedding)
        logits = self.recurrent(x) @ self.kernel + self.bias
        return functional.cross_entropy(
            logits.float().flatten(0, 1), targets.T.flatten()
        )
