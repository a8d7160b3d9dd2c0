"""The words and the templates of the English-Hindi phrasebook.

An f after a Hindi word marks it as feminine.
"""

from corpora.templates import rows
from corpora.templates import tables

NAMES = tables(
    he="Ram=राम; Mohan=मोहन; Ravi=रवि; Anil=अनिल",
    she="Sita=सीता; Meera=मीरा; Radha=राधा; Gita=गीता",
)
# Subject, object | direct, with ने, को, से and का, oblique
PRONOUNS = rows("""
I me | मैं मैंने मुझे मुझसे मेरा मुझ
you you | तुम तुमने तुम्हें तुमसे तुम्हारा तुम
he him | वह उसने उसे उससे उसका उस
she her | वह उसने उसे उससे उसका उस
we us | हम हमने हमें हमसे हमारा हम
they them | वे उन्होंने उन्हें उनसे उनका उन
who whom | कौन किसने किसे किससे किसका किस
""")
NOUNS = tables(
    person="""boy=लड़का; girl=लड़की f; child=बच्चा; man=आदमी; woman=औरत f;
        farmer=किसान; guest=मेहमान; teacher=अध्यापक; doctor=डॉक्टर""",
    kin="""brother=भाई; sister=बहन f; friend=दोस्त; son=बेटा;
        daughter=बेटी f; father=पिताजी; mother=माँ f; grandmother=दादी f""",
    animal="dog=कुत्ता; cat=बिल्ली f; horse=घोड़ा; cow=गाय f; bird=पक्षी",
    fruit="apple=सेब; banana=केला; mango=आम; egg=अंडा; flower=फूल",
    food="rice=चावल; bread=रोटी f; fish=मछली f",
    drink="tea=चाय f; coffee=कॉफ़ी f; milk=दूध; water=पानी",
    text="book=किताब f; letter=चिट्ठी f; newspaper=अखबार; ticket=टिकट",
    art="song=गाना; film=फ़िल्म f; picture=तस्वीर f; story=कहानी f",
    ware="""shirt=कमीज़ f; sari=साड़ी f; bag=थैला; phone=फ़ोन; pen=पेन;
        box=डिब्बा; toy=खिलौना; chair=कुर्सी f; table=मेज़ f; key=चाबी f;
        bicycle=साइकिल f; car=गाड़ी f""",
    building="""door=दरवाज़ा; window=खिड़की f; room=कमरा; kitchen=रसोई f;
        house=घर; shop=दुकान f; garden=बगीचा""",
)
MASS = {*NOUNS["drink"], *NOUNS["food"]}
FIXED = {*NOUNS["building"]}  # each the only one
# They take the plural of respect.
RESPECTED = {"teacher", "doctor", "father", "mother", "grandmother"}
_SIZE = "big=बड़ा; small=छोटा; beautiful=सुंदर"
_PRICE = "good=अच्छा; expensive=महँगा; cheap=सस्ता"
QUALITIES = tables(
    person="good=अच्छा; tall=लंबा; clever=होशियार",
    animal=f"{_SIZE}; old=बूढ़ा",
    fruit=f"{_PRICE}; big=बड़ा; small=छोटा",
    **dict.fromkeys(("food", "drink"), "hot=गरम; cold=ठंडा"),
    text="good=अच्छा; new=नया",
    art="good=अच्छा; new=नया; beautiful=सुंदर",
    ware=f"{_PRICE}; new=नया; old=पुराना; beautiful=सुंदर",
    building=f"{_SIZE}; clean=साफ़; dirty=गंदा",
)
WORDS = tables(
    two="""two=दो; three=तीन; four=चार; five=पाँच; six=छह; seven=सात;
        eight=आठ; nine=नौ; ten=दस""",
    place="""the market=बाज़ार; the hospital=अस्पताल; the library=पुस्तकालय;
        the temple=मंदिर; the station=स्टेशन; the bank=बैंक; the hotel=होटल;
        the school=स्कूल; the post office=डाकघर; the office=दफ़्तर""",
    city="Delhi=दिल्ली; Mumbai=मुंबई; Pune=पुणे; Jaipur=जयपुर; Agra=आगरा",
    at="""on the table=मेज़ पर; on this chair=इस कुर्सी पर; in my bag=मेरे थैले में;
        under the table=मेज़ के नीचे; behind the door=दरवाज़े के पीछे""",
    daily="""every day=रोज़; in the morning=सुबह; in the evening=शाम को;
        at night=रात को; on Sundays=रविवार को""",
    ago="""yesterday=कल; last night=कल रात; this morning=आज सुबह;
        last week=पिछले हफ़्ते; two days ago=दो दिन पहले""",
    soon="""tomorrow=कल; today=आज; tonight=आज रात; next week=अगले हफ़्ते;
        on Monday=सोमवार को; on Friday=शुक्रवार को; tomorrow morning=कल सुबह""",
    state="""happy=खुश; sad=उदास; sick=बीमार; tired=थका हुआ; busy=व्यस्त;
        angry=नाराज़; ready=तैयार; alone=अकेला""",
    job="a doctor=डॉक्टर; a farmer=किसान; a lawyer=वकील; an engineer=इंजीनियर",
    older="tall=लंबा; old=बड़ा; young=छोटा; good=अच्छा; clever=होशियार",
    hungry="hungry=भूख लगी; thirsty=प्यास लगी",
)
for _name, _hindi in WORDS["place"].items():
    WORDS.setdefault("goal", {})[f"to {_name}"] = _hindi
    WORDS.setdefault("spot", {})[f"in {_name}"] = f"{_hindi} में"
# Verb, with its irregular past and participle | Hindi | its objects
_TASKS = rows("""
eat/ate/eaten | खा | apple banana mango egg rice bread fish
drink/drank/drunk | पी | tea coffee milk water
read/read | पढ़ | book newspaper letter story
write/wrote/written | लिख | letter story
cook | पका | rice fish
sing/sang/sung | गा | song
wash | धो | shirt sari car
clean | साफ़ कर | room kitchen house
open | खोल | door window shop
close | बंद कर | door window shop
""")
# "Anywhere" is what may be asked where it is done.
_PASTIMES = rows("""
help | की मदद कर f | somebody
talk to | से बात कर f | somebody
call | को फ़ोन कर | somebody
wait for | का इंतज़ार कर | somebody
meet/met | से मिल | somebody
go/went/gone | जा | goal
work | काम कर | spot
come/came/come home | घर आ | -
swim/swam/swum in the river | नदी में तैर | -
sleep/slept | सो | anywhere
dance | नाच | anywhere
play cricket | क्रिकेट खेल | anywhere
watch television | टीवी देख | anywhere
""")
_DO = rows("do/did/done | कर | -")
# What nobody does every day.
_RARE = rows("""
buy/bought | खरीद | shirt sari bag phone bicycle car book chair mango flower
sell/sold | बेच | house car bicycle horse cow table book
bring/brought | ला | tea water milk mango flower newspaper chair
look for | ढूँढ़ | key pen phone bag book ticket
""")
# Their perfective agrees with the subject, which has no ने.
WITHOUT_NE = "जा आ ला सो मिल नाच तैर".split()
DEEDS_OF = {
    "deed": _TASKS + _PASTIMES + _RARE,
    "habit": _TASKS + _PASTIMES,
    "ask_what": [x for x in _TASKS + _RARE if " " not in x[1]] + 4 * _DO,
    "ask_where": [x for x in _PASTIMES if x[2] in ("anywhere", "goal", "spot")],
}
NOUNS_OF = {
    "thing": [x for kind in [*NOUNS][2:] for x in NOUNS[kind]],
    "goods": [*NOUNS["fruit"], *NOUNS["text"], *NOUNS["ware"]],
    "spot": [*NOUNS["text"], "pen", "key", "phone", "toy", "picture"],
    "taste": [x for kind in [*NOUNS][2:8] for x in NOUNS[kind]],
}
# By scene. After a colon is a postposition or a word that agrees: for "Sita",
# `{who:को}` is सीता को, and `{who:रहा}` रही. A deed is an object `{o}`, a word
# `{c}` that is compounded with the verb, and a stem `{v}`. `{it}` is what an
# infinitive agrees with, and `{by}` the subject in the case that the perfective
# `{did}` requires.
TEMPLATES = {
    "habit": """
{who} {acts} {daily}. = {who} {daily} {o} {c} {v}{who:ता} {who:है}।
{who} {who:do} not {act}. = {who} {o} {c} नहीं {v}{who:तां}।
{who:do} {who} {act} {daily}? = क्या {who} {daily} {o} {c} {v}{who:ता} {who:है}?
{who} used to {act}. = {who} {o} {c} {v}{who:ता} {who:थां}।
{who} like{who:s} to {act}. = {who:को} {o} {c} {v}ना पसंद है।
when {who:do} {who} {act}? = {who} {o} कब {c} {v}{who:ता} {who:है}?
""",
    "deed": """
{who} {who:is} {acting} now. = {who} अभी {o} {c} {v} {who:रहा} {who:है}।
{who:is} {who} {acting}? = क्या {who} {o} {c} {v} {who:रहा} {who:है}?
{who} {who:was} {acting} {ago}. = {who} {ago} {o} {c} {v} {who:रहा} {who:थां}।
{who} {acted} {ago}. = {by} {ago} {o} {c} {did}।
{who} did not {act}. = {by} {o} {c} नहीं {did}।
did {who} {act} {ago}? = क्या {by} {ago} {o} {c} {did}?
why did {who} not {act}? = {by} {o} {c} क्यों नहीं {did}?
{who} {who:have} {done}. = {by} {o} {c} {done} {has}।
{who} {who:have} not {done} yet. = {by} अभी तक {o} {c} नहीं {done} {has}।
{who} will {act} {soon}. = {who} {soon} {o} {c} {will}।
{who} will not {act}. = {who} {o} {c} नहीं {will}।
{who} will {act} at {two} o'clock. = {who} {two} बजे {o} {c} {will}।
can {who} {act} {soon}? = क्या {who} {soon} {o} {c} {v} सक{who:ता} {who:है}?
{who} want{who:s} to {act}. = {who} {o} {c} {v}ना चाह{who:ता} {who:है}।
{who} should not {act}. = {who:को} {o} {c} नहीं {v}{it:ना} चाहिए।
{who} {who:have} to {act} {soon}. = {who:को} {soon} {o} {c} {v}{it:ना} {it:है}।
{who} had to {act} {ago}. = {who:को} {ago} {o} {c} {v}{it:ना} {it:पड़ां}।
I think that {who} will {act}. = मुझे लगता है कि {who} {o} {c} {will}।
I want {who:him} to {act}. = मैं चाहता हूँ कि {who} {o} {c} {may}।
if it rains, {who} will {act}. = अगर बारिश होगी, तो {who} {o} {c} {will}।
who {who:is} {acting}? = {o} {who} {c} {v} रहा है?
who {acted} {ago}? = {ago} {o} {by} {c} {did}?
please {act}. = कृपया {o} {c} {please}।
please do not {act}. = कृपया {o} {c} मत {please}।
{name}, {act}. = {name}, {o} {c} {may}।
let us {act} {soon}. = आओ, {soon} {o} {c} {may}।
""",
    "ask_what": """
what {who:is} {who} {acting}? = {who} क्या {v} {who:रहा} {who:है}?
what did {who} {act}? = {by} क्या {did}?
what {who:do} {who} want to {act}? = {who} क्या {v}ना चाह{who:ता} {who:है}?
""",
    "ask_where": """
where {who:do} {who} {act}? = {who} {o} कहाँ {c} {v}{who:ता} {who:है}?
where will {who} {act}? = {who} {o} कहाँ {c} {will}?
""",
    "people": """
{who} {who:is} {state}. = {who} {who:{state}} {who:है}।
why {who:is} {who} {state}? = {who} {who:{state}} क्यों {who:है}?
where {who:was} {who} {ago}? = {who} {ago} कहाँ {who:थां}?
{who} live{who:s} in {city}. = {who} {city} में रह{who:ता} {who:है}।
{who} {who:is} {hungry}. = {who:को} {hungry} है।
{who:do} {who} know {him:him}? = क्या {who} {him:को} जान{who:ता} {who:है}?
{who} {who:have} two brothers. = {who:के} दो भाई हैं।
{who} {who:have} a sister. = {who:की} एक बहन है।
{pal} {pal:is} {job}. = {pal} {job} {pal:है}।
{pal} {pal:is} {older:er} than {name}. = {pal} {name:से} {pal:{older}} {pal:है}।
where is {place}? = {place} कहाँ है?
it will rain in {city} {soon}. = {soon} {city} में बारिश होगी।
""",
    "thing": """
{thing} {thing:is} not {new}. = {thing} {thing:{new}} नहीं {thing:है}।
{thing:is} {thing} {new}? = क्या {thing} {thing:{new}} {thing:है}?
{it} {it:is} {new:er} than {that}. = {it} {that:से} {it:{new}} {it:है}।
{it:this} {it:is} the {new:est} {hat}. = {it:यह} सबसे {it:{new}} {hat} {it:है}।
what {a_new_hat}! = {it:कितना} {it:{new}} {hat} {it:है}!
""",
    "goods": """
where {thing:is} {thing}? = {thing} कहाँ {thing:है}?
{it:this} {it:is} {a_new_hat}. = {it:यह} {a_new_hat} {it:है}।
{it:is} {it:this} {my_hat}? = क्या {it:यह} {my_hat} {it:है}?
whose {hat} {it:is} {it:this}? = {it:यह} {it:किसका} {hat} {it:है}?
how much {it:is} {it}? = {it:का} दाम कितना है?
{who} {who:have} {some}. = {who:के} पास {some} {some:है}।
{who:do} {who} have {a_hat}? = क्या {who:के} पास {hat} {it:है}?
{who} need{who:s} {some}. = {who:को} {some:की} ज़रूरत है।
{who} bought {some} for {him:him}. = {who:ने} {him:के} लिए {some} {some:खरीदां}।
{who} gave {him:him} {some}. = {who:ने} {him:को} {some} {some:दियां}।
please give {him:him} {some}. = कृपया {him:को} {some} दीजिए।
""",
    "taste": """
{who} like{who:s} {hats}. = {who:को} {hats} पसंद {hats:है}।
{who:do} {who} like {thing}? = क्या {who:को} {thing} पसंद {thing:है}?
""",
    "spot": """
{thing} {thing:was} not {at}. = {thing} {at} नहीं {thing:थां}।
there {some:is} {some} {at}. = {at} {some} {some:है}।
how many {hats} are {at}? = {at} {hats:कितना} {hats} {hats:है}?
""",
}
