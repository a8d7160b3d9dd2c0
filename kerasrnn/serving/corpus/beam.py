"""An Apache Beam pipeline that processes the shards of a text file."""

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
# Beam's `DirectRunner` would first download and try another runner.
LOCAL_RUNNER = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"


class SavedModelHandler(
    ModelHandler[Sequence[str | None], Answers, ExportedModel]
):
    """Runs a SavedModel on shards of lines, for `RunInference`.

    An example is a shard, not a line. Single lines would have to be grouped to
    restore their order, and groups are complete only when the whole corpus is
    processed. So a killed run would lose everything.

    Args:
        path: Folder of a version, `NAME/VERSION`, which all workers can read.
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
    """Processes unfinished shards and writes each as soon as it is done.

    Args:
        shards: The `Shards`, in a folder that all workers can access.
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
