"""Candidate pairs: pages that share rare chunks, without comparing all pages with all."""

from collections.abc import Iterator

import numpy as np

from pagekin.duplicates.sets import Chunks
from pagekin.kernels.shared_elements import NO_LIST, Lists, ShareBounds, probe, set_hashes
from pagekin.model.arrays import Int64s, UInt64s

_BOUNDS = ShareBounds(most=1000, few=32)
_BATCH_ELEMENTS = 1 << 24  # that are sorted at once
_BATCH_PAIRS = 1 << 13
_CHUNKS_PER_ERROR = 64  # an estimate from filters may be off by one chunk, and by one more per 64 chunks


def invert_chunks(chunks: Chunks) -> Lists:
    """For every chunk of several pages, the list of these pages."""
    numbers = np.full(len(chunks.elements), NO_LIST, np.uint32)
    page = np.repeat(np.arange(len(chunks), dtype=np.uint32), chunks.counts())
    lengths, pages = [np.zeros(1, np.int64)], [np.empty(0, np.uint32)]
    count = 0
    for some in filter(len, _parts(chunks.elements)):
        elements = chunks.elements[some]
        order = np.argsort(elements, kind="stable")
        same = elements[order[1:]] == elements[order[:-1]]
        shared = np.append(same, False) | np.append(False, same)
        some, is_first = some[order[shared]], ~np.append(False, same)[shared]
        numbers[some] = count - 1 + np.cumsum(is_first)
        lengths.append(np.diff(np.flatnonzero(np.append(is_first, True))))
        pages.append(page[some])
        count += len(lengths[-1])
    return Lists(chunks.offsets, numbers, np.cumsum(np.concatenate(lengths)), np.concatenate(pages))


def _parts(elements: UInt64s) -> Iterator[Int64s]:
    """Split the positions of elements by their leading bits into parts of bounded size."""
    bits = max(0, len(elements) // _BATCH_ELEMENTS).bit_length()
    if not bits:
        yield np.arange(len(elements))
        return
    for part in range(1 << bits):
        yield np.flatnonzero(elements >> np.uint64(64 - bits) == part)


def first_copies(chunks: Chunks) -> Int64s:
    """For each page, the first page with the same set of chunks; itself if there is none or it has no chunks.

    Sets are compared by a sum of hashes, so a caller that needs certainty must compare them.
    """
    sums = set_hashes(chunks.elements, chunks.offsets)
    first = np.arange(len(chunks))
    some = np.flatnonzero(chunks.counts() > 0)
    _, firsts, inverse = np.unique(sums[some], return_index=True, return_inverse=True)
    first[some] = some[firsts[inverse]]
    return first


def candidate_pairs(chunks: Chunks, threshold: float, parents: Int64s) -> Iterator[tuple[Int64s, int]]:
    """Yield batches of candidate pairs of near-duplicates, except pairs that `parents` has joined by then.

    A candidate shares slightly fewer chunks than the threshold asks for, since filters decide in the end and their
    estimates may be off by a few chunks. A chunk of more than a thousand pages is followed to the 32 preceding pages
    only. That matters to pages whose rarest chunks are that frequent; their number comes with each batch.
    """
    lists, counts = invert_chunks(chunks), chunks.counts()
    least = np.ceil(threshold * counts - 1e-9).astype(np.int64) - 1 - counts // _CHUNKS_PER_ERROR
    shared = np.where(counts > 0, np.maximum(least, 1), 0)
    seen, page = np.full(len(chunks), -1, np.int64), 0
    while page < len(chunks):
        page, pairs, cut = probe(page, shared, lists, _BOUNDS, parents, seen, _BATCH_PAIRS)
        yield pairs, cut
