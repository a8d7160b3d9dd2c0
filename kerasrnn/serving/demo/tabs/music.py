"""The tab of a model of music: it composes, to look at and to listen to."""

import pathlib
import tempfile

import gradio as gr
import numpy as np

from kerasrnn.data import write_midi
from kerasrnn.data.music.midi import KEYS
from kerasrnn.plots import piano_roll_figure
from kerasrnn.serving.demo.tabs.texts import chosen_seed
from kerasrnn.serving.demo.tabs.texts import picture_box
from kerasrnn.serving.demo.tabs.texts import seed_box
from kerasrnn.serving.exported import ExportedModel


def music_tab(model: ExportedModel) -> None:
    """Adds the components for a model with `generate` on piano rolls.

    Args:
        model: The `ExportedModel`.
    """
    steps_per_beat = (model.card() or {}).get("steps_per_beat", 1)

    def compose(steps, temperature, seed):
        found = model.signatures["generate"](
            prompt=np.zeros((1, 0, KEYS), "float32"),
            seed=chosen_seed(seed),
            temperature=temperature,
            steps=steps,
        )
        roll = found["roll"][0]
        folder = tempfile.mkdtemp(prefix="kerasrnn-")
        path = write_midi(
            roll, pathlib.Path(folder, "composed.mid"), steps_per_beat
        )
        return piano_roll_figure({"composed": roll}), str(path)

    with gr.Row():
        with gr.Column():
            controls = [
                gr.Slider(8, 512, 128, step=8, label="Length in steps"),
                gr.Slider(
                    0,
                    2,
                    1,
                    step=0.05,
                    label="Temperature",
                    info="0 always takes what is more probable, key by key",
                ),
                seed_box(),
            ]
            button = gr.Button("Compose", variant="primary")
        with gr.Column():
            file = gr.File(label="To listen to: a MIDI file")
    picture = picture_box(wide=True)
    gr.on([button.click], compose, controls, [picture, file])
