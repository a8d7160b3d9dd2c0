"""The learning rate of every recipe falls to zero with its last step."""

import dataclasses

import classify
import forecast
import language_model
import music
import pytest
import tag
import translate

from tests.recipes.brief import schedule

# From the rows of an epoch, from its steps, or from all steps.
CASES = [
    *((recipe, 90, (69, 6)) for recipe in (classify, forecast, tag)),
    *((recipe, 9000, (6750, 100)) for recipe in (classify, forecast, tag)),
    *((recipe, 23, (69, 6)) for recipe in (language_model, music)),
    *((recipe, 2250, (6750, 200)) for recipe in (language_model, music)),
    (translate, 69, (69, 6)),
    (translate, 6750, (6750, 200)),
]
OPTIMIZERS = ["rmsprop", "adam"]
GIVEN = {"epochs": 3, "batch_size": 4, "learning_rate": 0.5, "clip": 7.0}


@pytest.mark.parametrize(
    "recipe, count, steps", CASES, ids=lambda x: getattr(x, "__name__", str(x))
)
def test_the_rate_falls_to_zero_with_the_last_step(recipe, count, steps):
    settings = recipe.Settings(**GIVEN)
    if recipe is music:
        settings = dataclasses.replace(settings, schedule="cosine")
    optimizer = recipe.build_optimizer(settings, count)
    assert schedule(optimizer) == (*steps, 0.5)
    assert optimizer.global_clipnorm == 7


def test_schedules_and_optimizers_are_those_asked_for():
    given = translate.Settings(**GIVEN, warmup=5)
    optimizer = translate.build_optimizer(given, 69)
    assert schedule(optimizer) == (69, 5, 0.5) and optimizer.beta_2 == 0.98
    settings = [classify.Settings(**GIVEN, schedule="constant")]
    settings += [music.Settings(**GIVEN, optimizer=x) for x in OPTIMIZERS]
    recipes = zip((classify, music, music), settings, strict=True)
    found = [recipe.build_optimizer(given, 9) for recipe, given in recipes]
    assert [float(x.learning_rate) for x in found] == [0.5] * 3
    assert [type(x).__name__.lower() for x in found[1:]] == OPTIMIZERS
