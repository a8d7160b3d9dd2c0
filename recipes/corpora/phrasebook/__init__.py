"""A built-in English-Hindi phrasebook, generated from a grammar.

The sentences are generated from sentence patterns and a small lexicon, and
inflected by rules. So a held-out sentence is a new combination of words that
occur in other sentences. Each group of modules uses only those before it:

* `english`, `hindi`: inflection, rules from strings to strings;
* `words`, `lexicon`, `verbs`: the words, with their irregular forms;
* `phrases`: noun phrases in both languages, with their cases;
* `clauses`: a subject and a predicate in any tense, as a statement, negation
  or question;
* `things`, `people`, `predicates`: random phrases that make sense;
* `statements`, `being`, `comparing`, `having`, `questions`, `inquiries`,
  `requests`: the sentence patterns;
* `sentences`: the number of sentences of each pattern, and their order.

These rules give every English sentence exactly one Hindi translation:

* "you" is तुम; only a request with "please" uses the polite imperative.
* "I", "you", "we", "they" and "who" take masculine agreement. "He" and "she"
  are both वह and differ in the verb.
* Father, mother, teacher and doctor take the plural of respect.
* "a" is एक in an affirmative statement, and omitted in questions and
  negations; "the" is omitted.
* A possessive that refers to the subject is अपना: "I sold my car" is
  मैंने अपनी गाड़ी बेची।
* The present habitual loses its auxiliary when negated, and चाहिए has no
  plural.
* ज़, फ़, ड़ and ढ़ are written with their dots; क, ख and ग without.
"""

from corpora.phrasebook.sentences import phrasebook

__all__ = ["phrasebook"]
