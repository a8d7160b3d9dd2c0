import functools
import hashlib
import pathlib

import keras
import pytest

from kerasrnn.data import corpora
from kerasrnn.data.corpora import find_corpus

GET_FILE = keras.utils.get_file
FILES = {
    "guha": "eng_to_hin.txt",
    "tatoeba": "hin.txt",
    "tourism_health": "tourism_health.tsv",
    "wiki_dev": "wiki_dev.tsv",
    "wsj_pos": "wsj_pos.tsv",
    "en_vi": "train.en",
    "ptb": "ptb.train.txt",
    "imdb": "aclImdb_v1.tar.gz",
    "etth1": "ETTh1.csv",
    "jsb": "JSB_Chorales.mat",
}
FOLDERS = {name: "en_hi" for name in FILES} | {
    "wsj_pos": "wsj_sample",
    "en_vi": "en_vi",
    "ptb": "ptb",
    "imdb": "imdb",
    "etth1": "series",
    "jsb": "music",
}


@pytest.fixture(autouse=True)
def no_download(monkeypatch):
    """No test reaches the network or a data folder outside the tests."""

    def get_file(*args, **kwargs):
        pytest.fail("a download was tried")

    monkeypatch.setattr(keras.utils, "get_file", get_file)
    monkeypatch.delenv("KERASRNN_DATA", raising=False)


def place(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("hello\tनमस्ते\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_data_dir(tmp_path, monkeypatch, name, below):
    path = place(tmp_path / (FOLDERS[name] * below) / FILES[name])
    assert find_corpus(name, data_dir=str(tmp_path)) == path
    monkeypatch.setenv("KERASRNN_DATA", str(tmp_path))
    assert find_corpus(name) == find_corpus(path) == path


def test_the_table_has_the_files_of_each_corpus():
    rows = [
        [cell.strip(" `").removeprefix("or `") for cell in line.split("|")]
        for line in find_corpus.__doc__.splitlines()
        if line.strip().startswith("|")
    ]
    expected = []
    for name, corpus in corpora._CORPORA.items():
        first, *others = map(pathlib.PurePath, corpus.paths)
        how = "yes" if corpus.url else "by hand"
        expected.append([name, first.name, str(first.parent), how])
        expected += [["", x.name, x.parent.name, ""] for x in others]
    assert [row[1:-1] for row in rows[2:]] == expected


def test_data_dir_comes_before_the_environment(tmp_path, monkeypatch):
    path = place(tmp_path / "given" / "hin.txt")
    place(tmp_path / "environment" / "hin.txt")
    monkeypatch.setenv("KERASRNN_DATA", str(tmp_path / "environment"))
    assert find_corpus("tatoeba", data_dir=tmp_path / "given") == path
    with pytest.raises(FileNotFoundError) as error:
        find_corpus("tatoeba", data_dir=tmp_path / "empty")
    assert "environment/" not in str(error.value)


def test_neither_a_name_nor_a_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="is missing") as error:
        find_corpus("gutenberg", data_dir=tmp_path)
    assert f": {pathlib.Path('gutenberg').absolute()}. " in str(error.value)
    for name in FILES:
        assert f" {name}" in str(error.value)
    with pytest.raises(FileNotFoundError, match="Looked for: .*pairs.tsv$"):
        find_corpus("pairs.tsv", data_dir=tmp_path)


def test_extracted_files_come_before_the_archive(tmp_path):
    archive = place(tmp_path / "simple-examples.tgz")
    assert find_corpus("ptb", data_dir=tmp_path) == archive
    path = place(tmp_path / "ptb" / "ptb.train.txt")
    assert find_corpus("ptb", data_dir=tmp_path) == path


@pytest.mark.parametrize("name", FILES)
def test_missing_in_data_dir_names_places_and_remedy(tmp_path, name):
    with pytest.raises(FileNotFoundError) as error:
        find_corpus(name, data_dir=tmp_path)
    message = str(error.value)
    file = repr(FILES[name])
    if name == "ptb":
        file += " or 'simple-examples.tgz'"
        assert message.count(str(tmp_path / "simple-examples.tgz")) == 1
        assert "http://www.fit.vutbr.cz/~imikolov/rnnlm/" in message
    assert f"The file {file} of the corpus {name!r} is missing" in message
    assert f"Then put {file} in the folder" in message
    assert str(tmp_path / FILES[name]) in message
    assert str(tmp_path / FOLDERS[name] / FILES[name]) in message
    assert "How to get it: " in message
    assert "`data_dir`" in message and "KERASRNN_DATA" in message


def test_failed_download_is_the_cause(tmp_path, monkeypatch):
    cause = Exception("URL fetch failure: 503")

    def get_file(*args, **kwargs):
        raise cause

    monkeypatch.setattr(keras.utils, "get_file", get_file)
    monkeypatch.setenv("KERASRNN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="503") as error:
        find_corpus("guha")
    assert error.value.__cause__ is cause
    message = str(error.value)
    assert str(tmp_path / "en_hi" / "eng_to_hin.txt") in message
    assert "https://" in message and "How to get it" in message


@pytest.mark.parametrize("intact", [True, False])
def test_download_is_checked_and_cached(tmp_path, monkeypatch, capsys, intact):
    """With the real `get_file`, from a file to a cache of the test's own."""
    keras.config.enable_interactive_logging()
    source = place(tmp_path / "source" / "eng_to_hin.txt")
    content = source.read_bytes()
    guha = corpora._CORPORA["guha"]._replace(
        url=source.as_uri(), sha256=hashlib.sha256(content).hexdigest()
    )
    monkeypatch.setitem(corpora._CORPORA, "guha", guha)
    cache = tmp_path / "cache"
    cache.mkdir()
    get_file = functools.partial(GET_FILE, cache_dir=str(cache))
    monkeypatch.setattr(keras.utils, "get_file", get_file)
    if not intact:
        source.write_bytes(b"<html>")
        with pytest.raises(FileNotFoundError, match="corrupted") as error:
            find_corpus("guha")
        assert isinstance(error.value.__cause__, ValueError)
        return
    path = find_corpus("guha")
    assert path.read_bytes() == content
    assert cache in path.parents
    assert not capsys.readouterr().out  # no bar of Keras in a file
    source.unlink()
    assert find_corpus("guha") == path


def test_a_path_is_no_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("imdb").mkdir()
    assert find_corpus(pathlib.Path("imdb")) == pathlib.Path("imdb")
