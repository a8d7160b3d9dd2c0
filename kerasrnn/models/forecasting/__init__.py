"""The forecaster of time series, and its parts."""
