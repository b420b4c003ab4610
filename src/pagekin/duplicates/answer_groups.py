"""A short list of pages, the best first -> its groups, without a compiler."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.sets import Chunks
from pagekin.model.arrays import Int64s


def firsts(fingerprints: Fingerprints, threshold: float, asked: int = 0, fixed: Collection[int] = ()) -> list[int]:
    """For each page of a list the first of its group; who is similar to one of a group is of that group.

    The first `asked` pages are those that the list was made for, and one group from the beginning. A page that is
    `fixed` stays where it is.
    """
    pairs = np.column_stack(np.tril_indices(len(fingerprints), -1))
    near = pairs[fingerprints.similarities(pairs) >= threshold].tolist()
    parents = list(range(len(fingerprints)))

    def root(page: int) -> int:
        while parents[page] != page:
            page = parents[page]
        return page

    for a, b in [*((k, 0) for k in range(1, asked)), *near]:
        a, b = root(a), root(b)
        parents[max(a, b)] = min(a, b)
    return [page if page in fixed else root(page) for page in range(len(fingerprints))]


@dataclass(frozen=True)
class AnswerLine:
    """A line of an answer: who stands there and who under it, as places in a list."""

    anchor: int
    is_duplicate: bool = False  # of what was asked for
    members: list[int] = field(default_factory=list)


def lines_of(
    asked: Fingerprints, listed: Fingerprints, places: Sequence[int], count: int, fixed: int
) -> list[AnswerLine]:
    """The lines of a list of so many, the best first, of which some are pages: at these places.

    Near-duplicates of what was asked for stand in one line. The first ones, which are fixed, keep theirs.
    """
    sharing = _sharing(asked.chunks, listed.chunks, listed.settings.threshold / 2)  # filters do not err that much
    if not len(sharing):
        return [AnswerLine(place) for place in range(count)]
    both, places = asked.and_then(listed.rows(sharing)), [places[k] for k in sharing.tolist()]
    stay = range(len(asked), len(asked) + sum(place < fixed for place in places))
    first = firsts(both, listed.settings.threshold, len(asked), stay)[len(asked) :]
    of = dict(zip(places, first, strict=True))
    lines: dict[int, AnswerLine] = {}
    for place in range(count):
        is_duplicate = of.get(place, len(asked)) < len(asked)
        group = 0 if is_duplicate else of.get(place, -1 - place)
        if group in lines:
            lines[group].members.append(place)
        else:
            lines[group] = AnswerLine(place, is_duplicate)
    return list(lines.values())


def _sharing(asked: Chunks, listed: Chunks, least: float) -> Int64s:
    """The pages of a list that share a chunk with another one or with what was asked for.

    None, as in most answers, if nobody shares at least so much of what it has.
    """
    chunks = Chunks.joined([asked, listed])
    order = np.argsort(chunks.elements)
    same = np.flatnonzero(chunks.elements[order[1:]] == chunks.elements[order[:-1]])
    is_shared = np.zeros(len(order), np.bool_)
    is_shared[order[same]] = is_shared[order[same + 1]] = True
    page = np.repeat(np.arange(len(chunks)), chunks.counts())
    shared = np.bincount(page[is_shared], minlength=len(chunks))
    if not (shared >= np.maximum(1, least * chunks.counts())).any():
        return np.empty(0, np.int64)
    return np.flatnonzero(shared[len(asked) :])
