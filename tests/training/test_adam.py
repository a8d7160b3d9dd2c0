import pathlib

import keras
import pytest

from kerasrnn.training import AdamByPart
from kerasrnn.training import Settings
from kerasrnn.training import build_optimizer
from tests.helpers import schedule

GIVEN = {
    "output": pathlib.Path("out"),
    "epochs": 3,
    "batch_size": 4,
    "learning_rate": 0.5,
}


@pytest.mark.parametrize(
    "given, epoch_steps, usual, steps",
    [
        ({}, 23, 200, (69, 6)),
        ({}, 2250, 200, (6750, 200)),
        ({"warmup": 9}, 23, 200, (69, 9)),
    ],
)
def test_the_rate_falls_to_zero_with_the_last_step(
    given, epoch_steps, usual, steps
):
    settings = Settings(**GIVEN, clip=7.0, **given)
    optimizer = build_optimizer(settings, epoch_steps, usual, beta_2=0.98)
    assert schedule(optimizer) == (*steps, 0.5)
    assert optimizer.global_clipnorm == 7 and optimizer.beta_2 == 0.98


def test_a_constant_rate_and_another_optimizer():
    settings = Settings(**GIVEN, schedule="constant")
    found = build_optimizer(settings, 9, optimizer=keras.optimizers.SGD)
    assert float(found.learning_rate) == 0.5
    assert isinstance(found, keras.optimizers.SGD) and not found.use_ema


@pytest.mark.parametrize(
    "ema, epoch_steps, momentum",
    [(0.998, 10, 1 - 10 / 30), (0.998, 3000, 0.998), (0.9, 3000, 0.9)],
)
def test_the_running_mean_is_over_a_tenth_of_the_training_at_most(
    ema, epoch_steps, momentum
):
    optimizer = build_optimizer(Settings(**GIVEN, ema=ema), epoch_steps)
    assert optimizer.use_ema
    assert optimizer.ema_momentum == pytest.approx(momentum)


def test_weight_decay_goes_with_one_rate_only():
    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    AdamByPart(weight_decay=0.01).build(layer.trainable_variables)
    layer.kernel.rate_factor = 0.1
    with pytest.raises(ValueError, match="None. Received: weight_decay=0.01"):
        AdamByPart(weight_decay=0.01).build(layer.trainable_variables)
