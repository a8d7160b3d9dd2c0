"""A built-in English-Vietnamese phrasebook, drawn from sentence patterns.

As in `corpora.phrasebook`, a held-out sentence is a new combination of words
that occur in other sentences. Vietnamese does not inflect, so pairs of
templates that are filled with the same words are enough; Hindi needs a grammar.

These rules give every English sentence exactly one Vietnamese translation:

* I, you, he, she, we, they are tôi, bạn, anh ấy, cô ấy, chúng tôi, họ, rather
  than words of kinship. Only "let us" is chúng ta, which includes the listener.
* "The" is the bare classifier and "a" is một. The plural is những, or các with
  professions; a bare plural has no classifier: "hats" is mũ. "A" is omitted in
  "is a doctor", and is nào in negations and questions of possession and
  existence.
* The past is đã, the future sẽ, the progressive đang, "not yet" chưa. A point
  of time comes first; a negation then has no đã: "Hôm qua tôi không ngủ."
* Colours have màu, and có màu as predicates. Possession is always của.
* Brother and sister are the elder ones. Words and spelling are northern.

The words are in `words` and the templates in `patterns`; `sentences` fills the
templates with words.
"""

from corpora.vietnamese_phrasebook.sentences import vietnamese_phrasebook

__all__ = ["vietnamese_phrasebook"]
