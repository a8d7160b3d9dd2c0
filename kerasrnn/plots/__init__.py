"""Figures from plain arrays, drawn without a display or global state."""

from kerasrnn.plots.attention import attention_figure as attention_figure
from kerasrnn.plots.attention import attention_grid as attention_grid
from kerasrnn.plots.comparison import comparison_figure as comparison_figure
from kerasrnn.plots.frequencies import frequency_figure as frequency_figure
from kerasrnn.plots.saving import save_figure as save_figure
from kerasrnn.plots.training import training_figure as training_figure
