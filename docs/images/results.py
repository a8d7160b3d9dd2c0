"""Draws the charts of the results, beside this file.

    python docs/images/results.py

The figures are those of `docs/results.md` and `recipes/studies/README.md`,
which have commands and commits.
"""

import pathlib

from matplotlib.figure import Figure

from kerasrnn.plots import save_figure

INK = "#4a5058"
OURS, OTHERS = "#2f6fde", "#e08214"
# Penn Treebank, 5M parameters, three epochs; of the LSTM and the GAM-RHN also
# the lowest and the highest of three seeds.
TREEBANK = {
    "RHN": (109.1,),
    "GAM-RHN": (110.6, 109.2, 110.6),
    "LSTM": (114.7, 114.1, 115.1),
    "sLSTM": (117.5,),
    "Gated DeltaNet, in blocks": (123.8,),
    "RG-LRU, in blocks": (134.9,),
    "mLSTM, in blocks": (136.8,),
}
# JSB Chorales, 22,000 parameters: mean and deviation of three seeds, and the
# figure of Chung et al. (2014).
CHORALES = {
    "LSTM with peepholes": (8.47, 0.02, 8.67),
    "RHN": (8.52, 0.02, None),
    "GRU": (8.53, 0.03, 8.54),
    "GAM-RHN": (8.56, 0.03, None),
    "tanh": (8.58, 0.04, 9.10),
}


def new_axes(names, label):
    """A figure with a row for each name."""
    figure = Figure((4.8, 0.36 * len(names) + 0.9), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(label, color=INK)
    axes.tick_params(colors=INK, left=False)
    axes.grid(axis="y", color=INK, alpha=0.3, linestyle=":")
    axes.spines[:].set_visible(False)
    axes.margins(x=0.12)
    return figure, axes


def treebank_figure():
    """A dot for each model, with what its seeds differ by."""
    label = "validation perplexity after three epochs: lower is better"
    figure, axes = new_axes(TREEBANK, label)
    for row, (middle, *seeds) in enumerate(TREEBANK.values()):
        axes.plot(seeds, [row] * len(seeds), color=OURS, linewidth=2)
        axes.plot(middle, row, "o", color=OURS)
        axes.annotate(
            *(f"{middle:.1f}", (middle, row)),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=INK,
        )
    return figure


def chorales_figure():
    """A dot for each model, and one for what was published."""
    label = "negative log-likelihood of a step: lower is better"
    figure, axes = new_axes(CHORALES, label)
    rows = range(len(CHORALES))
    means, deviations, published = zip(*CHORALES.values(), strict=True)
    ours = axes.errorbar(
        *(means, rows),
        xerr=deviations,
        fmt="o",
        color=OURS,
        label="kerasrnn, three seeds",
    )
    known = [(x, row) for x, row in zip(published, rows, strict=True) if x]
    (theirs,) = axes.plot(
        *zip(*known, strict=True),
        "D",
        color=OTHERS,
        label="Chung et al. 2014",
    )
    axes.legend(handles=[ours, theirs], frameon=False, labelcolor=INK)
    return figure


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    save_figure(treebank_figure(), folder / "treebank.png")
    save_figure(chorales_figure(), folder / "chorales.png")
