"""Draws `speeds.png`: training speeds beside Keras and PyTorch.

    python docs/images/speeds.py

The figures are those of `benchmarks/README.md`, which has commands and commits.
"""

import pathlib

from matplotlib.figure import Figure

from kerasrnn.plots import save_figure

INK = "#4a5058"
# From the bottom of a group to its top.
COLORS = {"PyTorch": "#e08214", "Keras": "#9aa3af", "kerasrnn": "#2f6fde"}
WORDS = 20 * 35  # of a training step
# Training tokens per second of wall time: PyTorch, Keras, kerasrnn.
# One thread, float32 (2ea58d7), in seconds of a step.
CPU = {
    "GRU": [WORDS / s for s in (1.106, 1.564, 0.872)],
    "LSTM": [WORDS / s for s in (1.150, 1.849, 1.053)],
}
# JAX and PyTorch, products in TF32 (cdd6ddd).
H200 = {"GRU": [74_495, 88_605, 110_788], "LSTM": [71_853, 82_263, 108_384]}


def speeds_figure():
    """A panel for each device, a group of bars for each layer."""
    figure = Figure((4.8, 4.8), layout="constrained")
    panels = figure.subplots(2, 1)
    draw(panels[0], CPU, "CPU: TensorFlow, one thread")
    draw(panels[1], H200, "NVIDIA H200: JAX")
    panels[1].set_xlabel("training, tokens per second", color=INK)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        *(handles[::-1], labels[::-1]),
        loc="outside upper center",
        ncols=len(COLORS),
        frameon=False,
        labelcolor=INK,
    )
    return figure


def draw(axes, speeds, title):
    """Draws the bars of one device."""
    places = range(len(speeds))
    for i, (name, color) in enumerate(COLORS.items()):
        bars = axes.barh(
            [place + 0.27 * (i - 1) for place in places],
            [of_layer[i] for of_layer in speeds.values()],
            height=0.25,
            color=color,
            label=name,
        )
        texts = [f"{of_layer[i]:,.0f}" for of_layer in speeds.values()]
        style = {"padding": 3, "color": INK}
        if name == "kerasrnn":
            style["weight"] = "bold"
            texts = [
                f"{text}, {ours / keras:.1f} x Keras"
                for text, (_, keras, ours) in zip(
                    texts, speeds.values(), strict=True
                )
            ]
        axes.bar_label(bars, texts, **style)
    axes.set_title(title, color=INK, fontsize=11)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.locator_params(axis="x", nbins=4)
    axes.set_yticks(places, speeds)
    axes.margins(x=0.3)
    axes.tick_params(colors=INK, left=False)
    axes.spines[:].set_visible(False)


if __name__ == "__main__":
    path = pathlib.Path(__file__).with_name("speeds.png")
    save_figure(speeds_figure(), path)
