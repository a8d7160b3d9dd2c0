"""A built-in English-Vietnamese phrasebook, drawn from sentence patterns.

As in `kerasrnn.data.phrasebook`, a held-out sentence is a new combination of
known words. Vietnamese does not inflect, so that pairs of templates, filled
with the same words, do what takes a grammar in Hindi.

Choices that make Vietnamese a function of the English:

* I, you, he, she, we, they are tôi, bạn, anh ấy, cô ấy, chúng tôi, họ, rather
  than words of kinship. Only "let us" is chúng ta, which includes the hearer.
* "The" is the bare classifier, "a" is một, the plural is những, of
  professions các, and a bare plural has no classifier: "hats" is mũ. "A" is
  nothing in "is a doctor", and nào where having or being there is denied or
  asked.
* The past is đã, the future sẽ, the progressive đang, "not yet" chưa. A point
  of time comes first, and spares the đã of a denial: "Hôm qua tôi không ngủ."
* Colours have màu, and có màu as predicates. Possession is của throughout.
* Brother and sister are the elder ones. Words and spelling are northern.
"""

import hashlib
import re
from collections import Counter

from kerasrnn.data.phrasebook.english import add_ed
from kerasrnn.data.phrasebook.english import add_ing
from kerasrnn.data.phrasebook.english import add_s
from kerasrnn.data.phrasebook.english import article
from kerasrnn.data.phrasebook.english import be
from kerasrnn.data.phrasebook.english import comparative
from kerasrnn.data.phrasebook.english import possessive
from kerasrnn.data.phrasebook.english import superlative
from kerasrnn.data.phrasebook.sentences import draw


def _table(text):
    """Reads "cat=con mèo; dog=con chó"."""
    entries = " ".join(text.split()).split("; ")
    return dict(entry.split("=") for entry in entries)


def _tables(**texts):
    return {name: _table(text) for name, text in texts.items()}


NOUNS = _tables(
    pet="""cat=con mèo; dog=con chó; bird=con chim; chicken=con gà;
        duck=con vịt; rabbit=con thỏ""",
    beast="""horse=con ngựa; buffalo=con trâu; cow=con bò; pig=con lợn;
        elephant=con voi""",
    fruit="""apple=quả táo; banana=quả chuối; mango=quả xoài;
        orange=quả cam; egg=quả trứng; cake=cái bánh""",
    food="rice=cơm; bread=bánh mì; pho=phở; fish=cá; beef=thịt bò; soup=canh",
    drink="water=nước; tea=trà; coffee=cà phê; milk=sữa",
    reading="""book=quyển sách; newspaper=tờ báo; novel=quyển tiểu thuyết;
        dictionary=quyển từ điển""",
    writing="letter=bức thư; poem=bài thơ",
    garment="hat=cái mũ; shirt=cái áo; coat=chiếc áo khoác; dress=chiếc váy",
    tool="""pen=cái bút; bag=cái túi; cup=cái cốc; knife=con dao;
        key=chiếc chìa khóa; phone=chiếc điện thoại; umbrella=cái ô;
        watch=chiếc đồng hồ; box=cái hộp""",
    furniture="table=cái bàn; chair=cái ghế; bed=cái giường; lamp=cái đèn",
    vehicle="""car=chiếc ô tô; bicycle=chiếc xe đạp; truck=chiếc xe tải;
        motorbike=chiếc xe máy; boat=chiếc thuyền""",
    building="""house=ngôi nhà; room=căn phòng; shop=cửa hàng;
        kitchen=nhà bếp; garden=khu vườn; village=ngôi làng""",
    plant="flower=bông hoa; rose=bông hồng; lotus=bông sen",
    part="door=cánh cửa; window=cửa sổ; tree=cái cây",
    person="man=người đàn ông; woman=người phụ nữ",
    child="boy=cậu bé; girl=cô bé; child=đứa trẻ",
    job="""teacher=giáo viên; doctor=bác sĩ; student=sinh viên; nurse=y tá;
        farmer=nông dân; engineer=kỹ sư; driver=tài xế; singer=ca sĩ""",
    kin="""mother=mẹ; father=bố; sister=chị gái; brother=anh trai;
        grandmother=bà; grandfather=ông; son=con trai; daughter=con gái;
        friend=bạn""",
)
_PLURALS = _table("knife=knives; child=children; man=men; woman=women")
_SIZE = "big=to; small=nhỏ; beautiful=đẹp"
_WARE = "new=mới; old=cũ; beautiful=đẹp; expensive=đắt; cheap=rẻ"
_TRAITS = "tall=cao; short=thấp; kind=tốt bụng; clever=thông minh; strong=khỏe"
_ADULT = f"{_TRAITS}; young=trẻ; old=già; rich=giàu; poor=nghèo"
ADJECTIVES = _tables(
    pet=f"{_SIZE}; old=già; fat=béo; thin=gầy",
    beast=f"{_SIZE}; old=già; strong=khỏe; slow=chậm",
    fruit="delicious=ngon; big=to; small=nhỏ; fresh=tươi; cheap=rẻ",
    food="delicious=ngon; hot=nóng; cold=nguội; cheap=rẻ; expensive=đắt",
    drink="hot=nóng; cold=lạnh",
    reading="interesting=thú vị; boring=chán; thick=dày; thin=mỏng; new=mới",
    writing="interesting=thú vị; boring=chán; long=dài; short=ngắn",
    garment=f"{_WARE}; clean=sạch; long=dài",
    tool=f"{_WARE}; big=to; light=nhẹ; heavy=nặng",
    furniture=f"{_WARE}; heavy=nặng; small=nhỏ",
    vehicle=f"{_WARE}; fast=nhanh; slow=chậm",
    building="big=lớn; small=nhỏ; clean=sạch; dirty=bẩn; quiet=yên tĩnh",
    plant="beautiful=đẹp; small=nhỏ; fresh=tươi; expensive=đắt; cheap=rẻ",
    part="big=to; small=nhỏ; tall=cao",
    person=_ADULT,
    job=_ADULT,
    child=_TRAITS,
)
NAMES = _table("Lan=Lan; Nam=Nam; Minh=Minh; Huong=Hương; Tuan=Tuấn")
# Words that fit wherever a template names their kind.
WORDS = _tables(
    state="""tired=mệt; happy=vui; sad=buồn; busy=bận; hungry=đói;
        thirsty=khát; sick=ốm; angry=tức giận; worried=lo lắng""",
    red="""red=màu đỏ; blue=màu xanh dương; green=màu xanh lá cây;
        yellow=màu vàng; white=màu trắng; black=màu đen; brown=màu nâu""",
    two="""two=hai; three=ba; four=bốn; five=năm; six=sáu; seven=bảy;
        eight=tám; nine=chín; ten=mười""",
    place="""market=chợ; hospital=bệnh viện; park=công viên; bank=ngân hàng;
        library=thư viện; restaurant=nhà hàng; hotel=khách sạn;
        station=nhà ga; airport=sân bay; beach=bãi biển""",
    city="""Hanoi=Hà Nội; Hue=Huế; Da Nang=Đà Nẵng; Saigon=Sài Gòn;
        Paris=Paris""",
    weather="hot=nóng; cold=lạnh; sunny=nắng; cool=mát",
    always="often=thường; always=luôn; never=không bao giờ",
    daily="""every day=mỗi ngày; on Sundays=vào chủ nhật;
        in the morning=vào buổi sáng; in the evening=vào buổi tối""",
    ago="""yesterday=hôm qua; last night=tối qua; this morning=sáng nay;
        last week=tuần trước; two days ago=hai ngày trước""",
    soon="""tomorrow=ngày mai; tonight=tối nay; next week=tuần sau;
        this afternoon=chiều nay; on Monday=vào thứ hai""",
)


def _rows(text):
    lines = text.strip().splitlines()
    return [[part.strip() for part in line.split("|")] for line in lines]


# Verb, with its irregular past and participle | Vietnamese | its objects,
# where "alone" is what one does not do with somebody.
DEEDS = _rows("""
eat/ate/eaten | ăn | rice bread pho fish beef apple banana mango egg cake
drink/drank/drunk | uống | water tea coffee milk
cook | nấu | rice pho fish soup beef
buy/bought | mua | hat shirt bag phone umbrella bicycle car book bread orange
sell/sold | bán | house car motorbike boat horse buffalo cow watch bed
read/read | đọc | book newspaper letter novel poem
write/wrote/written | viết | book letter novel poem
open | mở | door window box bag letter
close | đóng | door window box
wash | rửa | cup knife car apple
wash | giặt | shirt coat dress
clean | lau | table chair window
clean | dọn dẹp | house room kitchen garden
wear/wore/worn | đội | hat
wear/wore/worn | mặc | shirt coat dress
drive/drove/driven | lái | car truck
ride/rode/ridden | đi | bicycle motorbike
ride/rode/ridden | cưỡi | horse buffalo elephant
fix | sửa | phone lamp car bicycle motorbike boat watch door
draw/drew/drawn | vẽ | cat bird rabbit house flower lotus tree boat
look for | tìm | key phone pen bag hat dog cat duck
carry | mang | bag box chair table
help | giúp | somebody
visit | thăm | somebody
meet/met | gặp | somebody
call | gọi điện cho | somebody
wait for | đợi | somebody
thank | cảm ơn | somebody
talk to | nói chuyện với | somebody
sleep/slept | ngủ | alone
rest | nghỉ ngơi | alone
swim/swam/swum | bơi |
sing/sang/sung | hát |
dance | nhảy múa |
work | làm việc |
go/went/gone home | về nhà |
go/went/gone shopping | đi mua sắm |
learn Vietnamese | học tiếng Việt |
speak/spoke/spoken English | nói tiếng Anh |
watch television | xem ti vi |
listen to music | nghe nhạc |
play football | chơi bóng đá |
exercise | tập thể dục |
take/took/taken photos | chụp ảnh |
""")
SPOTS = _rows("""
book letter newspaper hat pen cup knife key | on=trên | table chair bed
apple orange cake | on=trên | table
book letter hat pen watch key dress | in=trong | box bag room
cup knife egg | next to=bên cạnh | lamp box phone
cat dog rabbit | in=trong | house room kitchen garden
cat dog rabbit key | under=dưới | table chair bed
horse cow buffalo pig elephant | in=trong | garden village
horse cow bird chicken | behind=đằng sau | house tree
bird duck pig boy girl | under=dưới | tree
man woman child | in=trong | house room garden shop
table chair bed lamp | in=trong | room kitchen
table chair lamp | next to=bên cạnh | door window
car bicycle truck motorbike | in front of=đằng trước | house shop
""")
PRONOUNS = {
    "I": ("me", "tôi"),
    "you": ("you", "bạn"),
    "he": ("him", "anh ấy"),
    "she": ("her", "cô ấy"),
    "we": ("us", "chúng tôi"),
    "they": ("them", "họ"),
}
_OWNERS = {who: vietnamese for who, (_, vietnamese) in PRONOUNS.items()} | NAMES
OWN = [
    (f"{possessive(who)} {{one}}", f"{{one}} của {vietnamese}")
    for who, vietnamese in _OWNERS.items()
]
THE = [
    ("the {one}", "{one}"),
    ("this {one}", "{one} này"),
    ("that {one}", "{one} đó"),
]
THESE = [
    ("the {many}", "những {one}"),
    ("these {many}", "những {one} này"),
    ("those {many}", "những {one} đó"),
]
A = [("a {one}", "một {one}")]
COUNTED = A + [
    (f"{english} {{many}}", f"{vietnamese} {{one}}")
    for english, vietnamese in WORDS["two"].items()
]
ALL_NOUNS = {
    noun: (kind, vietnamese)
    for kind, nouns in NOUNS.items()
    for noun, vietnamese in nouns.items()
}
MASS = {*NOUNS["food"], *NOUNS["drink"]}
# What a scene's templates are filled with, beside people, places and times.
_VERBS = Counter(verb for verb, _, _ in DEEDS)
_TASKS = [deed for deed in DEEDS if deed[2] not in ("", "alone", "somebody")]
_DEEDS_OF = {
    "deed": DEEDS,
    "task": _TASKS,
    # "What is he washing?" does not tell rửa from giặt.
    "what": [task for task in _TASKS if _VERBS[task[0]] == 1],
    "whom": [deed for deed in DEEDS if deed[2] == "somebody"],
    "pastime": [deed for deed in DEEDS if not deed[2]],
}
_NOUNS_OF = {
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
# English = Vietnamese, by scene. A small letter at the start is made large.
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
I think that {who} will {act}. = tôi nghĩ rằng {who} sẽ {act}.
{who} said that {she} would {act}. = {who} đã nói rằng {she} sẽ {act}.
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
why {am} {who} {state}? = tại sao {who} {state}?
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
{thing} {is} {new}. = {thing} {new}.
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
please show us {thing}. = làm ơn cho chúng tôi xem {thing}.
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
{thing} {is} {new}. = {thing} {new}.
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
_QUOTA = 31
# Who is named twice in a sentence would help or meet himself.
_ONCE = {"you", *NAMES}.union(*map(NOUNS.get, "kin person child job".split()))
_WE = {"I", "me", "we", "us"}


def vietnamese_phrasebook():
    """Returns the English-Vietnamese phrasebook.

    Returns:
        A list of `(english, vietnamese)` pairs of strings, always the same.
        No English sentence occurs twice. The patterns are shuffled together,
        so that any slice is a fair sample.

    Example:

    >>> pairs = vietnamese_phrasebook()
    >>> dict(pairs)["Where is the market?"]
    'Chợ ở đâu?'
    """
    pairs = {
        pair
        for scene, templates in PATTERNS.items()
        for template in templates.strip().splitlines()
        for pair in draw(
            _sentence, {"scene": scene, "template": template}, _QUOTA
        )
    }
    return sorted(
        pairs, key=lambda pair: hashlib.sha256(pair[0].encode()).digest()
    )


def _sentence(pick, scene, template):
    """Fills a template, or returns `None` where its words do not fit."""
    words = _people(pick)
    words |= {name: _choose(pick, table) for name, table in WORDS.items()}
    if scene in _DEEDS_OF:
        words |= _deed(pick, scene, third=words["s"][0] == "s")
    elif scene in _NOUNS_OF:
        words |= _thing(pick, pick(_NOUNS_OF[scene]))
    elif scene == "spot":
        words |= _spot(pick)
    english, vietnamese = (
        side.format(**{name: pair[number] for name, pair in words.items()})
        for number, side in enumerate(template.split(" = "))
    )
    if not _fits(english, vietnamese):
        return None
    return _large(english), _large(vietnamese)


def _fits(english, vietnamese):
    """Whether a sentence is short, and nobody in it is there twice."""
    words = re.findall(r"\w+", english)
    counts = Counter(
        "we" if word in _WE else word for word in words if word in _ONCE | _WE
    )
    counts.update(re.findall(r"(?<!của )\b(?:anh ấy|cô ấy|họ)\b", vietnamese))
    asks_himself = english.endswith("?") and not english.startswith("can ")
    return (
        1 < len(english.split()) <= 14
        and len(vietnamese.split()) <= 14
        and max(counts.values(), default=0) < 2
        and not (asks_himself and {"I", "we"} & set(words))
    )


def _large(sentence):
    return sentence[0].upper() + sentence[1:]


def _choose(pick, table):
    return pick(list(table.items()))


def _phrase(pick, noun, determiners, adjective=("", "")):
    """Returns a noun phrase in both languages, and whether it is plural."""
    english, vietnamese = pick(determiners)
    one = f"{adjective[0]} {noun}".lstrip()
    many = f"{adjective[0]} {_PLURALS.get(noun) or add_s(noun)}".lstrip()
    if english.startswith("a "):
        one, english = article(one), english[2:]
    if noun in NOUNS["job"]:
        vietnamese = vietnamese.replace("những", "các")
    return (
        english.format(one=one, many=many),
        vietnamese.format(one=f"{ALL_NOUNS[noun][1]} {adjective[1]}".rstrip()),
        "{many}" in english,
    )


def _person(pick):
    """Returns a person as subject, object, Vietnamese, and as a pronoun."""
    kind = pick(
        ["pronoun"] * 5
        + ["name", "kin", "kin", "job", pick(["person", "child"])]
    )
    if kind == "pronoun":
        subject, (other, vietnamese) = _choose(pick, PRONOUNS)
        return subject, other, vietnamese, subject
    if kind == "name":
        name, vietnamese = _choose(pick, NAMES)
        return name, name, vietnamese, "he"
    determiners = OWN if kind == "kin" else THE * 2 + THESE
    noun = pick(list(NOUNS[kind]))
    english, vietnamese, plural = _phrase(pick, noun, determiners)
    return english, english, vietnamese, "they" if plural else "he"


def _people(pick):
    """Draws the subject with the verbs that agree, and somebody else."""
    who, _, vietnamese, pronoun = _person(pick)
    she, him, other, her = _person(pick)
    third, is_many = pronoun in ("he", "she"), pronoun in ("we", "they")
    job, work = _choose(pick, NOUNS["job"])
    trait, quality = _choose(pick, _table(_TRAITS))
    return {
        "who": (who, vietnamese),
        "am": (be(pronoun), ""),
        "was": (be(pronoun, past=True), ""),
        "do": ("does" if third else "do", ""),
        "have": ("has" if third else "have", ""),
        "s": ("s" * third, ""),
        "she": (she, other),
        "him": (him, other),
        "she_was": (be(her, past=True), ""),
        "job": (add_s(job) if is_many else article(job), work),
        "tall": (trait, quality),
        "taller": (comparative(trait), quality),
    }


def _object(pick, nouns):
    """Returns what a deed is done to: nothing, people, things or stuff."""
    noun = pick(nouns)
    if noun == "somebody":
        _, english, vietnamese, _ = _person(pick)
        return english, vietnamese
    if noun in MASS:
        return noun, ALL_NOUNS[noun][1]
    adjective = ("", "")
    if pick([True, False, False]):
        adjective = _choose(pick, ADJECTIVES[ALL_NOUNS[noun][0]])
    return _phrase(pick, noun, A * 3 + THE * 2 + OWN, adjective)[:2]


def _deed(pick, scene, third):
    """Draws a deed in all its English forms."""
    verb, vietnamese, objects = pick(_DEEDS_OF[scene])
    english, thing = "", ""
    if scene not in ("what", "whom") and objects not in ("", "alone"):
        english, thing = _object(pick, objects.split())
    forms, _, rest = verb.partition(" ")
    base, *irregular = forms.split("/")
    past = irregular[0] if irregular else add_ed(base)
    forms = {
        "act": base,
        "acts": add_s(base) if third else base,
        "acted": past,
        "done": irregular[-1] if irregular else past,
        "acting": add_ing(base),
    }
    vietnamese = f"{vietnamese} {thing}".rstrip()
    return {
        name: (" ".join(f"{form} {rest} {english}".split()), vietnamese)
        for name, form in forms.items()
    }


def _thing(pick, noun):
    """Draws what can be said of a noun: its phrases and a fit adjective."""
    kind, vietnamese = ALL_NOUNS[noun]
    adjective, quality = _choose(pick, ADJECTIVES[kind])
    single = THE if kind in ("person", "child", "job") else THE * 2 + OWN
    english, thing, plural = _phrase(
        pick, noun, single if noun in MASS else single + THESE * 2
    )
    another = pick([other for other in NOUNS[kind] if other != noun])
    many = _PLURALS.get(noun) or add_s(noun)
    # A bare plural, or stuff, is named without its classifier.
    bare = vietnamese if noun in MASS else vietnamese.partition(" ")[2]
    return {
        "thing": (english, thing),
        "is": ("are" if plural else "is", ""),
        "the_hat": _phrase(pick, noun, THE)[:2],
        "my_hat": _phrase(pick, noun, OWN)[:2],
        "other": _phrase(pick, another, single)[:2],
        "new": (adjective, quality),
        "newer": (comparative(adjective), quality),
        "newest": (superlative(adjective), quality),
        "hat": (noun, vietnamese),
        "hats": (many, vietnamese),
        "any_hats": (noun if noun in MASS else many, bare),
        "a_hat": (article(noun), vietnamese),
        "a_new_hat": _phrase(pick, noun, A, (adjective, quality))[:2],
        "two_hats": _phrase(pick, noun, COUNTED[1:])[:2],
    }


def _spot(pick):
    """Draws something and where it is."""
    nouns, preposition, landmarks = pick(SPOTS)
    english, vietnamese = preposition.split("=")
    where, place, _ = _phrase(pick, pick(landmarks.split()), THE * 2 + OWN)
    spot = (f"{english} {where}", f"{vietnamese} {place}")
    return _thing(pick, pick(nouns.split())) | {"spot": spot}
