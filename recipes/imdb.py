"""Trains and exports classifiers of film reviews: presets of `classify.py`.

    python recipes/imdb.py                           # generated film reviews
    python recipes/imdb.py --corpus imdb             # the movie review dataset
    python recipes/imdb.py --corpus imdb --preset lstm     # a report's model
    python recipes/imdb.py --corpus imdb --preset pretrained \
        --language-model saved_models/imdb_lm/language.keras    # of imdb_lm.py

All other flags are those of `classify.py`.
"""

import dataclasses
from pathlib import Path

import classify

from kerasrnn import training

OUTPUT = Path("saved_models/imdb")
REVIEWS = classify.Settings(
    corpus="imdb", output=OUTPUT, lowercase=True, clean_reviews=True
)
# Wang 2025 compares eight models: 100 words, without stop words.
RNN = dataclasses.replace(
    REVIEWS,
    special="drop",
    drop_stop_words=True,
    vocabulary_size=None,
    max_tokens=100,
    cell="rnn",
    units=50,
    bidirectional=False,
    summary="last",
    attention=None,
    word_dropout=0.0,
    epochs=5,
    batch_size=50,
    schedule="constant",
)
DECODER = dataclasses.replace(RNN, summary="decoder")
PRESETS = {
    name: dataclasses.replace(preset, output=OUTPUT)
    for name, preset in classify.PRESETS.items()
} | {
    "best": dataclasses.replace(
        REVIEWS,
        max_tokens=1600,
        vectors="skip-gram",
        ngrams=400_000,
        dtype="auto",
    ),
    # Whole reviews, tokenized as for the language model of imdb_lm.py.
    "pretrained": dataclasses.replace(
        REVIEWS,
        max_tokens=1600,
        summary="pooled",
        epochs=2,
        batch_size=64,
        learning_rate=5e-4,
        dtype="auto",
    ),
    "rnn": RNN,
    "rnn2": dataclasses.replace(RNN, depth=2),
    "lstm": dataclasses.replace(RNN, cell="lstm"),
    "lstm2": dataclasses.replace(RNN, cell="lstm", depth=2),
    "gru": dataclasses.replace(RNN, cell="gru"),
    "gru2": dataclasses.replace(RNN, cell="gru", depth=2),
    "encdec": DECODER,
    "encdec-attention": dataclasses.replace(DECODER, attention="additive"),
    "rhn": dataclasses.replace(RNN, cell="rhn"),
    "gam-rhn": dataclasses.replace(RNN, cell="gam_rhn"),
    "gam-rhn-attention": dataclasses.replace(
        RNN, cell="gam_rhn", summary="attention", attention="additive"
    ),
}


def main():
    settings = training.read_settings(PRESETS, description=__doc__)
    saved = settings.language_model or settings.start_from
    if settings.preset == "pretrained" and not saved:
        raise SystemExit(
            "The preset `pretrained` starts from a language model.\n"
            "Expected: --language-model FILE.keras, as imdb_lm.py writes it"
        )
    classify.run(settings)


if __name__ == "__main__":
    main()
