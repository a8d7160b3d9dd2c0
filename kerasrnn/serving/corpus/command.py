"""Translates, classifies or scores the lines of a text file.

    kerasrnn-corpus saved_models/nmt_hindi in.txt out.txt
    kerasrnn-corpus saved_models/imdb reviews.txt.gz out.tsv

The same command finishes an interrupted run.
"""

import argparse
import pathlib
import sys

from kerasrnn.arguments import positive_integer
from kerasrnn.optional import needs
from kerasrnn.serving.corpus.line_answers import answer_columns
from kerasrnn.serving.corpus.line_answers import line_answers
from kerasrnn.serving.corpus.shards import Shards
from kerasrnn.serving.exported import ModelFolder
from kerasrnn.training import file_fingerprint
from kerasrnn.training import fingerprint
from kerasrnn.training import locked
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings


def answer_corpus(
    model: PathLike,
    source: PathLike,
    target: PathLike,
    version: int | None = None,
    shards: int = 10,
    batch_size: int = 64,
    max_bytes: int = 2**16,
    beam_args: Strings | None = None,
) -> None:
    """Runs a SavedModel on each line of a text file.

    A translator writes translations. A classifier writes the label and its
    probability, separated by a tab. A language model writes the log-probability
    of the line and its perplexity.

    The file is split into shards in the folder `TARGET.shards`, which is
    deleted at the end. If the function is called again with the same input,
    model and settings, it only processes unfinished shards. Bad lines, such as
    lines that are not UTF-8 or that the model refuses, give empty lines and are
    listed in `TARGET.bad.tsv`: number, tab, reason.

    Args:
        model: Folder of the model, above its versions.
        source: The text file, with one sentence per line. It may be gzipped
            (extension `.gz`).
        target: The file to write. It is gzipped if its extension is `.gz`.
        version: Integer; `None` for the newest version.
        shards: Positive integer, the number of shards.
        batch_size: Positive integer, lines in a batch.
        max_bytes: Positive integer, the maximum length of a line in bytes.
        beam_args: List of strings, options of Apache Beam, which then processes
            the shards. The workers of a `--runner` must have access to the same
            files. `None` processes the shards here, one after the other.

    Raises:
        CorpusError: when the file is not UTF-8 or is damaged.
        FileNotFoundError: when the file, model or version does not exist.
        ImportError: when Beam is requested but not installed.
        RuntimeError: when another process writes the same `target`, or Beam
            fails.
        ValueError: when `TARGET.shards` belongs to another input, model or
            setting, the model does not read texts, or `target` is `source` or a
            folder.

    Example:

    >>> model = export_small_model("saved_models/shout")
    >>> pathlib.Path("input.txt").write_text("come in\\nplease\\n")
    >>> answer_corpus(model, "input.txt", "output.txt")
    >>> pathlib.Path("output.txt").read_text()
    'COME IN\\nPLEASE\\n'
    """
    positive_integer("shards", shards)
    positive_integer("batch_size", batch_size)
    positive_integer("max_bytes", max_bytes)
    target = pathlib.Path(target)
    if target.is_dir():
        raise ValueError(
            f"`target` must be a file. Received: the folder '{target}'"
        )
    if target.resolve() == pathlib.Path(source).resolve():
        raise ValueError(
            "`target` and `source` must be different files. Received: "
            f"source={str(source)!r}, target={str(target)!r}"
        )
    found = ModelFolder(model).load(version)
    serve = found.signatures["serving_default"]
    columns = answer_columns(serve)
    files = sorted(x for x in found.path.rglob("*") if x.is_file())
    checksum = fingerprint([file_fingerprint(file) for file in files])
    with locked(target.with_name(f"{target.name}.shards")) as folder:
        split = Shards.split(
            source,
            folder,
            shards,
            max_bytes,
            model=f"{found.name}/{found.version}",
            checksum=checksum,
            columns=" ".join(columns),
        )
        split.say()
        if beam_args is None:
            for shard in split.unfinished():
                lines = split.read(shard)
                split.write(shard, *line_answers(serve, lines, batch_size))
        else:
            with needs("apache-beam", "beam"):
                from kerasrnn.serving.corpus.beam import answer_shards
            answer_shards(split, found.path, batch_size, beam_args)
        split.join(target)
        split.delete()


def main(args: Strings | None = None) -> None:
    """Runs the command line.

    Args:
        args: List of strings; `None` for the arguments of the process.
    """
    parser = argparse.ArgumentParser(
        prog="kerasrnn-corpus",
        description="Translates, classifies or scores lines of a text file.",
        epilog="The same command finishes an interrupted run.",
        allow_abbrev=False,
    )
    parser.add_argument("model", help="folder, as saved_models/nmt_hindi")
    parser.add_argument(
        "source", metavar="INPUT", help="text file, may be gzipped"
    )
    parser.add_argument("target", metavar="OUTPUT", help="file to write")
    parser.add_argument("--version", type=int, help="default: the newest")
    parser.add_argument(
        "--shards",
        type=int,
        default=10,
        help="number of parts to process (default: %(default)s)",
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        default=64,
        help="lines in a batch (default: %(default)s)",
    )
    parser.add_argument(
        "--max-bytes",
        type=int,
        default=2**16,
        help="maximum length of a line (default: %(default)s)",
    )
    parser.add_argument(
        "--beam",
        nargs=argparse.REMAINDER,
        dest="beam_args",
        metavar="OPTION",
        help="answer by Apache Beam, with all options that follow, such as "
        "--runner",
    )
    found = parser.parse_args(args)
    answer_corpus(**vars(found))
    bad = pathlib.Path(f"{found.target}.bad.tsv")
    if bad.exists():
        print(f"Bad lines are listed in {bad}.", file=sys.stderr)


if __name__ == "__main__":
    main()
