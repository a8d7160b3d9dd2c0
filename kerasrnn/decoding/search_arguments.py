"""The arguments that every search has, and keeps."""

from collections.abc import Iterable
from typing import Any
from typing import Self

from kerasrnn.arguments import integer
from kerasrnn.configured import constructor_parameters
from kerasrnn.decoding.constraints import Constraints
from kerasrnn.documented import document
from kerasrnn.typing import Config

# What other libraries call something like an argument of a search.
_OTHER_NAMES = {
    "bad_words_ids": ("forbidden_ids",),
    "max_new_tokens": ("max_length",),
    "no_repeat_ngram_size": ("no_repeat_ngram",),
    "num_beams": ("beam_width",),
    "num_return_sequences": ("num_hypotheses", "num_samples"),
    "repetition_penalty": ("no_repeat_ngram",),
}


def unknown_arguments(search, given):
    """Returns a message about names that a class of searches does not know.

    Args:
        search: The class.
        given: Names of arguments.

    Returns:
        String, which also names the nearest known ones; `None` if all are
        known.
    """
    known = constructor_parameters(search)
    unknown = [name for name in given if name not in known]
    if not unknown:
        return None
    near = [
        f" In place of `{name}` there is `{other}`."
        for name in unknown
        for other in _OTHER_NAMES.get(name, ())
        if other in known
    ]
    return (
        f"The arguments of a {search.__name__} are {', '.join(known)}. "
        f"Received: {', '.join(unknown)}.{''.join(near)}"
    )


class _Frozen(type):
    """The type of classes whose instances keep what their constructor set."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if message := unknown_arguments(cls, kwargs):
            raise TypeError(message)
        made = super().__call__(*args, **kwargs)
        made._frozen = True
        return made


class SearchArguments(metaclass=_Frozen):
    """The part of `Search` that checks, keeps and documents its arguments.

    A subclass passes those that it does not know on to its base, and keeps its
    own as attributes. Its signature, its docstring and its configuration show
    all of them.

    Args:
        start_id: Integer id of the start token, which a hypothesis never
            contains, unless it is the end token as well.
        end_id: Integer id of the end token.
        pad_id: Integer id of padding, which only follows the end token.
        max_length: Positive integer, the maximum number of tokens of a
            hypothesis.
        min_length: Integer from 0 to `max_length`, the minimum number of tokens
            before the end token.
        forbidden_ids: List of integer ids that are never produced.
        no_repeat_ngram: Integer n >= 0: no n-gram occurs twice in a hypothesis.
            0 allows all.
        repeatable_ids: List of integer ids that stand for different words, such
            as that of `<unk>`: an n-gram with one of them may occur again.
    """

    _frozen = False

    def __init__(
        self,
        start_id: int = 1,
        end_id: int = 2,
        pad_id: int = 0,
        max_length: int = 100,
        *,
        min_length: int = 0,
        forbidden_ids: Iterable[int] = (),
        no_repeat_ngram: int = 0,
        repeatable_ids: Iterable[int] = (),
    ) -> None:
        self.start_id = integer("start_id", start_id)
        self.end_id = integer("end_id", end_id)
        self.pad_id = integer("pad_id", pad_id)
        self.max_length = integer("max_length", max_length, 1)
        self.constraints = Constraints(
            self.start_id,
            self.end_id,
            self.pad_id,
            self.max_length,
            min_length,
            forbidden_ids,
            no_repeat_ngram,
            repeatable_ids,
        )
        self.min_length = self.constraints.min_length
        self.forbidden_ids = self.constraints.forbidden_ids
        self.no_repeat_ngram = self.constraints.no_repeat_ngram
        self.repeatable_ids = self.constraints.repeatable_ids

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        document(
            cls,
            constructor_parameters(cls),
            *cls.__bases__,
            sections=("Call arguments", "Returns", "Raises"),
            more=False,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen:
            raise AttributeError(
                "A search keeps its arguments, which traced graphs do, too. "
                f"Expected: another one, `search.with_({name}=...)`. "
                f"Received: {name}={value!r}"
            )
        super().__setattr__(name, value)

    def get_config(self) -> Config:
        arguments = {
            name: getattr(self, name)
            for name in constructor_parameters(type(self))
        }
        return {
            name: list(x) if isinstance(x, tuple) else x
            for name, x in arguments.items()
        }

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)
