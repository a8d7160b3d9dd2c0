"""Trains large classifiers of IMDb on a GPU, teachers of smaller ones.

    python benchmarks/reviews.py pack FOLDER --language-model LM.keras
    KERAS_BACKEND=jax python benchmarks/reviews.py fit FOLDER
    python benchmarks/reviews.py finish FOLDER --language-model LM.keras
    python recipes/studies/imdb_self_training.py --corpus imdb \
        --preset pretrained --language-model LM.keras \
        --answers FOLDER/answers.npz --epochs 1

`pack` writes the reviews as the ids of the tokenizer of a language model, such
as that of `recipes/imdb_lm.py`. `fit` needs neither them nor TensorFlow: on
another machine, with JAX and a GPU, it trains, side by side, what reads
forwards and what reads backwards:

1. language models of all reviews but those that are held out,
2. classifiers that start from them, on the labelled reviews,
3. classifiers that start from them, on all reviews: those without a label get
   the mean probability of step 2.

It writes the classifiers of step 3, and in `answers.npz` their mean
probabilities for the reviews without a label.
`finish` scores the one that reads forwards, and exports it. The last command
trains a smaller one on the answers.
"""

import argparse
import functools
import math
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "recipes"))

import keras
import language_model
import numpy as np
import packed_reviews
import treebank_ids

from kerasrnn import models
from kerasrnn import training

BACKWARDS = False, True
NAMES = "forwards", "backwards"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    pack = commands.add_parser("pack")
    fit = commands.add_parser("fit")
    finish = commands.add_parser("finish")
    for command in (pack, fit, finish):
        command.add_argument("folder", type=pathlib.Path)
    for command in (pack, finish):
        add = command.add_argument
        add("--language-model", type=pathlib.Path, required=True)
        add("--data-dir", type=pathlib.Path)
        add("--limit", type=int, help="reviews to read")
    add = fit.add_argument
    add("--units", type=int, default=1024)
    add("--embedding-dim", type=int, default=400)
    add("--dropout", type=float, default=0.2, help="of the language models")
    add("--language-epochs", type=int, default=4)
    add("--epochs", type=int, default=2, help="of the first classifiers")
    return parser.parse_args()


# JAX is imported where it is needed: `pack` and `finish` do without.
def train_languages(args, reviews):
    """Returns language models that read forwards and backwards."""
    import jax
    from jax import numpy as jnp
    from side_by_side import SideBySide

    settings = language_model.Settings(
        cell="lstm",
        micro_steps=None,
        units=args.units,
        embedding_dim=args.embedding_dim,
        dropout=args.dropout,
        recurrent_dropout=0.0,
        word_dropout=0.0,
        epochs=args.language_epochs,
        batch_size=128,
        window=70,
    )

    def windows(indices):
        ways = [
            treebank_ids.windows(
                reviews.text(indices, backwards),
                *(settings.batch_size, settings.window, reviews.end_id),
            )
            for backwards in BACKWARDS
        ]

        def steps(*ways):
            x = np.stack(ways)
            shape = 2, -1, settings.batch_size, *x.shape[2:]
            return jnp.asarray(x.reshape(shape).swapaxes(0, 1))

        return jax.tree.map(steps, *ways)

    train, held_out = windows(reviews.train), windows(reviews.held_out)
    text = reviews.text(reviews.train, False)
    counts = np.bincount(text, minlength=reviews.vocabulary_size)
    built = []
    for backwards in BACKWARDS:
        keras.utils.set_random_seed(settings.seed + backwards)
        built.append(language_model.build_model(settings, reviews))
        built[-1].output_projection.assign_frequencies(counts)
    steps = len(train[1])
    optimizer = language_model.build_optimizer(settings, steps)
    loss = training.TokenCrossentropy(-1)
    group = SideBySide(built, optimizer, loss)

    @functools.partial(jax.jit, donate_argnums=0)
    def learn(state, batches):
        def step(state, batch):
            return jax.vmap(group.step)(state, *batch)

        return jax.lax.scan(step, state, batches)

    @jax.jit
    def perplexities(state, batches):
        def cost(state, x, y):
            answer, state = group.answer(state, x)
            count = (y >= 0).sum()
            return state, (count * loss(y, answer), count)

        def step(state, batch):
            return jax.vmap(cost)(state, *batch)

        _, (costs, counts) = jax.lax.scan(step, state, batches)
        return jnp.exp(costs.sum(axis=0) / counts.sum(axis=0))

    say(f"Language models of {built[0].count_params():,} weights.")
    for epoch in range(settings.epochs):
        losses = []
        for start in range(0, steps, 100):
            part = jax.tree.map(lambda x, i=start: x[i : i + 100], train)
            group.state, loss_now = learn(group.state, part)
            losses.append(loss_now)
        found = np.array(perplexities(group.state, held_out))
        mean = np.concatenate(losses).mean(axis=0)
        say(f"  epoch {epoch + 1}: loss {mean}, perplexity {found}")
    group.assign()
    return built


def train_classifiers(reviews, languages, labels, epochs, seed):
    """Returns two trained `Classifiers`, and their answers to all reviews."""
    from review_classifiers import Classifiers

    steps = epochs * math.ceil(len(labels) / Classifiers.batch_size)
    pair = Classifiers(reviews, languages, steps, seed)
    rng = np.random.default_rng(seed)
    say(f"Classifiers of {len(labels):,} reviews.")
    for epoch in range(epochs):
        loss = pair.train_epoch(labels, rng)
        found = scores(reviews, pair.answers(reviews.held_out))
        say(f"  epoch {epoch + 1}: loss {loss}, held-out reviews: {found}")
    return pair, pair.answers(np.arange(len(reviews.ids)))


def scores(reviews, found):
    """Accuracies and losses of the two, and of their mean, in words."""
    labels = reviews.labels[-len(reviews.held_out) :]
    texts = []
    for p in np.clip([*found, found.mean(axis=0)], 1e-6, 1 - 1e-6):
        accuracy = np.mean((p > 0.5) == labels)
        loss = -np.mean(np.log(np.where(labels, p, 1 - p)))
        texts.append(f"{accuracy:.4f} / {loss:.4f}")
    return "; ".join(texts)


START = time.perf_counter()


def say(text):
    print(f"{time.perf_counter() - START:5.0f} s  {text}", flush=True)


def fit(args):
    keras.config.set_dtype_policy("mixed_bfloat16")
    reviews = packed_reviews.Reviews.read(args.folder)
    languages = train_languages(args, reviews)
    labelled, unlabelled = np.split(reviews.train, reviews.counts[:1])
    labels = reviews.labels[labelled].astype("float32")
    _, answers = train_classifiers(reviews, languages, labels, args.epochs, 13)
    labels = np.concatenate([labels, answers.mean(axis=0)[unlabelled]])
    pair, answers = train_classifiers(reviews, languages, labels, 1, 23)
    np.savez(
        args.folder / "answers.npz",
        answers=answers.mean(axis=0)[unlabelled],
        fingerprint=reviews.fingerprint,
    )
    pair.group.assign()
    for name, model in zip(NAMES, pair.group.models, strict=True):
        model.save(args.folder / f"{name}.keras")


def finish(args):
    """Scores what reads forwards as the recipe does, and exports it."""
    from kerasrnn import pipelines

    corpus, dev, tokenizer, settings = packed_reviews.read_corpus(args)
    model = keras.saving.load_model(args.folder / f"{NAMES[0]}.keras")
    given = model, tokenizer, corpus.label_names, settings.max_tokens
    labeller = models.in_float32(pipelines.TextLabeller(*given))
    task = labeller.task()
    task.calibrate(dev)
    print(task.row_scores(dev))
    labeller.save(args.folder / "labeller.keras")
    labeller.export(args.folder / "1")


def main():
    args = read_arguments()
    commands = {"pack": packed_reviews.pack, "fit": fit, "finish": finish}
    commands[args.command](args)


if __name__ == "__main__":
    main()
