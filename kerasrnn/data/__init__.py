"""Readers of corpora, splits, batches and word vectors."""

from kerasrnn.data.corpora import find_corpus
from kerasrnn.data.corpus_report import length_table
from kerasrnn.data.corpus_report import warn_of_unseen
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.labelled_batches import labelled_batches
from kerasrnn.data.labelled_texts import LabelledTexts
from kerasrnn.data.labelled_texts import hold_out
from kerasrnn.data.lexicon import translation_lexicon
from kerasrnn.data.parallel_corpus import ParallelCorpus
from kerasrnn.data.parallel_corpus import drop_long
from kerasrnn.data.parallel_corpus import drop_overlap
from kerasrnn.data.parallel_corpus import read_parallel_corpus
from kerasrnn.data.parallel_corpus import source_key
from kerasrnn.data.parallel_corpus import split_by_source
from kerasrnn.data.parallel_files import read_parallel_files
from kerasrnn.data.parallel_files import read_vocabulary
from kerasrnn.data.review_corpus import ReviewCorpus
from kerasrnn.data.review_corpus import read_review_corpus
from kerasrnn.data.text_corpus import TextCorpus
from kerasrnn.data.text_corpus import read_tagged_words
from kerasrnn.data.text_corpus import read_text_corpus
from kerasrnn.data.text_windows import text_windows
from kerasrnn.data.translation_batches import translation_batches
from kerasrnn.data.word_vectors import WordVectors
from kerasrnn.data.word_vectors import read_word_vectors
from kerasrnn.data.word_vectors import train_word_vectors

__all__ = [
    "CorpusError",
    "CorpusWarning",
    "LabelledTexts",
    "ParallelCorpus",
    "ReviewCorpus",
    "TextCorpus",
    "WordVectors",
    "drop_long",
    "drop_overlap",
    "find_corpus",
    "hold_out",
    "labelled_batches",
    "length_table",
    "read_parallel_corpus",
    "read_parallel_files",
    "read_review_corpus",
    "read_tagged_words",
    "read_text_corpus",
    "read_vocabulary",
    "read_word_vectors",
    "source_key",
    "split_by_source",
    "text_windows",
    "train_word_vectors",
    "translation_batches",
    "translation_lexicon",
    "warn_of_unseen",
]
