"""The run of a recipe: a training, and what it leaves."""

import contextlib
import json
import sys

import keras

from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure
from kerasrnn.training import Stopwatch
from kerasrnn.training import TrainingFolder
from kerasrnn.training import by_size
from kerasrnn.training import identity
from kerasrnn.training import load_average
from kerasrnn.training import locked
from kerasrnn.training import without_costs
from kerasrnn.training import write_card
from kerasrnn.training.files import whole


class Run(contextlib.AbstractContextManager):
    """The run of a recipe: trains a model, and leaves a pipeline ready to use.

    Inside a `with`, no other process may write to the same output folder, and
    models are built in the precision of the settings.

    Args:
        settings: `kerasrnn.training.Settings`. Their seed is set for Python,
            NumPy and the backend.

    Attributes:
        output: Path of the folder that is written to.
        settings: As given; what the card shows.

    Raises:
        OSError: when the folder cannot be written.
        RuntimeError: when another process writes to it, or when the recipe
            does not run on the backend.

    Example:

    >>> with Run(settings) as run:
    ...     translator = build_translator()
    ...     batches, validation = map(translator.batches, (pairs, dev))
    ...     translator.compile("adam")
    ...     history = run.fit(
    ...         translator.model, batches, validation, "val_loss", data=pairs
    ...     )
    ...     scores = {"beam 5": translator.evaluate(dev)}
    ...     run.finish(translator, "translator", history, scores=scores)
    """

    # Texts are tokenized and served in TensorFlow graphs.
    backends = ("tensorflow",)

    def __init__(self, settings):
        if keras.backend.backend() not in self.backends:
            raise RuntimeError(
                "This recipe does not run on every backend. Expected: "
                f"KERAS_BACKEND={' or '.join(self.backends)}. "
                f"Received: KERAS_BACKEND={keras.backend.backend()}"
            )
        self.settings, self.clock = settings, Stopwatch()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.output = stack.enter_context(locked(self.settings.output))
            policy = keras.config.dtype_policy()
            stack.callback(keras.config.set_dtype_policy, policy)
            self._stack = stack.pop_all()
        keras.utils.set_random_seed(self.settings.seed)
        keras.config.set_dtype_policy(self.settings.dtype)
        return self

    def __exit__(self, *error):
        self._stack.close()

    def by_size(self, count, sizes):
        """Chooses by the size of a corpus what the settings leave open.

        See `kerasrnn.training.by_size`.

        Returns:
            The settings, which now are those of the run.
        """
        self.settings = by_size(self.settings, count, sizes)
        return self.settings

    def fit(
        self,
        model,
        batches,
        validation,
        monitor,
        mode="min",
        average=0,
        callbacks=(),
        **facts,
    ):
        """Trains a compiled model, or goes on where an earlier run ended.

        Args:
            model: A built and compiled `keras.Model`. It ends with the
                weights of its best epoch, or with averaged ones.
            batches: `tf.data.Dataset` of what an epoch learns.
            validation: `tf.data.Dataset` to validate on.
            monitor: Name of the logged value that says which epoch is best.
            mode: `"min"` or `"max"`, which value of it is.
            average: Of how many of the last epochs the weights are averaged;
                0 for those of the best epoch.
            callbacks: List of callbacks, in addition.
            **facts: What the training depends on beside the settings: the
                data.

        Returns:
            The log of all epochs: a dictionary of name to list.
        """
        settings = identity(self.settings) | facts
        folder = TrainingFolder(self.output, settings, monitor, mode, average)
        history = folder.fit(
            model,
            batches,
            self.settings.epochs,
            validation_data=validation,
            callbacks=callbacks,
            # A bar on a screen, a line an epoch in a file.
            verbose="auto" if sys.stdout.isatty() else 2,
        )
        if average:
            load_average(model, folder.last())
        else:
            folder.load_best(model)
        return history

    def finish(self, pipeline, name, history, pictures=None, **facts):
        """Leaves a pipeline, its SavedModel, pictures and a card.

        Args:
            pipeline: A pipeline of `kerasrnn.pipelines`.
            name: String, what to call its `.keras` file.
            history: The log of its training, which is drawn.
            pictures: Dictionary of name to `matplotlib.figure.Figure`.
            **facts: What else the card says, such as `scores`, which are
                printed, too.
        """
        pictures = {"training": training_figure(without_costs(history))} | (
            pictures or {}
        )
        for picture, figure in pictures.items():
            save_figure(figure, self.output / f"{picture}.png")
        with whole(self.output / f"{name}.keras") as partial:
            pipeline.save(partial)
        if keras.backend.backend() == "tensorflow":
            pipeline.export(self.output / "1")
        write_card(
            self.output / "card.json",
            settings=self.settings.in_force(),
            parameters=pipeline.model.count_params(),
            history=history,
            **facts,
            **self.clock.read(),
        )
        print(json.dumps(facts.get("scores"), indent=2, ensure_ascii=False))
        print(
            f"\n{name}.keras, the SavedModel in 1/, card.json and pictures "
            f"are in {self.output}."
        )
