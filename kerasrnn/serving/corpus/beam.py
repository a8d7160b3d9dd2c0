"""The Apache Beam pipeline that answers the shards of a text file."""

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
from apache_beam.ml.inference.base import KeyedModelHandler
from apache_beam.ml.inference.base import ModelHandler
from apache_beam.ml.inference.base import RunInference
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.options.pipeline_options import StandardOptions

from kerasrnn.serving.corpus.line_answers import line_answers
from kerasrnn.serving.corpus.shards import Shards
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

Answers = tuple[list[str], dict[int, str]]
# Beam's own `DirectRunner` would first download another runner and try that.
LOCAL_RUNNER = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"


class SavedModelHandler(
    ModelHandler[Sequence[str | None], Answers, ExportedModel]
):
    """Answers shards of lines with a SavedModel, for `RunInference`.

    An example is a shard, not a line. Single lines would have to be grouped
    to be put in order, and a group is complete only when the whole corpus is
    answered: a run that is killed would lose everything.

    Args:
        path: Folder of a version, `NAME/VERSION`, which every worker sees.
        batch_size: Positive integer, lines in a batch.

    Example:

    >>> folder = ModelFolder(export_small_model("saved_models/shout"))
    >>> handler = SavedModelHandler(folder.path / "1")
    >>> handler.run_inference([["come in", None, "tea"]], handler.load_model())
    [(['COME IN', '', 'TEA'], {})]
    """

    def __init__(self, path: PathLike, batch_size: int = 64) -> None:
        super().__init__(max_batch_size=1)
        self.path = str(path)
        self.batch_size = batch_size

    def load_model(self) -> ExportedModel:
        return ExportedModel(self.path)

    def run_inference(
        self,
        batch: Sequence[Sequence[str | None]],
        model: ExportedModel,
        inference_args: dict[str, Any] | None = None,
    ) -> Iterable[Answers]:
        serve = model.signatures["serving_default"]
        return [line_answers(serve, lines, self.batch_size) for lines in batch]


def answer_shards(
    shards: Shards, path: PathLike, batch_size: int, beam_args: Strings
) -> None:
    """Answers the unfinished shards, and writes each as soon as it is done.

    Args:
        shards: The `Shards`, in a folder that every worker sees.
        path: Folder of a version of a model, `NAME/VERSION`.
        batch_size: Positive integer, lines in a batch.
        beam_args: List of strings, options of Beam such as `--runner`.
    """
    options = PipelineOptions(list(beam_args))
    standard = options.view_as(StandardOptions)
    standard.runner = standard.runner or LOCAL_RUNNER
    handler = KeyedModelHandler(SavedModelHandler(path, batch_size))
    with beam.Pipeline(options=options) as pipeline:
        (
            pipeline
            | "Unfinished" >> beam.Create(shards.unfinished())
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.Map(lambda shard: (shard, shards.read(shard)))
            | "Answer" >> RunInference(handler)
            | "Write"
            >> beam.MapTuple(lambda shard, found: shards.write(shard, *found))
        )
