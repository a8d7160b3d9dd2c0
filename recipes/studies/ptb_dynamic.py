"""Scores a trained language model by the dynamic evaluation of Krause et al.

    python recipes/studies/ptb_dynamic.py saved_models/ptb_lm/language.keras

The model learns from the validation text while it is scored on it, in steps
that are scaled by its gradients on the training text: see
`kerasrnn.models.RMSDynamicEvaluation`. The file stays as it is.
"""

import argparse
import json

from kerasrnn import data
from kerasrnn import metrics
from kerasrnn import models
from kerasrnn import training
from kerasrnn.pipelines import TextLanguageModel

ROWS = 100  # in a batch that gradients are measured on


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument("model", help="the language.keras of a run")
    parser.add_argument("--corpus", default="ptb", help="ptb, or a path")
    parser.add_argument("--data-dir", help="folder of the corpora")
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--decay", type=float, default=0.02)
    parser.add_argument("--epsilon", type=float, default=1e-3)
    parser.add_argument("--window", type=int, default=20)
    parser.add_argument(
        "--train-tokens", type=int, default=150_000, help="to measure on"
    )
    parser.add_argument("--tokens", type=int, help="to score; default: all")
    return parser.parse_args()


def main():
    args = read_arguments()
    language = TextLanguageModel.open(args.model)
    end, loss = language.tokenizer.end_id, training.TokenCrossentropy(-1)
    path = data.find_corpus(args.corpus, args.data_dir)
    corpus = data.read_text_corpus(path)
    train = language.ids(corpus.train)[: args.train_tokens]
    squares = models.mean_squared_gradients(
        language.model.with_batch_size(ROWS),
        data.text_windows(train, ROWS, args.window, end),
        loss,
    )
    dynamic = models.DynamicEvaluation(language.model.with_batch_size(1))
    dynamic.compile(
        models.RMSDynamicEvaluation(
            args.learning_rate, args.decay, args.epsilon, squares
        ),
        loss,
        metrics=[metrics.Perplexity(-1), metrics.TokenAccuracy(-1)],
    )
    ids = language.ids(corpus.validation)[: args.tokens]
    windows = data.text_windows(ids, 1, args.window, end)
    clock = training.Stopwatch()
    found = dynamic.fit(windows, shuffle=False, verbose=0).history
    scores = {name: found[name][0] for name in ("perplexity", "token_accuracy")}
    facts = {"tokens": len(ids), **clock.read()}
    print(json.dumps(vars(args) | scores | facts, indent=2))


if __name__ == "__main__":
    main()
