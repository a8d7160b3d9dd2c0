"""The tab of a language model: it continues a text."""

import gradio as gr

from kerasrnn.serving.demo.tabs.texts import add_examples
from kerasrnn.serving.demo.tabs.texts import checked
from kerasrnn.serving.demo.tabs.texts import chosen_seed
from kerasrnn.serving.demo.tabs.texts import seed_box
from kerasrnn.serving.demo.tabs.texts import text_box
from kerasrnn.serving.exported import ExportedModel


def language_model_tab(model: ExportedModel) -> None:
    """Adds the components for a model with the signature `generate`.

    Args:
        model: The `ExportedModel`.
    """
    generate = model.signatures["generate"]

    def write(prompt, *values):
        given = dict(zip(controls, values, strict=True))
        given["seed"] = chosen_seed(given["seed"])
        return generate(prompt=[checked(prompt)], **given)["text"][0]

    with gr.Row():
        with gr.Column():
            prompt = text_box("Beginning of a text")
            button = gr.Button("Continue", variant="primary")
            add_examples((model.card() or {}).get("beginnings", []), prompt)
            controls = {name: add() for name, add in CONTROLS.items()}
        with gr.Column():
            text = gr.Textbox(label="Text", lines=12, buttons=["copy"])
    gr.on(
        [button.click, prompt.submit],
        write,
        [prompt, *controls.values()],
        [text],
    )


# By the inputs of `generate`.
CONTROLS = {
    "temperature": lambda: gr.Slider(
        0,
        2,
        value=0.8,
        step=0.05,
        label="Temperature",
        info="0 always takes the most probable token",
    ),
    "top_k": lambda: gr.Slider(
        0,
        100,
        value=0,
        step=1,
        label="Top k",
        info="Only the k most probable tokens; 0 for all",
    ),
    "top_p": lambda: gr.Slider(
        0.05,
        1,
        value=1,
        step=0.05,
        label="Top p",
        info="Only the most probable tokens, up to this probability in sum",
    ),
    "max_tokens": lambda: gr.Slider(
        1, 300, value=60, step=1, label="Length in tokens"
    ),
    "one_sentence": lambda: gr.Checkbox(
        value=False, label="Stop after the sentence"
    ),
    "seed": seed_box,
}
