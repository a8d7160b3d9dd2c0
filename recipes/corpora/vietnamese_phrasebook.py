"""A built-in English-Vietnamese phrasebook, drawn from templates.

Vietnamese does not inflect, so templates that are filled with the same words
are enough. These rules give every English sentence one translation:

* I, you, he, she, we, they are tôi, bạn, anh ấy, cô ấy, chúng tôi, họ, rather
  than words of kinship. Only "let us" is chúng ta, which includes the listener.
* "The" is the bare classifier, "a" is một, "not a" is không ... nào, and the
  plural is những. A bare plural has no classifier: "hats" is mũ.
* The past is đã, the future sẽ, the progressive đang, "not yet" chưa. A point
  of time comes first; a negation then has no đã: "Hôm qua tôi không ngủ."
* A possessive of the subject is của mình. Brother and sister are the elder
  ones. Words and spelling are northern.
"""

from corpora import english as en
from corpora import vietnamese_words as lexicon
from corpora.templates import Phrasebook

_PRONOUNS = [
    (en.Phrase(said.split()[0], *said.split()), x)
    for said, x in lexicon.PRONOUNS.items()
]
_NAMED = [
    (en.Phrase(name, pronoun), x)
    for pronoun, names in lexicon.NAMES.items()
    for name, x in names.items()
]
TEMPLATES = {
    "habit": """
{who} {acts} {daily}. = {who} {act} {daily}.
{who} {who:do} not {act} {daily}. = {who} không {act} {daily}.
{who:do} {who} {act} {daily}? = {who} có {act} {daily} không?
{who} like{who:s} to {act}. = {who} thích {act}.
""",
    "deed": """
{who} {who:is} {acting} now. = bây giờ {who} đang {act}.
{who} {acted} {ago}. = {ago} {who} đã {act}.
{who} did not {act} {ago}. = {ago} {who} không {act}.
did {who} {act} {ago}? = {ago} {who} có {act} không?
why did {who} {act}? = tại sao {who} lại {act}?
{who} {who:have} already {done}. = {who} đã {act} rồi.
{who} {who:have} not {done} yet. = {who} chưa {act}.
{who} will {act} {soon}. = {soon} {who} sẽ {act}.
when will {who} {act}? = khi nào {who} sẽ {act}?
can {who} {act}? = {who} có thể {act} không?
{who} cannot {act} {soon}. = {soon} {who} không thể {act}.
{who} want{who:s} to {act}. = {who} muốn {act}.
{who} {who:have} to {act} {soon}. = {soon} {who} phải {act}.
if it rains, {who} will not {act}. = nếu trời mưa, {who} sẽ không {act}.
do not {act}. = đừng {act}.
let us {act} {soon}. = {soon} chúng ta hãy {act}.
""",
    "ask_what": """
what {who:is} {who} {acting}? = {who} đang {act} gì?
what did {who} {act} {ago}? = {ago} {who} đã {act} gì?
""",
    "people": """
{who} {who:is} very {state}. = {who} rất {state}.
why {who:is} {who} {state}? = tại sao {who} lại {state}?
{pal} {pal:is} {job}. = {pal} là {job}.
{who} {who:is} {older:er} than {him:him}. = {who} {older} hơn {him}.
{who} met {him:him} at {venue} {ago}. = {ago} {who} đã gặp {him} ở {venue}.
{who} live{who:s} in {city}. = {who} sống ở {city}.
{who} {who:have} never been to {city}. = {who} chưa bao giờ đến {city}.
where is {venue}? = {venue} ở đâu?
""",
    "thing": """
{thing} {thing:is} very {new}. = {thing} rất {new}.
{thing:is} {thing} {new}? = {thing} có {new} không?
{it} is {new:er} than {that}. = {it} {new} hơn {that}.
this is the {new:est} {hat}. = đây là {hat} {new} nhất.
""",
    "goods": """
is this {my_hat}? = đây có phải là {my_hat} không?
whose {hat} is this? = đây là {hat} của ai?
how much is {it}? = {it} giá bao nhiêu?
{who} {who:have} {some}. = {who} có {some}.
{who} {who:do} not have {a_hat}. = {who} không có {hat} nào.
how many {hats} {who:do} {who} have? = {who} có bao nhiêu {hat}?
{who} gave {him:him} {a_new_hat}. = {who} đã cho {him} {a_new_hat}.
""",
    "spot": """
{thing} {thing:is} {at}. = {thing} ở {at}.
there is {a_new_hat} {at}. = có {a_new_hat} {at}.
how many {hats} are there {at}? = có bao nhiêu {hat} {at}?
""",
    "taste": """
{who} like{who:s} {hats}. = {who} thích {hats}.
{who:do} {who} like {hats}? = {who} có thích {hats} không?
""",
}


class _Vietnamese(Phrasebook):
    """The Vietnamese of a determiner has * in the place of the noun."""

    none, the = ("", "", "*"), ("the", "the", "*")
    this, that = ("this", "these", "* này"), ("that", "those", "* đó")
    counted, numbers = "{} *", (False,)
    unnamed = {"do": _PRONOUNS[1], "let": _PRONOUNS[4]}

    def a(self, template):
        # "Not a" would be nào, after the noun.
        return self.the if "not" in template else ("a", "", "một *")

    def owned(self, owner, own):
        return "* của mình" if own else f"* của {owner}"

    def phrase(self, noun, determiner=none, quality=("", ""), many=False):
        """Returns a noun phrase with its classifier."""
        many = many and noun not in lexicon.MASS
        said = self.nouns[noun][1]
        if many and determiner == self.none:
            said = said.partition(" ")[2]  # A bare plural has no classifier.
        elif many and determiner not in self.counts:
            said = f"những {said}"
        said = determiner[2].replace("*", f"{said} {quality[1]}".rstrip())
        form = determiner, quality[0], many, noun in lexicon.WOMEN
        return en.noun_phrase(noun, *form), said

    def act(self, forms, verb, objects, thing, who, template):
        return {name: (x, f"{verb} {thing}") for name, x in forms.items()}


def vietnamese_phrasebook():
    """Returns the English-Vietnamese phrasebook.

    A list of `(english, vietnamese)` pairs of strings, always the same. Any
    slice is a fair sample of the templates. No English sentence occurs twice.

    >>> pairs = vietnamese_phrasebook()
    >>> dict(pairs)["Where is the market?"]
    'Chợ ở đâu?'
    """
    return _Vietnamese(lexicon, _PRONOUNS, _NAMED).sentences(TEMPLATES, 110)
