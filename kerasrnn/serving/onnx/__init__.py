"""SavedModels as ONNX files: `kerasrnn-onnx`."""
