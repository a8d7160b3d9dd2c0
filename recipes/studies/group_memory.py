"""Describes the group memory of a trained language model with a GAM-RHN.

    python recipes/studies/group_memory.py saved_models/ptb_lm/language.keras

Prints how its last recurrent layer writes, keeps and reads on validation text.
A slot keeps the fraction `1 - a` of its content in a step; its lifetime is the
number of steps after which 1/e remains. Entropies are those of the softmax over
the slots of a group, relative to the maximum.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import argparse

import keras
import numpy as np

from kerasrnn import data
from kerasrnn.layers import GAMRHNCell
from kerasrnn.pipelines import TextLanguageModel


@keras.saving.register_keras_serializable("kerasrnn_studies")
class WatchedCell(GAMRHNCell):
    """A GAM-RHN cell that records the softmaxes of its write and reads."""

    @classmethod
    def copy_of(cls, cell, input_shape):
        """Returns a watched cell with the weights of another."""
        copy = cls.from_config(cell.get_config())
        copy.build(input_shape)
        copy.set_weights(cell.get_weights())
        return copy

    def address(self, *args):
        weights = super().address(*args)
        self.weights_of_step.append(keras.ops.convert_to_numpy(weights))
        return weights

    def watch(self, sequence):
        """Runs over a sequence `(batch, time, input_dim)`.

        Returns:
            Arrays of the write weights `(time, batch, groups, slots)`, of the
            read weights `(time, micro-steps, batch, groups, slots)`, of the
            states `(time, batch, units)`, and of the memory, which is
            `(time, batch, groups * slots)`.
        """
        states = self.get_initial_state(sequence.shape[0])
        steps = []
        for index in range(sequence.shape[1]):
            self.weights_of_step = []
            _, states = self(sequence[:, index], states)
            write, *reads = self.weights_of_step
            after = [keras.ops.convert_to_numpy(x) for x in states]
            steps.append([write, np.stack(reads), *after])
        return [np.stack(x) for x in zip(*steps, strict=True)]


def entropy(weights):
    """Returns the mean entropy over the last axis, relative to the maximum."""
    logs = np.log(np.maximum(weights, 1e-30))
    return -(weights * logs).sum(-1).mean() / np.log(weights.shape[-1])


def shares(values, bounds):
    """Returns the fractions of values below each bound, as text."""
    return ", ".join(f"{(values < x).mean():.0%} under {x}" for x in bounds)


def describe(writes, reads, states, memory):
    """Yields names and values of statistics of the arrays of `watch`."""
    steps, rows = writes.shape[:2]
    lifetimes = -1 / np.log(np.maximum(1 - writes, 1e-7)).mean((0, 1))
    moved = writes.std((0, 1)).mean() / writes.std()
    slots = memory.reshape(writes.shape)
    spread = slots.std(-1).mean() / slots.std()
    change = np.abs(np.diff(states, axis=0)).mean() / np.abs(states).mean()
    yield "steps", f"{steps * rows:,}"
    yield "write weights", shares(writes, (0.01, 0.1, 0.5))
    yield "entropy of the writes", f"{entropy(writes):.2f}"
    yield "deviation of a slot's write weight over time", f"{moved:.2f} of all"
    yield "lifetimes of the slots, steps", shares(lifetimes, (2, 5, 20))
    yield "longest lifetime, steps", f"{lifetimes.max():.0f}"
    for micro_step, weights in enumerate(reads.swapaxes(0, 1), 1):
        yield f"entropy of read {micro_step}", f"{entropy(weights):.2f}"
    yield "deviation between the slots of a group", f"{spread:.2f} of all"
    yield "change of the state in a step", f"{change:.2f} of its size"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument("model", help="the language.keras of a run")
    parser.add_argument("--corpus", default="ptb", help="ptb, or a path")
    parser.add_argument("--data-dir", help="folder of the corpora")
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    language = TextLanguageModel.open(args.model)
    path = data.find_corpus(args.corpus, args.data_dir)
    corpus = data.read_text_corpus(path)
    model = language.model
    cell = model.stack.rnns[-1].cell
    if not isinstance(cell, GAMRHNCell):
        parser.error(
            "The model must have a GAMRHNCell. "
            f"Received: a {type(cell).__name__}"
        )
    ids = language.ids(corpus.validation)
    rows = 20
    ids = np.reshape(ids[: rows * args.steps], (rows, -1))
    sequence = model.embedding(ids)
    for rnn in model.stack.rnns[:-1]:
        sequence = rnn(sequence)
    watched = WatchedCell.copy_of(cell, sequence.shape)
    print("| | |\n|---|---|")
    for question, answer in describe(*watched.watch(sequence)):
        print(f"| {question} | {answer} |")


if __name__ == "__main__":
    main()
