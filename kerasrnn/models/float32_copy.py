"""Float32 copies of models trained in half precision."""

import json
import pathlib
import tempfile
import zipfile

import keras

_HALF = ("float16", "bfloat16", "mixed_float16", "mixed_bfloat16")


def in_float32(model: keras.Model) -> keras.Model:
    """Copies a model and its weights to a model that computes in float32.

    Use it to serve a model trained under `mixed_bfloat16` or `mixed_float16` on
    processors where these types are slow or missing. The copy is not compiled.
    Layers in float64 and quantized weights are not changed.

    Args:
        model: A built Keras model that can be saved as a `.keras` file, such as
            a `Translator` or a pipeline of `kerasrnn.pipelines`.

    Returns:
        A model of the same class. The original is not changed.

    Raises:
        ValueError: when the model is not built.

    Example:

    >>> cell = keras.layers.GRUCell(8, dtype="mixed_bfloat16")
    >>> model = LanguageModel(50, cell, dtype="mixed_bfloat16")
    >>> model.build()
    >>> in_float32(model).compute_dtype
    'float32'
    """
    if not model.built:
        raise ValueError(
            "`model` must be built, so that it has weights to copy. Received: "
            f"{model.name!r}, which is not built."
        )
    with tempfile.TemporaryDirectory() as folder:
        saved, copy = (pathlib.Path(folder, f"{i}.keras") for i in range(2))
        model.save(saved)
        with (
            zipfile.ZipFile(saved) as given,
            zipfile.ZipFile(copy, "w") as written,
        ):
            for name in given.namelist():
                content = given.read(name)
                if name == "config.json":
                    config = json.loads(content, object_hook=_float32)
                    content = json.dumps(config).encode()
                written.writestr(name, content)
        policy = keras.config.dtype_policy()
        # Layers that other layers create may follow the global policy, which is
        # separate for each thread.
        if policy.name in _HALF:
            keras.config.set_dtype_policy("float32")
        try:
            return keras.saving.load_model(copy)
        finally:
            keras.config.set_dtype_policy(policy)


def _float32(config):
    """Changes a dictionary of a configuration, after nested ones."""
    config.pop("compile_config", None)
    is_policy = str(config.get("class_name")).endswith("DTypePolicy")
    # The name of a quantized policy contains that of its source policy.
    for name in ("name", "source_name") if is_policy else ():
        if config["config"].get(name) in _HALF:
            config["config"][name] = "float32"
    for name, value in config.items():
        is_dtype = name.endswith("dtype") or name == "default_policy"
        if is_dtype and value in _HALF:
            config[name] = "float32"
    return config
