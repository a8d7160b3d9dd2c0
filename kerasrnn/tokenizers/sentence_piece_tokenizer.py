"""SentencePiece subwords, unigram or BPE."""

import hashlib
import io
import pathlib
from collections.abc import Iterable
from typing import Any
from typing import Literal
from typing import Self

import keras
import tensorflow as tf
import tensorflow_text as tf_text
from tensorflow_text.python.ops import sentencepiece_tokenizer as library

from kerasrnn.arguments import integer
from kerasrnn.arguments import is_string
from kerasrnn.arguments import one_of
from kerasrnn.arguments import rate
from kerasrnn.arguments import string_list
from kerasrnn.optional import needs
from kerasrnn.tokenizers.tokenizer import SPECIALS
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Tensor
from kerasrnn_commands.stderr import without_sentence_piece_log


class _KeptModel(library._SentencepieceModelResource):
    """A SentencePiece model, named by its content.

    The library's model resource belongs to the operation that created it.
    Setting TensorFlow's seed discards these operations and their models, even
    if graphs still use them. A named model stays until the end of the process,
    and equal models share one resource, in a process and in a SavedModel.
    """

    def _create_resource(self):
        content = hashlib.sha256(self._model).hexdigest()
        return library.gen_sentencepiece_tokenizer.sentencepiece_op(
            model=self._model, shared_name=f"sentence_piece_{content}"
        )


def load_model(proto, sampling=0.0):
    """Loads a serialized model.

    Args:
        proto: Bytes, a serialized SentencePiece model.
        sampling: Float. Above 0, texts are split randomly; see
            `SentencePieceTokenizer`.

    Returns:
        A `tensorflow_text.SentencepieceTokenizer` with int32 ids.
    """
    with without_sentence_piece_log():
        pieces = tf_text.SentencepieceTokenizer(
            model=proto,
            out_type=tf.int32,
            nbest_size=-1 if sampling else 0,
            alpha=sampling or 1.0,
        )
        pieces._model_resource = _KeptModel(proto, None)
    return pieces


with needs("sentencepiece", "text"):
    import sentencepiece

PROTO_FILE = "vocabulary.spm"


@keras.saving.register_keras_serializable("kerasrnn")
class SentencePieceTokenizer(Tokenizer):
    """Splits texts into the subwords of a SentencePiece model.

    Args:
        proto: Bytes, a serialized SentencePiece model whose first ids are
            padding, start, end and unknown, as `train` makes it; `None` to set
            it later by `set_proto` or `load_assets`.
        sampling: Float in `[0, 1)`. Above 0, `sample` splits randomly. It is
            the smoothing of the unigram model's distribution (Kudo 2018), or
            the rate of skipped BPE merges (Provilkov et al. 2020). It cannot be
            seeded, because the library has its own generator.
        **options: Options of normalization; see `Tokenizer`.

    Example:

    >>> texts = ["the red book", "the reader reads a red book"]
    >>> tokenizer = SentencePieceTokenizer.train(texts, vocabulary_size=24)
    >>> ids = tokenizer.tokenize(["a book"])
    >>> tokenizer.detokenize(ids).numpy().tolist()
    [b'a book']

    References:
        [Kudo & Richardson, 2018](https://arxiv.org/abs/1808.06226),
        [Kudo, 2018](https://arxiv.org/abs/1804.10959),
        [Provilkov et al., 2020](https://arxiv.org/abs/1910.13267).
    """

    options = (*Tokenizer.options, "sampling")

    def __init__(
        self, proto: bytes | None = None, sampling: float = 0.0, **options: Any
    ) -> None:
        super().__init__(**options)
        self.sampling = rate("sampling", sampling)
        if proto is not None:
            self.set_proto(proto)

    def set_proto(self, proto: bytes) -> None:
        """Sets the serialized model (bytes)."""
        processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
        size = processor.get_piece_size()
        self.set_vocabulary([processor.id_to_piece(i) for i in range(size)])
        self.proto = proto
        self.pieces = load_model(proto)
        sampling = self.sampling
        self.sampler = load_model(proto, sampling) if sampling else self.pieces

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary_size: int,
        model_type: Literal["unigram", "bpe"] = "unigram",
        sampling: float = 0.0,
        **options: Any,
    ) -> Self:
        """Trains a model on a corpus.

        Every character of the corpus is a piece; other characters are unknown.

        Args:
            texts: List of strings.
            vocabulary_size: The maximum number of pieces, including special
                tokens. A small corpus may give fewer.
            model_type: `"unigram"` or `"bpe"`.
            sampling: See the class.
            **options: See the class.

        Raises:
            ValueError: when the vocabulary is too small for the special tokens
                and the characters of the corpus, or `texts` is a string.
        """
        integer("vocabulary_size", vocabulary_size, len(SPECIALS) + 1)
        one_of("model_type", model_type, ("unigram", "bpe"))
        lines = cls(**options).normalize(
            string_list("texts", texts, is_right=is_string)
        )
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(lines.numpy()),
                model_writer=model,
                model_type=model_type,
                vocab_size=vocabulary_size,
                hard_vocab_limit=False,
                normalization_rule_name="identity",
                character_coverage=1.0,
                # Longer lines would be skipped, so the limit exceeds every
                # line.
                max_sentence_length=2**30,
                pad_id=0,
                bos_id=1,
                eos_id=2,
                unk_id=3,
                unk_surface="<unk>",
                minloglevel=2,
            )
        except (RuntimeError, OSError) as error:
            raise ValueError(
                "SentencePiece could not make a vocabulary from this corpus: "
                f"{error}. Received: vocabulary_size={vocabulary_size}, "
                f"{len(lines)} lines."
            ) from error
        return cls(model.getvalue(), sampling, **options)

    def save_assets(self, dir_path: str | pathlib.Path) -> None:
        """Writes the model into a folder, as `vocabulary.spm`."""
        self.check_vocabulary()
        pathlib.Path(dir_path, PROTO_FILE).write_bytes(self.proto)

    def load_assets(self, dir_path: str | pathlib.Path) -> None:
        """Reads the model that `save_assets` wrote into a folder."""
        self.set_proto(pathlib.Path(dir_path, PROTO_FILE).read_bytes())

    def tokenize(
        self, texts: Tensor, max_tokens: int | None = None
    ) -> tf.RaggedTensor:
        self.check_vocabulary()
        texts = self.normalize(texts)
        if max_tokens is not None:
            # Long runs of unknown characters take quadratic time.
            characters = max_tokens * max(map(len, self.vocabulary))
            texts = tf.strings.substr(texts, 0, characters, unit="UTF8_CHAR")
        return self.pieces.tokenize(texts)[:, :max_tokens]

    def sample(self, texts: Tensor) -> tf.RaggedTensor:
        """Tokenizes like `tokenize`, but splits randomly (see `sampling`)."""
        self.check_vocabulary()
        return self.sampler.tokenize(self.normalize(texts))

    def detokenize(self, ids: Tensor) -> tf.Tensor:
        ids = self.without_specials(ids)
        return self.finish(self.pieces.detokenize(ids))

    def piece(self, token: str) -> tuple[bool, str]:
        return token.startswith("\u2581"), token.removeprefix("\u2581")
