"""Folders of trained pipelines for the Hugging Face Hub."""

import json
import pathlib
import shutil
from collections.abc import Sequence

import keras

from kerasrnn.files import atomic_folder
from kerasrnn.pipelines.pipeline import TextPipeline
from kerasrnn.pipelines.saved_model import next_version
from kerasrnn.training import read_card
from kerasrnn.typing import Config
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings


def write_hub_folder(
    run: PathLike,
    path: PathLike,
    name: str,
    license: str,
    languages: Strings,
    limitations: str,
) -> pathlib.Path:
    """Writes the results of a run as a folder for the Hugging Face Hub.

    It contains the pipeline in Keras's folder format, the newest SavedModel in
    `saved_model`, and a model card, `README.md`, made from `card.json`. After
    you have uploaded it, `keras.saving.load_model("hf://user/name")` loads the
    pipeline. This function does not upload anything.

    Args:
        run: Path of the output folder of a finished run.
        path: Path of the folder to write, completely or not at all.
        name: String, `"user/name"` on the Hub.
        license: String, the licence of the model, such as `"apache-2.0"`.
        languages: List of strings, language codes such as `"en"`.
        limitations: String, limitations and uses to avoid.

    Returns:
        The path of the folder, a `pathlib.Path`.

    Raises:
        ValueError: when the run has no card, or not exactly one `.keras` file.
    """
    run, path = pathlib.Path(run), pathlib.Path(path)
    card, files = read_card(run / "card.json"), [*run.glob("*.keras")]
    if card is None or len(files) != 1:
        raise ValueError(
            "`run` must be the folder of a finished run, with `card.json` and "
            f"one `.keras` file. Received: run='{run}'"
        )
    pipeline = keras.saving.load_model(files[0])
    text = model_card(pipeline, card, name, license, languages, limitations)
    newest = int(next_version(run).name) - 1
    with atomic_folder(path) as partial:
        keras.saving.save_model(pipeline, partial, zipped=False)
        shutil.copytree(run / f"{newest}", partial / "saved_model")
        (partial / "README.md").write_text(text, encoding="utf-8")
    return path


def model_card(
    pipeline: TextPipeline,
    card: Config,
    name: str,
    license: str,
    languages: Sequence[str],
    limitations: str,
) -> str:
    """Returns the text of a model card; see `write_hub_folder`.

    Args:
        pipeline: The pipeline.
        card: Dictionary, the content of `card.json`.
        name, license, languages, limitations: As in `write_hub_folder`.
    """
    kind, data = type(pipeline).__name__, card["data"]
    parts = {"Trained": data["train"], "Validated": data["dev"]}
    sizes = [
        f"{part} on {', '.join(f'{n:,} {unit}' for unit, n in found.items())}."
        for part, found in parts.items()
    ]
    scores = [f"* {part}: {text}" for part, text in card["results"].items()]
    return "\n".join(
        [
            "---",
            "library_name: keras",
            f"license: {license}",
            f"language: {json.dumps([*languages])}",
            f"tags: {json.dumps(['kerasrnn', kind])}",
            "---",
            f"\n# {name}",
            f"\nA `{kind}` of kerasrnn, in these languages: "
            f"{', '.join(languages)}.",
            "\n## Load it\n",
            "```python",
            "import keras",
            "import kerasrnn.pipelines",
            "",
            f'pipeline = keras.saving.load_model("hf://{name}")',
            "```",
            f"\nCall {pipeline.asked_by}. `saved_model` is a SavedModel for "
            "TensorFlow, which needs neither Keras nor kerasrnn.",
            "\n## Scores\n",
            *scores,
            "\n`dev` is the validation set, on which the epoch was chosen.",
            "\n## Data\n",
            *sizes,
            f"Licence of the data: {data['license'] or 'not stated'}.",
            "\n## Limitations\n",
            limitations,
            "\n## How it was trained\n",
            "```sh",
            card["command"],
            "```\n",
            f"Versions: {json.dumps(card['versions'])}.\n",
        ]
    )
