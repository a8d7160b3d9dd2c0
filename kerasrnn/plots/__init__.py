"""Figures from arrays, drawn without a display or global state."""

import kerasrnn.optional

with kerasrnn.optional.needs("matplotlib", "recipes"):
    import matplotlib  # noqa: F401

from kerasrnn.plots.attention import attention_figure as attention_figure
from kerasrnn.plots.attention import attention_grid as attention_grid
from kerasrnn.plots.curves import comparison_figure as comparison_figure
from kerasrnn.plots.curves import training_figure as training_figure
from kerasrnn.plots.forecasts import forecast_figure as forecast_figure
from kerasrnn.plots.forecasts import horizon_figure as horizon_figure
from kerasrnn.plots.frequencies import frequency_figure as frequency_figure
from kerasrnn.plots.gradients import gradient_figure as gradient_figure
from kerasrnn.plots.hidden_states import (
    hidden_state_figure as hidden_state_figure,
)
from kerasrnn.plots.hidden_states import word_map_figure as word_map_figure
from kerasrnn.plots.matrix import matrix_figure as matrix_figure
from kerasrnn.plots.piano_rolls import piano_roll_figure as piano_roll_figure
from kerasrnn.plots.reliability import reliability_figure as reliability_figure
from kerasrnn.plots.saving import save_figure as save_figure
from kerasrnn.plots.words import word_weight_figure as word_weight_figure
