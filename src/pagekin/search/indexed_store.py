"""Related pages from a collection: `IndexedStore.open("my.kin").related(url)`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pagekin.duplicates.filters import Chunks
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.errors import MisuseError
from pagekin.index.index import Index
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.capture import Capture, Origin
from pagekin.search.answer import AnswerBuilder
from pagekin.search.blend import Blend
from pagekin.search.evidence import Evidence, evidences, register
from pagekin.search.links import LinkEvidence, weight_by_agreement
from pagekin.search.node_store import NodeStore
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.search.query import Bag, Query, TermCounts, query_of_nodes, signature_of
from pagekin.search.results import RelatedPage
from pagekin.search.scorer import ScorerPool
from pagekin.search.text import BagEvidence, Cosine, Jaccard, WeightedText
from pagekin.store.store import report_damage

_OUTSIDE = "http://question.localhost/"  # the URL of a text from outside
MEASURES: dict[str, Callable[[Index, ScorerPool], BagEvidence]] = {"jaccard": Jaccard, "cosine": Cosine}


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


class IndexedStore(NodeStore):
    """An indexed store that finds related pages."""

    @cached_property
    def automatic_link_weight(self) -> float:
        return weight_by_agreement(self)

    def weights(self, options: RelatedOptions) -> dict[str, float]:
        """Those of the request; else text, and links with the share that was learned with the weights of terms."""
        if options.blend is not None:
            return dict(options.blend)
        share = options.link_share
        if share is None:
            strategy = self.index.strategy
            weighting = options.weighting or strategy.weighting_named(options.similarity or strategy.similarity)
            share = weighting.link_share if weighting is not None else 0.0
        share = self.automatic_link_weight if share == AUTO else share
        return {"text": 1.0 - share, "links": share}

    def blend(self, options: RelatedOptions, *, outside: bool = False) -> Blend:
        """The blend for a request; for a text from outside, which has no links, without links."""
        weights = without_links(self.weights(options)) if outside else self.weights(options)
        return Blend(evidences(self, options, weights), weights)

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
        own = self.fingerprints_of(nodes) if options.group_duplicates else None
        return self._answer(query_of_nodes(self.index, nodes), options, own)

    @report_damage
    def related_to(
        self, body: bytes, options: RelatedOptions | None = None, *, plain: bool = False
    ) -> list[RelatedPage]:
        """The pages related to a page from outside the collection: HTML or, if `plain`, text."""
        # These load the compiler, which a query for a page of the collection does without.
        from pagekin.bags.weigh import query_bag
        from pagekin.duplicates.chunks import chunks_of_pages
        from pagekin.reading.batch import read_captures

        capture = Capture(_OUTSIDE, Origin("question", 0, len(body), 0), body=body, plain=plain)
        reading = read_captures([capture], self.settings)
        if not len(reading):
            raise MisuseError(f"the given page cannot be read: {reading.skips[0].reason}")
        index, options, own = self.index, options or RelatedOptions(), None
        read = query_bag(reading, index.terms, index.contents, index.strategy, len(index.bags))
        bag, counted = Bag(read.term, read.weight), read.count > 0
        counts = TermCounts(read.term[counted], read.count[counted])
        if options.group_duplicates:
            settings, silent = self.fingerprints.settings, np.zeros(len(reading.blocks.hash), np.uint8)
            own = Fingerprints(settings, Chunks.concatenate(list(chunks_of_pages(reading, silent, settings))))
        return self._answer(Query((), bag, signature_of(index, bag), counts), options, own)

    def _answer(self, query: Query, options: RelatedOptions, own: Fingerprints | None) -> list[RelatedPage]:
        if options.outside and not self.index.strategy.outside:
            raise MisuseError(
                f"the index of {self.root} has no pages that are known only from links;"
                " build it with `outside = true` in its strategy"
            )
        pinned = [self.find_node(url) for url in options.pin]
        query = replace(query, exclude=(*query.nodes, *pinned))
        blend = self.blend(options, outside=not query.nodes)
        return AnswerBuilder(self, blend, options, own).answer(query, pinned)


def without_links(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights in which links do not count, and the others sum to what all did.

    >>> without_links({"text": 0.75, "links": 0.25})
    {'text': 1.0, 'links': 0.0}
    """
    others = sum(weight for name, weight in weights.items() if name != "links")
    if not others:
        return {"text": 1.0, "links": 0.0}
    scale = (others + weights.get("links", 0.0)) / others
    return {name: 0.0 if name == "links" else weight * scale for name, weight in weights.items()}
