"""The reviews of IMDb as ids, for a machine without them and TensorFlow."""

from typing import NamedTuple

import numpy as np
from packed_pairs import read_arrays
from packed_pairs import smallest
from packed_pairs import write_arrays

from kerasrnn import training

FILE = "reviews.npz.xz"
# Reviews are padded to one of these lengths, since each shape is compiled.
LENGTHS = np.array([176, 256, 352, 512, 800, 1120, 1600])


def read_corpus(args):
    """The corpus, what is held out, the tokenizer, and the settings."""
    import classify
    import imdb

    from kerasrnn import pipelines

    flags = {"language-model": args.language_model, "corpus": "imdb"}
    flags |= {"data-dir": args.data_dir, "limit": args.limit}
    flags |= {"preset": "pretrained"}
    given = [[f"--{name}", str(x)] for name, x in flags.items() if x]
    settings = training.read_settings(
        imdb.PRESETS, imdb.preset_for, __doc__, sum(given, [])
    )
    language = pipelines.TextLanguageModel.open(args.language_model)
    return *classify.load_parts(settings), language.tokenizer, settings


def pack(args):
    """Writes the reviews as ids, and which of them have a label."""
    from kerasrnn import data

    corpus, dev, tokenizer, settings = read_corpus(args)
    texts = [*corpus.train.texts, *corpus.unlabelled, *dev.texts]
    ids = [*data.id_rows(texts, tokenizer)]
    args.folder.mkdir(parents=True, exist_ok=True)
    found = {
        "ids": smallest(np.concatenate(ids)),
        "lengths": smallest(np.array([len(row) for row in ids])),
        "labels": np.array([*corpus.train.labels, *dev.labels]),
        "counts": [len(x) for x in (corpus.train.texts, corpus.unlabelled)],
        "vocabulary_size": tokenizer.vocabulary_size,
        "pad_id": tokenizer.pad_id,
        "end_id": tokenizer.end_id,
        "max_tokens": settings.max_tokens,
        "fingerprint": training.fingerprint(corpus.unlabelled),
    }
    write_arrays(args.folder / FILE, found)
    words = len(found["ids"])
    print(f"{len(texts):,} reviews of {words:,} words are packed.")


class Reviews(NamedTuple):
    """Reviews as ids: the labelled ones, the others, and those held out."""

    ids: list
    labels: np.ndarray
    counts: np.ndarray
    vocabulary_size: int
    pad_id: int
    end_id: int
    max_tokens: int
    fingerprint: str

    @classmethod
    def read(cls, folder):
        facts = read_arrays(folder / FILE)
        ends = np.cumsum(facts.pop("lengths"))[:-1]
        facts["ids"] = np.split(facts["ids"], ends)
        for name in ("labels", "counts"):
            facts[name] = facts[name].astype(int)
        facts["fingerprint"] = str(facts["fingerprint"])
        sizes = cls._fields[3:-1]
        return cls(**facts | {name: int(facts[name]) for name in sizes})

    @property
    def train(self):
        """Indices of the reviews to train on: the labelled ones come first."""
        return np.arange(sum(self.counts))

    @property
    def held_out(self):
        return np.arange(sum(self.counts), len(self.ids))

    @property
    def lengths(self):
        """How many words a classifier reads of each review."""
        return np.minimum([len(row) for row in self.ids], self.max_tokens)

    def text(self, indices, backwards):
        """Reviews as one text, with an end after each."""
        end = np.array([self.end_id])
        way = slice(None, None, -1 if backwards else 1)
        rows = (x for i in indices for x in (self.ids[i][way], end))
        return np.concatenate([*rows]).astype("int32")

    def batch(self, indices):
        """The ids of reviews, forwards and backwards, and padding.

        Returns:
            Array of shape `(2, reviews, one of LENGTHS)`.
        """
        length = LENGTHS[np.searchsorted(LENGTHS, self.longest(indices))]
        found = np.full((2, len(indices), length), self.pad_id, "int32")
        for row, index in enumerate(indices):
            ids = self.ids[index][: self.max_tokens]
            found[0, row, : len(ids)] = ids
            found[1, row, : len(ids)] = ids[::-1]
        return found

    def longest(self, indices):
        longest = max(len(self.ids[i]) for i in indices)
        return min(longest, self.max_tokens)
