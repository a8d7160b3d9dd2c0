import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import translation_batches
from kerasrnn.data import translation_lexicon
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.metrics import corpus_scores
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Lexicon
from kerasrnn.models import Shortlist
from kerasrnn.models import Translator
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines.text_translator import align_words
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.training import TokenCrossentropy
from tests.helpers import one_now

PAIRS = [
    ("the red book", "लाल किताब"),
    ("the blue book", "नीली किताब"),
    ("a red house", "लाल घर"),
    ("a blue house", "नीला घर"),
    ("who knows", "किसे पता"),
    ("who is there", "वहाँ कौन है"),
]
SENTENCES = [source for source, _ in PAIRS]


def new_model(source, target, seed=0, **options):
    keras.utils.set_random_seed(seed)
    cell = keras.layers.GRUCell(32)
    options["pad_id"] = source.pad_id
    return Translator(
        Encoder(source.vocabulary_size, cell, 16, **options),
        Decoder(target.vocabulary_size, cell, 16),
    )


@pytest.fixture(scope="module")
def tokenizers():
    return [WordTokenizer.train(side) for side in zip(*PAIRS, strict=True)]


@pytest.fixture(scope="module")
def model(tokenizers):
    """A translator that knows the pairs by heart."""
    model = new_model(*tokenizers)
    model.compile(keras.optimizers.Adam(0.03), TokenCrossentropy(0))
    model.fit(
        translation_batches(PAIRS * 4, *tokenizers, 12, seed=0).cache(),
        epochs=25,
        shuffle=False,
        verbose=0,
    )
    return model


@pytest.fixture(scope="module")
def translator(model, tokenizers):
    return TextTranslator(model, *tokenizers, GreedySearch(max_length=50))


@pytest.fixture(scope="module")
def beam(model, tokenizers):
    return TextTranslator(
        model, *tokenizers, BeamSearch(max_length=50, beam_width=3)
    )


def test_translates_what_it_learned(translator):
    targets = [target for _, target in PAIRS]
    assert translator.translate(SENTENCES) == targets
    assert translator.translate(SENTENCES, greedy=True) == targets
    assert translator.translate(["  The\u00a0RED book "]) == ["लाल किताब"]


@pytest.fixture(scope="module")
def shortlist(tokenizers):
    source, target = tokenizers
    lexicon = Lexicon(source.vocabulary_size, target.vocabulary_size, 5)
    lexicon.assign(*translation_lexicon(PAIRS, *tokenizers, translations=5))
    return Shortlist(lexicon, size=8, frequent=4)


def test_every_sentence_can_end(model, tokenizers, shortlist):
    words = Shortlist(shortlist.lexicon, size=8, frequent=2)
    with pytest.raises(ValueError, match="more than 2. Received: frequent=2"):
        TextTranslator(model, *tokenizers, GreedySearch(), shortlist=words)


def test_order_is_kept_whatever_the_lengths(translator):
    found = translator.translate(SENTENCES[::-1] * 3, batch_size=4)
    assert found == [target for _, target in PAIRS[::-1]] * 3
    assert translator.translate([]) == []
    # Which greedy search alone does not have.
    assert not {"greedy", "n_best"} & translator.signatures.keys()


def test_nothing_is_translated_by_nothing(translator):
    nothing = ["", "  \t", "\u3000", "\u200b", "\ufeff \u2800", "\u200d\ufe0f"]
    assert translator.translate(nothing) == [""] * 6
    found = translator.signatures["serving_default"](tf.constant(nothing))
    assert found["score"].numpy().tolist() == [0] * 6
    assert translator.translate(["who\u200b \u200eknows"]) == ["किसे पता"]
    assert translator.translate(["", "who knows"]) == ["", "किसे पता"]
    assert translator.translate([]) == []


@pytest.mark.parametrize(
    "text", ["zzz qqq", "the किताब है", b"\xff\xfe the", "the " * 2000]
)
def test_strange_text_gets_an_answer_of_bounded_length(translator, text):
    found = translator.signatures["serving_default"](tf.constant([text]))
    words = found["translation"].numpy()[0].decode().split()
    assert len(words) <= 50
    assert np.isfinite(found["score"].numpy()).all()


def test_a_source_is_cut_to_its_maximum_length(model, tokenizers):
    translator = TextTranslator(model, *tokenizers, GreedySearch(), 3)
    ids = translator.source_ids(tf.constant(["the red book is here", "a"]))
    end = tokenizers[0].end_id
    assert ids.shape == (2, 4)
    assert ids[:, 3].numpy().tolist() == [end, 0]
    assert ids[1].numpy().tolist()[1:] == [end, 0, 0]


@pytest.mark.filterwarnings("ignore:1 of 4 texts were cut")
@pytest.mark.parametrize("search", one_now([GreedySearch, BeamSearch]))
def test_a_translation_has_a_length_limit_of_its_source(tokenizers, search):
    """A model that can never end stops for every sentence by itself."""
    model = new_model(*tokenizers)
    bias = model.decoder.output_projection.bias
    bias.assign(np.where(np.arange(bias.shape[0]) <= 3, -1e9, 0.0))
    translator = TextTranslator(model, *tokenizers, search(max_length=40))
    texts = ["", "a", "the red book", "the " * 2000]
    lengths = [len(text.split()) for text in translator.translate(texts)]
    # Its end token counts: twice 2 and 10 more, twice 4 and 10 more.
    assert lengths == [0, 14, 18, 40]


def test_translates_ids(translator, tokenizers):
    source, target = tokenizers
    ids = translator.source_ids(tf.constant(SENTENCES))
    found = translator.signatures["translate_ids"](ids)
    assert found["translation_ids"].dtype == tf.int32
    np.testing.assert_array_equal(
        target.detokenize(found["translation_ids"]),
        translator.signatures["serving_default"](tf.constant(SENTENCES))[
            "translation"
        ],
    )


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_no_ids_have_no_translation(translator, shape):
    found = translator.signatures["translate_ids"](tf.zeros(shape, tf.int32))
    assert found["translation_ids"].shape == (shape[0], 50)
    assert (found["translation_ids"].numpy() == -1).all()


def test_an_id_outside_the_vocabulary_is_an_error(translator):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Ids must.*9999"):
        translator.signatures["translate_ids"]([[4, 9999]])


def test_a_given_translation_has_the_score_of_the_search(translator):
    sources, targets = (tf.constant(x) for x in zip(*PAIRS, strict=True))
    found = translator.signatures["score"](sources, targets)
    expected = translator.signatures["serving_default"](sources)["score"]
    np.testing.assert_allclose(found["log_probability"], expected, rtol=1e-4)
    assert found["length"].numpy().tolist() == [3, 3, 3, 3, 3, 4]
    for name, values in translator.score(PAIRS, batch_size=4).items():
        np.testing.assert_allclose(values, found[name], rtol=1e-4)
    other = translator.signatures["score"](sources, targets[::-1])
    assert (other["log_probability"].numpy() < expected.numpy() - 1).all()
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="same number of rows.*6 1"
    ):
        translator.signatures["score"](sources, targets[:1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="At most 50"):
        translator.signatures["score"](["who knows"], ["घर " * 51])


def test_alignments_are_cut_to_their_sentence(translator):
    long, short, empty = translator.alignments(
        ["who is there", "who knows", ""]
    )
    assert long[1:] == (
        ["who", "is", "there", "</s>"],
        ["वहाँ", "कौन", "है", "</s>"],
    )
    assert long[0].shape == (4, 4)
    assert short[1:] == (["who", "knows", "</s>"], ["किसे", "पता", "</s>"])
    assert short[0].shape == (3, 3)
    np.testing.assert_allclose(short[0].sum(-1), np.ones(3), atol=1e-5)
    assert empty[1:] == ([], [])
    assert empty[0].shape == (0, 0)


def test_one_word_of_characters_stays_in_characters(tokenizers):
    letters = CharacterTokenizer.train(["shook the book"])
    both = letters, tokenizers[1]
    tokens = [x.encode() for x in (*"shook", "</s>")]
    weights = np.arange(12.0).reshape(2, 6)
    found, source, target = align_words(weights, tokens, [b"x", b"y"], *both)
    assert (source, target) == ([*"shook", "</s>"], ["x", "y"])
    np.testing.assert_array_equal(found, weights)
    several = [x.encode() for x in "the book"]
    weights = np.ones((2, 8))
    found, source, _ = align_words(weights, several, [b"x", b"y"], *both)
    assert source == ["the", "book"] and found.tolist() == 2 * [[3.0, 5.0]]


# Pairs of text.


def test_it_is_scored_against_references(translator):
    pairs = [*PAIRS[:5], ("who is there", "zzz")]
    found = translator.evaluate(pairs, batch_size=4)
    assert found.pop("wall_seconds") >= 0
    assert found.pop("cpu_seconds") >= 0
    targets = [target for _, target in PAIRS]
    references = [target for _, target in pairs]
    expected = corpus_scores(targets, references, lowercase=True)
    words = len(" ".join(targets).split()) / len(" ".join(references).split())
    assert found == {**expected, "length_ratio": pytest.approx(words)}
    assert 0 < found["chrf"] < 100
    with pytest.raises(ValueError, match="must not be empty"):
        translator.evaluate([])


def test_its_batches_are_those_it_learns_from(model, tokenizers):
    translator = TextTranslator(model, *tokenizers, GreedySearch(), 2)
    found = list(translator.batches(PAIRS, 4, seed=3))
    expected = list(translation_batches(PAIRS, *tokenizers, 4, 2, 3))
    for batch, other in zip(found, expected, strict=True):
        keras.tree.map_structure(np.testing.assert_array_equal, batch, other)
    assert found[0][0]["source"].shape[1] == 3


@pytest.fixture(scope="module")
def ensemble(beam, tokenizers):
    other = new_model(*tokenizers, seed=1)
    second = TextTranslator(other, *tokenizers, GreedySearch(max_length=5))
    return TextTranslator.ensemble([beam, second])


def test_an_ensemble_of_one_is_that_one(beam):
    assert TextTranslator.ensemble([beam]) is beam


def test_an_ensemble_of_an_ensemble_has_all_models(ensemble, beam):
    found = TextTranslator.ensemble([ensemble, beam]).model.models
    assert found == [*ensemble.model.models, beam.model]


def test_an_ensemble_is_used_as_its_first(model, tokenizers):
    search = GreedySearch(max_length=9, min_length=1)
    given = {"max_length": 7, "copy_unknown": True}
    first = TextTranslator(model, *tokenizers, search, **given)
    other = TextTranslator(model, *tokenizers, GreedySearch())
    found = TextTranslator.ensemble([first, other])
    config, expected = found.get_config(), first.get_config()
    for name in expected.keys() - {"name", "model"}:
        assert config[name] == expected[name], name


def made(beam, source=None, target=None, search=None, model=None, **options):
    """A translator of the parts of another, but for some."""
    return TextTranslator(
        model or beam.model,
        source or beam.source_tokenizer,
        target or beam.target_tokenizer,
        search or GreedySearch(max_length=5),
        **options,
    )


def without_attention(beam):
    source, target = beam.source_tokenizer, beam.target_tokenizer
    cell = keras.layers.GRUCell(4)
    model = Translator(
        Encoder(source.vocabulary_size, cell, 4),
        Decoder(target.vocabulary_size, cell, 4, attention=None),
    )
    search = BeamSearch(coverage_penalty=0.2, **target.special_ids)
    return made(beam, model=model, search=search)


def copier(beam, **tokenizers):
    return made(beam, copy_unknown=True, **tokenizers)


def ensemble_of(beam, words, **options):
    other = made(beam, WordTokenizer(words, **options))
    return TextTranslator.ensemble([beam, other])


def set_search(beam, search):
    beam.search = search


WORD_MODEL = "`copy_unknown` needs a word"
OTHER_WORDS = "Received: a `source_tokenizer`"
WRONG = {
    "another end": (
        lambda x: made(x, search=x.search.with_(end_id=99)),
        "Received: .*'end_id': 99",
    ),
    "another end that is set": (
        lambda x: set_search(x, x.search.with_(end_id=99)),
        "search.*Received: ",
    ),
    "no search": (
        lambda x: set_search(x, "greedy"),
        "search.*Received: ",
    ),
    "no attention": (without_attention, "needs a model with attention"),
    "words of the target": (
        lambda x: ensemble_of(x, x.target_tokenizer.vocabulary),
        OTHER_WORDS,
    ),
    "words in another order": (
        lambda x: ensemble_of(x, x.source_tokenizer.vocabulary[::-1]),
        OTHER_WORDS,
    ),
    "cased words": (
        lambda x: ensemble_of(
            x, x.source_tokenizer.vocabulary, lowercase=False
        ),
        OTHER_WORDS,
    ),
    "a model": (
        lambda x: TextTranslator.ensemble([x, x.model]),
        "of class `TextTranslator`",
    ),
    "no unknown word to copy": (
        lambda x: copier(
            x, source=WordTokenizer(["<pad>", "<s>", "</s>", "red"])
        ),
        WORD_MODEL,
    ),
    "punctuation apart": (
        lambda x: copier(
            x, source=WordTokenizer.train(SENTENCES, separate_punctuation=True)
        ),
        WORD_MODEL,
    ),
    "characters": (
        lambda x: copier(x, target=CharacterTokenizer.train(SENTENCES)),
        WORD_MODEL,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name, beam):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call(beam)


def test_sampling_in_training_makes_no_other_tokenizer(model):
    source, target = (
        SentencePieceTokenizer.train(side, 30)
        for side in zip(*PAIRS * 9, strict=True)
    )
    again = SentencePieceTokenizer(source.proto, sampling=0.1)
    search = GreedySearch(max_length=5)
    members = [
        TextTranslator(new_model(tokenizer, target), tokenizer, target, search)
        for tokenizer in (source, again)
    ]
    assert len(TextTranslator.ensemble(members).model.models) == 2


@keras.saving.register_keras_serializable("tests")
class Backwards(keras.layers.Layer):
    """Writes `<unk>` for each source token, attending to the last one first."""

    def encode(self, source, vocabulary=None):
        words = tf.reduce_sum(tf.cast(source != 0, tf.int32), axis=1)
        return words, tf.zeros_like(source)

    def decode_step(self, ids, states, memory):
        # The end token is the last place.
        place = states - 2
        logits = 9.0 * tf.one_hot(tf.where(place < 0, 2, 3), 6)
        # The end is the second best.
        logits += 4 * tf.one_hot([2], 6)
        # More attention to the end than to the word.
        width = tf.shape(memory)[1]
        both = tf.one_hot(place, width) + 2 * tf.one_hot(states - 1, width)
        first = tf.equal(ids, 1)[:, None]
        weights = tf.where(first, both, tf.one_hot(place, width))
        return logits, states - 1, weights


@pytest.mark.parametrize(
    "kind, text, copied",
    [
        (WordTokenizer, "red book", [b"book red", b"book", b""]),
        (CharacterTokenizer, "x y", [b"y x", b"y ", b"y"]),
    ],
)
def test_all_hypotheses_copy_unknown_words(kind, text, copied):
    pairs = [kind.train(["a b"]) for _ in range(2)]
    search = BeamSearch(beam_width=3)
    copier, plain = (
        TextTranslator(Backwards(), *pairs, search, copy_unknown=copies)
        for copies in (True, False)
    )
    found = copier.signatures["n_best"](tf.constant([text, ""]))
    best = found["translations"].numpy().tolist()
    assert best == [copied, [b"", b"", b""]]
    assert plain.translate([text]) != [copied[0].decode()]
    # Ids stay those of the model.
    ids = copier.signatures["tokenize"](tf.constant([text]))["ids"]
    found = copier.signatures["translate_ids"](ids)["translation_ids"]
    count = ids.shape[1] - 1
    assert found[0, : count + 1].numpy().tolist() == [3] * count + [2]


def test_every_hypothesis_has_the_attention_of_its_text():
    words = WordTokenizer.train(["a b"])
    search = BeamSearch(beam_width=3, max_length=3, no_repeat_ngram=9)
    translator = TextTranslator(Backwards(), words, words, search)
    texts, rows = ["a", "b a"], [[0, 1, 2], [1, 0, 0], [0, 0, 0]]
    (short, *_), long = translator.n_best(texts)
    assert short.alignment[0].tolist() == [[1, 2], [0, 0]]
    assert [x.alignment[0].tolist() for x in long] == [rows, rows[:2], rows[:1]]
    assert [x.alignment[1] for x in long] == [["b", "a", "</s>"]] * 3
    assert translator.alignments(texts)[1][0].tolist() == rows
    best = translator.signatures["attend"](tf.constant(texts))
    assert best["weights"][1].numpy().tolist() == rows
    source, target = (
        best[f"{side}_tokens"].numpy().tolist() for side in ("source", "target")
    )
    assert source == [[b"a", b"</s>", b""], [b"b", b"a", b"</s>"]]
    assert target == [[b"<unk>", b"</s>", b""], [b"<unk>", b"<unk>", b"</s>"]]
    # Greedy search has the limits of the search.
    found = translator.translate(["a a a a"], greedy=True)
    assert found == ["<unk> <unk> <unk>"]
    limits = translator._functions.greedy.get_config()
    assert limits.items() <= search.get_config().items()


class Chooser(Backwards):
    """Writes the fifth of the words that it may choose from."""

    def encode(self, source, vocabulary=None):
        states, _ = super().encode(source)
        if vocabulary is None:
            # All words of the pairs.
            vocabulary = tf.zeros([tf.shape(source)[0], 14], tf.int32)
        return states, vocabulary

    def decode_step(self, ids, states, memory):
        place = tf.where(ids == 1, 4, 2)
        return tf.one_hot(place, tf.shape(memory)[1]), states, None


def test_it_chooses_from_its_shortlist_unless_there_are_phrases(
    tokenizers, shortlist
):
    source, target = tokenizers
    translator = TextTranslator(
        Chooser(), source, target, GreedySearch(), shortlist=shortlist
    )
    texts = ["who knows", "a red house"]
    ids = shortlist(translator.source_ids(tf.constant(texts))).numpy()[:, 4]
    words = [target.vocabulary[i] for i in ids]
    assert len({*words, target.vocabulary[4]}) == 3
    assert translator.translate(texts) == words
    fifth = target.vocabulary[4]
    found = translator.translate(texts, forbidden=[[], [fifth]])
    assert found == [fifth, ""]


def test_steps_spell_what_greedy_search_finds():
    """But never padding or the start."""
    words = WordTokenizer.train(["a b"])
    signatures = TextTranslator(
        Backwards(), words, words, GreedySearch()
    ).signatures
    texts = tf.constant(["b", "a b"])
    ids = signatures["tokenize"](texts)["ids"]
    for started in signatures["encode"](texts), signatures["encode_ids"](ids):
        state, last, written = started["state_0"], tf.constant([1, 1]), []
        for _ in range(3):
            step = signatures["decode_step"](last, state, started["memory_0"])
            refused = np.isneginf(step["log_probabilities"])
            assert refused.tolist() == [[True, True, *[False] * 4]] * 2
            last = tf.argmax(step["log_probabilities"], 1, tf.int32)
            state = step["state_0"]
            written.append(last.numpy().tolist())
        # The end of the shorter one comes first, and again.
        assert np.transpose(written).tolist() == [[3, 2, 2], [3, 3, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of rows"):
        signatures["decode_step"](last[:1], state, started["memory_0"])


def test_each_sentence_is_translated_by_itself():
    pairs = [WordTokenizer.train(["a b"]) for _ in range(2)]
    copier = TextTranslator(
        Backwards(), *pairs, GreedySearch(), copy_unknown=True
    )
    texts = ["Red book. A blue house!\nWho", "", "b a"]
    expected = ["book. red house! blue a\nwho", "", "a b"]
    assert copier.translate_sentences(texts, batch_size=2) == expected
    assert copier.translate_sentences([]) == []
    served = copier.signatures["translate_sentences"]
    sentences = ["Red book.", "A blue house!", "Who", "b a"]
    alone = copier.signatures["serving_default"](tf.constant(sentences))
    scores = alone["score"].numpy()
    np.testing.assert_allclose(
        served(tf.constant(texts))["score"],
        [scores[:3].sum(), 0, scores[3]],
        rtol=1e-4,
    )
    # In few characters, many sentences.
    with pytest.raises(tf.errors.InvalidArgumentError, match="1024 sentences"):
        served(tf.constant(["a\n" * 1025]))


def test_phrases_take_no_room_of_the_translation():
    pairs = [WordTokenizer.train(["a b"]) for _ in range(2)]
    plain = TextTranslator(Backwards(), *pairs, GreedySearch())
    prefix = "a b " * 10 + "a"
    found = plain.translate(
        ["x", "x y"], prefix=[prefix, ""], required=[["b b"], []]
    )
    assert found == [prefix + " b b", "<unk> <unk>"]


def test_without_unknown_words_there_is_nothing_to_copy():
    specials = {"specials": ("<pad>", "<s>", "</s>"), "lowercase": False}
    both = [WordTokenizer.train(["x a b"], **specials) for _ in range(2)]
    copier = TextTranslator(
        Backwards(), *both, GreedySearch(), copy_unknown=True
    )
    assert copier.translate(["a new b", "new"]) == ["x x", ""]


def test_what_attends_to_nothing_copies_nothing(tokenizers):
    class Blind(Backwards):
        def decode_step(self, ids, states, memory):
            logits, states, weights = super().decode_step(ids, states, memory)
            return logits, states, tf.zeros_like(weights)

    blind = TextTranslator(
        Blind(), *tokenizers, GreedySearch(), copy_unknown=True
    )
    assert blind.translate(["red zzz", ""]) == ["<unk> <unk>", ""]


@pytest.mark.parametrize(
    "build_source",
    one_now(
        [
            lambda: SentencePieceTokenizer.train(["red books"], 20),
            lambda: SentencePieceTokenizer.train(["red books"], 20, "bpe"),
            lambda: CharacterTokenizer.train(["red books"]),
        ]
    ),
)
def test_whole_words_are_copied_for_their_parts(build_source):
    target, search = WordTokenizer.train(["a"]), GreedySearch()
    copier = TextTranslator(
        Backwards(), build_source(), target, search, copy_unknown=True
    )
    expected = ["books", "red"], [], ["books", "xyz", "red"]
    found = copier.translate(["red books", "", "red xyz books"])
    for text, words in zip(found, expected, strict=True):
        # A word is copied once for each of its tokens.
        assert [x for x, _ in itertools.groupby(text.split())] == words


def test_a_text_may_spell_the_mark_of_subwords():
    source = SentencePieceTokenizer.train(["red books"], 20)
    parts = Backwards(), source, WordTokenizer.train(["a"]), GreedySearch()
    copier = TextTranslator(*parts, copy_unknown=True)
    for text in "red\u2581books", "\u2581\u2581", "red \u2581 books":
        assert "<unk>" not in copier.translate([text])[0]
