"""Time series in, forecasts out."""
