import json
import pathlib
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import store_rows
from kerasrnn.data import text_windows
from kerasrnn.data.stored_rows import StoredIds
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.models import LanguageModel
from kerasrnn.pipelines import TextLanguageModel
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import TokenCrossentropy
from tests.helpers import assert_close
from tests.helpers import one_now
from tests.helpers import randomize

LINES = [
    "the red book",
    "a blue house",
    "a red house",
    "The book is there",
    "who knows the book",
]
TOKENIZERS = {
    kind: tokenizer.train(
        LINES, specials=("</s>", "<unk>"), min_count=count, lowercase=False
    )
    for kind, tokenizer, count in (
        ("words", WordTokenizer, 1),
        ("characters", CharacterTokenizer, 2),
    )
}
END, UNKNOWN = 0, 1
WINDOW = 4


def gam_rhn():
    return GAMRHNCell(6, depth=1, num_groups=3, group_size=2, head_units=4)


def attending_lstm():
    return SelfAttentionCell(keras.layers.LSTMCell(6), "additive", window=3)


def new_model(tokenizer, cell, **kwargs):
    model = LanguageModel(tokenizer.vocabulary_size, cell, **kwargs)
    model.build()
    return model


CELLS = {"characters": attending_lstm, "words": gam_rhn}


@pytest.fixture(scope="module", params=one_now(CELLS))
def language(request):
    tokenizer, cell = TOKENIZERS[request.param], CELLS[request.param]()
    model = new_model(tokenizer, cell, depth=2, embedding_dim=5)
    randomize(model)
    return TextLanguageModel(model, tokenizer, WINDOW)


@pytest.fixture(scope="module")
def words():
    """A model of words alone, for what no model has a part in."""
    model = new_model(TOKENIZERS["words"], keras.layers.GRUCell(4))
    randomize(model)
    return TextLanguageModel(model, TOKENIZERS["words"], WINDOW)


def scored(language, texts):
    found = language.signatures["serving_default"](
        tf.constant(texts, tf.string)
    )
    return {name: value.numpy() for name, value in found.items()}


def whole_log_softmax(language, ids):
    """Log-probabilities of all tokens, with nothing cut into windows."""
    ids = np.array([[END, *ids[:-1]]], "int32")
    logits = language.model.predict_on_batch(ids)[0].astype("float64")
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def expected_scores(language, ids):
    every = whole_log_softmax(language, ids)
    return every[np.arange(len(ids)), ids]


def ids_of(language, text):
    """Ids of a text, word by word and line by line."""
    tokenizer, ids = language.tokenizer, []
    for line in text.split("\n"):
        tokens = line.split()
        if isinstance(tokenizer, CharacterTokenizer):
            tokens = " ".join(tokens)
        found = [
            tokenizer.vocabulary.index(token)
            if token in tokenizer.vocabulary
            else UNKNOWN
            for token in tokens
        ]
        ids += [*found, END] if found else []
    return ids


# Scores.


TEXTS = {
    "a token": "a",
    "shorter than a window": "a book",
    "a window": "the red book",
    "longer than a window": "the red book is there",
    "windows": "the red book is there a house",
    "lines": "the red book\nwho knows\na house",
    "blank lines": "\n\nthe red book\n \n\nwho knows\n",
    "space": "  the\u00a0 red\tbook\r\n who ",
    "unknown words": "zzz zzz",
    "another script": "वहाँ कौन है",
}


def test_scores_are_those_of_the_whole_texts(language):
    texts = [*TEXTS.values(), ""]
    found = scored(language, texts)
    for row, text in enumerate(texts):
        ids = ids_of(language, text)
        of_text = {name: values[row] for name, values in found.items()}
        assert of_text["length"] == len(ids)
        words, scores = of_text["tokens"], of_text["log_probabilities"]
        assert (scores[len(ids) :] == 0).all()
        assert (words[len(ids) :] == b"").all()
        if ids:
            expected = expected_scores(language, ids)
            assert_close(scores[: len(ids)], expected)
            assert_close(of_text["total"], expected.sum())
            assert_close(of_text["perplexity"], np.exp(-expected.mean()))
        tokens = [language.tokenizer.vocabulary[i] for i in ids]
        assert [word.decode() for word in words[: len(ids)]] == tokens


def test_ids_score_as_their_text(language):
    texts = list(TEXTS.values())
    found = scored(language, texts)
    ids = language.text_ids(tf.constant(texts)).to_tensor(-1)
    from_ids = language.signatures["score_ids"](ids)
    assert from_ids.keys() == found.keys() - {"tokens"}
    for name, value in from_ids.items():
        assert_close(value, found[name])


def test_a_special_token_in_a_text_is_unknown(words):
    [tokens] = scored(words, ["the </s> <unk> book"])["tokens"].tolist()
    assert tokens == [b"the", b"<unk>", b"<unk>", b"book", b"</s>"]


@pytest.mark.parametrize(
    "text", ["", "  \t", "\n\n \n", "\u200b\n\ufeff \ufe0f"]
)
def test_no_text_has_no_tokens(language, text):
    found = scored(language, [text])
    assert found["tokens"].shape == (1, 0)
    assert found["log_probabilities"].shape == (1, 0)
    assert found["total"].tolist() == [0.0]
    assert np.isnan(found["perplexity"]).tolist() == [True]
    assert found["length"].tolist() == [0]
    scores = language.score([text])
    assert scores["total"].tolist() == [0.0]
    for name in ("perplexity", "word_perplexity", "bits_per_byte"):
        assert np.isnan(scores[name]).tolist() == [True]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_no_ids_have_no_scores(language, shape):
    found = language.signatures["score_ids"](tf.zeros(shape, tf.int32))
    assert found["log_probabilities"].shape == shape
    assert found["total"].numpy().tolist() == [0.0] * shape[0]


def test_a_text_that_is_too_long_is_an_error(words):
    words.max_length = 5
    try:
        assert scored(words, ["the red book is"])["length"] == [5]
        for function in (
            lambda: scored(words, ["the", "the red book is red"]),
            lambda: words.signatures["score_ids"]([[4] * 6]),
        ):
            with pytest.raises(
                tf.errors.InvalidArgumentError, match="At most 5 tokens.*6"
            ):
                function()
        assert words.evaluate(["the red book is red"])["tokens"] == 6
    finally:
        words.max_length = 15_000


def test_tokens_and_back(language):
    texts = ["the red book", "", "the\nbook"]
    ids = language.signatures["tokenize"](tf.constant(texts))["ids"]
    assert ids[1, 0] == -1
    assert_close(ids, language.text_ids(tf.constant(texts)).to_tensor(-1))
    found = language.signatures["detokenize"](ids)["text"].numpy().tolist()
    assert [text.decode().strip() for text in found] == texts


# Ids.


def test_ids_are_those_of_all_lines(language):
    ids = language.ids(LINES)
    assert ids.dtype == np.int32
    assert ids.tolist() == [i for x in LINES for i in ids_of(language, x)]
    joined = language.text_ids(tf.constant(["\n".join(LINES)]))
    assert joined.to_list() == [ids.tolist()]


def test_lines_on_disk_are_trained_and_scored_alike(monkeypatch):
    lines, tokenizer = 3 * LINES, TOKENIZERS["words"]
    language = TextLanguageModel(
        new_model(tokenizer, keras.layers.GRUCell(4), batch_size=2), tokenizer
    )
    monkeypatch.setattr("kerasrnn.data.stored_rows.IN_MEMORY", 2)
    stored = store_rows(lines)
    ids = language.ids(stored)
    assert language.ids(stored) is ids and isinstance(ids, StoredIds)
    assert ids[:].tolist() == language.ids(lines).tolist()
    found = []
    for given in (lines, stored):
        language.assign_frequencies(given)
        scores = language.evaluate(given)
        batches = [str(batch) for batch in language.batches(given)]
        found.append([scores["loss"], scores["bits_per_byte"], batches])
    assert found[0] == found[1]


# The other direction.


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_it_reads_and_writes_backwards(kind):
    model = new_model(TOKENIZERS[kind], keras.layers.GRUCell(4))
    randomize(model)
    forwards = TextLanguageModel(model, TOKENIZERS[kind], WINDOW)
    backwards = forwards.opposite()
    lines = [forwards.ids([line])[:-1][::-1] for line in LINES]
    expected = np.concatenate([[*line, END] for line in lines])
    np.testing.assert_array_equal(backwards.ids(LINES), expected)
    again = backwards.opposite()
    np.testing.assert_array_equal(again.ids(LINES), forwards.ids(LINES))
    # It scores as any language model does, and returns ids to text.
    total = backwards.score([LINES[0]])["total"][0]
    ids = backwards.ids([LINES[0]]).tolist()
    assert_close(total, expected_scores(backwards, ids).sum(), 1e-5)
    found = backwards.signatures["detokenize"]([ids])["text"].numpy()
    assert found[0].decode().strip() == LINES[0]


def test_it_writes_before_a_prompt(words):
    backwards = words.opposite()
    for prompt in ("red book", "who knows\nred book"):
        (text,) = backwards.write([prompt], seed=3, max_tokens=9)
        *earlier, line = prompt.split("\n")
        found = text.split("\n")
        assert found[: len(earlier)] == earlier
        assert found[len(earlier)].endswith(line)
        assert len(text.split()) > len(prompt.split())


def test_the_opposite_keeps_its_embeddings(words, tmp_path):
    model = words.model.with_batch_size(2)
    language = TextLanguageModel(model, words.tokenizer, WINDOW)
    backwards = language.opposite()
    start = backwards.model.get_weights()
    for old, new in zip(model.get_weights(), start, strict=True):
        np.testing.assert_array_equal(old, new)
    backwards.fit(LINES, verbose=0)
    assert_close(
        *(part.embedding.get_weights() for part in (model, backwards.model))
    )
    path = tmp_path / "backwards.keras"
    backwards.save(path)
    loaded = TextLanguageModel.open(path)
    assert loaded.go_backwards
    np.testing.assert_array_equal(loaded.ids(LINES), backwards.ids(LINES))
    changed = [
        not np.array_equal(old, new)
        for old, new in zip(start, loaded.model.get_weights(), strict=True)
    ]
    assert any(changed)
    assert not loaded.model.embedding.trainable


# Steps.


def test_steps_give_the_logits_of_the_whole_text(language):
    ids = np.array([ids_of(language, "the red book is")[:5]] * 2, "int32")
    ids[1] = ids[1][::-1]
    states = language.model.initial_states(2)
    logits = []
    for t in range(ids.shape[1]):
        found = dict(language.signatures["step"](ids[:, t : t + 1], *states))
        logits.append(found.pop("logits"))
        assert list(found) == [f"state_{i}" for i in range(len(states))]
        states = list(found.values())
    assert_close(
        np.concatenate(logits, 1), language.model.predict_on_batch(ids)
    )


# Writing.


def generated(
    language,
    prompts,
    seed=0,
    temperature=1.0,
    top_k=0,
    count=12,
    top_p=1.0,
    one_sentence=False,
):
    found = language.signatures["generate"](
        tf.constant(prompts, tf.string),
        tf.constant(seed),
        tf.constant(temperature, tf.float32),
        tf.constant(top_k),
        tf.constant(count),
        tf.constant(top_p),
        tf.constant(one_sentence),
    )
    return found["ids"].numpy()


def greedy(language, ids, count):
    """The likeliest tokens to follow, each read off the whole text."""
    added = []
    for _ in range(count):
        every = whole_log_softmax(language, [*ids, *added, END])
        every[:, UNKNOWN] = -np.inf
        added.append(int(every[-1].argmax()))
    return added


PROMPTS = ["the red", "", "who knows\n", "the zzz", "a red book\nthe", "\n"]


def prompt_ids(language, prompt):
    ids = ids_of(language, prompt)
    return ids[:-1] if ids and not prompt.endswith("\n") else ids


def test_at_temperature_0_the_likeliest_token_is_written(language):
    for prompt in PROMPTS:
        [ids] = generated(language, [prompt], temperature=0.0, count=5)
        expected = greedy(language, prompt_ids(language, prompt), 5)
        assert ids.tolist() == expected


def test_a_prompt_in_a_batch_is_continued_as_alone(language):
    together = language.write(PROMPTS, temperature=0.0, max_tokens=8)
    for prompt, text in zip(PROMPTS, together, strict=True):
        assert language.write([prompt], 5, 0.0, max_tokens=8) == [text]


def test_the_seed_fixes_the_text(language):
    first, same, other = (
        language.write(PROMPTS, seed, max_tokens=30) for seed in (1, 1, 2)
    )
    assert first == same
    assert all(a != b for a, b in zip(first, other, strict=True))


def test_options_of_writing_are_those_of_the_signature(words, monkeypatch):
    given = []

    def ask(function, prompts, *options):
        given.extend(option.numpy() for option in options)
        return {"text": prompts}

    monkeypatch.setattr(words, "ask", ask)
    options = {"temperature": 0.5, "top_k": 3, "top_p": 0.25, "max_tokens": 7}
    found = words.write(["a"], 2**31 + 9, one_sentence=True, **options)
    assert found == ["a"] and given == [9, 0.5, 3, 7, 0.25, True]


def test_a_run_shows_generated_texts_and_beginnings(words, monkeypatch):
    def write(prompts, seed, **options):
        assert options == {"temperature": 0.8, "top_k": 40}
        return [f"{seed}{prompts}"]

    backwards = words.opposite()
    beginnings = ["the red book", "a blue house", "a red house"]
    for language, more in (
        (words, ["The book is", "who knows the"]),
        (backwards, ["book is there", "knows the book"]),
    ):
        monkeypatch.setattr(language, "write", write)
        facts, _ = language.task().report(["", *LINES], None, seed=7)
        assert facts["samples"] == [f"{seed}['']" for seed in range(7, 12)]
        assert facts["beginnings"] == beginnings + more


def test_one_sentence_ends_with_its_end(language):
    end_id = language.tokenizer.end_id
    # The end of a sentence within a prompt is none of what is written.
    prompts = ["the"] * 6 + ["who knows\nthe"] * 2
    rows = generated(language, prompts, count=60, one_sentence=True)
    lengths = (rows >= 0).sum(axis=1)
    assert len(set(lengths.tolist())) > 1
    for row, length in zip(rows, lengths, strict=True):
        assert end_id not in row[: length - 1]
        assert length == 60 or row[length - 1] == end_id
        assert (row[length:] == -1).all()
    whole = generated(language, prompts, count=60)
    first = lengths.argmin()
    assert_close(whole[first, : lengths[first]], rows[first, : lengths[first]])


def test_nothing_is_added(language):
    assert generated(language, PROMPTS, count=0).shape == (6, 0)
    texts = language.write(["the red", "", "a house\n"], max_tokens=0)
    assert texts == ["the red", "", "a house\n"]
    assert language.write([""], max_tokens=0) == [""]


STATES = np.zeros((2, 4), "float32")


def served(name, *given):
    return lambda x: x.signatures[name](*given)


def told(**options):
    return lambda x: generated(x, PROMPTS, **options)


@pytest.mark.parametrize(
    "call, message",
    [
        (told(temperature=-0.5), "temperature must be >= 0"),
        (told(temperature=np.nan), "temperature must be >= 0"),
        (told(temperature=np.inf), "temperature must be >= 0"),
        (told(top_k=-1), "top_k must be >= 0"),
        (told(count=-3), "max_tokens must be >= 0"),
        (told(top_p=-0.1), "top_p must be >= 0 and <= 1"),
        (told(top_p=1.5), "top_p must be >= 0 and <= 1"),
        (told(top_p=np.nan), "top_p must be >= 0 and <= 1"),
        (served("score_ids", [[4, -1, 4]]), "must be on the right"),
        (served("score_ids", [[-1, 4]]), "must be on the right"),
        (served("score_ids", [[4, -2]]), "must be from 0"),
        (served("score_ids", [[4, 9999]]), "Ids must.*9999"),
        (served("step", [[4]], STATES), "same number of rows.*1 2"),
        (served("step", [[], []], STATES), r"step.*\[2 0\]"),
    ],
)
def test_what_is_not_served(words, call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call(words)


def test_strange_texts_are_scored_and_continued(language):
    odd = [b"\xff\xfe the \xc3", b"the \xff\nred", "वहाँ कौन है", "zzz " * 500]
    found = scored(language, odd)
    assert np.isfinite(found["total"]).all()
    for tokens in found["tokens"].tolist():
        assert {b"<unk>", b"</s>"} <= {*tokens}
    ids = generated(language, odd, count=3)
    assert ids.shape == (4, 3) and (ids >= 0).all()
    # Nothing is as long as nothing.
    assert language.write([]) == []
    assert generated(language, []).shape == (0, 12)
    found = scored(language, [])
    assert found["tokens"].shape == found["log_probabilities"].shape == (0, 0)
    for name in ("total", "perplexity", "length"):
        assert found[name].shape == (0,)


# Draws from a known distribution.


@pytest.fixture(scope="module", params=one_now(TOKENIZERS))
def flat(request):
    """A model whose bias alone says what it draws."""
    tokenizer = TOKENIZERS[request.param]
    model = new_model(tokenizer, keras.layers.GRUCell(4))
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    return TextLanguageModel(model, tokenizer)


def favour(language, probabilities):
    """Sets the probabilities of the first tokens; others have none."""
    bias = np.full(language.tokenizer.vocabulary_size, -50.0)
    bias[: len(probabilities)] = np.log(probabilities)
    language.model.output_projection.bias.assign(bias)


LIKELY = np.array([0.1, 0.3, 0.05, 0.2, 0.35])


def frequencies(language, count=1, **kwargs):
    """How often each of the first tokens is drawn, of 6000 draws."""
    prompts = [""] * (6000 // count)
    ids = generated(language, prompts, seed=4, count=count, **kwargs)
    return np.bincount(ids.ravel(), minlength=5) / ids.size


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    "count", [50, pytest.param(1000, marks=pytest.mark.slow)]
)
def test_draws_follow_the_softmax(flat, temperature, count):
    """The rows of a batch draw as the steps of a text do."""
    favour(flat, LIKELY)
    found = frequencies(flat, count, temperature=temperature)
    expected = LIKELY ** (1 / temperature)
    expected[UNKNOWN] = 0
    expected /= expected.sum()
    # More than four standard deviations.
    np.testing.assert_allclose(found[:5], expected, atol=0.026)
    assert found[UNKNOWN] == 0


@pytest.mark.parametrize(
    "top_k, drawn, temperature",
    [
        (1, {4}, 2.0),
        (2, {3, 4}, 0.7),
        (3, {0, 3, 4}, 2.0),
        (0, {0, 2, 3, 4}, 0.7),
        (99, None, 2.0),
    ],
)
def test_only_the_k_likeliest_tokens_are_drawn(flat, top_k, drawn, temperature):
    favour(flat, LIKELY)
    found = frequencies(flat, temperature=temperature, top_k=top_k)
    assert set(np.flatnonzero(found)) == (drawn or {0, 2, 3, 4})


@pytest.mark.parametrize(
    "top_p, drawn, temperature",
    [
        (0.0, {4}, 1.0),
        (0.49, {4}, 1.0),
        (0.51, {3, 4}, 1.0),
        (0.69, {4}, 0.5),  # of the squares
        (0.8, {0, 3, 4}, 1.0),
        (1.0, None, 1.0),
    ],
)
def test_only_the_nucleus_is_drawn(flat, top_p, drawn, temperature):
    """Without the unknown token, 0.1, 0.05, 0.2 and 0.35 are left of 0.7."""
    favour(flat, LIKELY)
    found = frequencies(flat, top_p=top_p, temperature=temperature)
    assert set(np.flatnonzero(found)) == (drawn or {0, 2, 3, 4})


@pytest.mark.parametrize("temperature", [0.0, 1.0, 100.0])
def test_the_unknown_token_is_never_written(flat, temperature):
    favour(flat, [1e-6, 1.0])
    first, second = flat.write(
        ["", "日本"], temperature=temperature, max_tokens=100
    )
    assert "<unk>" not in first
    # Those of the prompt stay.
    assert second.startswith("<unk>")
    assert second.count("<unk>") == len(ids_of(flat, "日本")) - 1


def test_padding_and_the_start_are_never_written():
    tokenizer = WordTokenizer.train(LINES)
    model = new_model(tokenizer, keras.layers.GRUCell(4))
    language = TextLanguageModel(model, tokenizer)
    favour(language, [0.4, 0.4, 1e-3, 0.19, 0.009])
    for temperature in (0.0, 1.0, 100.0):
        ids = generated(language, [""] * 9, count=9, temperature=temperature)
        assert set(ids.ravel().tolist()) <= {2, *range(4, 99)}


def test_an_end_is_a_line_break(flat):
    favour(flat, [1.0])
    texts = flat.write(["the", "the\n", "a\n\nthe"], max_tokens=2)
    assert texts == ["the\n\n", "the\n\n\n", "a\nthe\n\n"]


def test_words_have_spaces_between_them_and_characters_none(flat):
    vocabulary = flat.tokenizer.vocabulary
    favour(flat, [1.0 if token == "a" else 1e-9 for token in vocabulary])
    texts = flat.write(["a", "", "a\n"], max_tokens=2)
    if isinstance(flat.tokenizer, CharacterTokenizer):
        assert texts == ["aaa", "aa", "a\naa"]
    else:
        assert texts == ["a a a", "a a", "a\na a"]


# Tokenizers.


def test_a_tokenizer_needs_an_end():
    tokenizer = WordTokenizer.train(LINES, specials=("<unk>",))
    model = new_model(tokenizer, keras.layers.GRUCell(4))
    with pytest.raises(ValueError, match="end token '</s>'.*end_id=-1"):
        TextLanguageModel(model, tokenizer)


@pytest.mark.parametrize(
    "prompt", [b"\xff the\n", b"the\n  ", b"the\n\xc2\xa0"]
)
def test_a_line_break_ends_a_sentence_whatever_stands_around(words, prompt):
    [text] = words.write([prompt], max_tokens=0)
    assert text.endswith("the\n")


# Lists of strings.


def test_scores_of_a_list_keep_its_order(words):
    texts = [
        "who\u200b knows the\u2800book",
        "a\ufeff",
        "the red book\na blue house",
        "",
    ]
    found = words.score(texts, batch_size=2)
    expected = scored(words, texts)
    for name in ("total", "perplexity", "length"):
        assert_close(found[name], expected[name])
    # Words and the ends of lines; bytes, with a space or a break after a word.
    words_of, bytes_of = np.array([5, 2, 8, 0]), np.array([19, 2, 26, 0])
    some = slice(0, 3)
    assert_close(
        found["word_perplexity"][some],
        np.exp(-found["total"] / np.maximum(words_of, 1))[some],
    )
    assert_close(
        found["bits_per_byte"][some],
        (-found["total"] / np.log(2) / np.maximum(bytes_of, 1))[some],
    )


def test_figures_by_word_and_byte_do_not_depend_on_the_tokens():
    # Every token is one of as many, so that all depends on their number.
    lines = ["the  red\u200b book", "नीली", "", " ", "\u200b"]
    found = {}
    for name in ("words", "characters"):
        tokenizer = TOKENIZERS[name]
        model = new_model(tokenizer, keras.layers.GRUCell(4))
        for weight in model.trainable_weights:
            weight.assign(0 * weight)
        language = TextLanguageModel(model, tokenizer, WINDOW)
        scores = language.evaluate(lines)
        nats = scores["tokens"] * np.log(tokenizer.vocabulary_size)
        assert scores["word_perplexity"] == pytest.approx(np.exp(nats / 6))
        bits = nats / np.log(2) / (13 + 13)
        assert scores["bits_per_byte"] == pytest.approx(bits)
        found[name] = scores["tokens"]
    assert found["words"] < found["characters"]


def test_lines_are_evaluated_as_one_text(words):
    found = words.task().row_scores([*LINES[:4], ""], dynamic=True)
    # It scores this window before it learns it.
    dynamic = found["dynamic"]
    assert dynamic == pytest.approx({x: found[x] for x in dynamic}, rel=1e-4)
    ids = words.ids(LINES[:4])
    loss = -expected_scores(words, ids.tolist()).mean()
    assert found["tokens"] == len(ids)
    assert found["loss"] == pytest.approx(loss, rel=1e-5)
    assert found["perplexity"] == pytest.approx(np.exp(loss), rel=1e-5)
    assert found["wall_seconds"] >= 0
    with pytest.raises(ValueError, match=r"ids of shape \(0,\)"):
        words.evaluate(["", " "])


def test_it_learns_from_lines():
    model = new_model(TOKENIZERS["words"], keras.layers.GRUCell(4))
    language = TextLanguageModel(model, TOKENIZERS["words"], WINDOW)
    with pytest.raises(ValueError, match="Received: batch_size=None"):
        language.fit(LINES)
    language = TextLanguageModel(
        model.with_batch_size(2), TOKENIZERS["words"], WINDOW
    )
    for found, expected in zip(
        language.batches(LINES),
        text_windows(language.ids(LINES), 2, WINDOW, END),
        strict=True,
    ):
        keras.tree.map_structure(np.testing.assert_array_equal, found, expected)
    language.compile(keras.optimizers.Adam(0.01), TokenCrossentropy(-1))
    history = language.fit(
        LINES, validation_data=LINES, epochs=2, verbose=0
    ).history
    assert history["val_loss"][1] < history["val_loss"][0]
    said = r"Received: ids of shape \(0,\) .*, batch_size=2"
    with pytest.raises(ValueError, match=said):
        language.batches([""])


def test_the_guide_of_the_server_gives_all_inputs(words):
    guide = pathlib.Path(__file__).parents[2] / "docs/guides/serving.md"
    (request,) = re.findall(
        r"ptb_lm:predict -d '(\{.+?\})'", guide.read_text("utf-8"), re.DOTALL
    )
    request = json.loads(request)
    _, *specs = words.functions()[request["signature_name"]]
    assert request["inputs"].keys() == {spec.name for spec in specs}


@pytest.mark.parametrize("method", ["write", "score", "evaluate"])
def test_one_string_is_not_a_list(words, method):
    with pytest.raises(ValueError, match="Received: 'the red'"):
        getattr(words, method)("the red")
