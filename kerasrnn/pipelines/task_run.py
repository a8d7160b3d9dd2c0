"""The run of a recipe whose pipeline says what its task is."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras

from kerasrnn.models import in_float32
from kerasrnn.pipelines.run import Run


class TaskRun(Run):
    """Trains a pipeline that knows how it is trained, scored and shown.

    Such a pipeline has, besides the methods of `TextPipeline`:

    * `batches(rows, batch_size, seed=None)`, to train on;
    * `monitor` and `mode`, which value decides which epoch is best;
    * `epoch_scores(rows)`, a list of callbacks that score it after an epoch;
    * `tokenizers`, whose ids the weights stand for;
    * `evaluate(rows)`, a dictionary of its scores;
    * `report(rows)`, which prints samples and returns facts for the card, and
      pictures by name;
    * `file_name`, of its `.keras` file.

    See `Run`.

    Args:
        settings: `kerasrnn.training.Settings`.

    Example:

    >>> with TaskRun(settings) as run:
    ...     tagger = build_tagger()
    ...     tagger.compile("adam")
    ...     tagger = run.train(tagger, sentences, held_out)
    """

    def train(
        self,
        pipeline: Any,
        rows: Sequence[Any],
        dev: Sequence[Any],
        test: Sequence[Any] | None = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        **facts: Any,
    ) -> Any:
        """Trains, evaluates, saves and exports a compiled pipeline.

        Args:
            pipeline: The pipeline.
            rows: What to train on, as `pipeline.batches` takes it.
            dev: What to validate on, also for samples and pictures.
            test: What to evaluate on at the end; `None` for nothing.
            callbacks: List of further callbacks.
            **facts: More values for the card.

        Returns:
            The saved pipeline, in float32.
        """
        size = self.settings.batch_size
        print(
            f"{len(rows):,} to train on, {len(dev):,} to validate on, "
            f"{pipeline.model.count_params():,} parameters, "
            f"{self.settings.epochs} epochs"
        )
        history = self.fit(
            pipeline.model,
            pipeline.batches(rows, size, self.settings.seed),
            pipeline.batches(dev, 4 * size),
            pipeline.monitor,
            pipeline.mode,
            callbacks=[*pipeline.epoch_scores(dev), *callbacks],
            data=[rows, dev],
            tokenizers=pipeline.tokenizers,
        )
        pipeline = self.save(in_float32(pipeline), pipeline.file_name)
        parts: Mapping[str, Any] = {"dev": dev, "test": test}
        scores = {
            name: pipeline.evaluate(part)
            for name, part in parts.items()
            if part is not None
        }
        shown, pictures = pipeline.report(dev)
        self.finish(
            pipeline, history, pictures, scores=scores, **shown, **facts
        )
        return pipeline
