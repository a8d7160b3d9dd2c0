"""Trains an English-to-Vietnamese translator and leaves it as a SavedModel.

    python recipes/nmt_vietnamese.py                   # built-in phrasebook
    python recipes/nmt_vietnamese.py --corpus en_vi    # a real corpus
    python recipes/nmt_vietnamese.py --preset laird    # the seed's experiment

A run leaves a SavedModel in `OUTPUT/1/`, and beside it `card.json` and its
pictures. An interrupted run goes on where it was.
"""

import functools
import json

import keras
import numpy as np
import tensorflow as tf
from corpora.vietnamese_phrasebook import vietnamese_phrasebook

from kerasrnn.data import drop_long
from kerasrnn.data import drop_overlap
from kerasrnn.data import find_corpus
from kerasrnn.data import read_parallel_files
from kerasrnn.data import read_vocabulary
from kerasrnn.data import split_by_source
from kerasrnn.data import translation_batches
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.metrics import corpus_scores
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.models import TranslatorEnsemble
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import export_saved_model
from kerasrnn.plots import attention_grid
from kerasrnn.plots import comparison_figure
from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers import join_punctuation
from kerasrnn.training import GradientNorms
from kerasrnn.training import RecipeParser
from kerasrnn.training import Stopwatch
from kerasrnn.training import TextScores
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training import TrainingFolder
from kerasrnn.training import TrainingSpeed
from kerasrnn.training import build_cell
from kerasrnn.training import cosine_schedule
from kerasrnn.training import load_average
from kerasrnn.training import output_folder
from kerasrnn.training import training_settings
from kerasrnn.training import without_costs
from kerasrnn.training import write_card

# The other presets say in what they differ from it.
BEST = {
    "corpus": "en_vi",
    "limit": None,
    "max_length": 60,
    "fixed_length": False,
    "mask_padding": True,
    "tokenizer": "unigram",
    "vocabulary_size": 8000,
    "cell": "lstm",
    "units": 384,
    "embedding_dim": 384,
    "embedding_scale": None,
    "encoder_depth": 1,
    "decoder_depth": 1,
    "bidirectional": True,
    "lexical": True,
    "factorized": False,
    "attention": "multi_head",
    "input_feeding": False,
    "tie_embeddings": True,
    "dropout": 0.2,
    "word_dropout": 0.05,
    "label_smoothing": 0.1,
    "sampling_rate": 0.0,
    "dtype": "mixed_bfloat16",
    "epochs": 6,
    "batch_size": 64,
    "schedule": "cosine",
    "learning_rate": 1.5e-3,
    "clip": 1.0,
    "average": 3,
}
# The public recipe of Luong, Brevdo and Zhao 2017 for this corpus: scaled
# general attention, whose scale is within its weights here. Their loss is
# summed over the tokens of a sentence, 27 on average: a rate of 1 and a norm
# of 5 there are 27 times and a 27th here.
LUONG = BEST | {
    "max_length": 50,
    "tokenizer": "closed",
    "units": 512,
    "embedding_dim": 512,
    "embedding_scale": 1.0,
    "lexical": False,
    "decoder_depth": 2,
    "attention": "general",
    "input_feeding": True,
    "tie_embeddings": False,
    "dropout": 0.2,
    "word_dropout": 0.0,
    "label_smoothing": 0.0,
    "epochs": 12,
    "batch_size": 128,
    "schedule": "luong",
    "learning_rate": 27.0,
    "clip": 5 / 27,
    "average": 0,
}
# The note of Laird: sentences of up to 30 words, read from the last to the
# first, and padded in front.
LAIRD = LUONG | {
    "max_length": 30,
    "fixed_length": True,
    "embedding_dim": 256,
    "encoder_depth": 4,
    "decoder_depth": 4,
    "bidirectional": False,
    "factorized": True,
    "attention": "dot",
    "input_feeding": False,
    "epochs": 50,
    "batch_size": 124,
    "schedule": "laird",
    "learning_rate": 1.0,
    "clip": 5.0,
}
# Their schedules take twelve epochs and more. They begin wildly, here as in
# published logs: a loss of 10 to 12 over the first 100 batches. With this one
# models are compared after an hour.
HOUR = {
    "embedding_scale": None,
    "schedule": "cosine",
    "learning_rate": 1e-3,
    "clip": 1.0,
}
PRESETS = {
    "best": BEST,
    "no-smoothing": BEST | {"label_smoothing": 0.0},
    "scheduled-sampling": BEST | {"sampling_rate": 0.1},
    "word": BEST | {"tokenizer": "closed"},
    "laird": LAIRD,
    "sutskever": LAIRD | {"attention": None},
    "luong": LUONG,
    # Equally many words of Vietnamese to learn from, 3.8 and 3.5 million.
    "laird-hour": LAIRD | HOUR | {"epochs": 4},
    "laird-unmasked": LAIRD | HOUR | {"epochs": 4, "mask_padding": False},
    "luong-hour": LUONG | HOUR | {"epochs": 2},
    "gam-rhn": LUONG
    | HOUR
    | {
        "cell": "gam_rhn",
        "units": 384,
        "decoder_depth": 1,
        # General attention came to look at one word, whatever was said.
        "attention": "multi_head",
        "input_feeding": False,
        "epochs": 2,
    },
    "phrasebook": BEST
    | {
        "corpus": "phrasebook",
        "vocabulary_size": 1000,
        "units": 128,
        "embedding_dim": 128,
        "dtype": "float32",
        "epochs": 12,
        "batch_size": 32,
        "learning_rate": 2e-3,
    },
}
# The sentence that the note of Laird looks at.
SENTENCE = (
    "The answer to the ultimate question of life , the universe and everything"
)


def parse_args():
    parser = RecipeParser(__doc__, "nmt_vietnamese", PRESETS, "phrasebook")
    add = parser.add_argument
    add(
        "--corpus",
        help="phrasebook, en_vi, or the path of a file NAME.en beside NAME.vi",
    )
    add("--attention", help="dot, scaled_dot, general, additive, multi_head")
    args = parser.settings()
    args.output = output_folder(args.output)
    return args


def load_pairs(args):
    """Returns the training and the validation pairs, and the vocabularies.

    The validation pairs are those of tst2012 where it lies beside the corpus,
    and else held out of it. What is in tst2012 or tst2013 is not learnt.
    """
    if args.corpus == "phrasebook":
        pairs, folder = vietnamese_phrasebook()[: args.limit], None
    else:
        path = find_corpus(args.corpus, args.data_dir)
        pairs, _ = read_parallel_files(
            path, path.with_suffix(".vi"), args.limit
        )
        folder = path.parent
    vocabularies = None
    if args.tokenizer == "closed":
        if folder is None:
            raise ValueError(
                f"The preset {args.preset} needs the vocabularies of a corpus "
                "in files. Expected: --corpus en_vi, or a file with vocab.en "
                f"and vocab.vi beside it. Received: --corpus {args.corpus}"
            )
        vocabularies = [
            read_vocabulary(folder / f"vocab.{language}")
            for language in ("en", "vi")
        ]
    if folder is not None and (folder / "tst2012.en").exists():
        dev = read_part(folder, "tst2012")
        train = drop_overlap(pairs, dev)
        if (folder / "tst2013.en").exists():
            train = drop_overlap(train, read_part(folder, "tst2013"))
        dev = dev[: args.limit]
    else:
        dev_size = max(1, min(300, len(pairs) // 10))
        train, dev = split_by_source(pairs, dev_size, args.seed)
    short = drop_long(train, args.max_length)
    if not short:
        raise ValueError(
            "No pair is left to learn from. Expected: one of at most "
            f"{args.max_length} words a side whose source is not held out. "
            f"Received: {len(pairs)} pairs, {len(train)} of them not held out"
        )
    return short, dev, vocabularies


def read_part(folder, name):
    """Returns the pairs of one part of the corpus."""
    pairs, _ = read_parallel_files(folder / f"{name}.en", folder / f"{name}.vi")
    return pairs


def build_tokenizers(args, train, vocabularies):
    options = {"lowercase": False, "separate_punctuation": True}
    if vocabularies is not None:
        english, vietnamese = vocabularies
        if not args.mask_padding:
            # Padding that is read is a word of its own.
            english = [*english, "<pad>"]
        return [
            WordTokenizer(tokens, **options) for tokens in (english, vietnamese)
        ]
    return [
        SentencePieceTokenizer.train(texts, args.vocabulary_size, **options)
        for texts in zip(*train, strict=True)
    ]


def build_model(args, source_tokenizer, target_tokenizer):
    cell = build_cell(args.cell, args.units)
    shared = {
        "factorized": args.factorized,
        "dropout": args.dropout,
        "word_dropout": args.word_dropout,
        "embedding_scale": args.embedding_scale,
    }
    same = not args.bidirectional and args.encoder_depth == args.decoder_depth
    return Translator(
        Encoder(
            source_tokenizer.vocabulary_size,
            cell,
            args.embedding_dim,
            depth=args.encoder_depth,
            bidirectional=args.bidirectional,
            go_backwards=not args.bidirectional,
            mask_padding=args.mask_padding,
            lexical=args.lexical,
            pad_id=source_tokenizer.pad_id,
            **shared,
        ),
        Decoder(
            target_tokenizer.vocabulary_size,
            cell,
            args.embedding_dim,
            depth=args.decoder_depth,
            attention=args.attention,
            input_feeding=args.input_feeding,
            bridge="copy" if same else "dense",
            tie_embeddings=args.tie_embeddings,
            **shared,
        ),
        args.sampling_rate,
    )


def build_optimizer(args, epoch_steps):
    steps, peak = args.epochs * epoch_steps, args.learning_rate
    if args.schedule == "cosine":
        return keras.optimizers.Adam(
            cosine_schedule(peak, steps, 400),
            beta_2=0.98,
            global_clipnorm=args.clip,
        )
    if args.schedule == "luong":
        # Halved each 12th of the training, from two thirds of it on.
        boundaries = [i * steps // 12 for i in (8, 9, 10, 11)]
        rates = [peak * 0.5**i for i in range(5)]
    else:
        # By 0.75 each 5 epochs behind the first 10, down to a 400th.
        boundaries = [epoch_steps * (10 + 5 * i) for i in range(21)]
        rates = [peak * max(0.75**i, 0.0025) for i in range(22)]
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay(
        boundaries, rates
    )
    return keras.optimizers.SGD(schedule, global_clipnorm=args.clip)


def decoder_gradients(model, inputs, labels):
    """Returns a function that measures the layers of the decoder.

    It returns the norm of the gradient of each layer, for one batch.
    """
    cell = model.decoder.rnn.cell.cell
    layers = {
        f"layer {i}": layer.trainable_variables
        for i, layer in enumerate(getattr(cell, "cells", [cell]), 1)
    }

    @tf.function
    def norms():
        with tf.GradientTape() as tape:
            loss = model.loss(labels, model(inputs, training=False))
        values = {
            name: [variable.value for variable in variables]
            for name, variables in layers.items()
        }
        gradients = tape.gradient(loss, values)
        return {name: tf.linalg.global_norm(g) for name, g in gradients.items()}

    return lambda: {name: float(norm) for name, norm in norms().items()}


def fit(args, model, tokenizers, train, dev, watch):
    """Trains, or goes on; returns what training left on disk."""
    data = [train, dev, *(tokenizer.vocabulary for tokenizer in tokenizers)]
    settings = training_settings(args) | {"data": data}
    folder = TrainingFolder(
        args.output, settings, "val_bleu", "max", args.average
    )
    # A word may be several subwords.
    most = args.max_length if args.fixed_length else 2 * args.max_length
    lengths = {"max_length": most, "fixed_length": args.fixed_length}
    batches = translation_batches(
        train, *tokenizers, args.batch_size, seed=args.seed, **lengths
    )
    validation = translation_batches(
        dev, *tokenizers, args.batch_size, **lengths
    )
    model.compile(
        build_optimizer(args, len(batches)),
        TokenCrossentropy(tokenizers[1].pad_id, args.label_smoothing),
    )
    texts = [text for _, text in train]
    ids = tokenizers[1].tokenize(texts).flat_values
    norms = GradientNorms(
        decoder_gradients(model, *next(iter(validation))),
        folder.path / "gradients.csv",
    )
    callbacks = [TrainingSpeed(len(ids) + len(texts)), watch, norms]
    if folder.epochs_done() < args.epochs:
        model.fit(
            **folder.resume(model, batches),
            epochs=args.epochs,
            validation_data=validation,
            callbacks=folder.callbacks(callbacks),
        )
    return folder, norms.history()


def final_models(args, tokenizers, folder):
    """Returns the model to serve, and an ensemble of the last epochs.

    Both are in float32: processors without bfloat16 are to serve them too.
    """
    keras.config.set_dtype_policy("float32")
    model = build_model(args, *tokenizers)
    if not args.average:
        model.load_weights(folder.best)
        return model, None
    load_average(model, folder.last())
    members = []
    for path in folder.last():
        members.append(build_model(args, *tokenizers))
        members[-1].load_weights(path)
    return model, TranslatorEnsemble(members)


def build_translators(args, tokenizers, model):
    """Returns a translator for each search, by its name."""
    ids = tokenizers[1].special_ids
    # At 1, a beam of 10 says 6 % too little; chosen on tst2012.
    beam = BeamSearch(**ids, max_length=150, beam_width=10, length_penalty=1.4)
    # What is masked may be of any length, however the model was trained.
    fixed = args.fixed_length and not args.mask_padding
    length = args.max_length if fixed else 150
    return {
        name: TextTranslator(model, *tokenizers, search, length, fixed)
        for name, search in {
            "greedy": GreedySearch(**ids, max_length=150),
            "beam 10": beam,
        }.items()
    }


def score(tokenizer, translations, references):
    """BLEU of tokenized text, as the papers on this corpus have it.

    Punctuation is set apart in both: a translation is plain text, and a
    reference may be. What a model says in place of a word that it does not
    know is one token, and no word.
    """
    translations = [text.replace("<unk>", "\ufffd") for text in translations]
    both = [tokenizer.normalize_all(x) for x in (translations, references)]
    words = [sum(len(text.split()) for text in texts) for texts in both]
    ratio = {"length_ratio": words[0] / max(1, words[1])}
    return corpus_scores(*both, "none") | ratio


def evaluate(tokenizer, translators, pairs):
    """Returns BLEU, chrF and cost by search, and the last translations.

    `plain_text` are the scores of text as it is served and read.
    """
    sources, references = zip(*pairs, strict=True)
    plain = [text.decode() for text in join_punctuation(references).numpy()]
    results = {}
    for name, translator in translators.items():
        clock = Stopwatch()
        translations = translator.translate_all(sources)
        results[name] = score(tokenizer, translations, references)
        results[name] |= clock.read()
        results[name]["plain_text"] = corpus_scores(translations, plain)
        print(name, json.dumps(results[name], indent=2))
    samples = list(zip(sources, references, translations, strict=True))[:10]
    return results, samples


def look_at_padding(translator):
    """Returns the attention to a sentence and its padding, as one panel."""
    longer = f"{SENTENCE} {SENTENCE}"  # so that there is padding in any model
    found = translator.attend(tf.constant([SENTENCE, longer]))
    source, target, weights = (
        found[name].numpy()[0]
        for name in ("source_tokens", "target_tokens", "weights")
    )
    source = [token.decode() or "<pad>" for token in source]
    target = [token.decode() for token in target if token]
    return weights[: len(target)], source, target


def draw(args, translator, history, norms, sources):
    """Draws training, gradients and attention; returns the weight on padding.

    It is what of the weights of a sentence's translation is on padding, on
    average.
    """
    pictures = {"training": training_figure(without_costs(history))}
    if norms:
        steps = norms.pop("step")
        pictures["gradients"] = comparison_figure(
            {
                name: {"step": steps, "norm": values}
                for name, values in norms.items()
            },
            "norm",
            x="step",
            label="norm of the gradient",
            x_label="batches",
        )
    lost = None
    if args.attention is not None:
        short = [text for text in sources if 4 <= len(text.split()) <= 12]
        sentences = [SENTENCE, *(short or sources)[:3]]
        pictures["attention"] = attention_grid(translator.alignments(sentences))
        weights, source, target = look_at_padding(translator)
        pictures["attention_and_padding"] = attention_grid(
            [(weights, source, target)], columns=1
        )
        is_padding = np.array([token == "<pad>" for token in source])
        lost = float(weights[:, is_padding].sum(axis=1).mean())
        print(f"attention weight on padding: {lost}")
    for name, figure in pictures.items():
        save_figure(figure, args.output / f"{name}.png")
    return lost


def main():
    args = parse_args()
    clock = Stopwatch()
    keras.utils.set_random_seed(args.seed)
    train, dev, vocabularies = load_pairs(args)
    print(f"{len(train)} training pairs, {len(dev)} validation pairs")
    tokenizers = build_tokenizers(args, train, vocabularies)
    keras.config.set_dtype_policy(args.dtype)
    model = build_model(args, *tokenizers)
    sources, references = zip(*dev, strict=True)
    greedy = build_translators(args, tokenizers, model)["greedy"]
    watch = TextScores(
        greedy.translate_all,
        sources[:200],
        references[:200],
        functools.partial(score, tokenizers[1]),
    )
    folder, norms = fit(args, model, tokenizers, train, dev, watch)
    model, ensemble = final_models(args, tokenizers, folder)
    translators = build_translators(args, tokenizers, model)
    scores, samples = evaluate(tokenizers[1], translators, dev)
    for source, reference, translation in samples:
        print(f"\n  {source}\n  {reference}   (reference)\n  {translation}")
    if ensemble is not None:
        name = "beam 10, ensemble of epochs"
        of_many = build_translators(args, tokenizers, ensemble)["beam 10"]
        scores |= evaluate(tokenizers[1], {name: of_many}, dev)[0]
    best = translators["beam 10"]
    lost = draw(args, best, folder.history(), norms, sources)
    saved = export_saved_model(
        args.output / "1", best.signatures, [model, *tokenizers]
    )
    write_card(
        args.output / "card.json",
        settings=vars(args),
        pairs={"train": len(train), "validation": len(dev)},
        parameters=model.count_params(),
        scores=scores,
        attention_on_padding=lost,
        samples=samples,
        history=folder.history(),
        **clock.read(),
    )
    print(f"\nThe SavedModel is in {saved}, pictures and card.json beside it.")


if __name__ == "__main__":
    main()
