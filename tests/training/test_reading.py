import keras
import pytest

from kerasrnn.files import reading


def test_an_unknown_class_is_no_damage(tmp_path):
    class Unknown(keras.layers.Layer):
        def call(self, x):
            return x

    model = keras.Sequential([keras.Input((1,)), Unknown()])
    path = tmp_path / "model.keras"
    model.save(path)
    with pytest.raises(ValueError, match="needs the class 'Unknown'.*regis"):
        with reading(path, "Delete it."):
            keras.saving.load_model(path)
    path.write_bytes(path.read_bytes()[:-99])
    with pytest.raises(ValueError, match="is damaged.*Delete it."):
        with reading(path, "Delete it."):
            keras.saving.load_model(path)
