"""Weights of LSTM and GRU, to and from Keras and PyTorch."""
