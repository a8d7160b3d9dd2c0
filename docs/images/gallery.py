"""Draws the pictures of the gallery, one for each function, into `gallery/`.

    python docs/images/gallery.py

The numbers are made up: the pictures show what a function draws.
"""

import collections
import pathlib

import numpy as np
from PIL import Image

from kerasrnn import plots

ENGLISH = "where does your brother live ?".split()
HINDI = "आपका भाई कहाँ रहता है ?".split()
# The English word of each Hindi one.
SOURCES = (2, 3, 0, 4, 1, 5)
REVIEW = (
    "I saw it on Sunday . The plot seemed weak , but I loved the music , and "
    "the ending was not boring ."
).split()
EPOCHS = np.arange(1, 13)


def softmax(x):
    """Numbers as shares of one, along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def sentence(rng, sharpness):
    """A sentence with its attention, more or less sure of itself."""
    scores = rng.normal(size=(len(HINDI), len(ENGLISH)))
    scores[range(len(HINDI)), SOURCES] += sharpness
    return softmax(scores), ENGLISH, HINDI


def falling(start, end, rate):
    """A curve that falls from epoch to epoch."""
    return end + (start - end) * np.exp(-rate * EPOCHS)


def history():
    """The log of a training that learns its sentences by heart."""
    held_out = falling(4.2, 1.5, 0.5) + 0.004 * EPOCHS**2
    bleu = 38 * (1 - np.exp(-0.4 * EPOCHS)) - 0.02 * EPOCHS**2
    return {
        "loss": falling(4.2, 0.6, 0.35),
        "val_loss": held_out,
        "val_bleu": bleu,
    }


def states(rng, words, units=40):
    """Hidden states that keep a part of the last one."""
    drawn = [rng.normal(size=units) for _ in words]
    for i in range(1, len(drawn)):
        drawn[i] = 0.7 * drawn[i - 1] + 0.5 * drawn[i]
    return np.tanh(drawn)


def series(rng):
    """Hours of a load with a daily rhythm, and a forecast of the last day."""
    hours = np.arange(96)
    load = 40 + 12 * np.sin(hours * np.pi / 12) + rng.normal(0, 1.5, 96)
    ahead = 40 + 12 * np.sin(hours[72:] * np.pi / 12) + rng.normal(0, 0.4, 24)
    width = np.linspace(1.5, 4, 24)[:, None]
    quantiles = ahead[:, None] + width * [-1, 0, 1]
    return load[:72, None], load[72:, None], ahead[:, None], quantiles[:, None]


def chorale():
    """Four voices, a chord a beat."""
    roll = np.zeros((32, 88))
    chords = [(39, 43, 46, 51), (41, 44, 48, 53), (38, 43, 46, 50)]
    for step in range(32):
        roll[step, list(chords[step // 4 % 3])] = 1
    return roll


def figures():
    """A figure of each function, by its name."""
    rng = np.random.default_rng(1)
    past, values, ahead, quantiles = series(rng)
    roll, steps = chorale(), np.arange(40)
    names = ["PER", "LOC", "ORG", "O"]
    counts = [[48, 1, 3, 1], [0, 44, 5, 2], [4, 6, 39, 3], [2, 1, 2, 590]]
    certainty = rng.uniform(0.5, 1, 600)
    right = rng.uniform(size=600) < certainty - 0.3 * (certainty - 0.5)
    words = "the ending was not boring and the music was a joy".split()
    pushes = rng.normal(0, 0.1, len(REVIEW))
    pushes[[9, 13, 21, 22]] = -0.8, 1.0, 0.9, -0.3
    perplexities = {
        "RHN": {"perplexity": falling(300, 84, 0.45)},
        "LSTM": {"perplexity": falling(330, 96, 0.4)},
        "GRU": {"perplexity": falling(310, 101, 0.4)},
    }
    return {
        "attention_figure": plots.attention_figure(*sentence(rng, 4)),
        "attention_grid": plots.attention_grid(
            [sentence(rng, 4), sentence(rng, 2)]
        ),
        "comparison_figure": plots.comparison_figure(
            perplexities, "perplexity"
        ),
        "forecast_figure": plots.forecast_figure(
            *(past, ahead, ["load"], values, quantiles, (0.1, 0.5, 0.9))
        ),
        "frequency_figure": plots.frequency_figure(
            collections.Counter(" ".join([*REVIEW, *words]).split()),
            most_common=8,
        ),
        "gradient_figure": plots.gradient_figure(
            {
                "LSTM": 0.96 ** (40 - steps),
                "GRU": 0.93 ** (40 - steps),
                "tanh": 0.75 ** (40 - steps),
            }
        ),
        "hidden_state_figure": plots.hidden_state_figure(
            states(rng, words), words
        ),
        "horizon_figure": plots.horizon_figure(
            {
                "model": 0.4 - 0.1 * np.exp(-0.1 * steps[:24]),
                # It repeats what was a season ago, however far ahead.
                "seasonal naive": np.full(24, 0.52),
                "naive": 0.7 - 0.4 * np.exp(-0.3 * steps[:24]),
            },
            "mean absolute error",
        ),
        "matrix_figure": plots.matrix_figure(
            *(counts, names, names, "true tag", "predicted tag")
        ),
        "piano_roll_figure": plots.piano_roll_figure(
            {
                "piece": roll,
                "predicted": np.clip(
                    0.9 * roll + rng.uniform(0, 0.09, roll.shape), 0, 1
                ),
            }
        ),
        "reliability_figure": plots.reliability_figure(certainty, right),
        "training_figure": plots.training_figure(history()),
        "word_map_figure": plots.word_map_figure(states(rng, REVIEW), REVIEW),
        "word_weight_figure": plots.word_weight_figure(
            pushes, REVIEW, "positive", width=8
        ),
    }


def main():
    """Saves the pictures in 64 colours, which makes them small."""
    folder = pathlib.Path(__file__).with_name("gallery")
    for name, figure in figures().items():
        path = plots.save_figure(figure, folder / f"{name}.png")
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(256)
        small.save(path, optimize=True)


if __name__ == "__main__":
    main()
