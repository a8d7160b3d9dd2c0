"""Where the corpora are, and how to get them."""

import os
import pathlib
from typing import NamedTuple


class _Corpus(NamedTuple):
    """One corpus: where it lies below a data folder, how to get it.

    Any one of the files `paths` will do, the first rather than the last.
    `url` is set only if what it serves can be checked against `sha256`; it is
    then the first file.
    """

    paths: tuple[str, ...]
    how_to_get: str
    url: str | None = None
    sha256: str | None = None


# The commit is pinned: the file is then the one that was checksummed, however
# the repository is rearranged.
_GUHA_URL = (
    "https://raw.githubusercontent.com/priyadarshiguha/"
    "English-to-Hindi-Attention-Based-NMT-Model-Using-RNN/"
    "b917d800353010c2195f8b51998fe83e862fe55e/"
    "English_To_Hindi_Neural_Machine_Translation/eng_to_hin.txt"
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
    # Not downloaded for the user: the archive is replaced as Tatoeba grows,
    # so no checksum holds, and the server turns away clients that are not
    # browsers.
    "tatoeba": _Corpus(
        paths=("en_hi/hin.txt",),
        how_to_get=(
            "download https://www.manythings.org/anki/hin-eng.zip with a "
            "browser and unpack it"
        ),
    ),
    "tourism_health": _Corpus(
        paths=("en_hi/tourism_health.tsv",),
        how_to_get=(
            "it has no single public address; make it from an English-Hindi "
            "tourism and health corpus, one `English TAB Hindi` pair a line"
        ),
    ),
    "en_vi": _Corpus(
        paths=("en_vi/train.en",),
        how_to_get=(
            "download train.en, train.vi, tst2012.en, tst2012.vi, vocab.en "
            "and vocab.vi (and tst2013.en and tst2013.vi, whose sentences "
            "are then kept out of the training) from "
            "https://nlp.stanford.edu/projects/nmt/data/iwslt15.en-vi/"
        ),
    ),
    # Not downloaded for the user: it is material of the Linguistic Data
    # Consortium, with no licence to pass it on.
    "ptb": _Corpus(
        paths=("ptb/ptb.train.txt", "simple-examples.tgz"),
        how_to_get=(
            "it is LDC material; download simple-examples.tgz from the page "
            "of Mikolov's RNNLM toolkit, "
            "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz, "
            "and leave it packed, or take ptb.train.txt, ptb.valid.txt and "
            "ptb.test.txt out of it"
        ),
    ),
    "wsj_pos": _Corpus(
        paths=("wsj_sample/wsj_pos.tsv",),
        how_to_get=(
            "download the package `treebank` of https://www.nltk.org/nltk_data "
            "(not for commercial use) and write its tagged sentences as "
            "`word TAB tag` lines, a blank line between sentences, without "
            "the words tagged -NONE-"
        ),
    ),
    # Not downloaded for the user: no checksum of it is published.
    "imdb": _Corpus(
        paths=("imdb/aclImdb_v1.tar.gz",),
        how_to_get=(
            "download https://ai.stanford.edu/~amaas/data/sentiment/"
            "aclImdb_v1.tar.gz and leave it packed"
        ),
    ),
}


def find_corpus(name_or_path, data_dir=None):
    """Finds the file of a corpus, and downloads it where that is possible.

    A named corpus is looked for in `data_dir`, else in the folder that the
    environment variable `KERASRNN_DATA` names: directly and in the sub-folder
    of the table. Without `data_dir`, a corpus that is not found and has a
    public source with a checksum is downloaded to the Keras cache, once.

    | name             | file                     | sub-folder   | download |
    |------------------|--------------------------|--------------|----------|
    | `guha`           | `eng_to_hin.txt`         | `en_hi`      | yes      |
    | `tatoeba`        | `hin.txt`                | `en_hi`      | by hand  |
    | `tourism_health` | `tourism_health.tsv`     | `en_hi`      | by hand  |
    | `en_vi`          | `train.en`               | `en_vi`      | by hand  |
    | `ptb`            | `ptb.train.txt`          | `ptb`        | by hand  |
    |                  | or `simple-examples.tgz` |              |          |
    | `wsj_pos`        | `wsj_pos.tsv`            | `wsj_sample` | by hand  |
    | `imdb`           | `aclImdb_v1.tar.gz`      | `imdb`       | by hand  |

    The other files of `en_vi` lie beside `train.en`; `read_text_corpus` finds
    the rest of `ptb` beside `ptb.train.txt`, or in
    the archive.

    Args:
        name_or_path: String, one of the names above; or string or path, any
            existing file or folder.
        data_dir: String or path, the folder to look in. If given, it is the
            only place, and nothing is downloaded. Defaults to `None`.

    Returns:
        A `pathlib.Path` that exists.

    Raises:
        FileNotFoundError: If the file is not found or its download fails. The
            message says what is missing, where it was looked for and how to
            get it.

    Example:

    >>> pathlib.Path("pairs.tsv").write_text("Hello!\\tनमस्ते!\\n")
    >>> find_corpus("pairs.tsv")  # a path
    PosixPath('pairs.tsv')
    >>> pathlib.Path("data").mkdir()
    >>> pathlib.Path("data/hin.txt").write_text("Hello!\\tनमस्ते!\\n")
    >>> find_corpus("tatoeba", data_dir="data")  # a name
    PosixPath('data/hin.txt')
    """
    corpus = _CORPORA.get(str(name_or_path))
    if corpus is None:
        return _existing_path(name_or_path)
    folder = data_dir or os.environ.get("KERASRNN_DATA")
    places = []
    if folder:
        folder = pathlib.Path(folder).expanduser()
        for path in map(pathlib.Path, corpus.paths):
            places += [folder / path.name, folder / path]
        places = list(dict.fromkeys(places))
    for place in places:
        if place.is_file():
            return place
    error = None
    if corpus.url and not data_dir:
        try:
            return _download(corpus)
        except Exception as download_error:  # `get_file` raises it bare
            error = download_error
            places.append(f"{corpus.url} ({error})")
    names = " or ".join(repr(pathlib.Path(p).name) for p in corpus.paths)
    raise FileNotFoundError(
        f"The file {names} of the corpus {name_or_path!r} is missing. "
        "Looked for: "
        + (", ".join(map(str, places)) or "no place; no data folder is given")
        + f". How to get it: {corpus.how_to_get}. Then put {names} "
        "in the folder given as `data_dir` (`--data-dir` in the recipes) or "
        "in the environment variable KERASRNN_DATA."
    ) from error


def _existing_path(path):
    path = pathlib.Path(path).expanduser()
    if path.exists():
        return path
    raise FileNotFoundError(
        f"A corpus must be one of {', '.join(map(repr, _CORPORA))} or the "
        f"path of a file or folder. Received: {str(path)!r}, and "
        f"{path.absolute()} does not exist"
    )


def _download(corpus):
    import keras  # slow to import, and seldom needed here

    relative = pathlib.Path(corpus.paths[0])
    return pathlib.Path(
        keras.utils.get_file(
            relative.name,
            origin=corpus.url,
            file_hash=corpus.sha256,
            hash_algorithm="sha256",
            cache_subdir=f"kerasrnn/{relative.parent.as_posix()}",
        )
    )
