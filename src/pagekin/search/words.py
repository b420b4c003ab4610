"""Pages by words of their texts: Okapi BM25 over the counts in the bags, without another index."""

from collections.abc import Iterable

import numpy as np

from pagekin.bags.stemming import language_of, terms_of
from pagekin.index.index import Index
from pagekin.model.arrays import Floats, Int64s, word_of
from pagekin.model.weighting import Okapi

_OKAPI = Okapi(1.2, 0.75)
_LEAST = 1e-9  # of a word on every page, which was asked for like others
MOST_WORDS = 32  # of a query; each one takes a pass over all bags


def nodes_with_words(index: Index, forms: Iterable[str], languages: Iterable[str], limit: int) -> list[int]:
    """The nodes of the pages whose texts have all words, or else as many as any page has, best first by BM25.

    A word is stemmed as in each of the languages, since it is not known in which one it is asked.
    """
    words = list(dict.fromkeys(map(word_of, forms)))[:MOST_WORDS]
    strategy, pages = index.strategy, len(index.contents.length)
    matched, score = np.zeros(pages, np.int64), np.zeros(pages)
    known = sorted({language_of(each, strategy.language) for each in languages})
    for spellings in zip(*(terms_of(words, strategy.stemming, each) for each in known), strict=True):
        terms = {index.terms.numbers[each] for each in spellings if each is not None and each in index.terms.numbers}
        best = np.zeros(pages)
        for term in terms:
            nodes, weight = _weights(index, term)
            best[nodes] = np.maximum(best[nodes], weight)
        matched += best > 0.0
        score += best
    found = np.flatnonzero(matched == max(1, matched.max(initial=0)))
    order = np.lexsort((found, -score[found]))[:limit]
    best_nodes: list[int] = found[order].tolist()
    return best_nodes


def _weights(index: Index, term: int) -> tuple[Int64s, Floats]:
    """The nodes of the pages whose texts have a term, and its weights there."""
    bags, contents = index.bags, index.contents
    places = np.flatnonzero(bags.term == term)
    nodes = np.searchsorted(bags.offsets, places, side="right") - 1
    count = bags.content[places]
    said = (count > 0) & (nodes < len(contents.length))
    nodes, count = nodes[said], count[said]
    frequency = np.full(len(nodes), contents.frequency[term])
    weight = _OKAPI.weigh(count, frequency, contents.length[nodes], contents.size)
    return nodes, np.maximum(weight, _LEAST)
