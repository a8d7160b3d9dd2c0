"""A built-in English-Vietnamese phrasebook, drawn from sentence patterns.

As in `corpora.phrasebook`, a held-out sentence is a new combination of
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

The words are in `words`, the templates in `patterns`, and `sentences` fills
these with those.
"""

from corpora.vietnamese_phrasebook.sentences import vietnamese_phrasebook

__all__ = ["vietnamese_phrasebook"]
