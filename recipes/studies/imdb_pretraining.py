"""A classifier of reviews whose encoder is pretrained as a language model.

    python recipes/studies/imdb_pretraining.py --corpus imdb

The encoder first learns to predict each word of all reviews, those without a
label too, from the words before it and from those after it. Then the rest of
the classifier is trained, and at last both.

References:
    [Peters et al., 2018](https://aclanthology.org/N18-1202) for both
    directions, [Howard & Ruder, 2018](https://arxiv.org/abs/1801.06146).
"""

import dataclasses
import math
import pathlib
import sys

import keras
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the recipes

import classify
import imdb

from kerasrnn import data
from kerasrnn import training


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(classify.Settings):
    output: pathlib.Path = pathlib.Path("saved_models/imdb_pretraining")
    pretrain_epochs: training.Count = 2
    """Passes of the language model over all reviews."""
    pretrain_rate: training.Positive = 2e-3
    """Peak learning rate of the language model."""
    candidates: training.Count = 1024
    """Random words that each word is told apart from in pretraining."""
    frozen_epochs: training.Whole = 1
    """Passes over the labelled reviews before the encoder is trained, too."""

    def __post_init__(self):
        super().__post_init__()
        if self.depth > 1 or not self.bidirectional:
            raise ValueError(
                "To predict words both ways, the encoder must have one "
                f"bidirectional layer. Received: depth={self.depth}, "
                f"bidirectional={self.bidirectional}"
            )

    def without_effect(self):
        return super().without_effect() | {"start_from"}


OUTPUT = {"output": Settings.output}
PRESETS = {
    "generated": Settings(**vars(imdb.PRESETS["generated"]) | OUTPUT),
    "best": Settings(
        **vars(imdb.REVIEWS)
        | OUTPUT
        | {"dtype": "auto", "units": 256, "embedding_dim": 200}
    ),
    "own": Settings(),
}
# Settings that do not change the language model.
LATER = {
    *("summary", "attention", "dropout", "frozen_epochs"),
    *("schedule", "learning_rate", "clip"),
}


class BidirectionalLanguageModel(keras.Model):
    """Trains an encoder to predict words from the context on either side.

        p(w_t | w_1 ... w_t-1) = softmax(E F h_t-1 + b)     forwards
        p(w_t | w_t+1 ... w_n) = softmax(E G g_t+1 + b)     backwards

    `h` and `g` are the outputs of the two directions, `E` the embeddings of
    the encoder, `F` and `G` matrices. The loss is the mean over both
    directions of the sampled softmax of Jean et al. 2015: each word is told
    apart from some random ones, drawn by their rank, not from all.

    Args:
        encoder: A built bidirectional `Encoder` of one layer, whose
            vocabulary is sorted by frequency.
        candidates: Positive integer, the number of random words.

    Reference:
        [Jean et al., 2015](https://aclanthology.org/P15-1001).
    """

    def __init__(self, encoder, candidates):
        super().__init__()
        self.encoder, self.candidates = encoder, candidates
        self.projections = [
            keras.layers.Dense(encoder.embedding_dim, use_bias=False)
            for _ in range(2)
        ]
        for projection in self.projections:
            projection.build((None, encoder.cell.output_size))
        self.bias = self.add_weight(
            shape=(encoder.vocabulary_size,), initializer="zeros", name="bias"
        )
        self.built = True

    def call(self, ids, training=False):
        """Returns the words to predict, and what is known of each."""
        memory, mask, _ = self.encoder(ids, training=training)
        real = mask[:, 1:]  # pairs of neighbours, without padding
        before, after = (
            tf.boolean_mask(x, real) for x in (ids[:, :-1], ids[:, 1:])
        )
        forwards, backwards = tf.split(memory, 2, axis=-1)
        forwards = tf.boolean_mask(forwards[:, :-1], real)
        backwards = tf.boolean_mask(backwards[:, 1:], real)
        project_forwards, project_backwards = self.projections
        known = project_forwards(forwards), project_backwards(backwards)
        return tf.concat([after, before], 0), tf.concat(known, 0)

    def compute_loss(self, x, y, y_pred, sample_weight=None, training=True):
        words, known = y_pred
        losses = tf.nn.sampled_softmax_loss(
            tf.convert_to_tensor(self.encoder.embedding.embeddings),
            tf.convert_to_tensor(self.bias),
            labels=words[:, None],
            inputs=tf.cast(known, tf.float32),
            num_sampled=min(self.candidates, self.encoder.vocabulary_size),
            num_classes=self.encoder.vocabulary_size,
        )
        return tf.reduce_mean(losses)


def pretrain(settings, labeller, texts):
    """Trains the encoder of a labeller to predict the words of texts."""
    language = BidirectionalLanguageModel(
        labeller.model.encoder, settings.candidates
    )
    steps = math.ceil(len(texts) / settings.batch_size)
    steps *= settings.pretrain_epochs
    schedule = training.cosine_schedule(
        settings.pretrain_rate, steps, min(200, steps // 10)
    )
    language.compile(keras.optimizers.Adam(schedule, global_clipnorm=1.0))
    rows = data.LabelledTexts(texts, [0] * len(texts))
    facts = training.identity(settings)
    fit_stage(
        settings.output,
        {name: facts[name] for name in facts.keys() - LATER}
        | {"data": texts, "vocabulary": labeller.tokenizer.vocabulary},
        language,
        labeller.task().row_batches(rows, settings.batch_size, settings.seed),
        settings.pretrain_epochs,
    )


def train_the_rest(settings, labeller, rows):
    """Trains all of a labeller but its encoder."""
    encoder = labeller.model.encoder
    encoder.trainable = False
    labeller.compile(keras.optimizers.Adam(settings.learning_rate))
    fit_stage(
        settings.output,
        training.identity(settings)
        | {
            "data": rows,
            "vocabulary": labeller.tokenizer.vocabulary,
        },
        labeller.model,
        labeller.task().row_batches(rows, settings.batch_size, settings.seed),
        settings.frozen_epochs,
    )
    encoder.trainable = True


def fit_stage(output, facts, model, batches, epochs):
    """Trains a compiled model in a folder of its own, or resumes it."""
    # The precision that "auto" found, instead of the word.
    facts = facts | {"dtype": model.dtype_policy.name}
    folder = training.TrainingFolder(output, facts, "loss")
    folder.fit(model, batches, epochs, verbose=2)
    folder.load_best(model)


def build_labeller(settings, corpus):
    """Returns the labeller of the recipe, pretrained."""
    labeller = classify.build_labeller(settings, corpus)
    pretrain(settings, labeller, corpus.train.texts + corpus.unlabelled)
    if settings.frozen_epochs:
        train_the_rest(settings, labeller, corpus.train)
    return labeller


def main():
    settings = training.read_settings(PRESETS, imdb.preset_for, __doc__)
    classify.run(settings, build_labeller=build_labeller)


if __name__ == "__main__":
    main()
