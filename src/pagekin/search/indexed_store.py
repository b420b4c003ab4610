"""Related pages from a collection: `IndexedStore.open("my.kin").related(url)`."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from pagekin.duplicates.filters import Chunks
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.errors import MisuseError
from pagekin.index.answers import KeptAnswers
from pagekin.index.index import Index
from pagekin.kernels.page_rows import ScoredRows
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.capture import Capture, Origin, PageFormat
from pagekin.model.reading import CheckedReading
from pagekin.model.strategy import NEIGHBOURS
from pagekin.search.all_pages import nearest_in_order
from pagekin.search.answer import AnswerBuilder, weighted_text_of
from pagekin.search.blend import Blend, Scaling
from pagekin.search.calibration import calibrate
from pagekin.search.evidence import SHORT_PAGES, Evidence, evidences, register
from pagekin.search.latent import LatentEvidence
from pagekin.search.links import Cocitation, Coupling, LinkEvidence, OutLinks, Proximity, weight_by_agreement
from pagekin.search.neighbours import Neighbours
from pagekin.search.node_store import NodeStore
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.search.page_block import at_least
from pagekin.search.query import Bag, Query, TermCounts, query_of_nodes, signature_of
from pagekin.search.results import RelatedPage, unexplained
from pagekin.search.scorer import Scorer, ScorerPool
from pagekin.search.text import BagEvidence, Cosine, Jaccard
from pagekin.search.title import TitleEvidence
from pagekin.search.vectors import VectorEvidence
from pagekin.search.weighted_text import Bm25Evidence, WeightedText
from pagekin.store.columns import Mapper
from pagekin.store.store import report_damage

_MOST_NAMES = 1 << 17  # names of pages that an export holds in memory
_LOOKED_UP = 1 << 10  # pages whose kept answers are read at once
_OUTSIDE = "http://question.localhost/"  # the URL of a text from outside
MEASURES: dict[str, Callable[[Index, ScorerPool[Scorer]], BagEvidence]] = {"jaccard": Jaccard, "cosine": Cosine}


def text_evidence(store: NodeStore, options: RelatedOptions) -> Evidence:
    """Text by the measure of a request, or else of the strategy."""
    strategy = store.index.strategy
    measure = options.similarity or strategy.similarity
    weighting = options.weighting or strategy.weighting_named(measure)
    if weighting is None:
        return MEASURES[measure](store.index, store.scorers)
    return WeightedText(store.index, store.scorers, store.query_weights, weighting)


register("text", text_evidence)
register("links", lambda store, options: LinkEvidence(store))
register("proximity", lambda store, options: Proximity(store))
register("cocitation", lambda store, options: Cocitation(store))
register("coupling", lambda store, options: Coupling(store))
register("link", lambda store, options: OutLinks(store))
register("latent", lambda store, options: LatentEvidence(store))
register("vectors", lambda store, options: VectorEvidence(store.vectors))
register("title", lambda store, options: TitleEvidence(store.titles))
register("neighbours", lambda store, options: Neighbours(store))
register("bm25", lambda store, options: Bm25Evidence(store.index, store.scorers, store.query_weights))


class IndexedStore(NodeStore):
    """An indexed store that finds related pages."""

    @cached_property
    def automatic_link_weight(self) -> float:
        return weight_by_agreement(self)

    def weights(self, options: RelatedOptions) -> dict[str, float]:
        """The weights of evidences for a request.

        They are those of the request; else those of the strategy. A request for a measure, for learned weights or for
        a share of links gets text, and links with that share or with the one that was learned.
        """
        if options.blend is not None:
            return dict(options.blend)
        share, strategy = options.link_share, self.index.strategy
        if share is None:
            weighting = options.weighting or strategy.weighting_named(options.similarity or strategy.similarity)
            if weighting is None and options.similarity is None:
                weights = strategy.weights_of_evidences()
                return weights if "proximity" in weights else {**weights, "links": 0.0}  # both name citing pages
            share = weighting.link_share if weighting is not None else 0.0
        share = self.automatic_link_weight if share == AUTO else share
        return {"text": 1.0 - share, "links": share}

    def blend(self, options: RelatedOptions, *, outside: bool = False) -> Blend:
        """The blend for a request; for a text from outside, without evidences that know only pages."""
        weights = self.weights(options)
        found = evidences(self, options, weights)
        if outside:
            weights = without(weights, {each.name for each in found if each.inside_only})
            found = evidences(self, options, weights)
        return Blend(found, weights, self._scaling(weights))

    def blend_for_neighbours(self) -> Blend:
        """The blend that finds the neighbours of pages: that of the strategy without neighbours.

        Costly evidences of short pages are left out as well, since neighbours count on long pages.
        """
        weights = dict(self.index.strategy.weights_of_evidences())
        weights.pop(NEIGHBOURS, None)
        found = evidences(self, RelatedOptions(), weights)
        kept = [each for each in found if not (each.costly and each.by_length == SHORT_PAGES)] or found
        weights = {each.name: weights[each.name] for each in kept}
        return Blend(kept, weights, self._scaling(weights))

    @report_damage
    def related_of_pages(
        self, nodes: Sequence[int], options: RelatedOptions, mapper: Mapper = map
    ) -> Iterator[list[RelatedPage]]:
        """The same as `related` for each of some pages; they are found together unless filtered or explained."""
        found = self.nearest_of_pages(nodes, options, mapper)
        if found is None:
            yield from (self._related_to_nodes([node], options) for node in nodes)
            return
        names: dict[int, dict[str, str]] = {}
        for rows in found:
            listed = rows.node.tolist()
            if len(names) > _MOST_NAMES:
                names.clear()
            names |= self.catalog.names_by_node(sorted(set(listed).difference(names)))
            pairs = list(zip(map(names.__getitem__, listed), rows.score.tolist(), strict=True))
            for begin, end in pairwise(rows.offsets.tolist()):
                yield unexplained((name["url"], name["title"], similarity) for name, similarity in pairs[begin:end])

    def nearest_of_pages(
        self, nodes: Sequence[int], options: RelatedOptions, mapper: Mapper = map
    ) -> Iterator[ScoredRows] | None:
        """Rows of the pages that `related` finds for some pages, with similarities, for many pages at a time.

        None if the pages must be asked for one by one.
        """
        found = self._nearest_together(np.array(nodes, np.int64), options, mapper)
        if found is None or options.min_similarity <= 0.0:
            return found
        return (at_least(options.min_similarity, rows) for rows in found)

    def _nearest_together(self, pages: Int64s, options: RelatedOptions, mapper: Mapper) -> Iterator[ScoredRows] | None:
        """The same, whatever the similarity; looked up if it is kept."""
        blend, kept = self.blend(options), self.kept_answers if options.has_default_ranking else None
        simple = options.is_unfiltered and not (options.explain or options.group_duplicates)
        simple = simple and weighted_text_of(blend) is None and int(pages.max(initial=0)) < len(self.nodes) - 1
        if simple and kept is not None and options.limit <= kept.limit:
            blocks = range(0, len(pages), _LOOKED_UP)
            return (kept.nearest_of_pages(pages[begin : begin + _LOOKED_UP], options.limit) for begin in blocks)
        if not simple or blend.scaling is None:
            return None
        return nearest_in_order(self, partial(self.blend, options), pages, options.limit, mapper)

    def _scaling(self, weights: Mapping[str, float]) -> Scaling | None:
        """The scaling that the build has measured, if it did so for all of the evidences that count."""
        facts = self.calibration
        if not {name for name, weight in weights.items() if weight > 0.0} <= set(facts["scales"]):
            return None
        return Scaling(facts["scales"], facts["chance"], self.index.strategy.damping, self.length, self.popularity)

    @cached_property
    def calibration(self) -> dict[str, Any]:
        """The scales of evidences and the level of chance: as the build measured them, or of an index in memory."""
        return self._index_facts["blend"] if self.on_disk is self else calibrate(self)

    def text_similarities(self, node: int, nodes: Int64s, measure: str) -> Floats:
        text = text_evidence(self, RelatedOptions(similarity=measure))
        query = query_of_nodes(self.index, [node])
        return text.similarities(query, text.scores(query, nodes))

    @report_damage
    def related(self, names: str | Sequence[str], options: RelatedOptions | None = None) -> list[RelatedPage]:
        """The pages related to a page, or to several at once, the most similar first."""
        nodes = [self.find_node(name) for name in ([names] if isinstance(names, str) else names)]
        if not nodes:
            raise MisuseError("no page is named; name at least one")
        options = options or RelatedOptions()
        return self._related_to_nodes(nodes, options)

    def _related_to_nodes(self, nodes: Sequence[int], options: RelatedOptions) -> list[RelatedPage]:
        own = None if self._are_separate(nodes, options) else self.fingerprints_of(nodes)
        return self._answer(query_of_nodes(self.index, nodes), options, own)

    def _are_separate(self, nodes: Sequence[int], options: RelatedOptions) -> bool:
        """Whether each related page is a line of its own: near-duplicates are not grouped, or known not to be there."""
        if not options.group_duplicates:
            return True
        kept = self._kept_for(nodes, options)
        return kept is not None and kept.has(nodes[0], options.limit) and bool(kept.separate[nodes[0]])

    def _kept_for(self, nodes: Sequence[int], options: RelatedOptions) -> KeptAnswers | None:
        """Where the answer to such a request may be kept."""
        return self.kept_answers if len(nodes) == 1 and options.has_default_ranking else None

    @report_damage
    def related_to(
        self, body: bytes, options: RelatedOptions | None = None, *, plain: bool = False
    ) -> list[RelatedPage]:
        """The pages related to a page from outside the collection: HTML or, if `plain`, text."""
        from pagekin.bags.weigh import query_bag
        from pagekin.duplicates.chunks import chunks_of_pages

        reading = self._read(body, plain)
        index, options, own = self.index, options or RelatedOptions(), None
        read = query_bag(reading, index.terms, index.contents, index.strategy, len(index.bags))
        bag, counted = Bag(read.term, read.weight), read.count > 0
        counts = TermCounts(read.term[counted], read.count[counted], read.lead[counted])
        if options.group_duplicates:
            settings, silent = self.fingerprints.settings, np.zeros(len(reading.blocks.hash), np.uint8)
            own = Fingerprints(settings, Chunks.concatenate(list(chunks_of_pages(reading, silent, settings))))
        query = Query((), bag, signature_of(index, bag), counts, reading.pages.title[0])
        return self._answer(query, options, own)

    @report_damage
    def pages_with_words(self, words: str, limit: int) -> list[int]:
        """The rows of the pages whose texts have all of these words, or else as many as any page has, best first."""
        from pagekin.search.words import nodes_with_words

        forms = self._read(words.encode("utf-8", "replace"), plain=True).forms
        return [int(self.nodes[node]) for node in nodes_with_words(self.index, forms, self._languages, limit)]

    def suggested(self, name: str, limit: int) -> list[int]:
        """The rows of pages that a wrong name may mean; if there are none by titles and URLs, those by texts."""
        return super().suggested(name, limit) or (self.pages_with_words(name, limit) if name.strip() else [])

    @cached_property
    def _languages(self) -> list[str]:
        return [row[0] for row in self.catalog.rows("SELECT DISTINCT language FROM pages")]

    def _read(self, body: bytes, plain: bool) -> CheckedReading:
        from pagekin.reading.batch import read_captures

        kind = PageFormat.TEXT if plain else PageFormat.HTML
        capture = Capture(_OUTSIDE, Origin("question", 0, len(body), 0), body=body, format=kind)
        reading = read_captures([capture], self.settings)
        if not len(reading):
            raise MisuseError(f"the given page cannot be read: {reading.skips[0].reason}")
        return reading

    def _answer(self, query: Query, options: RelatedOptions, own: Fingerprints | None) -> list[RelatedPage]:
        if options.outside and not self.index.strategy.outside:
            raise MisuseError(
                f"the index of {self.root} has no pages that are known only from links;"
                " build it with `outside = true` in its strategy"
            )
        pinned = [self.find_node(url) for url in options.pin]
        query = replace(query, exclude=(*query.nodes, *pinned))
        blend = self.blend(options, outside=not query.nodes)
        kept = self._kept_for(query.nodes, options)
        return AnswerBuilder(self, blend, options, own, kept).answer(query, pinned)


def without(weights: Mapping[str, float], evidences: Collection[str]) -> dict[str, float]:
    """Weights in which some evidences do not count, and the others sum to what all did.

    >>> without({"text": 0.75, "links": 0.25}, {"links"})
    {'text': 1.0, 'links': 0.0}
    """
    others = sum(weight for name, weight in weights.items() if name not in evidences)
    if not others:
        return {**dict.fromkeys(weights, 0.0), "text": 1.0}
    scale = sum(weights.values()) / others
    return {name: 0.0 if name in evidences else weight * scale for name, weight in weights.items()}
