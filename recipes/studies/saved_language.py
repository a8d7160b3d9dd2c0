"""What studies of a saved language model begin with."""

import argparse

from kerasrnn import data
from kerasrnn.pipelines import TextLanguageModel


def new_parser(doc):
    """Returns a parser of a model and its corpus, with a description."""
    parser = argparse.ArgumentParser(
        description=doc.partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument("model", help="the language.keras of a run")
    parser.add_argument("--corpus", default="ptb", help="ptb, or a path")
    parser.add_argument("--data-dir", help="folder of the corpora")
    return parser


def opened(args):
    """Returns the `TextLanguageModel` and its `TextCorpus`."""
    path = data.find_corpus(args.corpus, args.data_dir)
    return TextLanguageModel.open(args.model), data.read_text_corpus(path)
