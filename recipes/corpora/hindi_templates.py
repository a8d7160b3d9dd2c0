"""The templates of the English-Hindi phrasebook, by scene.

After a colon is a postposition or a word that agrees: for "Sita", `{who:को}`
is सीता को, and `{who:रहा}` रही. A deed is an object `{o}`, a word `{c}` that is
compounded with the verb, and a stem `{v}`. `{it}` is what an infinitive agrees
with, and `{by}` the subject in the case that the perfective `{did}` requires.
"""

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
