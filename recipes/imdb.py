"""Trains a classifier of film reviews and leaves it as a SavedModel.

    python recipes/imdb.py                          # built-in reviews
    python recipes/imdb.py --corpus imdb            # the best model
    python recipes/imdb.py --preset lstm            # one of a report's eight
    python recipes/imdb.py --preset report          # all of them compared
    python recipes/imdb.py --preset parts           # what the best one is worth

A run leaves a SavedModel in `OUTPUT/1/`, and beside it `card.json`, the
history of the training and pictures. An interrupted run resumes.
"""

import argparse
import itertools
import json
import math
import pathlib
import zlib

import keras
import numpy as np
from corpora.generated_reviews import generated_reviews

from kerasrnn.data import LabelledTexts
from kerasrnn.data import ReviewCorpus
from kerasrnn.data import find_corpus
from kerasrnn.data import hold_out
from kerasrnn.data import labelled_batches
from kerasrnn.data import read_review_corpus
from kerasrnn.data import read_word_vectors
from kerasrnn.data import text_windows
from kerasrnn.data import train_word_vectors
from kerasrnn.models import AttentionSummary
from kerasrnn.models import DecoderSummary
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines import TextLabeller
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.pipelines import export_saved_model
from kerasrnn.plots import comparison_figure
from kerasrnn.plots import gradient_figure
from kerasrnn.plots import hidden_state_figure
from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure
from kerasrnn.plots import word_map_figure
from kerasrnn.plots import word_weight_figure
from kerasrnn.tokenizers import ReviewTokenizer
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

# The setting of a report on eight models (Wang 2025): all words, cleaned and
# without stop words, the first 100 of a review.
REPORT = {
    "corpus": "imdb",
    "limit": None,
    "dev_size": 2500,
    "special": "drop",
    "without_stop_words": True,
    "vocabulary_size": None,
    "max_length": 100,
    "vectors": None,
    "train_vectors": True,
    "pretrain_reviews": 0,
    "self_training": False,
    "cell": "rnn",
    "layers": 1,
    "bidirectional": False,
    "summary": "last",
    "attention": None,
    "units": 50,
    "embedding_dim": 100,
    "dropout": 0.5,
    "word_dropout": 0.0,
    "dtype": "float32",
    "epochs": 5,
    "batch_size": 50,
    "schedule": "constant",
    "learning_rate": 1e-3,
    "clip": 5.0,
}
MODELS = {
    "rnn": REPORT,
    "lstm": REPORT | {"cell": "lstm"},
    "gru": REPORT | {"cell": "gru"},
    "rnn2": REPORT | {"layers": 2},
    "lstm2": REPORT | {"cell": "lstm", "layers": 2},
    "gru2": REPORT | {"cell": "gru", "layers": 2},
    "encdec": REPORT | {"summary": "decoder"},
    "encdec-attention": REPORT
    | {"summary": "decoder", "attention": "additive"},
    "rhn": REPORT | {"cell": "rhn"},
    "gam-rhn": REPORT | {"cell": "gam_rhn"},
    "gam-rhn-attention": REPORT
    | {"cell": "gam_rhn", "summary": "attention", "attention": "additive"},
}
# What the report read off its curves, in per cent.
REPORTED = {
    "rnn": 65,
    "rnn2": 67,
    "gru": 85,
    "gru2": 85,
    "lstm": 83,
    "lstm2": 82.5,
    "encdec": 65,
    "encdec-attention": 85,
}
ALONE = REPORT | {
    "special": "apart",
    "without_stop_words": False,
    "vocabulary_size": 30_000,
    "max_length": 400,
    "vectors": "skip-gram",
    "cell": "gru",
    "bidirectional": True,
    "summary": "attention",
    "attention": "additive",
    "units": 128,
    "word_dropout": 0.1,
    "dtype": "mixed_bfloat16",
    "epochs": 2,
    "batch_size": 64,
    "schedule": "cosine",
}
BEST = ALONE | {"self_training": True}
ONE_WAY = ALONE | {"bidirectional": False, "units": 256}
# What `best` is made of: it without its last step, and that with one change.
PARTS = {
    "best": BEST,
    "alone": ALONE,
    "no-vectors": ALONE | {"vectors": None},
    "cbow": ALONE | {"vectors": "cbow"},
    "fixed-vectors": ALONE | {"train_vectors": False},
    "no-attention": ALONE | {"summary": "last", "attention": None},
    "pooled": ALONE | {"summary": "pooled", "attention": None},
    "short": ALONE | {"max_length": 100},
    "long": ALONE | {"max_length": 800},
    "best-gam-rhn": ALONE | {"cell": "gam_rhn"},
    "one-way": ONE_WAY,
    "pretrained": ONE_WAY | {"pretrain_reviews": 10_000},
}
COMPARISONS = {"report": MODELS, "parts": PARTS}
PRESETS = {
    **PARTS,
    **MODELS,
    "generated": ALONE
    | {
        "corpus": "generated",
        "dev_size": 400,
        "vectors": None,
        "units": 32,
        "embedding_dim": 32,
        "dtype": "float32",
        "epochs": 4,
        "batch_size": 32,
    },
    "report": REPORT,
    "parts": ALONE,
}
SENTENCE = "I highly recommend this great film , it is a must-watch !"


def parse_args(preset=None):
    parser = RecipeParser(__doc__, "imdb", PRESETS, "generated", COMPARISONS)
    add = parser.add_argument
    add(
        "--corpus",
        help="generated, imdb, or the path of an archive, a folder, a TSV or "
        "a CSV",
    )
    add(
        "--vectors",
        help="of words, to start from: skip-gram or cbow, trained on all "
        "reviews, or the path of a text file of word2vec or GloVe",
    )
    add("--folds", type=int, default=0, help="cross-validate instead")
    args = parser.settings(preset=preset)
    args.output = args.vectors_dir = output_folder(args.output)
    return args


def load_corpus(args):
    if args.corpus == "generated":
        count = args.limit or 4000
        return ReviewCorpus(generated_reviews(count, args.seed), None, [])
    path = pathlib.Path(args.corpus)
    if args.corpus == "imdb" or not path.is_dir():
        path = find_corpus(args.corpus, args.data_dir)
    return read_review_corpus(path, args.limit)


def without(held_out, texts):
    """Returns the texts that are not held out; some reviews stand twice."""
    held_out = set(held_out.texts)
    if isinstance(texts, LabelledTexts):
        pairs = zip(*texts, strict=True)
        kept = [pair for pair in pairs if pair[0] not in held_out]
        return LabelledTexts([x for x, _ in kept], [y for _, y in kept])
    return [text for text in texts if text not in held_out]


def build_tokenizer(args, texts):
    stop_words = ()
    if args.without_stop_words:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        stop_words = sorted(ENGLISH_STOP_WORDS)
    return ReviewTokenizer.train(
        texts,
        args.vocabulary_size,
        specials=("<unk>", "<pad>", "</s>"),
        special=args.special,
        stop_words=stop_words,
    )


def build_model(args, tokenizer, embedding_dim=None):
    # Units are dropped behind each layer, once.
    deep = args.layers > 1
    cell = build_cell(args.cell, args.units)
    summary = args.summary
    if summary == "attention":
        summary = AttentionSummary(args.attention, args.units)
    elif summary == "decoder":
        summary = DecoderSummary(cell, args.attention)
    model = TextClassifier(
        Encoder(
            tokenizer.vocabulary_size,
            cell,
            embedding_dim or args.embedding_dim,
            depth=args.layers,
            bidirectional=args.bidirectional,
            dropout=args.dropout if deep else 0.0,
            embedding_dropout=0.0,
            word_dropout=args.word_dropout,
            pad_id=tokenizer.pad_id,
        ),
        summary,
        dropout=0.0 if deep else args.dropout,
    )
    model.build((None, None))
    return model


def start(args, tokenizer, texts, vectors):
    """Builds a model that knows what texts without labels teach.

    That is words, a language, both or nothing, as the settings ask.
    """
    if vectors is None:
        model = build_model(args, tokenizer)
    else:
        model = build_model(args, tokenizer, vectors.shape[1])
        # The embedding multiplies by the root of its width.
        scale = vectors.std() * math.sqrt(vectors.shape[1])
        model.encoder.embedding.embeddings.assign(vectors / scale)
        model.encoder.embedding.trainable = args.train_vectors
    if args.pretrain_reviews:
        # The last ones: those without a label.
        texts = texts[-args.pretrain_reviews :]
        pretrain(args, model, tokenizer, texts, vectors)
    return model


def load_vectors(args, tokenizer, texts):
    """Returns word vectors from a file, or trained on texts and kept there.

    Or `None`, where the settings want none.
    """
    if args.vectors is None:
        return None
    path = pathlib.Path(args.vectors)
    if args.vectors in ("skip-gram", "cbow"):
        size = args.embedding_dim
        cleaning = [args.special, args.without_stop_words]
        of = fingerprint([texts, cleaning, size, args.seed])
        path = args.vectors_dir / f"{args.vectors}-{of}.txt"
        if not path.exists():
            parts = (texts[i : i + 1000] for i in range(0, len(texts), 1000))
            lines = itertools.chain.from_iterable(
                map(tokenizer.normalize_all, parts)
            )
            train_word_vectors(lines, path, size, args.vectors, args.seed)
    matrix, found = read_word_vectors(path, tokenizer.vocabulary)
    print(f"{found} of {len(matrix)} words have a vector.")
    return matrix


def checksum(vectors):
    """Tells word vectors apart: the same path may have others in it."""
    return None if vectors is None else zlib.crc32(vectors)


def pretrain(args, model, tokenizer, texts, vectors):
    """Starts the way forth of the encoder from a language model of texts."""
    encoder = model.encoder
    language = LanguageModel(
        tokenizer.vocabulary_size,
        encoder.cell,
        encoder.embedding_dim,
        depth=args.layers,
        dropout=0.1,
        batch_size=64,
    )
    language.build()
    language.embedding.set_weights(encoder.embedding.get_weights())
    settings = training_settings(args) | {"stage": "language model"}
    settings["data"] = [texts, tokenizer.vocabulary, checksum(vectors)]
    folder = TrainingFolder(args.output, settings, "loss")
    if not folder.epochs_done():
        ids = TextLanguageModel(language, tokenizer).ids(texts)
        language.compile(
            keras.optimizers.Adam(args.learning_rate, global_clipnorm=1.0),
            TokenCrossentropy(-1),
        )
        windows = text_windows(ids, 64, 50, tokenizer.end_id)
        language.fit(
            **folder.resume(language, windows), callbacks=folder.callbacks()
        )
    language.load_weights(folder.best)
    encoder.embedding.set_weights(language.embedding.get_weights())
    for own, learnt in zip(encoder.forward_rnns, language.rnns, strict=True):
        own.set_weights(learnt.get_weights())


def accuracy(labels, logits):
    """1 where both say the same; a label may be a probability."""
    return keras.ops.equal(labels > 0.5, logits > 0.0)


def fit(args, model, tokenizer, train, validation, facts):
    """Trains, or goes on; leaves the best weights, returns the history.

    The facts are what the training depends on beside the settings.
    """
    settings = training_settings(args) | facts
    folder = TrainingFolder(args.output, settings, "val_loss")
    options = {"max_length": args.max_length}
    batches = labelled_batches(
        *train, tokenizer, args.batch_size, seed=args.seed, **options
    )
    words = (min(len(x.split()), args.max_length) for x in train.texts)
    rate = args.learning_rate
    if args.schedule == "cosine":
        rate = cosine_schedule(rate, args.epochs * len(batches), 100)
    if folder.epochs_done() < args.epochs:
        model.compile(
            keras.optimizers.Adam(rate, global_clipnorm=args.clip),
            keras.losses.BinaryCrossentropy(from_logits=True),
            metrics=[accuracy],
        )
        model.fit(
            **folder.resume(model, batches),
            epochs=args.epochs,
            validation_data=labelled_batches(
                *validation, tokenizer, 4 * args.batch_size, **options
            ),
            callbacks=folder.callbacks([TrainingSpeed(sum(words))]),
        )
    model.load_weights(folder.best)
    return folder.history()


def learn(args, tokenizer, train, unlabelled, validation):
    """Trains a model, and with `self_training` another one by its answers.

    The second learns from all reviews, from those without a label what the
    first one says: a probability. Returns the (second) model, in float32 for
    processors without bfloat16, its history, and the CPU seconds of all
    training on labels and answers.
    """
    keras.config.set_dtype_policy(args.dtype)
    texts = train.texts + unlabelled
    vectors = load_vectors(args, tokenizer, texts)
    data = [train, unlabelled, validation]
    data += [tokenizer.vocabulary, checksum(vectors)]
    model = start(args, tokenizer, texts, vectors)
    facts = {"stage": "first", "data": data}
    history = fit(args, model, tokenizer, train, validation, facts)
    seconds = sum(history["cpu_seconds"])
    if args.self_training and unlabelled:
        labeller = TextLabeller(model, tokenizer, max_length=args.max_length)
        answers = labeller.probabilities(unlabelled, batch_size=256)
        train = LabelledTexts(texts, train.labels + answers.tolist())
        model = start(args, tokenizer, texts, vectors)
        facts = {"stage": "second", "data": data}
        history = fit(args, model, tokenizer, train, validation, facts)
        seconds += sum(history["cpu_seconds"])
    keras.config.set_dtype_policy("float32")
    served = build_model(args, tokenizer, model.encoder.embedding_dim)
    served.set_weights(model.get_weights())
    return served, history, seconds


def evaluate(labeller, parts):
    """Returns accuracy and cost of raw texts, through the served graph."""
    results = {}
    for name, (texts, labels) in parts.items():
        clock = Stopwatch()
        found, labels = labeller.probabilities(texts), np.array(labels)
        of_label = np.clip(np.where(labels == 1, found, 1 - found), 1e-7, 1)
        results[name] = {
            "accuracy": float(np.mean((found > 0.5) == (labels == 1))),
            "loss": float(-np.mean(np.log(of_label))),
            "reviews": len(texts),
            **clock.read(),
        }
    print(json.dumps(results, indent=2))
    return results


def draw(args, labeller, history, review):
    """Draws the training, a sentence inside the model, and a review."""
    words, states = labeller.hidden_states(SENTENCE)
    explained, weights = labeller.weights(review)
    pictures = {
        "training": training_figure(without_costs(history)),
        "hidden_states": hidden_state_figure(states, words),
        "word_map": word_map_figure(states, words),
        "words": word_weight_figure(weights[:200], explained[:200]),
    }
    for name, figure in pictures.items():
        save_figure(figure, args.output / f"{name}.png")


def train(args):
    """Trains, measures and exports one model."""
    clock = Stopwatch()
    keras.utils.set_random_seed(args.seed)
    corpus = load_corpus(args)
    if corpus.test is None:
        print("The corpus has no test part; figures are on held-out reviews.")
    dev_size = min(args.dev_size, max(1, len(corpus.train.texts) // 5))
    learnt, validation = hold_out(corpus.train, dev_size, args.seed)
    learnt = without(validation, learnt)
    unlabelled = without(validation, corpus.unlabelled)
    tokenizer = build_tokenizer(args, learnt.texts)
    model, history, seconds = learn(
        args, tokenizer, learnt, unlabelled, validation
    )
    labeller = TextLabeller(model, tokenizer, max_length=args.max_length)
    parts = {"validation": validation}
    if corpus.test is not None:
        parts["test"] = corpus.test
    scores = evaluate(labeller, parts)
    review = min(validation.texts, key=lambda text: abs(len(text) - 600))
    draw(args, labeller, history, review)
    long = max(validation.texts, key=len)
    export_saved_model(
        args.output / "1", labeller.signatures, [model, tokenizer]
    )
    write_card(
        args.output / "card.json",
        settings=training_settings(args),
        data=fingerprint(corpus),
        reviews={"train": len(learnt.texts), "validation": dev_size},
        vocabulary_size=tokenizer.vocabulary_size,
        parameters=model.count_params(),
        scores=scores,
        history=history,
        training_cpu_seconds=seconds,
        gradient_norms=labeller.gradient_norms(long).tolist(),
        **clock.read(),
    )
    print(f"\nThe model, its pictures and card.json are in {args.output}.")


def cross_validate(args):
    """Trains on all but one fold, for each fold; measures on that one.

    As in the report, the epoch of the least cost on that fold is measured.
    """
    from sklearn.model_selection import StratifiedKFold

    clock = Stopwatch()
    corpus = load_corpus(args)
    texts, labels = (np.array(x, object) for x in corpus.train)
    folds = StratifiedKFold(args.folds, shuffle=True, random_state=args.seed)
    found, seconds = [], 0.0
    for fold, (inside, outside) in enumerate(
        folds.split(texts, labels.astype(int)), 1
    ):
        keras.backend.clear_session()
        keras.utils.set_random_seed(args.seed + fold - 1)
        output = output_folder(args.output / f"fold-{fold}")
        own = argparse.Namespace(**vars(args) | {"output": output})
        learnt, held_out = (
            LabelledTexts(texts[places].tolist(), labels[places].tolist())
            for places in (inside, outside)
        )
        learnt = without(held_out, learnt)
        unlabelled = without(held_out, corpus.unlabelled)
        tokenizer = build_tokenizer(own, learnt.texts)
        model, _, cost = learn(own, tokenizer, learnt, unlabelled, held_out)
        seconds += cost
        labeller = TextLabeller(model, tokenizer, max_length=args.max_length)
        scores = evaluate(labeller, {output.name: held_out})
        found.append(scores[output.name]["accuracy"])
    mean, spread = float(np.mean(found)), float(np.std(found, ddof=1))
    print(f"accuracy {mean:.4f}, standard deviation {spread:.4f}")
    write_card(
        args.output / "folds.json",
        settings=training_settings(args),
        data=fingerprint(corpus),
        parameters=model.count_params(),
        accuracies=found,
        mean=mean,
        standard_deviation=spread,
        training_cpu_seconds=seconds,
        **clock.read(),
    )


def run(args):
    """Trains by the settings, which say whether on folds."""
    if args.folds:
        cross_validate(args)
    else:
        train(args)


def compare(args, models):
    """Trains the models that are not on disk, and compares them."""
    card_name = "folds.json" if args.folds else "card.json"
    cards, data = {}, fingerprint(load_corpus(args))
    for name in models:
        row = parse_args(name)
        row.output = output_folder(args.output / name)
        card = row.output / card_name
        facts = {"settings": training_settings(row), "data": data}
        if read_card(card, **facts) is None:
            keras.backend.clear_session()
            run(row)
        cards[name] = read_card(card, **facts)
    if args.preset == "report" and not args.folds:
        draw_report(args, cards)
    text = table(cards)
    print(text)
    (args.output / "table.md").write_text(text, encoding="utf-8")


def draw_report(args, cards):
    """Draws how each model learnt, and how far the gradient of some reaches."""
    histories = {name: cards[name]["history"] for name in REPORTED}
    for metric in ("val_accuracy", "val_loss"):
        figure = comparison_figure(histories, metric)
        save_figure(figure, args.output / f"{metric}.png")
    norms = {
        name: cards[name]["gradient_norms"]
        for name in ("rnn", "lstm", "gru", "rhn", "gam-rhn")
    }
    save_figure(gradient_figure(norms), args.output / "gradients.png")


def table(cards):
    """The models as a table in Markdown, beside what the report says."""
    lines = [
        "| model | accuracy | the report's | parameters | CPU s |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, card in cards.items():
        if "mean" in card:
            mean, spread = card["mean"], card["standard_deviation"]
            accuracy = f"{100 * mean:.1f} ± {100 * spread:.1f}"
        else:
            accuracy = f"{100 * card['scores']['validation']['accuracy']:.1f}"
        lines.append(
            f"| {name} | {accuracy} | {REPORTED.get(name, '')} "
            f"| {card['parameters']:,} | {card['training_cpu_seconds']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main():
    args = parse_args()
    if args.preset in COMPARISONS:
        compare(args, COMPARISONS[args.preset])
    else:
        run(args)


if __name__ == "__main__":
    main()
