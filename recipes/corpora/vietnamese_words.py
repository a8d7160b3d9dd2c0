"""The words of the English-Vietnamese phrasebook."""

from corpora.templates import rows
from corpora.templates import table
from corpora.templates import tables

NAMES = tables(
    he="Nam=Nam; Minh=Minh; Tuan=Tuấn", she="Lan=Lan; Huong=Hương; Mai=Mai"
)
PRONOUNS = table("""
    I me=tôi; you you=bạn; he him=anh ấy; she her=cô ấy; we us=chúng tôi;
    they them=họ
""")
NOUNS = tables(
    person="""man=người đàn ông; woman=người phụ nữ; boy=cậu bé; girl=cô bé;
        child=đứa trẻ; teacher=giáo viên; doctor=bác sĩ; student=sinh viên;
        farmer=nông dân; engineer=kỹ sư; singer=ca sĩ""",
    kin="""mother=mẹ; father=bố; sister=chị gái; brother=anh trai; friend=bạn;
        grandmother=bà; grandfather=ông; son=con trai; daughter=con gái""",
    animal="""cat=con mèo; dog=con chó; bird=con chim; horse=con ngựa;
        buffalo=con trâu; cow=con bò; rabbit=con thỏ""",
    fruit="""apple=quả táo; banana=quả chuối; mango=quả xoài; egg=quả trứng;
        orange=quả cam; cake=cái bánh""",
    food="rice=cơm; bread=bánh mì; pho=phở; fish=cá; beef=thịt bò; soup=canh",
    drink="water=nước; tea=trà; coffee=cà phê; milk=sữa",
    text="""book=quyển sách; newspaper=tờ báo; letter=bức thư;
        novel=quyển tiểu thuyết; poem=bài thơ""",
    ware="""hat=cái mũ; shirt=cái áo; dress=chiếc váy; pen=cái bút; bag=cái túi;
        cup=cái cốc; knife=con dao; phone=chiếc điện thoại; umbrella=cái ô;
        watch=chiếc đồng hồ; box=cái hộp; table=cái bàn; chair=cái ghế;
        bed=cái giường; lamp=cái đèn; car=chiếc ô tô; bicycle=chiếc xe đạp;
        motorbike=chiếc xe máy; boat=chiếc thuyền""",
    building="house=ngôi nhà; room=căn phòng; shop=cửa hàng; garden=khu vườn",
)
MASS = {*NOUNS["food"], *NOUNS["drink"]}
FIXED = {*NOUNS["building"]}
RESPECTED = ()
WOMEN = "woman girl mother sister grandmother daughter".split()
_PRICE = "small=nhỏ; cheap=rẻ; expensive=đắt"
QUALITIES = tables(
    person="tall=cao; kind=tốt bụng; clever=thông minh; strong=khỏe",
    animal="big=to; small=nhỏ; beautiful=đẹp; old=già; fat=béo; thin=gầy",
    fruit=f"delicious=ngon; big=to; {_PRICE}",
    food="delicious=ngon; hot=nóng; cold=nguội",
    drink="hot=nóng; cold=lạnh",
    text="interesting=thú vị; boring=chán; new=mới",
    ware=f"new=mới; old=cũ; beautiful=đẹp; {_PRICE}",
    building="big=to; small=nhỏ; beautiful=đẹp",
)
WORDS = tables(
    job="""a teacher=giáo viên; a doctor=bác sĩ; a student=sinh viên;
        a nurse=y tá; a farmer=nông dân; an engineer=kỹ sư; a singer=ca sĩ""",
    state="""tired=mệt; happy=vui; sad=buồn; busy=bận; hungry=đói;
        thirsty=khát; sick=ốm; angry=tức giận; worried=lo lắng""",
    older="tall=cao; short=thấp; kind=tốt bụng; clever=thông minh; strong=khỏe",
    two="""two=hai; three=ba; four=bốn; five=năm; six=sáu; seven=bảy;
        eight=tám; nine=chín; ten=mười""",
    venue="""the market=chợ; the hospital=bệnh viện; the park=công viên;
        the bank=ngân hàng; the library=thư viện; the restaurant=nhà hàng;
        the hotel=khách sạn; the station=nhà ga; the airport=sân bay""",
    city="Hanoi=Hà Nội; Hue=Huế; Da Nang=Đà Nẵng; Saigon=Sài Gòn; Paris=Paris",
    at="""on the table=trên bàn; on my bed=trên giường của tôi;
        in the box=trong hộp; under this chair=dưới cái ghế này""",
    daily="""every day=mỗi ngày; on Sundays=vào chủ nhật;
        in the morning=vào buổi sáng; in the evening=vào buổi tối""",
    ago="""yesterday=hôm qua; last night=tối qua; this morning=sáng nay;
        last week=tuần trước; two days ago=hai ngày trước""",
    soon="""tomorrow=ngày mai; tonight=tối nay; next week=tuần sau;
        this afternoon=chiều nay; on Monday=vào thứ hai""",
)
# Verb, with its irregular past and participle | Vietnamese | its objects
_TASKS = rows("""
eat/ate/eaten | ăn | rice bread pho fish beef apple banana mango egg cake
drink/drank/drunk | uống | water tea coffee milk
cook | nấu | rice pho fish soup beef
read/read | đọc | book newspaper letter novel poem
write/wrote/written | viết | letter novel poem
""")
_PASTIMES = rows("""
help | giúp | somebody
wait for | đợi | somebody
meet/met | gặp | somebody
talk to | nói chuyện với | somebody
sleep/slept | ngủ | -
swim/swam/swum | bơi | -
sing/sang/sung | hát | -
go/went/gone home | về nhà | -
watch television | xem ti vi | -
play football | chơi bóng đá | -
""")
# What nobody does every day.
_RARE = rows("""
buy/bought | mua | hat shirt bag phone umbrella bicycle car book cake chair
sell/sold | bán | house car motorbike boat horse buffalo cow watch bed
fix | sửa | phone lamp car bicycle motorbike boat watch
look for | tìm | phone pen bag hat dog cat watch umbrella
""")
DEEDS_OF = {
    "deed": _TASKS + _PASTIMES + _RARE,
    "habit": _TASKS + _PASTIMES,
    "ask_what": _TASKS + _RARE,
}
NOUNS_OF = {
    "thing": [x for kind in [*NOUNS][2:] for x in NOUNS[kind]],
    "goods": [*NOUNS["fruit"], *NOUNS["text"], *NOUNS["ware"]],
    "spot": [*NOUNS["text"], "pen", "knife", "phone", "hat"],
    "taste": [x for kind in [*NOUNS][2:7] for x in NOUNS[kind]],
}
