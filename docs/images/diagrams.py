"""Draws the diagrams of the guides, beside this file.

    python docs/images/diagrams.py

Signals are lines, computations boxes.
"""

import pathlib

from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.patches import FancyBboxPatch
from matplotlib.patches import Rectangle

from kerasrnn.plots import save_figure

INK = "#4a5058"
DARK = "#16202e"
BLUE, ORANGE, GREY = "#a9c8ff", "#ffcf94", "#d5dae1"
INCHES = 0.45  # of a unit
HEAD = {"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0}


class Drawing:
    """Boxes, lines and words on an axes whose units are `INCHES`."""

    def __init__(self, axes, width, height, title=None):
        self.axes = axes
        axes.set(xlim=(0, width), ylim=(0, height), aspect="equal")
        axes.axis("off")
        if title:
            axes.set_title(title, color=INK, fontsize=12)

    def box(self, x, y, text, width=2.0, height=0.8, color=BLUE):
        """A computation around the point `x, y`."""
        shape = FancyBboxPatch(
            (x - width / 2 + 0.1, y - height / 2 + 0.1),
            *(width - 0.2, height - 0.2),
            boxstyle="round,pad=0.1",
            facecolor=color,
            edgecolor="none",
            zorder=2,
        )
        self.axes.add_patch(shape)
        self.axes.text(
            *(x, y, text), color=DARK, ha="center", va="center", zorder=3
        )

    def node(self, x, y, sign):
        """An elementwise operation."""
        self.axes.add_patch(Circle((x, y), 0.24, color=GREY, zorder=2))
        self.axes.text(
            *(x, y, sign), color=DARK, ha="center", va="center", zorder=3
        )

    def line(self, *points, arrow=True, style="-"):
        """A signal along points, with a head at the last."""
        (*_, before, last) = points
        across, down = zip(*points, strict=True)
        self.axes.plot(across, down, color=INK, linestyle=style, zorder=1)
        if arrow:
            # From near its end, since the shaft may be dashed.
            sides = zip(before, last, strict=True)
            near = [0.99 * b + 0.01 * a for a, b in sides]
            self.axes.annotate(
                *("", last, near),
                arrowprops=HEAD,
                zorder=1,
            )

    def word(self, x, y, text, side="center"):
        """Words at a line; `side` is where the point is beside them."""
        self.axes.text(x, y, text, color=INK, ha=side, va="center")

    def cells(self, x, y, columns, rows=1, size=0.4, color=GREY):
        """A grid around the point `x, y`."""
        left, low = x - columns * size / 2, y - rows * size / 2
        for i in range(columns * rows):
            place = left + i % columns * size, low + i // columns * size
            self.axes.add_patch(
                Rectangle(*(place, size, size), facecolor=color, edgecolor=INK)
            )


def new_figure(*widths, height):
    """A figure with an axes for each width."""
    figure = Figure(
        (sum(widths) * INCHES, height * INCHES),
        layout="constrained",
    )
    ratios = {"width_ratios": widths}
    axes = figure.subplots(1, len(widths), squeeze=False, gridspec_kw=ratios)
    return figure, axes[0]


def rhn_figure():
    """A time step of an RHN, and one of its micro-steps."""
    figure, (left, right) = new_figure(11.2, 8.8, height=4.2)
    step = Drawing(left, 11.2, 4.0, "a time step, depth 3")
    step.line((0.9, 3), (10.4, 3))
    step.word(0.8, 3, "$s_{t-1}$", "right")
    step.word(10.5, 3, "$s_t$", "left")
    for i, x in ((1, 2.6), (2, 5.6), (3, 8.6)):
        step.box(x, 3, f"micro-step {i}", 2.5)
        step.line((x - 1.7, 3), (x - 1.25, 3))
    step.line((2.6, 1.1), (2.6, 2.6))
    step.word(2.6, 0.8, "$x_t$")
    step.word(2.9, 1.5, "the input enters the first only", "left")

    inside = Drawing(right, 8.8, 4.0, "a micro-step")
    inside.line((0.9, 3.5), (7.7, 3.5))
    inside.word(0.8, 3.5, "$s^{l-1}$", "right")
    inside.word(7.8, 3.5, "$s^l$", "left")
    inside.line((1.5, 3.5), (1.5, 0.5), (6.2, 0.5), (6.2, 1.0))
    inside.line((3.4, 0.5), (3.4, 1.0))
    inside.word(4.8, 0.2, "and $x_t$ if $l = 1$")
    inside.box(3.4, 1.4, r"gate $t$: $\sigma$", 1.8, color=ORANGE)
    inside.box(6.2, 1.4, r"$h$: $\tanh$", 1.8)
    inside.line((3.4, 1.8), (3.4, 3.26))
    inside.word(3.2, 2.9, "$1 - t$", "right")
    inside.line((3.4, 2.5), (5.96, 2.5))
    inside.word(4.7, 2.7, "$t$")
    inside.line((6.2, 1.8), (6.2, 2.26))
    inside.line((6.2, 2.5), (6.2, 3.26))
    inside.node(3.4, 3.5, "×")
    inside.node(6.2, 2.5, "×")
    inside.node(6.2, 3.5, "+")
    return figure


def gam_rhn_figure():
    """A time step of a GAM-RHN of depth 2."""
    figure, (axes,) = new_figure(14.6, height=6.2)
    step = Drawing(axes, 14.6, 6.2)
    top, middle, low = 4.2, 2.5, 0.7
    step.line((2.9, top), (13.5, top))
    step.cells(1.9, top, 5, 3)
    step.word(1.9, top + 0.95, "$m_{t-1}$")
    step.word(1.9, top - 0.95, "groups of slots")
    step.box(4.6, top, "write", 1.6, color=ORANGE)
    step.line((2.9, top), (3.8, top))
    step.line((5.4, top), (6.4, top))
    step.cells(7.4, top, 5, 3)
    step.word(7.4, top + 0.95, "$m_t$")
    step.word(13.6, top, "$m_t$", "left")
    step.line((4.6, 5.6), (4.6, top + 0.4))
    step.word(4.6, 5.85, "$x_t$")

    step.line((1.3, low), (13.5, low))
    step.word(1.2, low, "$s_{t-1}$", "right")
    step.word(13.6, low, "$s_t$", "left")
    step.line((4.2, low), (4.2, top - 0.4))
    for i, x in ((1, 7.4), (2, 11.2)):
        step.box(x, middle, f"read {i}", 1.6, color=ORANGE)
        step.box(x, low, f"micro-step {i}", 2.3)
        step.line((x, middle - 0.4), (x, low + 0.4))
        step.line((x - 1.6, low), (x - 1.15, low))
    step.line((7.4, top - 0.6), (7.4, middle + 0.4))
    step.line((11.2, top), (11.2, middle + 0.4))
    step.line((5.0, top - 0.4), (5.0, middle), (6.6, middle))
    step.word(5.1, middle - 0.3, "its head", "left")
    step.line((9.3, low), (9.3, middle), (10.4, middle))
    step.word(9.2, middle - 0.6, "head", "right")
    return figure


def in_the_loop_figure():
    """Attention outside the loop, before the cell and after it."""
    figure, panels = new_figure(6.8, 6.4, 7.6, height=7.2)
    outside = with_memory(panels[0], 6.8, "outside the loop")
    outside.box(3, 2, "recurrent layer", 3)
    outside.line((3, 0.8), (3, 1.6))
    outside.word(3, 0.5, r"$x_1 \ldots x_T$")
    outside.line((3, 2.4), (3, 3.8))
    outside.word(3.1, 3.1, r"all queries $h_1 \ldots h_T$", "left")
    outside.line((4.5, 4.2), (5.1, 4.2))
    outside.word(5.15, 4.2, r"$c_1 \ldots c_T$", "left")

    before = with_memory(panels[1], 6.4, '"before" the cell')
    before.box(3, 2, "cell", 3)
    before.line((3, 0.8), (3, 1.6))
    before.word(3, 0.5, "$x_t$")
    before.line((0.7, 2), (1.5, 2))
    before.word(0.6, 2, "$s_{t-1}$", "right")
    before.line((1.0, 2), (1.0, 4.2), (1.5, 4.2))
    before.word(1.1, 3.1, "query", "left")
    before.line((3, 3.8), (3, 2.4))
    before.word(3.1, 3.1, "context $c_t$", "left")
    before.line((4.5, 2), (5.5, 2))
    before.word(5.6, 2, "$s_t$", "left")

    after = with_memory(panels[2], 7.6, '"after" the cell')
    after.box(3, 2, "cell", 3)
    after.line((3.5, 0.8), (3.5, 1.6))
    after.word(3.5, 0.5, "$x_t$")
    after.line((2.3, 0.8), (2.3, 1.6), style="--")
    after.word(2.3, 0.5, r"$\tilde{h}_{t-1}$")
    after.word(2.3, 0.1, "input feeding")
    after.line((0.7, 2), (1.5, 2))
    after.word(0.6, 2, "$s_{t-1}$", "right")
    after.line((3, 2.4), (3, 3.8))
    after.word(2.9, 3.1, "query $h_t$", "right")
    after.box(5.4, 3.1, r"$\tanh\,W_c$", 1.5)
    after.line((4.5, 4.2), (5.4, 4.2), (5.4, 3.5))
    after.word(5.5, 4.2, "$c_t$", "left")
    after.line((3, 3.1), (4.65, 3.1))
    after.line((4.5, 2), (6.6, 2))
    after.word(6.7, 2, "$s_t$", "left")
    after.line((6.15, 3.1), (6.6, 3.1))
    after.word(6.7, 3.1, r"$\tilde{h}_t$", "left")
    return figure


def with_memory(axes, width, title):
    """Begins a drawing with what all three have: attention to a memory."""
    drawing = Drawing(axes, width, 7, title)
    drawing.cells(3, 5.8, 5, size=0.5)
    drawing.word(3, 6.35, "memory")
    drawing.line((3, 5.55), (3, 4.6))
    drawing.box(3, 4.2, "attention", 3, color=ORANGE)
    return drawing


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    save_figure(rhn_figure(), folder / "rhn.png")
    save_figure(gam_rhn_figure(), folder / "gam_rhn.png")
    save_figure(in_the_loop_figure(), folder / "in_the_loop.png")
