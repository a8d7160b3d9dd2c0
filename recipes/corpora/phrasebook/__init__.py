"""A built-in English-Hindi phrasebook, generated from a grammar.

The sentences are not a list: they are drawn from sentence patterns over a
small lexicon, so that a held-out sentence is a new combination of words seen
elsewhere, and every inflected form is the work of a rule. The layers, each
knowing only those before it:

* `english`, `hindi`: inflection, rules from strings to strings;
* `words`, `lexicon`, `verbs`: the words, with what no rule can know;
* `phrases`: noun phrases in both languages at once, with their cases;
* `clauses`: a subject and a predicate in any tense, negated or asked;
* `things`, `people`, `predicates`: sensible phrases drawn by chance;
* `statements`, `being`, `comparing`, `having`, `questions`, `inquiries`,
  `requests`: the sentence patterns;
* `sentences`: how many of each, and the order.

Choices that make Hindi a function of the English:

* "you" is तुम; only a request with "please" uses the polite imperative.
* "I", "you", "we", "they" and "who" take masculine agreement. "He" and "she"
  are both वह and differ in the verb.
* Father, mother, teacher and doctor take the plural of respect.
* "a" is एक in an affirmative statement, and nothing in a question or a
  negative one; "the" is nothing.
* A possessive that refers to the subject is अपना: "I sold my car" is
  मैंने अपनी गाड़ी बेची।
* The present habitual loses its auxiliary when negated, and चाहिए has no
  plural.
* The dots of ज़, फ़, ड़ and ढ़ are written; those of क, ख and ग are not.
"""

from corpora.phrasebook.sentences import phrasebook

__all__ = ["phrasebook"]
