"""The parts of a labeller, and whether they fit together."""

from collections.abc import Sequence
from typing import Any

from kerasrnn.models import ClassifierEnsemble
from kerasrnn.pipelines.ensembles import models_of
from kerasrnn.pipelines.vocabulary_facts import check_vocabulary


def check_parts(labeller: Any) -> None:
    """Raises `ValueError` unless the parts of a labeller fit together.

    Args:
        labeller: A `TextLabeller`.
    """
    for model in models_of(labeller.model):
        check_vocabulary(labeller.tokenizer, model.encoder)
    labels = labeller.labels
    least = 1 if labeller.multi_label else 2
    classes = max(least, labeller.model.num_classes)
    # A client reads "" as no label.
    names = {label for label in labels if isinstance(label, str) and label}
    if not len(names) == len(labels) == classes:
        raise ValueError(
            f"`labels` must be {classes}, one for each class of the model, "
            "all different strings, not empty. "
            f"Received: labels={list(labels)!r}"
        )


def joined_model(labellers: Sequence[Any]) -> ClassifierEnsemble:
    """Returns the models of labellers as one, at their temperatures.

    Args:
        labellers: List of `TextLabeller`s. Of an ensemble, all models are
            taken.

    Raises:
        ValueError: when their labels or their numbers of logits differ.
    """
    expected, *others = map(_answers, labellers)
    for found in others:
        if found != expected:
            raise ValueError(
                "All `labellers` must have the same labels in the same order. "
                f"Expected: {expected}. Received: {found}"
            )
    models, temperatures = zip(
        *(
            (model, labeller.temperature * own)
            for labeller in labellers
            for model, own in _with_temperatures(labeller.model)
        ),
        strict=True,
    )
    return ClassifierEnsemble(models, temperatures)


def _answers(labeller):
    """What a labeller answers, in words."""
    count = labeller.model.num_classes
    logits = "one logit" if count == 1 else f"{count} logits"
    several = ", of which a text may have several" * labeller.multi_label
    return f"{labeller.labels}{several}, by {logits}"


def _with_temperatures(model):
    """The members of an ensemble, or one model, each with its temperature."""
    models = models_of(model)
    return zip(models, getattr(model, "temperatures", [1.0]), strict=True)
