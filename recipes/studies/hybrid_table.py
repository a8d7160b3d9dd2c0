"""Compares hybrids of recurrent nets and attention on the Penn Treebank.

    python recipes/studies/hybrid_table.py --corpus ptb
    python recipes/studies/hybrid_table.py --corpus ptb --rows rhn --seeds 13

All rows have about five million parameters and the same settings of training,
those of the preset `5m`. Each is trained with each seed. Where there is
attention, the validation text is scored again with a memory twice and four
times as long as in training. All other flags are those of `recipes/ptb_lm.py`,
for all rows. What is done is not done again.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import language_model
import numpy as np
import ptb_lm

from kerasrnn import models
from kerasrnn import pipelines
from kerasrnn import training
from studies.rows import run_rows
from studies.rows import summary
from studies.rows import table_parser
from studies.rows import write_table

GAM_RHN = "--cell gam_rhn --micro-steps 2 --units 276"
# The more attention, the fewer units, for the same number of parameters.
ROWS = {
    "lstm": "--cell lstm --depth 2 --units 324",
    "rhn": "--units 348",
    "rhn-transformer": "--units 292 --attention transformer --memory 128",
    "rhn-alternating": "--units 248 --depth 2 --micro-steps 3 "
    "--attention transformer --memory 128",
    "sha-rhn": "--units 310 --attention sha --memory 128",
    "gam-rhn-32": f"{GAM_RHN} --attention multi_head --memory 32",
    "gam-rhn-128": f"{GAM_RHN} --attention multi_head --memory 128",
    "gam-rhn-scales": f"{GAM_RHN} --attention multi_scale --memory 128",
}
FACTORS = (2, 4)
# Settings of cells and attention that say how far these see.
REACH = {"memory", "window", "blocks"}


def farther(config, factor):
    """A configuration with every reach multiplied by a factor."""
    if isinstance(config, (list, tuple)):
        return [farther(value, factor) for value in config]
    if not isinstance(config, dict):
        return config
    return {
        name: factor * value
        if name in REACH and isinstance(value, int)
        else farther(value, factor)
        for name, value in config.items()
    }


def with_longer_memory(language, factor):
    """A copy of a pipeline whose attention sees `factor` times as far."""
    model = language.model.with_batch_size(None)
    longer = models.LanguageModel.from_config(
        farther(model.get_config(), factor)
    )
    longer.build()
    longer.set_weights(model.get_weights())
    return pipelines.TextLanguageModel(
        longer, language.tokenizer, language.window
    )


def gains(folder, card, flags):
    """How the perplexity changes with a longer memory, by factor."""
    path = folder / "longer_memory.json"
    found = training.read_card(path, of=card["command"])
    if found is None:
        settings = training.read_settings(
            ptb_lm.PRESETS, ptb_lm.preset_for, args=flags
        )
        lines = language_model.load_corpus(settings).validation
        language = pipelines.TextLanguageModel.open(folder / "language.keras")
        before, *after = (
            with_longer_memory(language, factor).evaluate(lines)["perplexity"]
            for factor in (1, *FACTORS)
        )
        changes = [perplexity - before for perplexity in after]
        found = training.write_card(path, of=card["command"], changes=changes)
    return found["changes"]


def row(name, cards, changes):
    speeds = [
        card["history"]["tokens"][0] / np.median(card["history"]["cpu_seconds"])
        for card in cards
    ]
    scores = [card["scores"]["dev"]["perplexity"] for card in cards]
    return [
        f"`{name}`",
        f"{cards[0]['parameters']:,}",
        summary(scores),
        f"{np.mean(speeds):,.0f}",
        *(summary(each, sign="+") for each in zip(*changes, strict=True)),
        *([] if changes else [""] * len(FACTORS)),
    ]


def main():
    parser = table_parser(__doc__, "hybrid_table")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=[*ROWS])
    parser.add_argument("--seeds", nargs="+", default=["13", "14", "15"])
    args, others = parser.parse_known_args()
    flags = {
        (name, seed): ["--preset", "5m", "--seed", seed, *ROWS[name].split()]
        for seed in args.seeds
        for name in args.rows
    }
    cards = run_rows(
        "ptb_lm.py",
        {"-".join(key): own for key, own in flags.items()},
        args.output,
        others,
    )
    table = []
    for name in args.rows:
        folders = {seed: f"{name}-{seed}" for seed in args.seeds}
        changes = [
            gains(args.output / x, cards[x], [*others, *flags[name, seed]])
            for seed, x in folders.items()
            if "--attention" in ROWS[name]
        ]
        table.append(row(name, [cards[x] for x in folders.values()], changes))
    columns = [
        *("model", "parameters", "validation perplexity", "tokens a CPU s"),
        *(f"memory × {factor}" for factor in FACTORS),
    ]
    write_table(args.output / "table.md", columns, table)


if __name__ == "__main__":
    main()
