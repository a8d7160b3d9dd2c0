"""Trains an English-to-Hindi translator and leaves it as a SavedModel.

    python recipes/nmt_hindi.py                        # built-in phrasebook
    python recipes/nmt_hindi.py --corpus guha          # a real corpus
    python recipes/nmt_hindi.py --preset guha          # the seed's experiment

A run leaves a SavedModel in `OUTPUT/1/`, and beside it `card.json` and two
pictures. An interrupted run resumes.
"""

import functools
import json

import keras
from corpora.phrasebook import phrasebook

from kerasrnn.data import drop_overlap
from kerasrnn.data import find_corpus
from kerasrnn.data import read_parallel_corpus
from kerasrnn.data import split_by_source
from kerasrnn.data import translation_batches
from kerasrnn.data import translation_lexicon
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.layers import BahdanauAttention
from kerasrnn.metrics import corpus_scores
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Lexicon
from kerasrnn.models import Translator
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import export_saved_model
from kerasrnn.plots import attention_grid
from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import RecipeParser
from kerasrnn.training import Stopwatch
from kerasrnn.training import TextScores
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training import TrainingFolder
from kerasrnn.training import build_cell
from kerasrnn.training import cosine_schedule
from kerasrnn.training import output_folder
from kerasrnn.training import training_settings
from kerasrnn.training import without_costs
from kerasrnn.training import write_card

# What the ablation in the README settled on. The other presets say in what
# they differ from it.
BEST = {
    "corpus": "guha",
    "dev_size": 500,
    "limit": None,
    "tokenizer": "unigram",
    "vocabulary_size": 4000,
    "strip_punctuation": True,
    "cell": "gru",
    "reset_after": True,
    "units": 256,
    "embedding_dim": 256,
    "bidirectional": True,
    "lexical": True,
    "lexicon": True,
    "attention": "multi_head",
    "placement": "after",
    "bridge": "dense",
    "tie_embeddings": True,
    "dropout": 0.3,
    "word_dropout": 0.1,
    "label_smoothing": 0.1,
    "epochs": 26,
    "batch_size": 32,
    "learning_rate": 2e-3,
}
PRESETS = {
    "best": BEST,
    "word": BEST | {"tokenizer": "word"},
    "bpe": BEST | {"tokenizer": "bpe"},
    "one-way": BEST | {"bidirectional": False},
    "no-dropout": BEST | {"dropout": 0.0, "word_dropout": 0.0},
    "no-lexical": BEST | {"lexical": False},
    "no-lexicon": BEST | {"lexicon": False},
    "phrasebook": BEST
    | {
        "corpus": "phrasebook",
        "vocabulary_size": 1000,
        "strip_punctuation": False,
        "units": 128,
        "embedding_dim": 128,
        "attention": "additive",
        "epochs": 18,
    },
    # The report of Guha: the first 100 pairs, as they are, by whole words.
    "guha": BEST
    | {
        "dev_size": 0,
        "limit": 100,
        "tokenizer": "closed",
        "strip_punctuation": False,
        "reset_after": False,
        "units": 1024,
        "bidirectional": False,
        "lexical": False,
        "lexicon": False,
        "attention": "additive with biases",
        "placement": "before",
        "bridge": "copy",
        "tie_embeddings": False,
        "dropout": 0.0,
        "word_dropout": 0.0,
        "label_smoothing": 0.0,
        "epochs": 100,
        "batch_size": 64,
        "learning_rate": 1e-3,
    },
}


def parse_args():
    parser = RecipeParser(__doc__, "nmt_hindi", PRESETS, "phrasebook")
    add = parser.add_argument
    add(
        "--corpus",
        help="phrasebook, guha, tatoeba, tourism_health, a path "
        "to a TSV, or several joined by + (the first is held out from)",
    )
    add("--attention", help="dot, scaled_dot, general, additive, multi_head")
    args = parser.settings()
    args.output = output_folder(args.output)
    return args


def load_pairs(args):
    """Returns the training and the held-out pairs."""
    first, *others = (
        phrasebook()[: args.limit]
        if name == "phrasebook"
        else read_parallel_corpus(
            find_corpus(name, args.data_dir), args.limit
        ).pairs
        for name in args.corpus.split("+")
    )
    train, dev = first, first
    if args.dev_size:
        dev_size = min(args.dev_size, max(1, len(first) // 10))
        train, dev = split_by_source(first, dev_size, args.seed)
    return sum((drop_overlap(pairs, dev) for pairs in others), train), dev


def build_tokenizer(args, texts, specials):
    if args.tokenizer == "closed":
        return WordTokenizer.train(texts, specials=specials)
    options = {"strip_punctuation": args.strip_punctuation}
    if args.tokenizer == "word":
        return WordTokenizer.train(texts, min_count=2, **options)
    return SentencePieceTokenizer.train(
        texts, args.vocabulary_size, args.tokenizer, **options
    )


def build_model(args, source_tokenizer, target_tokenizer):
    kind = {"reset_after": args.reset_after} if args.cell == "gru" else {}
    cell = build_cell(args.cell, args.units, **kind)
    attention = args.attention
    if attention == "additive with biases":
        attention = BahdanauAttention(args.units, use_bias=True)
    lexicon = None
    if args.lexicon:
        lexicon = Lexicon(
            source_tokenizer.vocabulary_size, target_tokenizer.vocabulary_size
        )
    dropouts = {"dropout": args.dropout, "word_dropout": args.word_dropout}
    return Translator(
        Encoder(
            source_tokenizer.vocabulary_size,
            cell,
            args.embedding_dim,
            bidirectional=args.bidirectional,
            lexical=args.lexical,
            pad_id=source_tokenizer.pad_id,
            **dropouts,
        ),
        Decoder(
            target_tokenizer.vocabulary_size,
            cell,
            args.embedding_dim,
            attention=attention,
            placement=args.placement,
            bridge=args.bridge,
            tie_embeddings=args.tie_embeddings,
            lexicon=lexicon,
            **dropouts,
        ),
    )


def fit(args, model, train, tokenizers, scores):
    """Trains, or goes on; leaves the last weights, returns the history."""
    data = [train, *(tokenizer.vocabulary for tokenizer in tokenizers)]
    settings = training_settings(args) | {"data": data}
    folder = TrainingFolder(args.output, settings, "val_bleu", "max", keep=1)
    batches = translation_batches(
        train, *tokenizers, args.batch_size, seed=args.seed
    )
    if folder.epochs_done() < args.epochs:
        steps = len(batches) * args.epochs
        schedule = cosine_schedule(args.learning_rate, steps, 200)
        model.compile(
            keras.optimizers.Adam(schedule, beta_2=0.98, global_clipnorm=1.0),
            TokenCrossentropy(tokenizers[1].pad_id, args.label_smoothing),
        )
        model.fit(
            **folder.resume(model, batches),
            epochs=args.epochs,
            callbacks=folder.callbacks([scores]),
        )
    model.load_weights(folder.last()[-1])
    return folder.history()


def evaluate(args, translators, sources, references):
    """Returns BLEU and chrF of each search, and the last translations."""
    results = {}
    for name, translator in translators.items():
        clock = Stopwatch()
        translations = translator.translate_all(sources)
        results[name] = score(args, translations, references) | clock.read()
        print(name, json.dumps(results[name], indent=2))
    return results, translations


def score(args, translations, references):
    """Stripped of punctuation, text is tokenized already."""
    tokenize = "none" if args.strip_punctuation else "13a"
    return corpus_scores(translations, references, tokenize)


def main():
    args = parse_args()
    clock = Stopwatch()
    keras.utils.set_random_seed(args.seed)
    train, dev = load_pairs(args)
    print(f"{len(train)} training pairs, {len(dev)} held-out pairs")
    english, hindi = zip(*train, strict=True)
    tokenizers = [
        build_tokenizer(args, english, specials=()),
        build_tokenizer(args, hindi, specials=("<s>", "</s>")),
    ]
    model = build_model(args, *tokenizers)
    if args.lexicon:
        model.decoder.lexicon.assign(*translation_lexicon(train, *tokenizers))
    ids = tokenizers[1].special_ids
    translators = {
        name: TextTranslator(model, *tokenizers, search)
        for name, search in (
            ("greedy", GreedySearch(**ids)),
            ("beam 5", BeamSearch(**ids)),
        )
    }
    sources, references = zip(*dev, strict=True)
    references = tokenizers[1].normalize_all(references)
    watch = TextScores(
        translators["greedy"].translate_all,
        sources[:200],
        references[:200],
        functools.partial(score, args),
    )
    history = fit(args, model, train, tokenizers, watch)
    scores, translations = evaluate(args, translators, sources, references)
    samples = list(zip(sources, references, translations, strict=True))[:10]
    for source, reference, translation in samples:
        print(f"\n  {source}\n  {reference}   (reference)\n  {translation}")

    best = translators["beam 5"]
    short = [text for text in sources if 4 <= len(text.split()) <= 9]
    picture = attention_grid(best.alignments((short or sources)[:4]))
    save_figure(picture, args.output / "attention.png")
    picture = training_figure(without_costs(history))
    save_figure(picture, args.output / "training.png")
    saved = export_saved_model(
        args.output / "1", best.signatures, [model, *tokenizers]
    )
    write_card(
        args.output / "card.json",
        settings=vars(args),
        pairs={"train": len(train), "dev": len(dev)},
        parameters=model.count_params(),
        scores=scores,
        samples=samples,
        history=history,
        **clock.read(),
    )
    print(f"\nThe SavedModel is in {saved}, pictures and card.json beside it.")


if __name__ == "__main__":
    main()
