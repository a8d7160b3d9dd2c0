"""Scores a trained language model by the dynamic evaluation of Krause et al.

    python recipes/studies/ptb_dynamic.py saved_models/ptb_lm/language.keras

The model learns from the validation text while it is scored on it, in steps
that are scaled by its gradients on the training text: see
`kerasrnn.models.RMSDynamicEvaluation`. The file stays as it is.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

from kerasrnn import data
from kerasrnn import metrics
from kerasrnn import models
from kerasrnn import training
from studies.saved_language import new_parser
from studies.saved_language import opened

ROWS = 100  # in a batch that gradients are measured on


def read_arguments():
    parser = new_parser(__doc__)
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
    language, corpus = opened(args)
    end, loss = language.tokenizer.end_id, training.TokenCrossentropy(-1)
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
