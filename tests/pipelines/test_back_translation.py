import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import back_translate


@pytest.fixture
def reverse(tmp_path, monkeypatch):
    """The path of a translator into capitals, and what it was asked for."""
    asked = []

    class Reverse:
        def translate(self, texts):
            asked.extend(texts)
            return [text.upper() for text in texts]

    monkeypatch.setattr(TextTranslator, "open", lambda path: Reverse())
    path = tmp_path / "reverse.keras"
    path.write_text("one")
    return path, asked


def test_sentences_become_targets_once(reverse, tmp_path, capsys):
    path, asked = reverse
    text, folder = tmp_path / "text.txt", tmp_path / "out"
    folder.mkdir()
    text.write_text("das\tHaus \n\nein Baum\ndie Katze\n", "utf-8")
    for _ in range(2):
        found = back_translate(text, path, folder, limit=2)
        assert found == [
            ("<BT> DAS HAUS", "das Haus"),
            ("<BT> EIN BAUM", "ein Baum"),
        ]
    assert asked == ["das Haus", "ein Baum"]
    [table] = folder.glob("*/*")
    assert table.read_text("utf-8").startswith("DAS HAUS\tdas Haus\n")
    # Another translator, another limit and another text are told apart.
    path.write_text("another")
    counts = [len(back_translate(text, path, folder, n)) for n in (2, None)]
    text.write_text("der Hund\nein Baum\ndie Katze\n", "utf-8")
    counts.append(len(back_translate(text, path, folder)))
    assert counts == [2, 3, 3] and len(asked) == 2 + 2 + 3 + 3
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["Translating"] * 4
    assert len(list(folder.iterdir())) == 4


def test_an_interrupted_translation_goes_on(reverse, tmp_path, monkeypatch):
    path, asked = reverse
    text, calm = tmp_path / "text.txt", TextTranslator.open
    sentences = [f"a{n}" for n in range(1001)]
    text.write_text("\n".join(sentences))

    class Torn:
        def translate(self, texts):
            if len(texts) == 1:
                raise KeyboardInterrupt
            return [text.upper() for text in texts]

    monkeypatch.setattr(TextTranslator, "open", lambda path: Torn())
    with pytest.raises(KeyboardInterrupt):
        back_translate(text, path, tmp_path)
    monkeypatch.setattr(TextTranslator, "open", calm)
    found = back_translate(text, path, tmp_path)
    assert asked == ["a1000"]
    assert found == [(f"<BT> {text.upper()}", text) for text in sentences]


def test_an_empty_text_is_refused(reverse, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n \n")
    with pytest.raises(CorpusError, match="text.txt has no usable text"):
        back_translate(text, reverse[0], tmp_path)


def test_sentences_without_a_translation_are_told(
    reverse, tmp_path, monkeypatch
):
    class Silent:
        def translate(self, texts):
            return ["" if text == "b" else "A\tx" for text in texts]

    monkeypatch.setattr(TextTranslator, "open", lambda path: Silent())
    text = tmp_path / "text.txt"
    text.write_text("a\nb\n")
    with pytest.warns(CorpusWarning, match="1 of 2 sentences have an empty"):
        found = back_translate(text, reverse[0], tmp_path)
    assert found == [("<BT> A x", "a")]
