import re
import unicodedata
from collections import Counter

import pytest
from corpora.phrasebook import being
from corpora.phrasebook import comparing
from corpora.phrasebook import english as en
from corpora.phrasebook import having
from corpora.phrasebook import hindi as hi
from corpora.phrasebook import inquiries
from corpora.phrasebook import phrasebook
from corpora.phrasebook import questions
from corpora.phrasebook import requests
from corpora.phrasebook import statements
from corpora.phrasebook import verbs
from corpora.phrasebook.clauses import TENSES
from corpora.phrasebook.clauses import Predicate
from corpora.phrasebook.clauses import ask
from corpora.phrasebook.clauses import clause
from corpora.phrasebook.clauses import copula
from corpora.phrasebook.clauses import finish
from corpora.phrasebook.clauses import question
from corpora.phrasebook.lexicon import ADJECTIVES
from corpora.phrasebook.lexicon import NOUNS
from corpora.phrasebook.lexicon import NUMBERS
from corpora.phrasebook.lexicon import PLACES
from corpora.phrasebook.phrases import BARE
from corpora.phrasebook.phrases import HE
from corpora.phrasebook.phrases import ONE
from corpora.phrasebook.phrases import SHE
from corpora.phrasebook.phrases import THAT
from corpora.phrasebook.phrases import THE
from corpora.phrasebook.phrases import THEY
from corpora.phrasebook.phrases import THIS
from corpora.phrasebook.phrases import YOU
from corpora.phrasebook.phrases import I
from corpora.phrasebook.phrases import Possessor
from corpora.phrasebook.phrases import both
from corpora.phrasebook.phrases import name
from corpora.phrasebook.phrases import noun_phrase
from corpora.phrasebook.phrases import number
from corpora.phrasebook.predicates import directed
from corpora.phrasebook.sentences import PATTERNS
from corpora.phrasebook.sentences import draw

PAIRS = phrasebook()
VERBS = {
    verb.english: verb
    for verb in (
        *verbs.FEELING,
        *verbs.GIVING,
        *verbs.ALONE,
        *verbs.ACTIVITY,
        *verbs.MOTION,
        *verbs.LANGUAGE,
        *verbs.TRANSITIVE,
        verbs.DO,
    )
}
SOCIAL = {verb.english: verb for verb in verbs.SOCIAL}
ADJECTIVE = {adjective.english: adjective for adjective in ADJECTIVES}


def words(text):
    return re.findall(r"[^\s.,?!।]+", text)


def thing(noun, determiner=THE, adjective=None, plural=False):
    adjective = ADJECTIVE[adjective] if adjective else None
    return noun_phrase(NOUNS[noun], determiner, adjective, plural)


def doing(verb, thing):
    verb = VERBS[verb]
    return Predicate(
        verb, thing.english, thing.direct, thing.agreement, verb.conjunct
    )


def going(place):
    return Predicate(VERBS["go"], f"to {place}", PLACES[place].oblique)


def test_size_and_distinctness():
    assert 4_000 <= len(PAIRS) <= 6_000
    assert len({english for english, _ in PAIRS}) == len(PAIRS)


def test_is_deterministic_and_unshared():
    again = phrasebook()
    assert again == PAIRS
    again.clear()
    assert phrasebook() == PAIRS


def test_no_english_sentence_has_two_translations():
    seen = {}
    for pattern, options, quota in PATTERNS:
        # Twice the quota looks beyond what the phrasebook itself contains.
        for english, hindi in draw(pattern, options, 2 * quota):
            assert seen.setdefault(english, hindi) == hindi, english


def test_every_pattern_fills_its_quota():
    for pattern, options, quota in PATTERNS:
        drawn = draw(pattern, options, quota)
        assert len(drawn) == len(set(drawn)) == quota, (pattern, options)


def test_no_pattern_dominates():
    sizes = Counter()
    for pattern, options, quota in PATTERNS:
        sizes[pattern.__name__, str(options)] += quota
    assert max(sizes.values()) < 0.05 * len(PAIRS)
    assert len(sizes) > 100


def test_hindi_is_devanagari_in_normal_form():
    # Letters, signs and the danda; no digits, no Latin, no joiners.
    allowed = re.compile(
        r"[\u0901-\u0903\u0905-\u0939\u093c\u093e-\u094d ,!?।]+"
    )
    for _, hindi in PAIRS:
        assert unicodedata.is_normalized("NFC", hindi), hindi
        assert allowed.fullmatch(hindi), hindi
        assert re.fullmatch(r"[^।?!]+[।?!]", hindi), hindi


def test_english_is_plain_ascii():
    for english, _ in PAIRS:
        assert re.fullmatch(r"[A-Z][A-Za-z ,']*[.?!]", english), english


def test_marks_agree_and_spaces_are_single():
    for english, hindi in PAIRS:
        assert hindi[-1] == {".": "।"}.get(english[-1], english[-1])
        for text in (english, hindi):
            assert text == " ".join(text.split()), text
            assert not re.search(r" [,.?!।]|,[^ ]", text), text


def test_lengths_suit_a_small_translator():
    lengths = sorted(len(words(english)) for english, _ in PAIRS)
    assert lengths[-1] <= 16
    short = [length for length in lengths if 3 <= length <= 12]
    assert len(short) > 0.95 * len(lengths)


def test_articles_agree_with_the_next_sound():
    for english, _ in PAIRS:
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", english), (
            english
        )


def test_held_out_sentences_recombine_known_words():
    held, kept = PAIRS[::10], [p for i, p in enumerate(PAIRS) if i % 10]
    for side in (0, 1):
        known = {word for pair in kept for word in words(pair[side])}
        seen = [word for pair in held for word in words(pair[side])]
        missing = [word for word in seen if word not in known]
        assert len(missing) < 0.01 * len(seen), missing


def test_every_noun_adjective_and_number_is_used():
    counts = Counter(word for english, _ in PAIRS for word in words(english))
    for noun in NOUNS.values():
        assert counts[noun.english] + counts[noun.english_plural] >= 5, noun
    for adjective in ADJECTIVES:
        assert counts[adjective.english] >= 5, adjective
    for english in NUMBERS:
        assert counts[english] >= 3, english


@pytest.mark.parametrize("noun", NOUNS.values(), ids=lambda noun: noun.english)
def test_noun_forms_follow_their_class(noun):
    word, feminine = noun.hindi, noun.feminine
    direct = hi.decline(word, feminine, plural=True)
    oblique = hi.decline(word, feminine, plural=True, oblique=True)
    singular = hi.decline(word, feminine, oblique=True)
    assert noun.gender in ("m", "f")
    assert oblique.endswith(("ों", "ओं"))
    if feminine:
        assert singular == word
        assert direct.endswith(("ियाँ", "इयाँ", "ें", "एँ"))
    elif word.endswith("ा"):
        assert singular == direct == word[:-1] + "े"
    else:
        assert singular == direct == word


@pytest.mark.parametrize(
    ("word", "feminine", "forms"),
    [
        ("लड़का", False, "लड़के लड़के लड़कों"),
        ("घर", False, "घर घर घरों"),
        ("आदमी", False, "आदमी आदमी आदमियों"),
        ("भाई", False, "भाई भाई भाइयों"),
        ("लड़की", True, "लड़की लड़कियाँ लड़कियों"),
        ("किताब", True, "किताब किताबें किताबों"),
        ("चिड़िया", True, "चिड़िया चिड़ियाँ चिड़ियों"),
        ("कविता", True, "कविता कविताएँ कविताओं"),
        ("मिठाई", True, "मिठाई मिठाइयाँ मिठाइयों"),
    ],
)
def test_declension(word, feminine, forms):
    assert forms.split() == [
        hi.decline(word, feminine, oblique=True),
        hi.decline(word, feminine, plural=True),
        hi.decline(word, feminine, plural=True, oblique=True),
    ]


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("अच्छा", "अच्छे अच्छी"),
        ("नया", "नए नई"),
        ("पिया", "पिए पी"),
        ("गया", "गए गई"),
        ("हुआ", "हुए हुई"),
        ("मेरा", "मेरे मेरी"),
        ("लाल", "लाल लाल"),
        ("भारी", "भारी भारी"),
    ],
)
def test_agreement(word, forms):
    marked, feminine = hi.agree(word, marked=True), hi.agree(word, True)
    assert f"{marked} {feminine}" == forms


@pytest.mark.parametrize(
    ("stem", "forms"),
    [
        ("लिख", "लिखूँगा लिखोगे लिखेगा लिखेंगे लिखिए लिखा"),
        ("खा", "खाऊँगा खाओगे खाएगा खाएँगे खाइए खाया"),
        ("पी", "पिऊँगा पियोगे पिएगा पिएँगे पीजिए पिया"),
        ("ले", "लूँगा लोगे लेगा लेंगे लीजिए लिया"),
        ("दे", "दूँगा दोगे देगा देंगे दीजिए दिया"),
        ("कर", "करूँगा करोगे करेगा करेंगे कीजिए किया"),
        ("जा", "जाऊँगा जाओगे जाएगा जाएँगे जाइए गया"),
        ("सो", "सोऊँगा सोओगे सोएगा सोएँगे सोइए सोया"),
        ("धो", "धोऊँगा धोओगे धोएगा धोएँगे धोइए धोया"),
    ],
)
def test_verb_forms(stem, forms):
    verb = verbs.Verb("do", stem)
    future = [
        hi.conjugate(verb, "future", phrase.agreement)
        for phrase in (I, YOU, HE, THEY)
    ]
    rest = [hi.polite(stem), hi.perfective(stem, HE.agreement)]
    assert " ".join(future + rest) == forms


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("go", "goes going"),
        ("watch", "watches watching"),
        ("cry", "cries crying"),
        ("play", "plays playing"),
        ("sit", "sits sitting"),
        ("make", "makes making"),
        ("see", "sees seeing"),
        ("open", "opens opening"),
        ("have", "has having"),
    ],
)
def test_english_verbs(base, forms):
    assert f"{en.add_s(base)} {en.add_ing(base)}" == forms


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("big", "bigger biggest"),
        ("white", "whiter whitest"),
        ("dirty", "dirtier dirtiest"),
        ("good", "better best"),
        ("old", "older oldest"),
        ("beautiful", "more beautiful most beautiful"),
        ("expensive", "more expensive most expensive"),
    ],
)
def test_english_comparison(word, forms):
    assert f"{en.comparative(word)} {en.superlative(word)}" == forms


@pytest.mark.parametrize("tense", TENSES)
def test_a_verb_agrees_with_its_subject_or_its_object_alone(tense):
    for verb in VERBS.values():
        obliged = tense in ("should", "have to", "had to")
        perfective = tense in ("past", "perfect")
        by_object = obliged or (perfective and verb.ergative)

        def verb_phrase(who, feminine, verb=verb):
            what = Predicate(verb, agreement=hi.Agreement(feminine))
            return clause(who, what, tense)[1]

        he_him, he_her = verb_phrase(HE, False), verb_phrase(HE, True)
        she_him = verb_phrase(SHE, False)
        # "He" and "she" are the same word in every case.
        assert (he_him != he_her) == by_object, verb
        assert (he_him != she_him) != by_object, verb


TWO = number("two")
GIRLS = thing("girl", plural=True)

GOLDEN = [
    # The perfective of a transitive verb takes ने and agrees with its object.
    (clause(name("Ram"), doing("drink", thing("tea")), "past"),
     "Ram drank the tea.", "राम ने चाय पी।"),
    (clause(I, doing("read", thing("book", TWO, plural=True)), "past"),
     "I read two books.", "मैंने दो किताबें पढ़ीं।"),
    (clause(I, doing("read", thing("book", TWO, plural=True)),
            "perfect"),
     "I have read two books.", "मैंने दो किताबें पढ़ी हैं।"),
    (clause(thing("boy"), doing("eat", thing("mango", ONE)), "past"),
     "The boy ate a mango.", "लड़के ने एक आम खाया।"),
    (clause(GIRLS, doing("wash", thing("clothes")), "past"),
     "The girls washed the clothes.", "लड़कियों ने कपड़े धोए।"),
    (clause(SHE, doing("close", thing("window")), "past", negative=True),
     "She did not close the window.", "उसने खिड़की बंद नहीं की।"),
    # लाना and the verbs of motion have no ने.
    (clause(SHE, doing("bring", thing("milk", BARE)), "past"),
     "She brought milk.", "वह दूध लाई।"),
    (clause(GIRLS, going("Delhi"), "past"),
     "The girls went to Delhi.", "लड़कियाँ दिल्ली गईं।"),
    (clause(GIRLS, going("Delhi"), "perfect"),
     "The girls have gone to Delhi.", "लड़कियाँ दिल्ली गई हैं।"),
    # An object marked with को leaves the verb masculine.
    (clause(HE, directed(SOCIAL["see"], thing("girl")), "past"),
     "He saw the girl.", "उसने लड़की को देखा।"),
    # A conjunct noun governs agreement and takes the genitive.
    (clause(THEY, directed(SOCIAL["help"], I), "past"),
     "They helped me.", "उन्होंने मेरी मदद की।"),
    (clause(HE, directed(SOCIAL["meet"], SHE), "past"),
     "He met her.", "वह उससे मिला।"),
    # Habitual, continuous and their past.
    (clause(name("Sita"), doing("drink", thing("tea", BARE)), "habitual"),
     "Sita drinks tea.", "सीता चाय पीती है।"),
    (clause(GIRLS, doing("drink", thing("tea", BARE)),
            "habitual", negative=True),
     "The girls do not drink tea.", "लड़कियाँ चाय नहीं पीतीं।"),
    (clause(YOU, going("the market"), "continuous", when=("today", "आज")),
     "You are going to the market today.", "तुम आज बाज़ार जा रहे हो।"),
    (clause(SHE, Predicate(VERBS["sit"], "in the garden", "बगीचे में"),
            "continuous"),
     "She is sitting in the garden.", "वह बगीचे में बैठी है।"),
    (clause(I, doing("read", thing("book", BARE, plural=True)), "used to"),
     "I used to read books.", "मैं किताबें पढ़ता था।"),
    (clause(both(name("Sita"), name("Meera")), doing("sing", thing("song")),
            "past continuous"),
     "Sita and Meera were singing the song.",
     "सीता और मीरा गाना गा रही थीं।"),
    (clause(both(name("Ram"), name("Sita")), doing("sing", thing("song")),
            "future"),
     "Ram and Sita will sing the song.", "राम और सीता गाना गाएँगे।"),
    # The plural of respect.
    (clause(thing("father", Possessor(I)), going("the office"), "habitual"),
     "My father goes to the office.", "मेरे पिताजी दफ़्तर जाते हैं।"),
    (clause(thing("mother", Possessor(I)), going("Delhi"), "past"),
     "My mother went to Delhi.", "मेरी माँ दिल्ली गईं।"),
    # Desire and ability agree with the subject, duty with the object.
    (clause(SHE, doing("read", thing("book")), "want", negative=True),
     "She does not want to read the book.", "वह किताब पढ़ना नहीं चाहती।"),
    (clause(SHE, Predicate(VERBS["speak"], "Hindi", "हिंदी"), "can",
            negative=True),
     "She cannot speak Hindi.", "वह हिंदी नहीं बोल सकती।"),
    (clause(I, doing("read", thing("book", ONE)), "have to"),
     "I have to read a book.", "मुझे एक किताब पढ़नी है।"),
    (clause(thing("boy"), doing("wash", thing("clothes")), "have to"),
     "The boy has to wash the clothes.", "लड़के को कपड़े धोने हैं।"),
    (clause(YOU, doing("drink", thing("milk")), "should"),
     "You should drink the milk.", "तुम्हें दूध पीना चाहिए।"),
    (clause(THEY, doing("sell", thing("car")), "had to"),
     "They had to sell the car.", "उन्हें गाड़ी बेचनी पड़ी।"),
    # Oblique phrases, with everything in them.
    (clause(thing("man", adjective="old"),
            directed(SOCIAL["ask"], thing("boy", THIS, plural=True)), "past"),
     "The old man asked these boys.", "बूढ़े आदमी ने इन लड़कों से पूछा।"),
    (clause(I, directed(SOCIAL["ask"], thing("brother", Possessor(I, True))),
            "past"),
     "I asked my brother.", "मैंने अपने भाई से पूछा।"),
    # Being.
    (copula(thing("shirt", Possessor(name("Ram")), plural=True),
            ("red", "लाल")),
     "Ram's shirts are red.", "राम की कमीज़ें लाल हैं।"),
    (copula(I, ("at home", "घर पर"), "future"),
     "I will be at home.", "मैं घर पर होऊँगा।"),
    (copula(thing("woman", THAT, plural=True), ("sick", "बीमार"), "past"),
     "Those women were sick.", "वे औरतें बीमार थीं।"),
]  # fmt: skip

QUESTIONS = [
    (question(YOU, doing("drink", thing("tea", BARE)), "habitual"),
     "Do you drink tea?", "क्या तुम चाय पीते हो?"),
    (ask(("where", "कहाँ"), YOU,
         Predicate(VERBS["work"], conjunct="काम"), "habitual"),
     "Where do you work?", "तुम कहाँ काम करते हो?"),
    (ask(("why", "क्यों"), HE, doing("close", thing("door")), "past"),
     "Why did he close the door?", "उसने दरवाज़ा क्यों बंद किया?"),
    (ask(("why", "क्यों"), HE, doing("close", thing("door")), "past",
         negative=True),
     "Why did he not close the door?", "उसने दरवाज़ा बंद क्यों नहीं किया?"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "english", "hindi"), GOLDEN)
def test_golden_statement(parts, english, hindi):
    assert finish(*parts) == (english, hindi)


@pytest.mark.parametrize(("parts", "english", "hindi"), QUESTIONS)
def test_golden_question(parts, english, hindi):
    assert finish(*parts, "?") == (english, hindi)


DRAWN = [
    (having.sensation, {"time": "present"}, "I am hungry.", "मुझे भूख लगी है।"),
    (having.sensation, {"time": "past"}, "She was sleepy.",
     "उसे नींद आ रही थी।"),
    (having.likes, {}, "They like mangoes.", "उन्हें आम पसंद हैं।"),
    (having.likes, {"negative": True}, "I do not like fish.",
     "मुझे मछली पसंद नहीं है।"),
    (having.wants, {}, "He wants shoes.", "उसे जूते चाहिए।"),
    (having.needs, {}, "I need you.", "मुझे तुम्हारी ज़रूरत है।"),
    (having.has, {"time": "present"}, "He has a horse.",
     "उसके पास एक घोड़ा है।"),
    (having.has, {"time": "present", "negative": True},
     "I do not have money.", "मेरे पास पैसे नहीं हैं।"),
    (having.has_kin, {}, "I have two sisters.", "मेरी दो बहनें हैं।"),
    (having.ails, {"time": "present"}, "Ram has a cough.",
     "राम को खाँसी है।"),
    (having.knows_how, {}, "We know how to swim.", "हमें तैरना आता है।"),
    (being.this_is, {}, "This is my father.", "ये मेरे पिताजी हैं।"),
    (being.this_is, {}, "These are our daughters.", "ये हमारी बेटियाँ हैं।"),
    (being.works_as, {"time": "present"}, "She is a teacher.",
     "वह अध्यापिका है।"),
    (being.person_is, {"time": "past"}, "She was tired.",
     "वह थकी हुई थी।"),
    (being.there_is, {"time": "present"}, "There is a bird in the garden.",
     "बगीचे में एक चिड़िया है।"),
    (comparing.people, {}, "She is taller than me.", "वह मुझसे लंबी है।"),
    (comparing.things, {}, "This shop is bigger than that shop.",
     "यह दुकान उस दुकान से बड़ी है।"),
    (inquiries.how_much, {}, "How much is this shirt?",
     "यह कमीज़ कितने की है?"),
    (inquiries.whose, {}, "Whose keys are these?", "ये किसकी चाबियाँ हैं?"),
    (questions.who, {"tense": "past"}, "Who drank the tea?",
     "चाय किसने पी?"),
    (statements.forgotten, {}, "She forgot the key at home.",
     "वह चाबी घर पर भूल गई।"),
    (requests.measured, {"please": True},
     "Please give me two cups of tea.", "कृपया मुझे दो कप चाय दीजिए।"),
    (requests.command, {}, "Open the door.", "दरवाज़ा खोलो।"),
    (requests.command, {"negative": True}, "Do not cry.", "मत रोओ।"),
    (requests.proposal, {}, "Let us go home.", "आओ, घर चलें।"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "options", "english", "hindi"), DRAWN)
def test_golden_pattern(pattern, options, english, hindi):
    assert dict(draw(pattern, options, 1_000))[english] == hindi


def test_a_thing_owns_nothing_of_its_own():
    gifts = dict(draw(being.gift, {}, 60))
    assert not [hindi for hindi in gifts.values() if "अपन" in hindi]
    assert (
        gifts["These shirts are for their daughters."]
        == "ये कमीज़ें उनकी बेटियों के लिए हैं।"
    )
    assert gifts["That pen is for her son."] == "वह पेन उसके बेटे के लिए है।"


@pytest.mark.parametrize(
    "pattern, options, english, hindi",
    [
        (having.likes, {}, "He likes his horse.", "उसे अपना घोड़ा पसंद है।"),
        (having.likes, {}, "We like his bird.", "हमें उसकी चिड़िया पसंद है।"),
        (
            having.asked,
            {"verb": verbs.LIKE},
            "Do they like their film?",
            "क्या उन्हें अपनी फ़िल्म पसंद है?",
        ),
    ],
)
def test_who_likes_what_is_his_own(pattern, options, english, hindi):
    assert dict(draw(pattern, options, 200))[english] == hindi
