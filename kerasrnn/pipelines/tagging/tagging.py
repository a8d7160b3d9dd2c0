"""What a tagger does with texts: finds phrases, tags words, is evaluated."""

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kerasrnn.data.tagged_words import phrases_of
from kerasrnn.metrics.label_scores import phrase_scores
from kerasrnn.pipelines.batching import indices_by_length
from kerasrnn.pipelines.finite import check_answer
from kerasrnn.pipelines.tagging.functions import TaggingFunctions
from kerasrnn.pipelines.tagging.sentences import Sentences
from kerasrnn.pipelines.tagging.sentences import columns_of
from kerasrnn.pipelines.tagging.task import TaggingTask
from kerasrnn.pipelines.tagging.word_features import WordFeatures
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.xla_pipeline import XlaPipeline
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers.word_spans import split_into_words
from kerasrnn.typing import Config
from kerasrnn.typing import Strings


class Span(NamedTuple):
    """A phrase that was found in a text, such as a name.

    Args:
        start: Integer, the position of its first character.
        end: Integer, the position after its last character.
        label: String, its type.
        score: Float, the least probability of a tag of its words.
        text: String, the phrase itself.
    """

    start: int
    end: int
    label: str
    score: float
    text: str


class Tagging(XlaPipeline):
    """The part of `TextTagger` that works with texts once it is trained.

    See `TextTagger`.
    """

    asked_by = "`tag` or `tag_tokens`"
    words: WordTokenizer
    tags: tuple[str, ...]
    characters: CharacterTokenizer | None
    scheme: str | None
    max_letters: int

    def task(self) -> TaggingTask:
        return TaggingTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return TaggingFunctions(self).by_name()

    def lengths(self, texts: Strings) -> np.ndarray:
        words, *_ = split_into_words(tf.constant(texts))
        return words.row_lengths().numpy()

    @property
    def features(self) -> WordFeatures:
        """What the model reads of words."""
        return WordFeatures(self.words, self.characters, self.max_letters)

    def tag(self, texts: Strings, batch_size: int = 64) -> list[list[Span]]:
        """Returns the phrases found in each of a list of strings.

        Args:
            texts: List of strings, which are split into words by
                `kerasrnn.tokenizers.split_into_words`.
            batch_size: Positive integer, texts in a batch.

        Returns:
            For each text, the list of its `Span`s.
        """
        texts = text_list(texts)
        found: list[list[Span]] = [[] for _ in texts]
        for indices, answer in self.answers(texts, batch_size):
            columns = [
                answer[f"span_{name}"].numpy()
                for name in ("starts", "ends", "labels", "scores")
            ]
            for row, index in enumerate(indices):
                text = texts[index]
                for start, end, label, score in zip(
                    *(column[row] for column in columns), strict=True
                ):
                    if start >= 0:
                        found[index].append(
                            Span(
                                int(start),
                                int(end),
                                label.decode(),
                                float(score),
                                text[start:end],
                            )
                        )
        return found

    def tag_tokens(
        self, sentences: Sequence[Strings], batch_size: int = 64
    ) -> list[list[str]]:
        """Returns the tag of each word of sentences.

        Args:
            sentences: Lists of words.
            batch_size: Positive integer, sentences in a batch.

        Raises:
            ValueError: when a sentence is not a list of words, or a word is
                empty.
        """
        sentences = _word_lists(sentences)
        tags: list[list[str]] = [[] for _ in sentences]
        for indices in indices_by_length(sentences, batch_size):
            batch = tf.ragged.constant(
                [sentences[i] for i in indices], tf.string, ragged_rank=1
            )
            answer = self.signatures["tag_tokens"](batch.to_tensor(""))
            check_answer(self.model, answer)
            for index, row in zip(indices, answer["tags"].numpy(), strict=True):
                found = row[: len(sentences[index])]
                tags[index] = [tag.decode() for tag in found]
        return tags

    def evaluate(
        self, sentences: Sentences, batch_size: int = 64
    ) -> dict[str, Any]:
        """Tags sentences and compares the tags with the true ones.

        Args:
            sentences: List of lists of `(word, tag)`, as `fit` takes them.
            batch_size: Positive integer, sentences in a batch.

        Returns:
            A dictionary of `"accuracy"`, the share of words whose tag is
            right; with a scheme, also of the `phrase_scores`.
        """
        words, true = columns_of(sentences, self.scheme)
        return self.scores(self.tag_tokens(words, batch_size), true)

    def scores(
        self, found: Sequence[Strings], true: Sequence[Strings]
    ) -> dict[str, Any]:
        """Compares the tags of sentences with the true ones; see `evaluate`."""
        right = [
            a == b
            for expected, given in zip(true, found, strict=True)
            for a, b in zip(expected, given, strict=True)
        ]
        scores = {"accuracy": float(np.mean(right))}
        if self.scheme is None:
            return scores
        phrases = [list(map(phrases_of, tags)) for tags in (true, found)]
        return {**phrase_scores(*phrases), **scores}

    def served_facts(self) -> Config:
        return {
            **super().served_facts(),
            "tags": list(self.tags),
            "scheme": self.scheme,
        }


def _word_lists(sentences):
    """Returns an iterable of sentences as a list of lists of words."""
    if isinstance(sentences, Iterable) and not isinstance(sentences, str):
        sentences = list(sentences)
        if not any(isinstance(sentence, str) for sentence in sentences):
            found = [text_list(sentence) for sentence in sentences]
            if all(map(all, found)):
                return found
    raise ValueError(
        "Sentences are lists of words, none of them empty. "
        f"Received: {sentences!r:.80}"
    )
