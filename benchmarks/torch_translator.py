"""The model, training step and searches of `translation.py` in PyTorch.

They are written as by hand: fused layers where PyTorch has them (`nn.GRU` over
packed sequences, fused Adam), a Python loop where input feeding needs one, and
batched tensor operations in the searches. Beam search follows the rules of
`kerasrnn.decoding.BeamSearch`; finished sentences leave the batch.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

_IMPOSSIBLE = -1e9


class TorchTranslator(nn.Module):
    """Bidirectional GRU encoder, additive attention, input-feeding decoder."""

    def __init__(self, source_size, target_size, units):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, units)
        self.encoder = nn.GRU(
            units, units, batch_first=True, bidirectional=True
        )
        self.bridge = nn.Linear(2 * units, units)
        self.target_embedding = nn.Embedding(target_size, units)
        self.cell = nn.GRUCell(2 * units, units)
        self.key = nn.Linear(2 * units, units, bias=False)
        self.query = nn.Linear(units, units, bias=False)
        self.energy = nn.Linear(units, 1, bias=False)
        self.combine = nn.Linear(3 * units, units, bias=False)
        self.output = nn.Linear(units, target_size)

    def encode(self, source):
        """Returns the initial states, and the memory with keys and mask."""
        mask = source != 0
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source_embedding(source),
            mask.sum(1).cpu(),
            batch_first=True,
            enforce_sorted=False,
        )
        packed, final = self.encoder(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        hidden = torch.tanh(self.bridge(torch.cat([final[0], final[1]], 1)))
        states = torch.zeros_like(hidden), hidden
        return states, (memory, self.key(memory), mask)

    def step(self, embedded, states, memory):
        """One step: returns the attentional output and the states."""
        fed, hidden = states
        values, keys, mask = memory
        hidden = self.cell(torch.cat([embedded, fed], 1), hidden)
        query = self.query(hidden).unsqueeze(1)
        scores = self.energy(torch.tanh(query + keys)).squeeze(2)
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, 1).unsqueeze(1)
        context = torch.bmm(weights, values).squeeze(1)
        fed = torch.tanh(self.combine(torch.cat([context, hidden], 1)))
        return fed, (fed, hidden)

    def forward(self, source, target):
        """Returns logits `(batch, time, target_size)`."""
        states, memory = self.encode(source)
        outputs = []
        for embedded in self.target_embedding(target).unbind(1):
            output, states = self.step(embedded, states, memory)
            outputs.append(output)
        return self.output(torch.stack(outputs, 1))


def copy_weights(model, peer):
    """Gives the PyTorch model the weights of the Keras model."""
    encoder, decoder = model.encoder, model.decoder

    def put(parameter, value):
        with torch.no_grad():
            parameter.copy_(torch.tensor(np.asarray(value)))

    def put_gru(cell, gru, suffix):
        # Keras orders the gates z, r, h; PyTorch orders them r, z, n.
        for name, weight in (
            ("weight_ih", cell.kernel),
            ("weight_hh", cell.recurrent_kernel),
            ("bias_ih", cell.bias[0]),
            ("bias_hh", cell.bias[1]),
        ):
            z, r, h = np.split(np.asarray(weight), 3, axis=-1)
            value = np.concatenate([r, z, h], axis=-1).T
            put(getattr(gru, name + suffix), value)

    def put_dense(dense, linear):
        put(linear.weight, np.asarray(dense.kernel).T)
        if linear.bias is not None:
            put(linear.bias, dense.bias)

    for ours, theirs in (
        (encoder.embedding, peer.source_embedding),
        (decoder.embedding, peer.target_embedding),
    ):
        put(
            theirs.weight,
            np.asarray(ours.embeddings) * theirs.embedding_dim**0.5,
        )
    put_gru(encoder.stack.forward_rnns[0].cell, peer.encoder, "_l0")
    put_gru(encoder.stack.backward_rnns[0].cell, peer.encoder, "_l0_reverse")
    attending = decoder.rnn.cell
    put_gru(attending.cell, peer.cell, "")
    put_dense(decoder.bridge.dense, peer.bridge)
    put_dense(attending.attention.memory_projection, peer.key)
    put_dense(attending.attention.query_projection, peer.query)
    put_dense(attending.attention.score_projection, peer.energy)
    put(peer.combine.weight, np.asarray(attending.kernel).T)
    output = decoder.output_projection
    put(peer.output.weight, np.asarray(output.dense.kernel).T)
    put(peer.output.bias, output.bias)


def training_step(model, optimizer, source, target, labels):
    """One step of Adam with the gradient clipped to norm 1."""
    optimizer.zero_grad()
    logits = model(source, target)
    loss = functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten().long(), ignore_index=0
    )
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def greedy_search(model, source, limits, start_id, end_id):
    """Returns ids `(batch, time)`, padded with 0 behind the end."""
    states, memory = model.encode(source)
    last = torch.full((len(source),), start_id)
    done = limits < 1
    ids = []
    while not done.all():
        embedded = model.target_embedding(last)
        output, states = model.step(embedded, states, memory)
        last = model.output(output).argmax(1)
        ids.append(last.masked_fill(done, 0))
        done = done | (last == end_id) | (len(ids) >= limits)
    return torch.stack(ids, 1)


@torch.no_grad()
def beam_search(
    model, source, limits, start_id, end_id, width=5, length_penalty=1.0
):
    """Returns the best ids of each sentence, a list of lists."""

    def penalty(length):
        return ((5.0 + length) / 6.0) ** length_penalty

    states, memory = model.encode(source)
    states, memory = (
        tuple(x.repeat_interleave(width, 0) for x in group)
        for group in (states, memory)
    )
    batch = len(source)
    ids = torch.full((batch, width, 1), start_id)
    scores = torch.full((batch, width), _IMPOSSIBLE)
    scores[:, 0] = 0.0
    sentences = torch.arange(batch)
    finished_scores = torch.full((batch,), _IMPOSSIBLE)
    finished_counts = torch.zeros(batch, dtype=torch.long)
    results = [[] for _ in range(batch)]
    for length in range(1, int(limits.max()) + 1):
        embedded = model.target_embedding(ids[:, :, -1].flatten())
        output, states = model.step(embedded, states, memory)
        log_probs = functional.log_softmax(model.output(output), 1)
        vocabulary_size = log_probs.shape[1]
        totals = scores.unsqueeze(2) + log_probs.view(len(ids), width, -1)
        totals, index = totals.flatten(1).topk(2 * width)
        parents = index // vocabulary_size
        tokens = index % vocabulary_size

        ended = tokens == end_id
        first = ended[:, :width] & (totals[:, :width] > _IMPOSSIBLE / 2)
        for row, place in first.nonzero().tolist():
            score = totals[row, place] / penalty(length)
            finished_counts[row] += 1
            if score > finished_scores[row]:
                finished_scores[row] = score
                best = ids[row, parents[row, place], 1:].tolist()
                results[sentences[row]] = best + [end_id]

        scores, order = totals.masked_fill(ended, _IMPOSSIBLE).topk(width)
        parents = parents.gather(1, order)
        rows = torch.arange(len(ids)).unsqueeze(1)
        last = tokens.gather(1, order).unsqueeze(2)
        ids = torch.cat([ids[rows, parents], last], 2)

        hope = scores[:, 0] / penalty(limits)
        done = (finished_counts >= width) | (hope <= finished_scores)
        done |= length >= limits
        moved = (rows * width + parents)[~done].flatten()
        for row in done.nonzero().flatten().tolist():
            if not finished_counts[row]:
                results[sentences[row]] = ids[row, 0, 1:].tolist()
        if done.all():
            break
        states = tuple(x[moved] for x in states)
        if done.any():
            ids, scores, limits, sentences, finished_scores = (
                x[~done]
                for x in (ids, scores, limits, sentences, finished_scores)
            )
            finished_counts = finished_counts[~done]
            memory = tuple(x[moved] for x in memory)
    return results
