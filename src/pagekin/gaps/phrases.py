"""Words that name pages, titles and the anchors of links, and the places where texts have them."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from pagekin.model.arrays import Array, Int64s

LONGEST = 6  # words of a phrase; longer titles and anchors are not looked for
_NONE = -1


class Occurrences(NamedTuple):
    """Where phrases begin in a sequence of words, and which phrases."""

    place: Int64s
    phrase: Int64s


@dataclass(frozen=True)
class PhraseTrie:
    """Phrases of one to six words, as a trie: a node for every beginning of a phrase.

    >>> trie, phrase = PhraseTrie.of(np.array([[5, 7], [5, -1], [5, 7]]))
    >>> phrase.tolist()
    [1, 0, 1]
    >>> [each.tolist() for each in trie.occurrences(np.array([7, 5, 7, 5]), np.array([0, 3, 4]))]
    [[1, 3, 1], [0, 0, 1]]
    """

    edges: Int64s  # parent node << 32 | word, ascending; edge k leads to node k
    phrase: Int64s  # of every node, -1 if no phrase ends there
    inner: Array  # whether a node has children
    first: Int64s  # the node of a word that begins a phrase, -1 for other words
    count: int
    length: Int64s  # of every phrase in words

    @classmethod
    def of(cls, rows: Array) -> tuple[Self, Int64s]:
        """The trie of rows of words, filled up with -1, and the phrase of every row."""
        rows = np.asarray(rows, np.int64)
        node, edges = np.full(len(rows), _NONE, np.int64), np.empty(0, np.int64)
        ends = (rows >= 0).sum(axis=1) if len(rows) else np.empty(0, np.int64)
        levels = []
        for depth in range(rows.shape[1] if len(rows) else 0):
            some = np.flatnonzero(ends > depth)
            key, place = np.unique((node[some] + 1) << 32 | rows[some, depth], return_inverse=True)
            node[some] = len(edges) + place
            levels.append(key)
            edges = np.concatenate([edges, key])
        found, phrase = np.unique(node, return_inverse=True)
        of_node = np.full(len(edges), _NONE, np.int64)
        of_node[found[found >= 0]] = np.flatnonzero(found >= 0)
        inner = np.zeros(len(edges), bool)
        parents = (edges >> 32) - 1
        inner[parents[parents >= 0]] = True
        roots = levels[0] & 0xFFFFFFFF if levels else np.empty(0, np.int64)
        first = np.full(int(roots.max(initial=-1)) + 2, _NONE, np.int64)
        first[roots] = np.arange(len(roots))
        length = np.zeros(len(found), np.int64)
        length[phrase] = ends
        return cls(edges, of_node, inner, first, len(found), length), phrase

    def occurrences(self, words: Array, ends: Int64s) -> Occurrences:
        """Every place of every phrase in a text; no phrase extends over one of the `ends`, ascending."""
        words = np.asarray(words, np.int64)
        node = self.first[np.minimum(words, len(self.first) - 1)]
        place = np.flatnonzero(node >= 0)
        node = node[place]
        room = ends[np.searchsorted(ends, place, side="right").clip(max=len(ends) - 1)] if len(ends) else place
        found = []
        for depth in range(1, LONGEST + 1):
            known = self.phrase[node] >= 0
            found.append((place[known], self.phrase[node[known]]))
            going = self.inner[node] & (place + depth < room)
            place, node, room = place[going], node[going], room[going]
            if not len(place):
                break
            key = (node + 1) << 32 | words[place + depth]
            edge = np.searchsorted(self.edges, key).clip(max=len(self.edges) - 1)
            known = self.edges[edge] == key
            place, node, room = place[known], edge[known], room[known]
        return Occurrences(*(np.concatenate(each) for each in zip(*found, strict=True)))
