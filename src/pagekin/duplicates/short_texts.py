"""Short texts as samples of their n-grams, since a text of a few hundred bytes has only a chunk or two.

The sampling rate follows the length of a text: at level L, one n-gram of 2^L is kept, so a text has about 100 to 224
elements at its own level. It is also sampled at the next level, so that two texts, one up to twice as long,
have a level in common. Samples of one level are compared like sets of chunks.
"""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pagekin.duplicates.filters import Chunks
from pagekin.kernels.minhash import GOLDEN, mix_all
from pagekin.model.arrays import Int64s, UInt64s, offsets_of, spans

LEVELS = 5
# Chosen with `benchmarks/short_texts.py`: shorter n-grams and smaller samples have more false matches.
_NGRAM = 24  # bytes, about four words
_SAMPLE = 224  # expected elements of a text at its level, at most; chance does not make them more than 256
FILTER_BITS = 4096  # enough for 256 elements, so that all filters have one size
_MIN_SAMPLE = 32  # texts with fewer elements are repetitive; chance would decide
MIN_BYTES = 128
MAX_BYTES = _SAMPLE << (LEVELS - 1)  # longer texts have enough chunks


def sample_ngrams(texts: Sequence[bytes]) -> list[Chunks]:
    """The samples of canonical texts at each level; at most two levels have elements of a text.

    >>> text = bytes(range(200))  # 177 n-grams, all of which are kept at level 0
    >>> sizes = [int(sample.lengths()[0]) for sample in sample_ngrams([text])]
    >>> sizes[0], 60 < sizes[1] < 117, sizes[2:]
    (177, True, [0, 0, 0])
    """
    short = [text if MIN_BYTES <= len(text) <= MAX_BYTES else b"" for text in texts]
    sizes = np.array([len(text) for text in short], np.int64)
    counts = np.maximum(sizes - _NGRAM + 1, 0)
    hashes = _hashes(b"".join(short))[spans(offsets_of(sizes)[:-1], counts)]
    owner = np.repeat(np.arange(len(short)), counts)
    level = np.repeat(np.ceil(np.log2(np.maximum(sizes / _SAMPLE, 1))).astype(np.int64), counts)
    samples = []
    for each in range(LEVELS):
        kept = ((level == each) | (level == each - 1)) & (hashes <= np.uint64(2 ** (64 - each) - 1))
        samples.append(_sets(owner[kept], hashes[kept], len(short)))
    return samples


def _hashes(data: bytes) -> UInt64s:
    """A hash of every n-gram. Filters take their bits from the low ends of both halves of it, samples from the top."""
    if len(data) < _NGRAM:
        return np.empty(0, np.uint64)
    words = np.ascontiguousarray(sliding_window_view(np.frombuffer(data, np.uint8), _NGRAM)).view(np.uint64)
    hashes = np.zeros(len(words), np.uint64)
    for word in words.T:
        hashes = mix_all(word + GOLDEN * hashes)
    return hashes


def _sets(owner: Int64s, hashes: UInt64s, count: int) -> Chunks:
    """The distinct hashes of each of `count` texts; none if there are too few."""
    order = np.lexsort((hashes, owner))
    owner, hashes = owner[order], hashes[order]
    distinct = np.append(True, (owner[1:] != owner[:-1]) | (hashes[1:] != hashes[:-1]))[: len(owner)]
    distinct[distinct] = (np.bincount(owner[distinct], minlength=count) >= _MIN_SAMPLE)[owner[distinct]]
    sizes = np.bincount(owner[distinct], minlength=count)
    return Chunks(offsets_of(sizes), hashes[distinct], np.zeros((count, 2), np.uint64))
