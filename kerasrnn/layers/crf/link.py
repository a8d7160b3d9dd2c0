"""Lets a loss find its layer again after both were loaded from a file.

A loss that had the layer itself would be loaded with a copy of it, since a
functional model saves its layers without a word on what else uses them. And
where a model does not save its layers first, their weights would be saved as
those of the loss.
"""

import contextlib
from typing import Any
from typing import Self

import keras

from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn", "CRFLink")
class Link:
    """Refers to a layer, which is set after both are made."""

    def __init__(self) -> None:
        self.layer: Any = None

    def get_config(self) -> Config:
        return {}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls()


class Linked:
    """A layer with a link to it, which a loss can have."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._set_link(Link())

    def get_config(self) -> Config:
        config = super().get_config()  # type: ignore[misc]
        return {**config, "link": serialized(self.link)}

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        config, link = unlinked(config)
        layer = super().from_config(config, custom_objects)  # type: ignore
        layer._set_link(link)
        return layer

    def marked(self, outputs: Tensor) -> Tensor:
        """Returns outputs that `link_of` knows as those of this layer.

        The arrays of JAX cannot be marked, and stay as they are.
        """
        with contextlib.suppress(AttributeError):
            outputs._kerasrnn_link = self.link
        return outputs

    def _set_link(self, link):
        self.link = link
        link.layer = self


def link_of(outputs):
    """Returns the link of the layer of outputs; `None` if it is unknown."""
    return getattr(outputs, "_kerasrnn_link", None)


def serialized(link):
    """Returns a configuration that is the same link wherever it is loaded."""
    config = keras.saving.serialize_keras_object(link)
    return {**config, "shared_object_id": id(link)}


def unlinked(config):
    """Returns a configuration without its link, and the link."""
    rest = {name: value for name, value in config.items() if name != "link"}
    return rest, keras.saving.deserialize_keras_object(config["link"])
