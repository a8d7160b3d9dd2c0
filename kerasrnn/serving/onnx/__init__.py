"""Conversion of SavedModels to ONNX: `kerasrnn-onnx`."""
