"""The nouns, adjectives, places, times and numbers of the phrasebook."""

from corpora.phrasebook.words import Adjective
from corpora.phrasebook.words import Noun
from corpora.phrasebook.words import Place

MEN = {"Ram": "राम", "Mohan": "मोहन", "Ravi": "रवि"}
WOMEN = {"Sita": "सीता", "Meera": "मीरा", "Radha": "राधा"}

NOUNS = {
    noun.english: noun
    for noun in (
        Noun("boy", "लड़का", "m", "child"),
        Noun("girl", "लड़की", "f", "child"),
        Noun("child", "बच्चा", "m", "child", plural="children"),
        Noun("man", "आदमी", "m", "person", plural="men"),
        Noun("woman", "औरत", "f", "person", plural="women"),
        Noun("farmer", "किसान", "m", "person"),
        Noun("guest", "मेहमान", "m", "person"),
        Noun("teacher", "अध्यापक", "m", "person", "respect"),
        Noun("doctor", "डॉक्टर", "m", "person", "respect"),
        Noun("brother", "भाई", "m", "kin"),
        Noun("sister", "बहन", "f", "kin"),
        Noun("friend", "दोस्त", "m", "kin"),
        Noun("son", "बेटा", "m", "kin"),
        Noun("daughter", "बेटी", "f", "kin"),
        Noun("father", "पिताजी", "m", "kin", "respect"),
        Noun("mother", "माँ", "f", "kin", "respect"),
        Noun("dog", "कुत्ता", "m", "animal"),
        Noun("cat", "बिल्ली", "f", "animal"),
        Noun("horse", "घोड़ा", "m", "animal"),
        Noun("bird", "चिड़िया", "f", "animal"),
        Noun("apple", "सेब", "m", "fruit"),
        Noun("banana", "केला", "m", "fruit"),
        Noun("mango", "आम", "m", "fruit"),
        Noun("egg", "अंडा", "m", "food"),
        Noun("vegetables", "सब्ज़ी", "f", "food", "plural"),
        Noun("bread", "रोटी", "f", "food", "mass"),
        Noun("rice", "चावल", "m", "food", "mass"),
        Noun("fish", "मछली", "f", "food", "mass"),
        Noun("tea", "चाय", "f", "drink", "mass"),
        Noun("coffee", "कॉफ़ी", "f", "drink", "mass"),
        Noun("milk", "दूध", "m", "drink", "mass"),
        Noun("water", "पानी", "m", "drink", "mass"),
        Noun("book", "किताब", "f", "text"),
        Noun("newspaper", "अखबार", "m", "tool"),
        Noun("letter", "चिट्ठी", "f", "paper"),
        Noun("story", "कहानी", "f", "art"),
        Noun("song", "गाना", "m", "art"),
        Noun("film", "फ़िल्म", "f", "art"),
        Noun("picture", "तस्वीर", "f", "art"),
        Noun("shirt", "कमीज़", "f", "clothing"),
        Noun("sari", "साड़ी", "f", "clothing"),
        Noun("shoes", "जूता", "m", "clothing", "plural"),
        Noun("clothes", "कपड़ा", "m", "clothing", "plural"),
        Noun("dishes", "बर्तन", "m", "ware", "plural"),
        Noun("pen", "पेन", "m", "thing"),
        Noun("bag", "थैला", "m", "thing"),
        Noun("box", "डिब्बा", "m", "thing"),
        Noun("key", "चाबी", "f", "tool"),
        Noun("ticket", "टिकट", "m", "tool"),
        Noun("phone", "फ़ोन", "m", "thing"),
        Noun("toy", "खिलौना", "m", "thing"),
        Noun("flower", "फूल", "m", "flower"),
        Noun("chair", "कुर्सी", "f", "thing"),
        Noun("table", "मेज़", "f", "thing"),
        Noun("bicycle", "साइकिल", "f", "thing"),
        Noun("car", "गाड़ी", "f", "thing"),
        Noun("door", "दरवाज़ा", "m", "opening"),
        Noun("window", "खिड़की", "f", "opening"),
        Noun("room", "कमरा", "m", "place"),
        Noun("kitchen", "रसोई", "f", "place"),
        Noun("house", "घर", "m", "place"),
        Noun("shop", "दुकान", "f", "place"),
        Noun("garden", "बगीचा", "m", "place"),
        Noun("city", "शहर", "m", "town"),
        Noun("village", "गाँव", "m", "town"),
        Noun("money", "पैसा", "m", "money", "coins"),
    )
}

ADJECTIVES = (
    Adjective("good", "अच्छा", "child person kin fruit food drink text art"),
    Adjective("big", "बड़ा", "animal fruit thing opening place town flower"),
    Adjective(
        "small", "छोटा", "child animal fruit thing opening place town flower"
    ),
    Adjective(
        "old", "पुराना", "text paper art clothing ware thing tool place town"
    ),
    Adjective("old", "बूढ़ा", "person"),
    Adjective("new", "नया", "text paper art clothing ware thing tool"),
    Adjective("red", "लाल", "clothing thing flower"),
    Adjective("white", "सफ़ेद", "animal clothing thing flower"),
    Adjective("black", "काला", "animal clothing thing"),
    Adjective("yellow", "पीला", "clothing thing flower"),
    Adjective("blue", "नीला", "clothing thing flower"),
    Adjective("beautiful", "सुंदर", "clothing art flower place town animal"),
    Adjective("expensive", "महँगा", "clothing thing fruit ware"),
    Adjective("cheap", "सस्ता", "clothing thing fruit ware"),
    Adjective("clean", "साफ़", "clothing place town ware"),
    Adjective("dirty", "गंदा", "clothing place town ware"),
    Adjective("hot", "गरम", "drink"),
    Adjective("cold", "ठंडा", "drink"),
    Adjective("sweet", "मीठा", "fruit"),
    Adjective("long", "लंबा", "text paper"),
    Adjective("tall", "लंबा", "child person"),
    Adjective("clever", "होशियार", "child person"),
)
COLOURS = ("red", "white", "black", "yellow", "blue")

STATES = {
    "happy": "खुश",
    "sad": "उदास",
    "sick": "बीमार",
    "tired": "थका हुआ",
    "busy": "व्यस्त",
    "angry": "नाराज़",
    "ready": "तैयार",
    "alone": "अकेला",
    "clever": "होशियार",
    "tall": "लंबा",
}
JOBS = {
    "teacher": ("अध्यापक", "अध्यापिका"),
    "doctor": ("डॉक्टर", "डॉक्टर"),
    "student": ("छात्र", "छात्रा"),
    "singer": ("गायक", "गायिका"),
    "farmer": ("किसान", "किसान"),
}

PLACES = {
    place.english: place
    for place in (
        Place("home", "घर", "m", "at", "पर"),
        Place("school", "स्कूल", "m", "at"),
        Place("Delhi", "दिल्ली", "f", "in"),
        Place("Mumbai", "मुंबई", "f", "in"),
        Place("India", "भारत", "m", "in"),
        Place("the market", "बाज़ार", "m", "in"),
        Place("the hospital", "अस्पताल", "m", "in"),
        Place("the office", "दफ़्तर", "m", "in"),
        Place("the library", "पुस्तकालय", "m", "in"),
        Place("the temple", "मंदिर", "m", "in"),
        Place("the village", "गाँव", "m", "in"),
        Place("the city", "शहर", "m", "in"),
        Place("the shop", "दुकान", "f", "in"),
        Place("the garden", "बगीचा", "m", "in"),
        Place("the room", "कमरा", "m", "in"),
        Place("the kitchen", "रसोई", "f", "in"),
        Place("the house", "घर", "m", "in"),
        Place("the river", "नदी", "f", "in"),
        Place("the bag", "थैला", "m", "in"),
        Place("the box", "डिब्बा", "m", "in"),
        Place("the car", "गाड़ी", "f", "in"),
        Place("the station", "स्टेशन", "m", "at", "पर"),
        Place("the table", "मेज़", "f", "on", "पर"),
        Place("the chair", "कुर्सी", "f", "on", "पर"),
        Place("the road", "सड़क", "f", "on", "पर"),
    )
}
DESTINATIONS = (
    "home|school|Delhi|Mumbai|the market|the hospital|the office|the library|"
    "the temple|the village|the station"
).split("|")

_ENGLISH_NUMBERS = (
    "two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
_HINDI_NUMBERS = (
    "दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह "
    "अठारह उन्नीस बीस"
)
NUMBERS = dict(
    zip(_ENGLISH_NUMBERS.split(), _HINDI_NUMBERS.split(), strict=True)
)
FEW = tuple(NUMBERS)[:9]
HOURS = tuple(NUMBERS)[:11]

DAYS = {
    "on Monday": "सोमवार को",
    "on Tuesday": "मंगलवार को",
    "on Friday": "शुक्रवार को",
    "on Sunday": "रविवार को",
}
SOON = {
    "now": "अभी",
    "today": "आज",
    "tomorrow": "कल",
    "in the evening": "शाम को",
}
_COMING = {
    "today": "आज",
    "tomorrow": "कल",
    "tonight": "आज रात",
    "tomorrow morning": "कल सुबह",
    **DAYS,
}
_GONE = {
    "yesterday": "कल",
    "last night": "कल रात",
    "yesterday evening": "कल शाम",
}
_USUAL = {
    "every day": "रोज़",
    "in the morning": "सुबह",
    "in the evening": "शाम को",
    "at night": "रात को",
}
_CLOCK = {f"at {hour} o'clock": f"{NUMBERS[hour]} बजे" for hour in HOURS[3:9]}
TIMES = {
    "habitual": {**_USUAL, **_CLOCK},
    "used to": _USUAL,
    "continuous": {"now": "अभी", "today": "आज", "these days": "आजकल"},
    "past": {**_GONE, **DAYS},
    "past continuous": _GONE,
    "perfect": {"today": "आज"},
    "future": {**_COMING, **_CLOCK},
    "can": {"today": "आज", "tomorrow": "कल"},
    "want": SOON,
    "should": SOON,
    "have to": {**_COMING, **_CLOCK},
    "had to": _GONE,
}
TIMES_OF_BEING = {
    "present": {"today": "आज", "now": "अभी"},
    "past": {"yesterday": "कल", "last night": "कल रात"},
    "future": {"tomorrow": "कल", "tonight": "आज रात"},
}
