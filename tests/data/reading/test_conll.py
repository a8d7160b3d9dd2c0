import json
import re

import pytest

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.tagged_words import read_tagged_words

TAGGED = [[("who", "WP"), ("knows", "VBZ")], [("नमस्ते", "UH")]]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["", " ", "\t"])
@pytest.mark.parametrize("last", [0, 1, 2])
def test_tagged_words(write, mark, end, blank, last):
    lines = ["who\tWP", "knows \t VBZ", blank, blank, "नमस्ते\tUH"]
    path = write(mark + end.join(lines) + end * last)
    assert read_tagged_words(str(path)) == TAGGED


# Columns of CoNLL.

CONLL_2003 = """-DOCSTART- -X- O O

CRICKET NNP I-NP O
- : O O
SURREY NNP I-NP I-ORG

-DOCSTART- -X- O O
# # I-NP O
1 CD\tI-NP O

"""
CONLL_U = """# text = Trả lời dám
# newpar
1-2\tTrả lời\t_\t_\t_\t_\t_\t_\t_\t_
1\tTrả lời\ttrả lời\tVERB\tV\t_\t0\troot\t_\t_
1.1\tđi\tđi\tVERB\tV\t_\t_\t_\t_\t_
2\tdám\tdám\tADV\tR\t_\t1\tadvmod\t_\t_

# text = #
1\t#\t#\tSYM\tS\t_\t0\troot\t_\t_
"""


# Rows of a table.


def test_json_lines_of_tokens_and_tags(write):
    rows = [
        {"tokens": ["who", "knows"], "pos_tags": ["WP", "VBZ"], "tags": "x"},
        {"tokens": ["a", "b"], "pos_tags": ["X"]},
        {"tokens": ["a", " "], "pos_tags": ["X", "X"]},
        {"tokens": [], "pos_tags": []},
        {"tokens": ["नमस्ते"], "pos_tags": ["UH"]},
    ]
    path = write("\n".join(map(json.dumps, rows)), "a.jsonl")
    with pytest.warns(
        CorpusWarning,
        match="2 tokens but 1 tags.*not strings: .*not a list of t",
    ):
        assert read_tagged_words(path, tag="pos_tags") == TAGGED


def test_tags_that_are_numbers_need_names(write):
    rows = [{"tokens": ["a", "b"], "ner_tags": [0, n]} for n in (1, 2, -1)]
    path = write("\n".join(map(json.dumps, rows)), "a.jsonl")
    with pytest.warns(
        CorpusWarning, match="line 2 .not a list of tags from 0 to 1"
    ):
        found = read_tagged_words(path, tag_names=["O", "B"])
    assert found == [[("a", "O"), ("b", "B")]]


# Columns that are neither the first nor the last.

GERMEVAL = """#\thttp://de.wikipedia.org [2009]
1\tAnna\tB-PER\tO
2\tsingt\tO\tO

#\thttp://de.wikipedia.org [2010]
1\tBonn\tB-LOC\tB-ORG
"""
NAMES = [[("Anna", "B-PER"), ("singt", "O")], [("Bonn", "B-LOC")]]
PLUS = """# global.columns = ID FORM UPOS NER
1-2\tAnna singt\t_\t_
1\tAnna\tNOUN\tB-PER
2\tsingt\tVERB\tO

1\tBonn\tNOUN\tB-LOC

1.1\tund\t_\t_
"""
NAMES_IN_MISC = """1\tAnna\t_\tX\tN\tCase=Nom|Number=Sing\t_\t_\t_\tname=B-PER
2\tsingt\tsingen\tVERB\tV\t_\t_\t_\t_\tSpaceAfter=No

1\tBonn\tBonn\tPROPN\tN\t_\t_\t_\t_\tSpaceAfter=No|name=B-LOC{}
"""
MISC = NAMES_IN_MISC.format("")
TWO = "Anna\tname=B-PER|x=1\nsingt\tx=2\n\nBonn\tname=B-LOC"
NO_B = MISC.replace("B-", "")
VIETNAMESE = [[("Trả lời", "VERB"), ("dám", "ADV")], [("#", "SYM")]]
READ = {
    "CoNLL-2003": (
        CONLL_2003,
        {},
        [
            [("CRICKET", "O"), ("-", "O"), ("SURREY", "I-ORG")],
            [("#", "O"), ("1", "O")],
        ],
    ),
    "its parts of speech": (
        CONLL_2003,
        {"tag": 2},
        [
            [("CRICKET", "NNP"), ("-", ":"), ("SURREY", "NNP")],
            [("#", "#"), ("1", "CD")],
        ],
    ),
    "columns from the last": (
        "a b c\nd e f",
        {"word": "2", "tag": "-3"},
        [[("b", "a"), ("e", "d")]],
    ),
    "CoNLL-U": (CONLL_U, {}, VIETNAMESE),
    "names of columns": (
        CONLL_U,
        {"word": "lemma", "tag": "xpos"},
        [[("trả lời", "V"), ("dám", "R")], [("#", "S")]],
    ),
    "blanks": ("who WP\t\nknows VBZ\n", {}, TAGGED[:1]),
    # Comments with as many columns as words.
    **{
        comment: (f"{comment}\nwho _ _ WP\nknows _ _ VBZ\n", {}, TAGGED[:1])
        for comment in ("# sent_id = 1", "# id 3f\tdomain=en", "#a = b c")
    },
    "a comment between tabs": (
        "# id 3\td=en\nwho\tWP\nknows\tVBZ",
        {},
        TAGGED[:1],
    ),
    "names of fewer columns": (
        "# global.columns = FORM NER UPOS\nAnna B-PER\nsingt O\n\nBonn B-LOC",
        {},
        NAMES,
    ),
    "a word of two tags": ("a B\na C", {}, [[("a", "B"), ("a", "C")]]),
    "CoNLL-U Plus": (PLUS, {}, NAMES),
    "its UPOS": (
        PLUS,
        {"tag": "upos"},
        [[("Anna", "NOUN"), ("singt", "VERB")], [("Bonn", "NOUN")]],
    ),
    "GermEval": (GERMEVAL, {"word": 2, "tag": 3}, NAMES),
    **{
        f"features in {tag}": (MISC, {"tag": tag}, NAMES)
        for tag in ("misc", "name", "NAME", 10, -1)
    },
    "a feature of some words": (
        MISC,
        {"tag": "case"},
        [[("Anna", "Nom"), ("singt", "O")], [("Bonn", "O")]],
    ),
    "features of words": (
        MISC,
        {"tag": "feats"},
        [
            [("Anna", "Case=Nom|Number=Sing"), ("singt", "_")],
            [("Bonn", "_")],
        ],
    ),
    "features in two columns": (TWO, {}, NAMES),
    "another feature": (
        TWO,
        {"tag": "x"},
        [[("Anna", "1"), ("singt", "2")], [("Bonn", "O")]],
    ),
    "one of two features": (
        NAMES_IN_MISC.format("|ner=B-GPE"),
        {"tag": "ner"},
        [[("Anna", "O"), ("singt", "O")], [("Bonn", "B-GPE")]],
    ),
    "a feature without phrases": (
        NO_B,
        {"tag": "name"},
        [[("Anna", "PER"), ("singt", "O")], [("Bonn", "LOC")]],
    ),
    **{
        f"the odd tag {odd}": (
            "EU NNP B-NP B-ORG\n"
            + count * f"Anna NNP B-NP {odd}\n"
            + "Bonn X B-NP B-X\nrejects VBZ B-VP O",
            {},
            [
                [("EU", "B-ORG"), *count * [("Anna", odd)], ("Bonn", "B-X")]
                + [("rejects", "O")]
            ],
        )
        for odd, count in (("0", 2), ("o", 2), ("-", 2), ("_", 2), ("PER", 1))
    },
}


@pytest.mark.parametrize("name", READ)
def test_columns_are_read(write, name):
    text, options, expected = READ[name]
    assert read_tagged_words(write(text), **options) == expected


FEW = [("Anna", "PER"), ("Berg", "PER"), ("Rome", "LOC")]
FEW = [*FEW, *((f"w{n}", "O") for n in range(3))]
DAM = CONLL_U.splitlines()[5]
NOTED = {
    "numbered words": (
        GERMEVAL,
        NAMES,
        "tokens, so they .* from column 2.*`wo",
    ),
    "numbers from 0": (
        "0-1\tAnna singt\t_\n0\tAnna\tB-PER\n1\tsingt\tO\n\n0\tBonn\tB-LOC",
        NAMES,
        "tokens, so they are taken from column 2",
    ),
    "nested names": (GERMEVAL, NAMES, "tags, so they .* from column 3.*`tag`"),
    "tags before the last column": (
        "Anna B-PER 1.0 NE\nsingt O 0.9 VV\n\nBonn B-LOC 1 NE\n",
        NAMES,
        "the tags, .* from column 2.*`tag`",
    ),
    "a word is lost": (
        f"{CONLL_U}\n# text = dám\n{DAM}\n{DAM.replace('2', '3')}\n",
        [*VIETNAMESE, [("dám", "ADV")] * 2],
        "words of 1 sent.* at line 12",
    ),
    "tags before words": (
        "\n".join(f"B-{tag}\t{word}" for word, tag in FEW[:3]) + "\nO\tx\nO\ty",
        [
            [(word, f"B-{tag}") for word, tag in FEW[:3]]
            + [("x", "O"), ("y", "O")]
        ],
        "first .* tokens, .* column 2",
    ),
    "tags known by there being fewer": (
        "\n".join(f"{tag}\t{word}" for word, tag in FEW),
        [FEW],
        "last .* tags, .* column 1",
    ),
    "a header": (
        "Word POS NER\nAnna NNP B-PER\n",
        [[("Word", "NER"), ("Anna", "B-PER")]],
        "'Word', 'NER', looks like a head",
    ),
    "more tags than words": (
        "\n".join(f"X\tt{n}" for n in range(6)),
        [[(f"t{n}", "X") for n in range(6)]],
        "tokens, so they are taken from column 2",
    ),
}


@pytest.mark.parametrize("name", NOTED)
def test_doubtful_columns_are_named(write, name):
    text, expected, message = NOTED[name]
    with pytest.warns(CorpusWarning) as seen:
        assert read_tagged_words(write(text)) == expected
    assert any(re.search(message, str(x.message)) for x in seen)


REFUSED = {
    **{
        f"column {column}": (
            "The DT B-NP\n",
            column,
            f"'{column}' among .* as `tag`",
        )
        for column in (0, 4, -4, "x", True, "upos")
    },
    "a column of CoNLL-U Plus": (PLUS, "lemma", "'lemma' .*'upos', 'ner'"),
    "two features": (
        NAMES_IN_MISC.format("|ner=B-GPE"),
        "misc",
        "Column 10 .* as `tag`.*'name', 'ner",
    ),
    "no such feature": (MISC, "x", "'x' among .*'Case', 'Number"),
    "features without phrases": (NO_B, "misc", "es.*: 'name', 'SpaceAfter'"),
    "a comment in a sentence": ("a B\n# c d\ne F\n", None, "^Line 2 of"),
    "commas": ("who,WP\nknows,VBZ\n", None, "no column of tags.*`sentence`"),
    "CoNLL-2012": (
        "#begin document (x)\nx/y 0 0 In NN (S*) - - - A (GPE*)\n",
        None,
        "brackets of CoNLL-2012 are not",
    ),
}


@pytest.mark.parametrize(
    "row, word, tag",
    [
        ("{pos} {word} B-{tag}", 2, 3),
        ("doc1.txt {word} {tag}", 2, 3),
        ("B-{tag} {pos} {word}", 3, 1),
        ("B-{tag} {word} {pos}", 2, 1),
        ("{sentence} {word} B-{tag}", 2, 3),
        ("1-{number} 0-4 {word} {tag} _", 3, 4),
        ("{sentence}:{number} {word} {tag}", 2, 3),
        ("{word} {tag} _", 1, 2),
        ("{word} x.{number} {tag}", 1, 3),  # an id of each word
    ],
)
def test_words_and_tags_may_be_in_any_column(write, row, word, tag):
    sentences = [
        [(f"w{n // 2}", f"T{n % 3}") for n in range(start, start + 5)]
        for start in range(0, 200, 5)
    ]
    lines = []
    for index, sentence in enumerate(sentences):
        for name, kind in sentence:
            number = len(lines)
            cells = {"word": name, "tag": kind, "pos": f"N{number % 2}"}
            lines.append(row.format(sentence=index, number=number, **cells))
        lines.append("")
    path = write("\n".join(lines))
    marked = "B-" * ("B-" in row)
    expected = [[(x, marked + kind) for x, kind in row] for row in sentences]
    if (word, tag) == (1, 3):
        assert read_tagged_words(path) == expected
        return
    with pytest.warns(
        CorpusWarning, match="olumn does not seem to have"
    ) as seen:
        assert read_tagged_words(path) == expected
    said = " ".join(str(x.message) for x in seen)
    assert (f"tokens, so they are taken from column {word};" in said) == (
        word != 1
    )
    assert read_tagged_words(path, word, tag) == expected


# A word in each row.

KAGGLE = """Sentence #,Word,POS,Tag
Sentence: 1,Anna,NNP,B-PER
,singt,VB,O
Sentence: 2,Bonn,NNP,B-LOC
"""


def test_a_word_in_each_row(write):
    path = write(KAGGLE, "ner.csv")
    assert read_tagged_words(path, sentence="Sentence #") == NAMES
    found = read_tagged_words(path, "Word", "POS", sentence="sentence #")
    assert found[0] == [("Anna", "NNP"), ("singt", "VB")]
    path = write(KAGGLE.partition("\n")[2], "b.csv")
    assert read_tagged_words(path, 2, 4, sentence=1) == NAMES


@pytest.mark.parametrize(
    "lines, tokens",
    [
        # The bad row has the name of the second sentence.
        ("1,Anna,X|,runs,O|2,a,b,O|,c,O|3,d,O|,e,O|4,f,O", "d e|f"),
        ("1,a,O|,b|,c,O|2,d,O|,e,O|2,i,O|3,f,O|,g,O|,h", "d e i"),
        # The bad row may be of the sentence before it, or after it.
        ("1,a,O|1,b,O|2,c,O|2|3,d,O|3,e,O|4,f,O|4,g,O", "a b|f g"),
        ("1,a,O|1,b,O|s,w,t|2,c,O|2,d,O", "a b|c d"),
        ("1,a,O|1,b,O|2|s,w,t|2,c,O|2,d,O|3,e,O", "e"),
        # Files that were joined count their sentences anew.
        ("1,a,O|1,b,O|s,w,t|1,c,O|s,w,t|,d,O|1,e,O", "a b|c|d|e"),
        # Some words are not UTF-8.
        ("1,a,O|,\udce9,O|2,b,O|,c,O|3,\0,O|,d,O|4,e,O|5,f,\udce9", "b c|e"),
    ],
)
def test_a_bad_row_leaves_out_its_sentence(write, lines, tokens):
    text = "s,w,t\n" + lines.replace("|", "\n")
    path = write(text.encode("utf-8", "surrogateescape"), "a.csv")
    with pytest.warns(CorpusWarning, match="malformed of .*line"):
        found = read_tagged_words(path, "w", "t", sentence="s")
    assert [[word for word, _ in x] for x in found] == [
        x.split() for x in tokens.split("|")
    ]


def test_words_in_rows_are_text_without_white_space(write):
    lines = ["s,w,t", "1, Anna , B-PER", "1,singt,O ", "2,Bonn,B-LOC"]
    path = write("\n".join(lines), "a.csv")
    assert read_tagged_words(path, "w", "t", sentence="s") == NAMES


def test_a_bad_record_leaves_out_its_sentence(write):
    rows = [{"s": n // 2, "word": str(n), "tag": "O"} for n in range(6)]
    lines = list(map(json.dumps, rows))
    path = write("\n".join([*lines[:1], "{", *lines[1:]]), "a.jsonl")
    with pytest.warns(CorpusWarning, match="line 1 .a sentence that may lack"):
        found = read_tagged_words(path, sentence="s")
    assert [x[0][0] for x in found] == ["2", "4"]


def test_a_data_frame_with_a_word_in_each_row():
    pandas = pytest.importorskip("pandas")
    rows = {
        "sentence_id": [0, 0, 1, 2, 2],
        "words": ["Anna", "singt", "Bonn", 7, None],
        "labels": ["B-PER", "O", "B-LOC", "O", "O"],
    }
    frame = pandas.DataFrame(rows)
    with pytest.warns(CorpusWarning, match="row 4 .tokens that are not str"):
        assert read_tagged_words(frame, sentence="sentence_id") == NAMES
    frame = frame[:4]
    found = read_tagged_words(frame, sentence="sentence_id")
    assert found == [*NAMES, [("7", "O")]]
    with pytest.raises(CorpusError, match="no usable sent.*and `sentence`, th"):
        read_tagged_words(frame, "words", "labels")


# Spans of characters.


@pytest.mark.parametrize(
    "column, first, second",
    [
        ("label", [[0, 4, "PER"]], [[0, 4, "LOC"]]),
        ("entities", [], []),
        ("spans", [{"start": 0, "end": 4, "label": "PER", "id": 3}], []),
        ("entities", [{"start_offset": 0, "end_offset": 4, "label": "X"}], []),
    ],
)
def test_spans_of_characters(write, column, first, second):
    rows = [
        {"text": "Anna singt", column: first, "tokens": [{"text": "Anna"}]},
        {"text": "Bonn", column: second},
    ]
    path = write("\n".join(map(json.dumps, rows)), "a.jsonl")
    kinds = [
        span[2] if isinstance(span, list) else span["label"] for span in first
    ]
    tag = f"B-{kinds[0]}" if first else "O"
    end = "B-LOC" if second else "O"
    expected = [[("Anna", tag), ("singt", "O")], [("Bonn", end)]]
    assert read_tagged_words(path) == expected
    spans = [(row["text"], {"entities": row[column]}) for row in rows]
    assert read_tagged_words(spans) == expected


def test_a_span_begins_where_the_word_before_ends():
    rows = [{"text": "Bonn, Rom", "spans": [[4, 5, "X"], [6, 9, "LOC"]]}]
    expected = [[("Bonn", "O"), (",", "B-X"), ("Rom", "B-LOC")]]
    assert read_tagged_words(rows) == expected


def test_spans_that_are_no_words_are_warned_of():
    text = "  Anna Berg, Rome "
    spans = [[2, 5, "X"], [7, 11, "PER"], [2, 11, "PER"], [13, 18, "LOC"]]
    rows = [
        {"text": text, "spans": spans[::-1]},
        {"text": "x", "spans": [[0, 2, "A"]]},
        {"text": "\u200b", "spans": []},
    ]
    with (
        pytest.warns(CorpusWarning, match="1 spans begin .*'Ann' of 'Anna'"),
        pytest.warns(CorpusWarning, match="1 spans overlap.*'Anna Berg'"),
        pytest.warns(CorpusWarning, match="row 2 .not .st.*row 3 .not a text"),
    ):
        (found,) = read_tagged_words(rows)
    assert [tag for _, tag in found] == ["B-X", "B-PER", "O", "B-LOC"]


def test_answers_that_refuse_are_left_out(write):
    spans = [{"start": 0, "end": 4, "label": "PER"}]
    rows = [
        {"text": "Anna singt", "spans": spans, "answer": "accept"},
        {"text": "Bonn singt", "spans": spans, "answer": "reject"},
        {"text": "Bonn", "answer": "ignore"},
        {"text": "Rome", "answer": "accept"},
        {"text": "Oslo"},
        {"text": "Bonn", "answer": "Bonn", "spans": [[0, 4, "LOC"]]},
    ]
    path = write("\n".join(map(json.dumps, rows)), "a.jsonl")
    with pytest.warns(CorpusWarning) as warned:
        found = read_tagged_words(path)
    assert found == [NAMES[0], [("Rome", "O")], NAMES[1]]
    said = [str(warning.message) for warning in warned]
    assert "1 malformed of 6" in said[0] and "line 5 (not a list" in said[0]
    assert "2 rows whose `answer`" in said[1] and "line 2, 'rej" in said[1]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_pairs_of_spacy_are_read_from_files(write, name):
    rows = [
        ["Anna singt", {"entities": [[0, 4, "PER"]]}],
        ["Bonn", {"entities": [[0, 4, "LOC"]], "links": {}}],
    ]
    lines = write("\n".join(map(json.dumps, rows)), name)
    assert read_tagged_words(lines) == NAMES
    alone = write(json.dumps(rows[0]), name)
    assert read_tagged_words(alone) == NAMES[:1]
    if name == "a.json":
        for whole in (rows, {"classes": ["PER"], "annotations": rows}):
            path = write(json.dumps(whole, indent=1), name)
            assert read_tagged_words(path) == NAMES


def test_spans_with_lists_of_labels(write):
    """As Label Studio writes them: JSON-MIN."""
    anna = {"start": 0, "end": 4, "text": "Anna", "labels": [" PER "]}
    bonn = {"start": 0, "end": 4, "text": "Bonn", "labels": ["LOC", "B"]}
    rows = [
        {"text": "Anna singt", "label": [anna], "annotator": 1},
        {"text": "Bonn", "label": [bonn]},
        {"text": "Bonn", "label": [bonn | {"labels": []}]},
        {"text": "Rome", "annotation_id": 7},
    ]
    path = write(json.dumps(rows), "a.json")
    with (
        pytest.warns(CorpusWarning, match="row 3 .not .start, end, label"),
        pytest.warns(CorpusWarning, match="1 spans overlap .*'Bonn'"),
    ):
        assert read_tagged_words(path) == [*NAMES, [("Rome", "O")]]


def test_a_span_has_the_text_of_its_positions():
    """Positions may count bytes, or units of UTF-16 as in JavaScript."""
    row = {"text": "Anna\n Berg singt"}
    rows = [
        row | {"spans": [{"start": 0, "end": 10, "label": "PER", "text": own}]}
        for own in ("Anna\\nBerg", "Anna", "nna\nBerg ")
    ]
    with pytest.warns(
        CorpusWarning,
        match=r"2 malf.*row 2 .'Anna' does not match its pos.*Berg'",
    ):
        (found,) = read_tagged_words(rows)
    assert [tag for _, tag in found] == ["B-PER", "I-PER", "O"]


@pytest.mark.parametrize("label", ["", " ", None])
def test_a_span_needs_a_label(label):
    rows = [{"text": "Anna", "spans": [[0, 4, x]]} for x in ("PER", label)]
    with pytest.warns(CorpusWarning, match="row 2 .not .start, end, label"):
        assert read_tagged_words(rows) == [[("Anna", "B-PER")]]


FORMS = "Expected: a list of words .*`spans`.*`sentence`.*Received: "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda write, bad=bad: read_tagged_words(
                    write(f"who\tWP\n\n{bad}\nknows\tVBZ\n")
                ),
                "^Line 3 of the corpus .*corpus.txt.*2 columns separated by "
                f"tabs.*{re.escape(f'Received: {bad!r}')}$",
            )
            for bad in (
                *("word", "word tag", "\tNN", "word\t", "word\tNN\tx"),
                "a\t\tNN",
            )
        ),
        *(
            (
                lambda write, text=text, tag=tag: read_tagged_words(
                    write(text), tag=tag
                ),
                message,
            )
            for text, tag, message in REFUSED.values()
        ),
        (
            lambda write: read_tagged_words(
                write('{"tokens": ["a"], "pos": ["X"], "tags": "x"}', "a.json")
            ),
            "no usable sent.*list of tags: 'x'",
        ),
        (
            lambda write: read_tagged_words(
                write('{"tokens": ["a"], "tags": ["X"]}', "a.jsonl"), tag="ner"
            ),
            "'ner' among the columns",
        ),
        (
            lambda write: read_tagged_words(
                [{"tokens": ["a", "b"], "ner_tags": [0, 1]}]
            ),
            r"`tag_names`.*Received: \[0, 1\]",
        ),
        (
            lambda write: read_tagged_words(
                write(KAGGLE.partition("\n")[2], "b.csv")
            ),
            "a column `sentence`",
        ),
        (
            lambda write: read_tagged_words(
                write(b"s,w,t\n" + b"1,n\xe9,O\n" * 3, "b.csv"),
                *("w", "t"),
                sentence="s",
            ),
            "3 of 4 .*iconv -f ISO-8859-1 -t",
        ),
        (
            lambda write: read_tagged_words(
                [
                    {"text": "a", "spans": [], "answer": x}
                    for x in ("reject", "ignore")
                ]
            ),
            "Received: 2 rows; 2 rows whose",
        ),
        (
            lambda write: read_tagged_words([{"review": "x", "stars": "y"}]),
            FORMS + ".*'review'",
        ),
        (
            lambda write: read_tagged_words([[("Anna", "B-PER")]]),
            FORMS + ".*'Anna'",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(write, call, message):
    with pytest.raises(CorpusError, match=message):
        call(write)
