"""The parts of a translator, and whether they fit together."""

from typing import Any

from kerasrnn.arguments import instance
from kerasrnn.decoding import Search
from kerasrnn.models import Shortlist
from kerasrnn.pipelines.ensembles import models_of
from kerasrnn.pipelines.vocabulary_facts import check_vocabulary
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers.table_tokenizer import TableTokenizer


def lexicon_of(model: Any) -> Any:
    """Returns the lexicon of a model, or of the first of an ensemble."""
    decoder = getattr(models_of(model)[0], "decoder", None)
    return getattr(decoder, "lexicon", None)


def check_parts(translator: Any) -> None:
    """Raises `ValueError` unless the parts of a translator fit together.

    Args:
        translator: A `TextTranslator`.
    """
    source, target = translator.source_tokenizer, translator.target_tokenizer
    # While a file is loaded, the tokenizers have no vocabulary yet.
    if target.built:
        if translator.shortlist is not None:
            check_shortlist(translator.shortlist, target)
        if translator.copy_unknown:
            check_copying(source, target)
    model = models_of(translator.model)[0]
    check_vocabulary(source, getattr(model, "encoder", None), "source ")
    check_vocabulary(target, getattr(model, "decoder", None), "target ")


def check_search(search: Search, target: Tokenizer, model: Any) -> None:
    """Raises `ValueError` unless a search fits a translator.

    Args:
        search: A `Search`.
        target: The target `Tokenizer`.
        model: The model, or an ensemble.
    """
    instance("search", search, Search)
    # While a file is loaded, the tokenizer has no vocabulary yet.
    if target.built:
        own = target.special_ids
        given = {name: getattr(search, name) for name in own}
        if own != given:
            raise ValueError(
                "The search must have the special ids of the target tokenizer: "
                f"`{type(search).__name__}(..., **tokenizer.special_ids)`. "
                f"Expected: {own}. Received: {given}"
            )
    decoder = getattr(models_of(model)[0], "decoder", None)
    attends = decoder is None or decoder.rnn.cell.attention is not None
    penalty = getattr(search, "coverage_penalty", 0)
    if penalty and not attends:
        raise ValueError(
            "A coverage penalty needs a model with attention. Received: "
            f"coverage_penalty={penalty}, attention=None"
        )


def check_shortlist(shortlist: Shortlist, target: Tokenizer) -> None:
    """Raises `ValueError` if a translation could not end.

    Args:
        shortlist: A `Shortlist`.
        target: The target `Tokenizer`.
    """
    end_id, frequent = target.end_id, shortlist.frequent
    if end_id >= frequent:
        raise ValueError(
            "The shortlist must always contain the end token: its number "
            f"of `frequent` words must be above the end id, {end_id}. "
            f"Received: frequent={frequent}"
        )


def check_copying(source: Tokenizer, target: Tokenizer) -> None:
    """Raises `ValueError` if source words cannot replace unknown tokens.

    Args:
        source: The source `Tokenizer`.
        target: The target `Tokenizer`.
    """
    both = source, target
    # A source that drops unknown words has other positions than its text.
    drops = source.unknown_id < 0 <= target.unknown_id
    alike = source.separate_punctuation == target.separate_punctuation
    writes = isinstance(target, TableTokenizer)
    if isinstance(target, CharacterTokenizer):
        writes = isinstance(source, CharacterTokenizer)
    if drops or not alike or not writes:
        found = (f"{type(x).__name__} of {x.vocabulary[:4]}" for x in both)
        raise ValueError(
            "`copy_unknown` needs a target of words, or source and target "
            "of characters, both with or both without separate "
            "punctuation, and a source vocabulary with `<unk>` if the "
            f"target's has it. Received: {', '.join(found)}, ..."
        )
