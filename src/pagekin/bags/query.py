"""The bag of a page that is not in the collection, over the terms of the collection."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.bags.stemming import language_of, terms_of
from pagekin.bags.term_weights import content_weights, outside_shares, term_factors
from pagekin.kernels.fold_bags import position_weight, weigh
from pagekin.kernels.windows import distance_weight
from pagekin.model.arrays import UInt32s
from pagekin.model.bags import Contents, Terms
from pagekin.model.reading import Reading
from pagekin.model.strategy import Strategy
from pagekin.model.strings import word_of


@dataclass(frozen=True)
class QueryBag:
    """The terms of a query in ascending order, their weights, and their counts in its contents."""

    term: UInt32s
    weight: NDArray[np.float32]
    count: UInt32s
    lead: NDArray[np.float32]  # counts, with early occurrences counting more if the strategy says so


def query_bag(reading: Reading, terms: Terms, contents: Contents, strategy: Strategy, bags: int) -> QueryBag:
    """The bag of the one page of `reading`, from its contents and its title; no page links to it yet.

    Words that no page of the collection has cannot distinguish between its pages, and are dropped.
    """
    numbers = {name: number for number, name in enumerate(terms.name)}
    words = [word_of(form) for form in reading.forms]
    language = language_of(reading.pages.language[0], strategy.language)
    terms_of_forms = terms_of(words, strategy.stemming, language)
    of_form = [numbers.get(term, -1) if term else -1 for term in terms_of_forms]
    kept = [of_form[form] for form in reading.tokens.form.tolist() if terms_of_forms[form] is not None]
    counts = Counter(kept)
    said: dict[int, float] = {}
    around: dict[int, float] = {}
    for place, number in enumerate(kept):
        said[number] = said.get(number, 0.0) + position_weight(place, strategy.lead)
    for form in reading.titles.form.tolist():
        around[of_form[form]] = around.get(of_form[form], 0.0) + distance_weight(0, strategy.distance_weight)
    known = sorted((said.keys() | around.keys()) - {-1})
    term = np.array(known, np.uint32)
    count = np.array([counts[each] for each in known], np.uint32)
    factor = term_factors(strategy, np.asarray(terms.frequency), bags)
    lead = np.array([said.get(each, 0.0) for each in known], np.float32)
    content = lead * factor[term]
    weighting = strategy.weighting_named(strategy.frequency_weight)
    if weighting is not None:
        length = np.full(len(term), contents.length_of(term, count))
        content = content_weights(weighting, contents, term, count, length)
    weight = np.zeros(len(term), np.float32)
    offsets, windows = np.array([0, len(term)]), np.array([around.get(each, 0.0) for each in known], np.float32)
    shares = outside_shares(strategy, np.array([1 if len(reading.titles.form) else 0]))
    weigh(offsets, term, content, windows, factor, len(terms.name), strategy.mix == "sum", *shares, weight)
    return QueryBag(term, weight, count, lead)
