"""Trains and exports a translator, on any parallel corpus.

    python recipes/translate.py --train a.en a.de --dev b.en b.de
    python recipes/translate.py --train pairs.csv --source de --target en
    python recipes/translate.py --train new.tsv --old old.tsv --from OTHER.keras
    python recipes/translate.py --train pairs.tsv --back-translate target.txt

A run writes `translator.keras`, `card.json`, pictures and a SavedModel, in
`OUTPUT/1/` or the next number that is free. The same command resumes an
interrupted run, and continues a finished one if `--epochs` is increased.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
import math
from pathlib import Path

from kerasrnn import data
from kerasrnn import decoding
from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import tokenizers
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.TranslationSettings):
    """The settings of translators and a corpus; `SIZES` replaces `None`."""

    not_identity = training.TranslationSettings.not_identity | {
        *("train", "dev", "test", "old", "old_dev", "oversample"),
    }
    needs = training.TranslationSettings.needs | {
        "alignments": ("attention",),
        "alignment_weight": ("alignments",),
        "old": ("start_from",),
        "old_dev": ("old",),
        "old_columns": ("old",),
        "back_translate": ("old", ()),
        "reverse": ("back_translate",),
    }

    output: Path = Path("saved_models/translate")
    train: tuple[Path, ...] = ()
    """A file of pairs, or a file of sources and one of targets."""
    source: str | None = None
    """Column or language to translate from."""
    target: str | None = None
    """Column or language to translate into."""
    dev: tuple[Path, ...] = ()
    """Validation pairs; default: held out from `train`."""
    test: tuple[Path, ...] = ()
    """Test pairs, scored at the end."""
    alignments: training.Existing | None = None
    """Word alignments of `train` to guide attention, as lines of `0-0 1-2`."""
    old: tuple[Path, ...] = ()
    """Pairs of the earlier training, used in addition to `train`."""
    old_dev: tuple[Path, ...] = ()
    """Validation pairs of `old`; default: those held out earlier."""
    old_columns: tuple[str, str] | None = None
    """Columns or languages of `old`; default: `source` and `target`."""
    back_translate: training.Existing | None = None
    """Target text to back-translate, one sentence per line."""
    reverse: training.Existing | None = None
    """Reverse translator for `back_translate`; default: one is trained."""
    oversample: training.Count | None = None
    """Copies of each pair of `train`; default: as many as balance the data."""

    def without_effect(self):
        idle = super().without_effect()
        if self.dev and (self.old_dev or not self.old):
            idle |= {"dev_size"}
        mixed = self.old or self.back_translate
        return idle if mixed else idle | {"oversample"}


SIZES = {  # for a corpus of up to this many pairs
    8_000: {"units": 128, "vocabulary_size": 1000, "epochs": 20},
    50_000: {"units": 256, "vocabulary_size": 4000, "epochs": 24},
    math.inf: {"units": 384, "vocabulary_size": 8000, "epochs": 8},
}


def load_pairs(settings):
    """Returns the pairs for training, validation and test."""
    columns = settings.source, settings.target
    options = settings.pick("limit", "dev_size", "seed")
    files = settings.pick("train", "dev", "test", "alignments")
    new = data.read_parallel_parts(**files, columns=columns, **options)
    if settings.back_translate:
        given = settings.back_translate, settings.reverse, settings.output
        more = pipelines.back_translate(*given, settings.limit)
        return data.add_synthetic(new, more, settings.oversample)
    if not settings.old:
        return new
    options["columns"] = settings.old_columns or columns
    options["arguments"] = "old_columns", "old_columns"
    old = data.read_parallel_parts(settings.old, settings.old_dev, **options)
    learnt = data.drop_long(old.train, settings.max_words)
    training.warn_of_other_data(settings.start_from, [learnt, old.dev])
    return data.mix_parts(new, old, settings.oversample, settings.seed)


def load_reversed(settings):
    """Returns the same pairs in the other direction."""
    parts = load_pairs(settings)
    return [data.store_rows(pair[1::-1] for pair in x) for x in parts]


def build_tokenizers(settings, pairs):
    """Returns the tokenizers of source and target."""
    size, sampling = settings.vocabulary_size, settings.subword_sampling
    options, both = settings.pick(*settings.text_options), []
    words, pieces = tokenizers.WordTokenizer, tokenizers.SentencePieceTokenizer
    kinds = settings.tokenizer.split("-")  # one for both, or one each
    for side, kind in enumerate((kinds[0], kinds[-1])):
        if kind == "word":
            texts = (pair[side] for pair in pairs)
            both.append(words.train(texts, min_count=2, **options))
        else:
            texts = [pair[side] for pair in data.sample_rows(pairs)]
            both.append(pieces.train(texts, size, kind, sampling, **options))
    return both


def build_model(settings, source, target):
    """Returns an untrained model, with word vectors if there are any."""
    sizes = source.vocabulary_size, target.vocabulary_size
    paths = settings.source_vectors, settings.target_vectors
    vectors = [
        path and data.load_word_vectors(path, side, seed=settings.seed).matrix
        for path, side in zip(paths, (source, target), strict=True)
    ]
    widths = [settings.units if x is None else x.shape[1] for x in vectors]
    shared = settings.pick("depth", "dropout", "word_dropout")
    shared["cell"] = training.build_cell(settings.cell, settings.units)
    encoder = models.Encoder(
        sizes[0],
        embedding_dim=widths[0],
        pad_id=source.pad_id,
        **settings.pick("bidirectional", "lexical"),
        **shared,
    )
    decoder = models.Decoder(
        sizes[1],
        embedding_dim=widths[1],
        attention=settings.attention,
        tie_embeddings=True,
        lexicon=models.Lexicon(*sizes) if settings.lexicon else None,
        **shared,
    )
    model = models.Translator(encoder, decoder)
    for part, matrix in zip((encoder, decoder), vectors, strict=True):
        if matrix is not None:
            part.embedding.assign_vectors(matrix)
    return model


def build_translator(settings, model, source, target, pairs):
    """Returns the model as a pipeline, with a lexicon from the pairs."""
    words = isinstance(target, tokenizers.WordTokenizer)
    copies = words and settings.copy_unknown and settings.attention is not None
    unknown = [target.unknown_id] if target.unknown_id >= 0 else []
    search = decoding.BeamSearch(
        **settings.pick("beam_width", "length_penalty", "no_repeat_ngram"),
        max_length=settings.max_tokens,
        forbidden_ids=[] if copies else unknown,
        repeatable_ids=[target.unknown_id],
        **target.special_ids,
    )
    options = {"copy_unknown": copies}
    if (lexicon := model.decoder.lexicon) is not None and settings.shortlist:
        options["shortlist"] = models.Shortlist(lexicon, settings.shortlist)
    parts = model, source, target, search, settings.max_tokens
    translator = pipelines.TextTranslator(*parts, **options)
    translator.estimate_lexicon(pairs)
    return translator


def run(
    settings,
    load_pairs=load_pairs,
    build_tokenizers=build_tokenizers,
    build_model=build_model,
    warmup=200,
    languages=(),
):
    """Trains, evaluates and exports; other translation recipes call it."""
    with pipelines.Run(settings) as this_run:
        saved = [settings.start_from] if settings.start_from else []
        members = [pipelines.TextTranslator.open(path) for path in saved]
        pairs, dev, test = load_pairs(settings)
        settings = this_run.by_size(len(pairs), SIZES)
        pairs = data.drop_long(pairs, settings.max_words)
        if not members:
            both = build_tokenizers(settings, pairs)
            for _ in range(settings.members):
                model = build_model(settings, *both)
                members += [build_translator(settings, model, *both, pairs)]
        steps = math.ceil(len(pairs) / settings.batch_size)
        for translator in members:
            loss = translator.default_loss(settings.label_smoothing)
            translator.compile(
                training.build_optimizer(settings, steps, warmup, beta_2=0.98),
                loss,
            )
            translator.model.alignment_weight = settings.alignment_weight
        if settings.trains_on_old:  # Count each pair once.
            [translator] = members
            some = dict.fromkeys(data.sample_rows(pairs))
            translator.estimate_lexicon(list(some))
        for i, member in enumerate(members):
            this_run.fit(member, pairs, dev, member=i, average=settings.average)
        translator = pipelines.TextTranslator.ensemble(members)
        this_run.finish(translator, dev, test, languages=languages)


def with_reverse(settings, languages):
    """Returns settings with a translator of the other direction."""
    saved = settings.output / "reverse" / "translator.keras"
    unused = "start_from", "back_translate", "alignments", "oversample"
    unused = dict.fromkeys([*unused, "source_vectors", "target_vectors"])
    others = dataclasses.replace(settings, output=saved.parent, **unused)
    if saved.with_name("card.json").exists():
        print(f"Using {saved} again. To train another, delete its folder.")
        pairs, dev, _ = load_reversed(others)
        pairs = data.drop_long(pairs, others.max_words)
        training.warn_of_other_data(saved, [pairs, dev])
    else:
        print("Training the reverse translator first.")
        run(others, load_reversed, languages=languages[::-1])
    return dataclasses.replace(settings, reverse=saved)


def main():
    settings = training.read_settings({"own": Settings()}, "own", __doc__)
    if not settings.train:
        raise SystemExit("No corpus is given. Expected: --train PAIRS.tsv")
    names = data.language_names(**settings.pick("train", "source", "target"))
    if settings.back_translate and not settings.reverse:
        if settings.start_from:  # Find wrong files before the training.
            pipelines.TextTranslator.open(settings.start_from)
        settings = with_reverse(settings, names)
    run(settings, languages=names)


if __name__ == "__main__":
    main()
