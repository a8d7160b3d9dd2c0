"""The templates of the phrasebook, and the words that fit them."""

from collections import Counter

from corpora.vietnamese_phrasebook.words import DEEDS
from corpora.vietnamese_phrasebook.words import NOUNS

# The words for the templates of a scene, besides people, places and times.
_VERBS = Counter(verb for verb, _, _ in DEEDS)
_TASKS = [deed for deed in DEEDS if deed[2] not in ("", "alone", "somebody")]
DEEDS_OF = {
    "deed": DEEDS,
    "task": _TASKS,
    # "What is he washing?" could be rửa or giặt.
    "what": [task for task in _TASKS if _VERBS[task[0]] == 1],
    "whom": [deed for deed in DEEDS if deed[2] == "somebody"],
    "pastime": [deed for deed in DEEDS if not deed[2]],
}
NOUNS_OF = {
    scene: [noun for kind in kinds.split() for noun in NOUNS[kind]]
    for scene, kinds in {
        "thing": "pet beast food drink building part fruit reading writing "
        "garment tool furniture vehicle plant",
        "goods": "fruit reading garment tool furniture vehicle plant",
        "taste": "pet fruit food drink reading plant",
        "coloured": "garment tool furniture vehicle",
        "somebody": "person child job",
    }.items()
}
# English = Vietnamese, by scene. The first letter is capitalised later.
PATTERNS = {
    "deed": """
{who} {always} {acts}. = {who} {always} {act}.
{who} {acts} {daily}. = {who} {act} {daily}.
{who} {am} {acting} now. = Bây giờ {who} đang {act}.
{who} {am} {acting}. = {who} đang {act}.
{who} {acted}. = {who} đã {act}.
{who} {acted} {ago}. = {ago} {who} đã {act}.
{who} will {act}. = {who} sẽ {act}.
{who} will {act} {soon}. = {soon} {who} sẽ {act}.
{who} {do} not {act} {daily}. = {who} không {act} {daily}.
{who} did not {act} {ago}. = {ago} {who} không {act}.
{who} will not {act}. = {who} sẽ không {act}.
{who} {have} already {done}. = {who} đã {act} rồi.
{who} {have} not {done} yet. = {who} chưa {act}.
{do} {who} {act} {daily}? = {who} có {act} {daily} không?
did {who} {act} {ago}? = {ago} {who} có {act} không?
will {who} {act} {soon}? = {soon} {who} có {act} không?
{have} {who} {done} yet? = {who} đã {act} chưa?
{am} {who} {acting}? = {who} có đang {act} không?
can {who} {act}? = {who} có thể {act} không?
{who} can {act}. = {who} có thể {act}.
{who} cannot {act} {soon}. = {soon} {who} không thể {act}.
{who} want{s} to {act}. = {who} muốn {act}.
{who} {do} not want to {act}. = {who} không muốn {act}.
{do} {who} want to {act}? = {who} có muốn {act} không?
{who} should {act}. = {who} nên {act}.
{who} should not {act}. = {who} không nên {act}.
{who} {have} to {act} {soon}. = {soon} {who} phải {act}.
when will {who} {act}? = khi nào {who} sẽ {act}?
when did {who} {act}? = {who} đã {act} khi nào?
why did {who} {act}? = tại sao {who} lại {act}?
why did {who} not {act}? = tại sao {who} không {act}?
who {acted} {ago}? = {ago} ai đã {act}?
who wants to {act}? = ai muốn {act}?
what time will {who} {act}? = {who} sẽ {act} lúc mấy giờ?
{who} will {act} at {two} o'clock. = {who} sẽ {act} lúc {two} giờ.
if it rains, {who} will not {act}. = nếu trời mưa, {who} sẽ không {act}.
I think {who} will {act}. = tôi nghĩ {who} sẽ {act}.
{who} said {she} would {act}. = {who} đã nói rằng {she} sẽ {act}.
{who} did not {act} because it rained. = {who} đã không {act} vì trời mưa.
""",
    "task": """
please {act}. = làm ơn {act}.
{act} now. = hãy {act} ngay bây giờ.
do not {act}. = đừng {act}.
please do not {act} now. = làm ơn đừng {act} bây giờ.
{who} want{s} {him} to {act}. = {who} muốn {him} {act}.
{who} will help {him} {act}. = {who} sẽ giúp {him} {act}.
""",
    "what": """
what {am} {who} {acting}? = {who} đang {act} gì?
what did {who} {act} {ago}? = {ago} {who} đã {act} gì?
what {do} {who} want to {act}? = {who} muốn {act} gì?
what will {who} {act} {soon}? = {soon} {who} sẽ {act} gì?
""",
    "whom": """
who {am} {who} {acting}? = {who} đang {act} ai?
who did {who} {act} {ago}? = {ago} {who} đã {act} ai?
""",
    "pastime": """
{who} like{s} {acting}. = {who} thích {act}.
{do} {who} like {acting}? = {who} có thích {act} không?
let us {act} {soon}. = {soon} chúng ta hãy {act}.
do not {act} now. = đừng {act} bây giờ.
{who} will {act} with {him} {soon}. = {soon} {who} sẽ {act} với {him}.
""",
    "people": """
{who} {am} very {state}. = {who} rất {state}.
{who} {was} {state} {ago}. = {ago} {who} {state}.
{who} {am} not {state}. = {who} không {state}.
{am} {who} {state}? = {who} có {state} không?
why {am} {who} {state}? = tại sao {who} lại {state}?
{who} {was} sad because {she} {she_was} late. = {who} buồn vì {she} đến muộn.
{who} {am} {job}. = {who} là {job}.
{who} {am} not {job}. = {who} không phải là {job}.
{am} {who} {job}? = {who} có phải là {job} không?
{who} want{s} to become {job}. = {who} muốn trở thành {job}.
{who} {am} {taller} than {him}. = {who} {tall} hơn {him}.
{who} {am} not as {tall} as {him}. = {who} không {tall} bằng {him}.
{who} {am} at the {place}. = {who} đang ở {place}.
{was} {who} at the {place} {ago}? = {ago} {who} có ở {place} không?
{who} met {him} at the {place} {ago}. = {ago} {who} đã gặp {him} ở {place}.
{who} will wait for {him} at the {place}. = {who} sẽ đợi {him} ở {place}.
{who} {am} going to the {place}. = {who} đang đi đến {place}.
where {am} {who} going? = {who} đang đi đâu?
where {do} {who} live? = {who} sống ở đâu?
{who} live{s} in {city}. = {who} sống ở {city}.
{do} {who} live in {city}? = {who} có sống ở {city} không?
{who} {am} from {city}. = {who} đến từ {city}.
{who} {have} never been to {city}. = {who} chưa bao giờ đến {city}.
when will {who} fly to {city}? = khi nào {who} sẽ bay đến {city}?
it is {weather} in {city} today. = hôm nay ở {city} trời {weather}.
it was not {weather} in {city} {ago}. = {ago} ở {city} trời không {weather}.
will it be {weather} {soon}? = {soon} trời có {weather} không?
where is the {place}? = {place} ở đâu?
is the {place} far from here? = {place} có xa đây không?
it is {two} o'clock. = bây giờ là {two} giờ.
""",
    "thing": """
{my_hat} is {new}. = {my_hat} {new}.
{thing} {is} very {new}. = {thing} rất {new}.
{thing} {is} not {new}. = {thing} không {new}.
{is} {thing} {new}? = {thing} có {new} không?
{thing} {is} {newer} than {other}. = {thing} {new} hơn {other}.
is this {hat} {newer} than that {hat}? = {hat} này có {new} hơn {hat} đó không?
this is the {newest} {hat}. = đây là {hat} {new} nhất.
do you know where {thing} {is}? = bạn có biết {thing} ở đâu không?
""",
    "goods": """
where {is} {thing}? = {thing} ở đâu?
this is {a_new_hat}. = đây là {a_new_hat}.
that is not {my_hat}. = đó không phải là {my_hat}.
is this {my_hat}? = đây có phải là {my_hat} không?
whose {hat} is this? = đây là {hat} của ai?
whose {hats} are these? = những {hats} này là của ai?
how much is {the_hat}? = {the_hat} giá bao nhiêu?
which {hat} is {newer}? = {hat} nào {new} hơn?
which {hat} {do} {who} want to buy? = {who} muốn mua {hat} nào?
where did {who} buy {thing}? = {who} đã mua {thing} ở đâu?
{who} {have} {two_hats}. = {who} có {two_hats}.
{who} {do} not have {a_hat}. = {who} không có {hat} nào.
{do} {who} have {a_hat}? = {who} có {hat} nào không?
how many {hats} {do} {who} have? = {who} có bao nhiêu {hat}?
{who} need{s} {a_hat}. = {who} cần một {a_hat}.
{who} {do} not need {thing}. = {who} không cần {thing}.
{who} bought {two_hats} {ago}. = {ago} {who} đã mua {two_hats}.
{who} gave {him} {a_hat}. = {who} đã cho {him} một {a_hat}.
please give me {two_hats}. = làm ơn cho tôi {two_hats}.
please show us {the_hat}. = làm ơn cho chúng tôi xem {the_hat}.
""",
    "taste": """
{who} like{s} {any_hats}. = {who} thích {any_hats}.
{who} {do} not like {any_hats}. = {who} không thích {any_hats}.
{do} {who} like {any_hats}? = {who} có thích {any_hats} không?
""",
    "coloured": """
{thing} {is} {red}. = {thing} có {red}.
{thing} {is} not {red}. = {thing} không có {red}.
what colour {is} {thing}? = {thing} màu gì?
where is the {red} {hat}? = {hat} {red} ở đâu?
{who} want{s} a {red} {hat}. = {who} muốn một {hat} {red}.
{who} bought {two} {red} {hats}. = {who} đã mua {two} {hats} {red}.
""",
    "somebody": """
do you know {thing}? = bạn có biết {thing} không?
who {is} {thing}? = {thing} là ai?
that {hat} is {new}. = {hat} đó {new}.
is this {hat} {new}? = {hat} này có {new} không?
{thing} {is} very {new}. = {thing} rất {new}.
{who} {do} not know {thing}. = {who} không biết {thing}.
{who} met {a_new_hat} {ago}. = {ago} {who} đã gặp {a_new_hat}.
""",
    "spot": """
{thing} {is} {spot}. = {thing} ở {spot}.
{thing} {is} not {spot}. = {thing} không ở {spot}.
{is} {thing} {spot}? = {thing} có ở {spot} không?
there is {a_new_hat} {spot}. = có {a_new_hat} {spot}.
there are {two_hats} {spot}. = có {two_hats} {spot}.
is there {a_hat} {spot}? = có {hat} nào {spot} không?
there are no {hats} {spot}. = không có {hat} nào {spot}.
how many {hats} are there {spot}? = có bao nhiêu {hat} {spot}?
{who} saw {a_new_hat} {spot}. = {who} đã nhìn thấy {a_new_hat} {spot}.
""",
}
