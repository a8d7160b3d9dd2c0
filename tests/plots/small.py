"""Hidden states of a sentence."""

import numpy as np

WORDS = "the film was not as bad as I had feared it .".split()


def some_states(time=12, units=50, seed=0):
    """Units that follow one of two courses, each unit with some noise."""
    generator = np.random.default_rng(seed)
    courses = generator.normal(size=(time, 2))
    states = courses[:, np.arange(units) % 2]
    return np.tanh(states + 0.05 * generator.normal(size=states.shape))
