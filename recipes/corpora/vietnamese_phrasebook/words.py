"""The words of the phrasebook, and the determiners of nouns."""

from corpora.phrasebook.english import possessive


def table(text):
    """Parses a table such as "cat=con mèo; dog=con chó"."""
    entries = " ".join(text.split()).split("; ")
    return dict(entry.split("=") for entry in entries)


def _tables(**texts):
    return {name: table(text) for name, text in texts.items()}


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
    plant="flower=bông hoa; rose=bông hoa hồng; lotus=bông hoa sen",
    part="door=cánh cửa; window=cửa sổ; tree=cái cây",
    person="man=người đàn ông; woman=người phụ nữ",
    child="boy=cậu bé; girl=cô bé; child=đứa trẻ",
    job="""teacher=giáo viên; doctor=bác sĩ; student=sinh viên; nurse=y tá;
        farmer=nông dân; engineer=kỹ sư; driver=tài xế; singer=ca sĩ""",
    kin="""mother=mẹ; father=bố; sister=chị gái; brother=anh trai;
        grandmother=bà; grandfather=ông; son=con trai; daughter=con gái;
        friend=bạn""",
)
PLURALS = table("knife=knives; child=children; man=men; woman=women")
_SIZE = "big=to; small=nhỏ; beautiful=đẹp"
_WARE = "new=mới; old=cũ; beautiful=đẹp; expensive=đắt; cheap=rẻ"
TRAITS = "tall=cao; short=thấp; kind=tốt bụng; clever=thông minh; strong=khỏe"
_ADULT = f"{TRAITS}; young=trẻ; old=già; rich=giàu; poor=nghèo"
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
    building="big=lớn; small=nhỏ; dirty=bẩn; quiet=yên tĩnh",
    plant="beautiful=đẹp; small=nhỏ; fresh=tươi; expensive=đắt; cheap=rẻ",
    part="big=to; small=nhỏ; tall=cao",
    person=_ADULT,
    job=_ADULT,
    child=TRAITS,
)
NAMES = table("Lan=Lan; Nam=Nam; Minh=Minh; Huong=Hương; Tuan=Tuấn")
# Words that fit everywhere in the templates where their kind is named.
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
    weather="hot=nóng; cold=lạnh; warm=ấm; cool=mát",
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


# Verb, with its irregular past and participle | Vietnamese | its objects, or
# "alone" for what is not done together with somebody.
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
wear/wore/worn | mặc | shirt coat
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
