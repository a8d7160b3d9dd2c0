"""Training, scores and report of a music model in a run."""

import pathlib
from typing import Any

from kerasrnn.data import write_midi
from kerasrnn.pipelines.task import Task
from kerasrnn.typing import Rolls

_SHOWN = 128  # steps in a picture
_GIVEN = 8  # number of these that the model continues


class MusicTask(Task):
    """The task of a `MusicPipeline`.

    Rows are piano rolls. The best epoch is the one with the lowest negative
    log-likelihood per step.
    """

    monitor = "val_nll"
    file_name = "music"
    speed_unit = "steps"

    def sizes(self, rows: Rolls) -> dict[str, int]:
        return {"pieces": len(rows), "steps": sum(map(len, rows))}

    def headline(self, scores: dict[str, Any]) -> str:
        return f"negative log-likelihood {scores['nll']:.2f} nats per time step"

    def report(
        self,
        rows: Rolls,
        folder: pathlib.Path,
        seed: int = 0,
        temperature: float = 1.0,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Writes `sample.mid`, the opening of a piece with a continuation.

        Args:
            rows: List of piano rolls. The first one is continued.
            folder: Path of the folder to write to.
            seed: Integer, the seed of the continuation.
            temperature: Float, temperature of the continuation.

        Returns:
            No facts, and pictures: the piece with the `"prediction"` of each
            step, and the `"sample"`.
        """
        from kerasrnn.plots import piano_roll_figure

        piece = rows[0][:_SHOWN]
        opening = piece[:_GIVEN]
        sample = self.pipeline.write(
            opening, seed, temperature, steps=_SHOWN - _GIVEN
        )
        write_midi(sample, folder / "sample.mid", self.pipeline.steps_per_beat)
        predicted = {
            "piece": piece,
            "predicted": self.pipeline.probabilities(piece),
        }
        continued = {f"continued from step {len(opening)}": sample}
        return {}, {
            "prediction": piano_roll_figure(predicted),
            "sample": piano_roll_figure(continued, given=len(opening)),
        }

    def how_to_try(self, folder: pathlib.Path) -> str:
        listen = f"Listen to it: {folder / 'sample.mid'}"
        return f"{listen}\n{super().how_to_try(folder)}"
