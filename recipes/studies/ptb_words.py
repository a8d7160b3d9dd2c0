"""Draws the frequencies of words and parts of speech in the Penn Treebank.

    python recipes/studies/ptb_words.py --data-dir DATA

It counts the words of the corpus and the tags of the sample `wsj_pos`, and
prints a table of sentence lengths.
"""

import argparse
import collections
import json
import pathlib

from kerasrnn import data
from kerasrnn import plots


def draw(items, title, path):
    figure = plots.frequency_figure(collections.Counter(items), title)
    plots.save_figure(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", default="ptb", help="ptb, or a path")
    parser.add_argument("--data-dir", help="folder of the corpora")
    parser.add_argument(
        "--output", type=pathlib.Path, default="saved_models/ptb_words"
    )
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    corpus = data.read_text_corpus(data.find_corpus(args.corpus, args.data_dir))
    words = " ".join(corpus.train).split()
    draw(words, f"words of {args.corpus}", args.output / "words.png")
    print(json.dumps(data.length_table(corpus), indent=2))
    try:
        path = data.find_corpus("wsj_pos", args.data_dir)
    except FileNotFoundError as error:
        print(f"No picture of parts of speech. {error}")
        return
    tags = [tag for line in data.read_tagged_words(path) for _, tag in line]
    name = "parts_of_speech.png"
    draw(tags, "parts of speech, wsj_pos", args.output / name)


if __name__ == "__main__":
    main()
