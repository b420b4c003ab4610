"""Grouping of one answer: a short ranked list of pages, without compiled code."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from pagekin.duplicates.filters import Chunks
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.model.arrays import Int64s


def first_of_groups(
    fingerprints: Fingerprints, threshold: float, queries: int = 0, fixed: Collection[int] = ()
) -> list[int]:
    """The first page of each page's group, by single linkage.

    The first `queries` pages are the query pages and form one group from the start. A `fixed` page stays separate.
    """
    pairs = np.column_stack(np.tril_indices(len(fingerprints), -1))
    near = pairs[fingerprints.similarities(pairs) >= threshold].tolist()
    parents = list(range(len(fingerprints)))

    def root(page: int) -> int:
        while parents[page] != page:
            page = parents[page]
        return page

    for a, b in [*((k, 0) for k in range(1, queries)), *near]:
        a, b = root(a), root(b)
        parents[max(a, b)] = min(a, b)
    return [page if page in fixed else root(page) for page in range(len(fingerprints))]


@dataclass(frozen=True)
class AnswerLine:
    """A line of an answer: a result and the results grouped under it, as positions in the ranked list."""

    anchor: int
    is_duplicate: bool = False  # of the query page
    members: list[int] = field(default_factory=list)


def group_answer(
    query: Fingerprints, listed: Fingerprints, positions: Sequence[int], count: int, fixed: int
) -> list[AnswerLine]:
    """The lines of a ranked list of `count` results; those at `positions` are pages with the `listed` fingerprints.

    Near-duplicates of the query pages form one line. Each of the first `fixed` results keeps its own line.
    """
    min_share = listed.settings.threshold / 2  # well below the threshold, as a margin for errors of filters
    sharing = _sharing(query.chunks, listed.chunks, min_share)
    if not len(sharing):
        return [AnswerLine(position) for position in range(count)]
    both, positions = query.followed_by(listed.rows(sharing)), [positions[k] for k in sharing.tolist()]
    separate = range(len(query), len(query) + sum(position < fixed for position in positions))
    first = first_of_groups(both, listed.settings.threshold, len(query), separate)[len(query) :]
    group_of = dict(zip(positions, first, strict=True))
    lines: dict[int, AnswerLine] = {}
    for position in range(count):
        group = group_of.get(position, -1 - position)
        is_duplicate = 0 <= group < len(query)
        line = lines.setdefault(0 if is_duplicate else group, AnswerLine(position, is_duplicate))
        if line.anchor != position:
            line.members.append(position)
    return list(lines.values())


def _sharing(query: Chunks, listed: Chunks, min_share: float) -> Int64s:
    """The listed pages that share a chunk with another page; none if no page shares `min_share` of its chunks."""
    chunks = Chunks.concatenate([query, listed])
    order = np.argsort(chunks.elements)
    same = np.flatnonzero(chunks.elements[order[1:]] == chunks.elements[order[:-1]])
    is_shared = np.zeros(len(order), np.bool_)
    is_shared[order[same]] = is_shared[order[same + 1]] = True
    page = np.repeat(np.arange(len(chunks)), chunks.counts())
    shared = np.bincount(page[is_shared], minlength=len(chunks))
    if not (shared >= np.maximum(1, min_share * chunks.counts())).any():
        return np.empty(0, np.int64)
    return np.flatnonzero(shared[len(query) :])
