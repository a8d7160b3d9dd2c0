"""Trains a language model and leaves it as a SavedModel.

    python recipes/ptb_lm.py                      # built-in sentences
    python recipes/ptb_lm.py --corpus ptb         # the Penn Treebank
    python recipes/ptb_lm.py --corpus my.txt      # any text, a line a sentence
    python recipes/ptb_lm.py --preset table       # seven models compared

A run leaves a SavedModel in `OUTPUT/1/`, and beside it `card.json`, the
history of the training and pictures. An interrupted run resumes.
"""

import collections
import json
import math
import random
import re

import keras
import numpy as np
from corpora.phrasebook import phrasebook

from kerasrnn.data import TextCorpus
from kerasrnn.data import find_corpus
from kerasrnn.data import length_table
from kerasrnn.data import read_tagged_words
from kerasrnn.data import read_text_corpus
from kerasrnn.data import text_windows
from kerasrnn.data import warn_of_unseen
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.metrics import BitsPerCharacter
from kerasrnn.metrics import Perplexity
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.models import DynamicEvaluation
from kerasrnn.models import LanguageModel
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.pipelines import export_saved_model
from kerasrnn.plots import comparison_figure
from kerasrnn.plots import frequency_figure
from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import RecipeParser
from kerasrnn.training import Stopwatch
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training import TrainingFolder
from kerasrnn.training import TrainingSpeed
from kerasrnn.training import build_cell
from kerasrnn.training import cosine_schedule
from kerasrnn.training import fingerprint
from kerasrnn.training import output_folder
from kerasrnn.training import read_card
from kerasrnn.training import training_settings
from kerasrnn.training import without_costs
from kerasrnn.training import write_card

# What the README says of it was measured with these; the other presets say
# in what they differ.
BEST = {
    "corpus": "ptb",
    "limit": None,
    "tokens": "words",
    "vocabulary_size": 10_000,
    "cell": "rhn",
    "units": 348,
    "depth": 5,
    "layers": 1,
    "attention": None,
    "embedding_dim": None,
    "uniform": None,
    "tie_embeddings": True,
    "dropout": 0.3,
    "recurrent_dropout": 0.2,
    "word_dropout": 0.1,
    "dtype": "mixed_bfloat16",
    "epochs": 12,
    "batch_size": 20,
    "window": 35,
    "optimizer": "adam",
    "learning_rate": 2e-3,
    "decay": None,
    "weight_decay": 0.0,
    "clip": 1.0,
    "average": 0.998,
    "dynamic": True,
}
# Five million weights each, and as many tokens to learn from. What attention
# adds in weights, the cell around it gives up in units.
ROW = BEST | {
    "dropout": 0.2,
    "word_dropout": 0.05,
    "dtype": "float32",
    "epochs": 3,
    "average": None,
    "dynamic": False,
}
GAM_RHN = ROW | {"cell": "gam_rhn", "depth": 2}
ROWS = {
    "lstm": ROW | {"cell": "lstm", "layers": 2, "units": 324, "depth": None},
    "rhn": ROW,
    "gam-rhn": GAM_RHN | {"units": 300},
    "gam-rhn-dot": GAM_RHN | {"units": 292, "attention": "dot"},
    "gam-rhn-additive": GAM_RHN | {"units": 284, "attention": "additive"},
    "gam-rhn-scaled-dot": GAM_RHN | {"units": 292, "attention": "scaled_dot"},
    "gam-rhn-multi-head": GAM_RHN | {"units": 276, "attention": "multi_head"},
}
# Which rows to train more than once, to see how far a seed goes.
SPREAD = ("rhn", "gam-rhn")
PRESETS = {
    "best": BEST,
    "phrasebook": BEST
    | {
        "corpus": "phrasebook",
        "units": 128,
        "depth": 3,
        "dtype": "float32",
        "epochs": 5,
        "window": 20,
        "average": None,
    },
    **{f"{name}-5m": settings for name, settings in ROWS.items()},
    "table": ROW,
    # Zilly et al. 2017. Their loss is summed over the 35 steps of a window:
    # a rate of 0.2 and a norm of 10 there are 35 times and a 35th here.
    "rhn": BEST
    | {
        "units": 830,
        "depth": 10,
        "uniform": 0.04,
        "dropout": 0.75,
        "recurrent_dropout": 0.25,
        "word_dropout": 0.25,
        "dtype": "float32",
        "epochs": 500,
        "optimizer": "sgd",
        "learning_rate": 7.0,
        "decay": (1.02, 20),
        "weight_decay": 1e-7 / 35,
        "clip": 10 / 35,
        "average": None,
    },
    # Luo & Yu 2019. Their gradients are clipped by value, and their dropout
    # is drawn anew at each step.
    "gam-rhn-char": BEST
    | {
        "tokens": "characters",
        "cell": "gam_rhn",
        "units": 600,
        "embedding_dim": 150,
        "uniform": 1.0,
        "tie_embeddings": False,
        "dropout": 0.3,
        "recurrent_dropout": 0.3,
        "word_dropout": 0.0,
        "dtype": "float32",
        "epochs": 100,
        "batch_size": 128,
        "window": 100,
        "learning_rate": 4e-4,
        "average": None,
    },
}


def parse_args(preset=None):
    comparisons = {"table": [f"{name}-5m" for name in ROWS]}
    parser = RecipeParser(__doc__, "ptb_lm", PRESETS, "phrasebook", comparisons)
    add = parser.add_argument
    add("--corpus", help="phrasebook, ptb, or the path of a text")
    add(
        "--attention",
        help="to the model's own past: dot, scaled_dot, general, additive, "
        "multi_head",
    )
    args = parser.settings(preset=preset)
    args.output = output_folder(args.output)
    return args


def load_corpus(args):
    if args.corpus != "phrasebook":
        return read_text_corpus(
            find_corpus(args.corpus, args.data_dir), args.limit
        )
    # As in the treebank, a punctuation mark is a word.
    lines = sorted(
        {re.sub(r"([.,?!])", r" \1", english) for english, _ in phrasebook()}
    )
    random.Random(args.seed).shuffle(lines)
    lines = lines[: args.limit]
    held_out = max(1, len(lines) // 10)
    return TextCorpus(lines[held_out:], lines[:held_out], None)


def build_tokenizer(args, lines):
    by_words = args.tokens == "words"
    tokenizer = WordTokenizer if by_words else CharacterTokenizer
    return tokenizer.train(
        lines,
        args.vocabulary_size,
        specials=("</s>", "<unk>"),  # `text_windows` starts from id 0
        lowercase=False,
    )


def build_model(args, tokenizer):
    cell = build_cell(
        args.cell,
        args.units,
        args.depth,
        recurrent_dropout=args.recurrent_dropout,
    )
    if args.attention is not None:
        cell = SelfAttentionCell(cell, args.attention, window=32)
    uniform = {}
    if args.uniform is not None:
        uniform["embedding_scale"] = 1.0
        uniform["embeddings_initializer"] = keras.initializers.RandomUniform(
            -args.uniform, args.uniform
        )
    model = LanguageModel(
        tokenizer.vocabulary_size,
        cell,
        args.embedding_dim,
        depth=args.layers,
        tie_embeddings=args.tie_embeddings,
        dropout=args.dropout,
        word_dropout=args.word_dropout,
        batch_size=args.batch_size,
        **uniform,
    )
    model.build()
    return model


def metrics(args):
    """Labels are -1 where a text has ended."""
    cost = Perplexity if args.tokens == "words" else BitsPerCharacter
    return [cost(-1), TokenAccuracy(-1)]


def build_optimizer(args, steps):
    options = {
        "global_clipnorm": args.clip,
        "use_ema": args.average is not None,
    }
    if args.average is not None:
        options["ema_momentum"] = args.average
    if args.optimizer == "sgd":
        return keras.optimizers.SGD(
            args.learning_rate, weight_decay=args.weight_decay, **options
        )
    schedule = cosine_schedule(args.learning_rate, steps, 200)
    return keras.optimizers.Adam(schedule, **options)


def fit(args, model, train, validation):
    """Trains, or goes on; leaves the best weights, returns the history."""
    folder = TrainingFolder(
        args.output,
        training_settings(args)
        | {"data": [train.tolist(), validation.tolist()]},
        f"val_{metrics(args)[0].name}",
    )
    windows = text_windows(train, args.batch_size, args.window).prefetch(2)
    callbacks = [TrainingSpeed(len(train))]
    if args.decay is not None:
        rate, first = args.decay
        callbacks.append(
            keras.callbacks.LearningRateScheduler(
                lambda epoch: (
                    args.learning_rate / rate ** max(epoch - first + 1, 0)
                )
            )
        )
    if args.average is not None:
        callbacks.append(keras.callbacks.SwapEMAWeights(swap_on_epoch=True))
    if folder.epochs_done() < args.epochs:
        model.compile(
            build_optimizer(args, len(windows) * args.epochs),
            TokenCrossentropy(-1),
            metrics=metrics(args),
        )
        model.fit(
            **folder.resume(model, windows),
            epochs=args.epochs,
            validation_data=text_windows(
                validation, args.batch_size, args.window
            ),
            callbacks=folder.callbacks(callbacks),
        )
    model.load_weights(folder.best)
    return folder.history()


def in_float32(args, tokenizer, model):
    """Returns a copy that a processor without bfloat16 can serve."""
    keras.config.set_dtype_policy("float32")
    copy = build_model(args, tokenizer)
    copy.set_weights(model.get_weights())
    return copy


def evaluate(args, model, texts):
    """Measures each text as one row from its beginning to its end."""
    results = {}
    single = model.with_batch_size(1)
    for name, ids in texts.items():
        clock = Stopwatch()
        single.compile(loss=TokenCrossentropy(-1), metrics=metrics(args))
        found = single.evaluate(
            text_windows(ids, 1, 512), return_dict=True, verbose=0
        )
        results[name] = {**found, "tokens": len(ids), **clock.read()}
        if args.dynamic:
            dynamic = DynamicEvaluation(model.with_batch_size(1))
            dynamic.compile(
                keras.optimizers.SGD(0.1, global_clipnorm=0.25),
                TokenCrossentropy(-1),
                metrics=metrics(args),
            )
            learnt = dynamic.fit(
                text_windows(ids, 1, 20), shuffle=False, verbose=0
            ).history
            results[f"{name}, dynamic"] = {k: v[-1] for k, v in learnt.items()}
    print(json.dumps(results, indent=2))
    return results


def report_corpus(args, corpus):
    """Draws word and tag frequencies; returns the lengths of sentences."""
    words = collections.Counter(" ".join(corpus.train).split())
    figure = frequency_figure(words, f"words of {args.corpus}")
    save_figure(figure, args.output / "words.png")
    try:
        tagged = read_tagged_words(find_corpus("wsj_pos", args.data_dir))
    except FileNotFoundError as error:
        print(f"No picture of parts of speech. {error}")
    else:
        tags = collections.Counter(
            tag for sentence in tagged for _, tag in sentence
        )
        figure = frequency_figure(tags, "parts of speech, wsj_pos")
        save_figure(figure, args.output / "parts_of_speech.png")
    lengths = length_table(corpus)
    print(json.dumps(lengths, indent=2))
    return lengths


def train(args):
    """Trains, measures and exports one model; returns what the card says."""
    clock = Stopwatch()
    keras.utils.set_random_seed(args.seed)
    corpus = load_corpus(args)
    lengths = report_corpus(args, corpus)
    if corpus.test is None:
        print("The corpus has no test part; figures are on validation alone.")
    tokenizer = build_tokenizer(args, corpus.train)
    keras.config.set_dtype_policy(args.dtype)
    model = build_model(args, tokenizer)
    texts = {}
    for name, lines in corpus._asdict().items():
        if lines is not None:
            warn_of_unseen(lines, tokenizer, name)
            texts[name] = TextLanguageModel(model, tokenizer).ids(lines)
    history = fit(args, model, texts["train"], texts["validation"])
    model = in_float32(args, tokenizer, model)
    figure = training_figure(without_costs(history))
    save_figure(figure, args.output / "training.png")
    del texts["train"]
    scores = evaluate(args, model, texts)
    facts = {
        "settings": training_settings(args),
        "data": fingerprint(corpus),
        "lengths": lengths,
        "parameters": sum(
            math.prod(weight.shape) for weight in model.trainable_variables
        ),
        "scores": scores,
        "history": history,
    }
    model.save(args.output / "model.keras")
    if keras.backend.backend() == "tensorflow":
        language = TextLanguageModel(model, tokenizer)
        facts["samples"] = [
            language.write([""], seed, temperature=0.8, top_k=40)[0]
            for seed in range(args.seed, args.seed + 5)
        ]
        print(*facts["samples"], sep="\n\n")
        export_saved_model(
            args.output / "1", language.signatures, [model, tokenizer]
        )
    write_card(args.output / "card.json", **facts, **clock.read())
    print(f"\nThe model, its pictures and card.json are in {args.output}.")


def compare(args):
    """Trains the rows of the table that are not on disk, and draws it."""
    cards, data = {}, fingerprint(load_corpus(args))
    runs = [(name, args.seed) for name in ROWS]
    runs += [(name, args.seed + i) for i in (1, 2) for name in SPREAD]
    for name, seed in runs:
        row = parse_args(f"{name}-5m")
        row.seed, row.output = seed, args.output / f"{name}-{seed}"
        card = output_folder(row.output) / "card.json"
        facts = {"settings": training_settings(row), "data": data}
        if read_card(card, **facts) is None:
            keras.backend.clear_session()
            train(row)
        cards[name, seed] = read_card(card, **facts)
    histories = {name: cards[name, args.seed]["history"] for name in ROWS}
    for metric in ("loss", "val_loss", "val_token_accuracy", "val_perplexity"):
        figure = comparison_figure(histories, metric)
        save_figure(figure, args.output / f"{metric}.png")
    print(table(cards))
    (args.output / "table.md").write_text(table(cards), encoding="utf-8")


def table(cards):
    """The rows as a table in Markdown."""
    lines = [
        "| model, seed | parameters | train loss | validation perplexity "
        "| accuracy | tokens a CPU s |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for (name, seed), card in cards.items():
        found = card["scores"]["validation"]
        history = card["history"]
        speed = history["tokens"][0] / np.median(history["cpu_seconds"])
        lines.append(
            f"| {name}, {seed} | {card['parameters']:,} "
            f"| {history['loss'][-1]:.3f} | {found['perplexity']:.2f} "
            f"| {found['token_accuracy']:.3f} | {speed:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def main():
    args = parse_args()
    if args.preset == "table":
        compare(args)
    else:
        train(args)


if __name__ == "__main__":
    main()
