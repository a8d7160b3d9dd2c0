"""Readers of corpora, splits, batches and word vectors."""

# First, because it raises a clear error if TensorFlow is missing.
import kerasrnn.tokenizers  # noqa: F401
from kerasrnn.data.batches import id_rows
from kerasrnn.data.corpora import find_corpus
from kerasrnn.data.labelled_batches import labelled_batches
from kerasrnn.data.labelled_corpus import LabelledCorpus
from kerasrnn.data.labelled_corpus import LabelledTexts
from kerasrnn.data.labelled_corpus import read_labelled_corpus
from kerasrnn.data.labelled_splits import hold_out
from kerasrnn.data.labelled_splits import how_held_out
from kerasrnn.data.labelled_splits import split_labelled_corpus
from kerasrnn.data.labelled_splits import without_texts
from kerasrnn.data.lexicon import translation_lexicon
from kerasrnn.data.music.midi import read_midi
from kerasrnn.data.music.midi import write_midi
from kerasrnn.data.music.piano_rolls import PianoRollCorpus
from kerasrnn.data.music.piano_rolls import piano_roll_batches
from kerasrnn.data.music.piano_rolls import read_piano_rolls
from kerasrnn.data.music.piano_rolls import split_piano_rolls
from kerasrnn.data.parallel_corpus import ParallelCorpus
from kerasrnn.data.parallel_corpus import ParallelParts
from kerasrnn.data.parallel_corpus import add_synthetic
from kerasrnn.data.parallel_corpus import drop_long
from kerasrnn.data.parallel_corpus import drop_overlap
from kerasrnn.data.parallel_corpus import hold_out_pairs
from kerasrnn.data.parallel_corpus import language_names
from kerasrnn.data.parallel_corpus import mix_parts
from kerasrnn.data.parallel_corpus import read_parallel_corpus
from kerasrnn.data.parallel_corpus import read_parallel_parts
from kerasrnn.data.parallel_corpus import split_by_source
from kerasrnn.data.reading.rows import Rows
from kerasrnn.data.reading.rows import read_rows
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.series.read_series import read_series
from kerasrnn.data.series.series_table import Series
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.series_table import split_series
from kerasrnn.data.series.times import usual_season
from kerasrnn.data.series.windows import series_windows
from kerasrnn.data.series.windows import window_starts
from kerasrnn.data.splits import source_key
from kerasrnn.data.splits import split_rows
from kerasrnn.data.stored_rows import StoredRows
from kerasrnn.data.stored_rows import sample_rows
from kerasrnn.data.stored_rows import store_rows
from kerasrnn.data.tagged_words import Phrase
from kerasrnn.data.tagged_words import convert_tags
from kerasrnn.data.tagged_words import phrases_of
from kerasrnn.data.tagged_words import read_tagged_words
from kerasrnn.data.tagged_words import tag_scheme
from kerasrnn.data.tagged_words import tags_of
from kerasrnn.data.text_corpus import TextCorpus
from kerasrnn.data.text_corpus import length_table
from kerasrnn.data.text_corpus import read_text_corpus
from kerasrnn.data.text_corpus import split_text_corpus
from kerasrnn.data.text_windows import text_windows
from kerasrnn.data.translation_batches import translation_batches
from kerasrnn.data.vocabulary import warn_of_unseen
from kerasrnn.data.word_vectors import WordVectors
from kerasrnn.data.word_vectors import load_word_vectors
from kerasrnn.data.word_vectors import read_word_vectors
from kerasrnn.data.word_vectors import train_word_vectors

__all__ = [
    "CorpusError",
    "CorpusWarning",
    "LabelledCorpus",
    "LabelledTexts",
    "ParallelCorpus",
    "ParallelParts",
    "Phrase",
    "PianoRollCorpus",
    "Rows",
    "Series",
    "SeriesTable",
    "StoredRows",
    "TextCorpus",
    "WordVectors",
    "add_synthetic",
    "convert_tags",
    "drop_long",
    "drop_overlap",
    "find_corpus",
    "hold_out",
    "hold_out_pairs",
    "how_held_out",
    "id_rows",
    "labelled_batches",
    "language_names",
    "length_table",
    "load_word_vectors",
    "mix_parts",
    "phrases_of",
    "piano_roll_batches",
    "read_labelled_corpus",
    "read_midi",
    "read_parallel_corpus",
    "read_parallel_parts",
    "read_piano_rolls",
    "read_rows",
    "read_series",
    "read_tagged_words",
    "read_text_corpus",
    "read_word_vectors",
    "sample_rows",
    "series_windows",
    "source_key",
    "split_by_source",
    "split_labelled_corpus",
    "split_piano_rolls",
    "split_rows",
    "split_series",
    "split_text_corpus",
    "store_rows",
    "tag_scheme",
    "tags_of",
    "text_windows",
    "train_word_vectors",
    "translation_batches",
    "translation_lexicon",
    "usual_season",
    "warn_of_unseen",
    "window_starts",
    "without_texts",
    "write_midi",
]
