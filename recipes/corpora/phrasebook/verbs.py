"""The verbs of the phrasebook, by their kinds of objects."""

from corpora.phrasebook.words import Verb

_FOOD = "apple banana mango egg vegetables bread rice fish"
_DRINK = "tea coffee milk water"
_WARES = (
    "shirt sari shoes pen bag box phone toy flower chair table "
    "bicycle car house book picture clothes"
)
_PERCEIVED = (
    "habitual|continuous|past continuous|used to|imperative|prohibition"
)
_ONLY_PAST = f"{_PERCEIVED}|future|can|want|should|have to|had to"
_LOCAL = "school|the office|the hospital|the shop|the library"

TRANSITIVE = (
    Verb("eat", "खा", past="ate", participle="eaten", nouns=_FOOD),
    Verb("drink", "पी", past="drank", participle="drunk", nouns=_DRINK),
    Verb("cook", "पका", nouns="egg vegetables rice fish"),
    Verb("make", "बना", past="made", nouns="tea coffee bread"),
    Verb("read", "पढ़", past="read", nouns="book newspaper letter story"),
    Verb(
        "write",
        "लिख",
        past="wrote",
        participle="written",
        nouns="book letter story",
    ),
    Verb("sing", "गा", past="sang", participle="sung", nouns="song"),
    Verb(
        "see",
        "देख",
        past="saw",
        participle="seen",
        nouns="film",
        lacks=_PERCEIVED,
    ),
    Verb(
        "see",
        "देख",
        past="saw",
        participle="seen",
        nouns="dog cat horse bird picture",
        lacks=_ONLY_PAST,
    ),
    Verb("buy", "खरीद", past="bought", nouns=f"{_WARES} {_FOOD} ticket"),
    Verb(
        "sell",
        "बेच",
        past="sold",
        nouns=f"{_WARES} {_FOOD}",
        lacks="imperative|prohibition",
    ),
    Verb("open", "खोल", nouns="door window shop box bag book letter"),
    Verb("close", "कर", conjunct="बंद", nouns="door window shop box bag book"),
    Verb(
        "clean",
        "कर",
        conjunct="साफ़",
        nouns="room kitchen house shop table car window",
    ),
    Verb("wash", "धो", nouns="clothes dishes shirt sari car"),
    Verb(
        "bring",
        "ला",
        past="brought",
        ergative=False,
        nouns=f"{_FOOD} {_DRINK} flower newspaper",
    ),
)

LANGUAGES = {"Hindi": "हिंदी", "English": "अंग्रेज़ी"}
LANGUAGE = (
    Verb(
        "speak",
        "बोल",
        past="spoke",
        participle="spoken",
        lacks="past|perfect|had to",
    ),
    Verb(
        "understand",
        "समझ",
        past="understood",
        lacks="continuous|past|perfect|past continuous|should|have to|had to|"
        "imperative|prohibition|when",
    ),
    Verb("learn", "सीख"),
)

MOTION = (
    Verb("go", "जा", past="went", participle="gone", ergative=False),
    Verb("come", "आ", past="came", participle="come", ergative=False),
)

ACTIVITY = (
    Verb(
        "work",
        "कर",
        conjunct="काम",
        conjunct_gender="m",
        places=f"home|the kitchen|the garden|Delhi|Mumbai|{_LOCAL}",
    ),
    Verb(
        "sleep",
        "सो",
        past="slept",
        ergative=False,
        places="home|the room|the house|the car",
        lacks="perfect",
    ),
    Verb(
        "sit",
        "बैठ",
        past="sat",
        ergative=False,
        places="the chair|the room|the garden|the car",
        lacks="perfect",
        stance=True,
    ),
    Verb(
        "live",
        "रह",
        ergative=False,
        places="Delhi|Mumbai|India|the village|the city",
        lacks="past|perfect|continuous|past continuous|had to|imperative|"
        "prohibition|when",
    ),
    Verb(
        "run",
        "दौड़",
        past="ran",
        participle="run",
        ergative=False,
        places="the garden|the road",
        lacks="perfect",
    ),
    Verb(
        "play",
        "खेल",
        places="home|school|the room|the house|the road|the garden",
        lacks="perfect|past",
    ),
    Verb(
        "swim",
        "तैर",
        past="swam",
        participle="swum",
        ergative=False,
        places="the river",
        lacks="perfect",
    ),
)

_UNWILLED = "perfect|have to|had to|can|want|should|imperative|when"
ALONE = (
    Verb("laugh", "हँस", ergative=False, lacks=_UNWILLED),
    Verb("cry", "रो", ergative=False, lacks=_UNWILLED),
)

SOCIAL = (
    Verb("help", "कर", conjunct="मदद", conjunct_gender="f", marker="का"),
    Verb(
        "wait",
        "कर",
        conjunct="इंतज़ार",
        conjunct_gender="m",
        particle="for",
        marker="का",
    ),
    Verb("call", "कर", conjunct="फ़ोन", conjunct_gender="m", marker="को"),
    Verb(
        "see",
        "देख",
        past="saw",
        participle="seen",
        marker="को",
        lacks=_ONLY_PAST,
    ),
    Verb("ask", "पूछ", marker="से"),
    Verb("meet", "मिल", past="met", ergative=False, marker="से"),
    Verb(
        "talk",
        "कर",
        conjunct="बात",
        conjunct_gender="f",
        particle="to",
        marker="से",
    ),
)
FEELING = (
    Verb("love", "कर", conjunct="प्यार", conjunct_gender="m", marker="से"),
    Verb("know", "जान", past="knew", participle="known", marker="को"),
)

GIVING = (
    Verb(
        "give",
        "दे",
        past="gave",
        participle="given",
        nouns="book pen bag toy flower apple mango picture key ticket",
    ),
    Verb("send", "भेज", past="sent", nouns="letter book flower picture ticket"),
    Verb("show", "दिखा", participle="shown", nouns="picture book letter"),
)

# Hindi says भूल जाना; the predicate adds भूल.
FORGET = Verb("forget", "जा", past="forgot", ergative=False)
DO = Verb("do", "कर", past="did", participle="done")

# Verbs with a recipient in Hindi, so that only the English is conjugated.
HAVE = Verb("have", "", past="had")
WANT = Verb("want", "")
LIKE = Verb("like", "")
NEED = Verb("need", "")
KNOW = Verb("know", "", past="knew")
