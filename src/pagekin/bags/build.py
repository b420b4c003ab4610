"""Bags: the weighted terms of every node of a collection under a strategy (paper, section 3)."""

from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, Protocol, Self

import numpy as np

from pagekin.bags.source import BagSource, IgnoredParts, counting_links, ignored_parts
from pagekin.bags.stemming import LANGUAGES, UNKNOWN, TermVocabulary, check_language, language_of
from pagekin.bags.weigh import FoldedBags, Pieces, Spill, SpilledPiece
from pagekin.kernels.fold_bags import Citations, FoldPlan, TermSums, fold_nodes, make_sums
from pagekin.kernels.spans import count_values
from pagekin.kernels.windows import BASIC, SYNTACTIC, TOPICAL, Texts
from pagekin.model.arrays import Array, Bytes, Floats, Int64s, UInt32s, offsets_of, row_ranges
from pagekin.model.bags import BAG_COLUMNS, Bags, Contents, Terms
from pagekin.model.strategy import Strategy
from pagekin.store.checks import blocks
from pagekin.store.columns import Mapper
from pagekin.store.stage_columns import gathered, ranges_of, zeros
from pagekin.store.stage_files import IN_MEMORY, Stages

_WINDOWS = {"basic": BASIC, "syntactic": SYNTACTIC, "topical": TOPICAL}
_PIECE = 1 << 22  # terms held in memory at a time
_MAX_NODES = 20_000  # folded in one job
_LINKS = 1 << 20  # looked at in one job
_PAGES = 1 << 16  # the same
# Languages with a stemmer come first, so that the most frequent word of a stem is shown, not the stem itself.
_LANGUAGES = (*sorted(LANGUAGES), UNKNOWN)


class Folding(NamedTuple):
    """All that bags are folded from."""

    plan: FoldPlan
    texts: Texts
    citations: Citations
    words: int
    nodes: int


class BagSums(NamedTuple):
    """Some bags in order: their lengths, their terms, and sums for each term, which are not rounded yet."""

    lengths: Int64s
    term: UInt32s
    occurrences: UInt32s
    content: Floats
    around: Floats

    def spilled(self) -> SpilledPiece:
        content, around = self.content.astype(np.float32), self.around.astype(np.float32)
        return SpilledPiece(self.lengths, self.term.copy(), self.occurrences.copy(), content, around)


class FoldMemory(NamedTuple):
    """What a range of nodes is folded in. Ranges use it one after the other, since new memory takes time."""

    sums: TermSums  # all zero between ranges
    term: UInt32s
    occurrences: UInt32s
    content: Floats
    around: Floats

    @classmethod
    def of(cls, folding: Folding) -> Self:
        terms = folding.words + folding.nodes
        room = max(_PIECE, terms)  # the largest possible bag fits
        columns: list[Any] = [np.empty(room, kind) for kind in (np.uint32, np.uint32, np.float64, np.float64)]
        return cls(make_sums(terms), *columns)


class CountedPieces(Pieces, Protocol):
    """Pieces that are kept elsewhere, with their terms counted."""

    def frequencies(self, words: int, terms: int) -> tuple[Int64s, Int64s]:
        """The numbers of pages with each of the first `words` words, and of bags with each of the first `terms`."""
        ...


def fold_bags(
    source: BagSource,
    strategy: Strategy,
    file: IO[bytes],
    stages: Stages = IN_MEMORY,
    fold_elsewhere: "Callable[[Folding], CountedPieces] | None" = None,
    ignored: "IgnoredParts | None" = None,
) -> FoldedBags:
    """Count the terms of every node into `file`, and the document frequency of every term.

    `fold_elsewhere`, if given, folds the bags, and keeps them; `ignored` are the parts that the strategy ignores, if
    they are known.
    """
    check_language(strategy.language)
    ignored = ignored or ignored_parts(source, strategy, stages)
    terms, texts = _texts(source, strategy, ignored.words, stages)
    nodes = len(source.links.offsets) - 1
    citations = _citations(source, strategy, ignored, stages)
    folding = Folding(_plan(strategy), texts, citations, len(terms), nodes)
    spill: Pieces
    if fold_elsewhere is not None:
        spill = elsewhere = fold_elsewhere(folding)
        on_pages, frequency = elsewhere.frequencies(len(terms), len(terms) + nodes)
    else:
        spill = local = Spill(file)
        on_pages, frequency = np.zeros(len(terms), np.int64), np.zeros(len(terms) + nodes, np.int64)
        only_around = np.zeros(len(terms), np.int64)  # the number of bags that have a word, but not in their contents
        for piece in _pieces(folding, stages.pool.map):
            for term, counts in ((piece.term, frequency), (piece.term[piece.count == 0], only_around)):
                count_values(term, np.zeros(1, np.int64), np.array([len(term)]), counts)
            local.add(piece)
        np.subtract(frequency[: len(terms)], only_around, out=on_pages)
    contents = Contents(on_pages, zeros(stages, "no-lengths", len(source.nodes) - 1))
    named = Terms(terms.name, terms.shown, frequency)
    some = row_ranges(citations.link_offsets, _LINKS) or [(0, 0)]
    evidence = gathered(stages, "evidence", _evidence, (source, citations.link_counts), some)["node"]
    counted = citations.link_counts, citations.node_of_page
    return FoldedBags(strategy, named, contents, evidence, *counted, spill)


def bags_of_pages(source: BagSource, strategy: Strategy) -> tuple[Bags, Terms, Contents]:
    """The bags of the nodes that have pages, in memory, with their terms and the statistics of their contents."""
    pages = len(source.nodes) - 1
    pieces = [Bags(np.zeros(1, np.int64), **{name: np.empty(0, kind) for name, kind in BAG_COLUMNS.items()})]
    with TemporaryFile() as file:
        folded = fold_bags(source, strategy, file)
        for piece in folded.weighted():
            pieces.append(piece)
            if sum(map(len, pieces)) >= pages:
                break
    offsets = offsets_of(np.concatenate([piece.lengths() for piece in pieces]))[: pages + 1]
    columns = {name: np.concatenate([getattr(piece, name) for piece in pieces])[: offsets[-1]] for name in BAG_COLUMNS}
    return Bags(offsets, **columns), folded.terms, folded.contents


def _evidence(counting: tuple[BagSource, Bytes], nodes: tuple[int, int]) -> dict[str, Array]:
    """For each of some nodes, the number of pages whose links to it count, plus 1 if it has a title."""
    (source, counts), (begin, end) = counting, nodes
    titles, links = source.reading.titles.offsets, source.links
    pages = source.nodes[min(begin, len(source.nodes) - 1) : end + 1]
    titled = np.flatnonzero(np.diff(titles[pages[0] : pages[-1] + 1])) + pages[0]
    evidence = np.zeros(end - begin, np.int64)
    evidence[np.searchsorted(pages, titled, side="right") - 1] = 1
    offsets = links.offsets[begin : end + 1]
    counting_ones = offsets[0] + np.flatnonzero(counts[offsets[0] : offsets[-1]])
    node = np.searchsorted(offsets, counting_ones, side="right") - 1
    page = links.page[counting_ones]  # ascending within each node
    first = np.ones(len(node), bool)
    first[1:] = (node[1:] != node[:-1]) | (page[1:] != page[:-1])
    evidence += np.bincount(node[first], minlength=end - begin)
    return {"node": evidence}


def _texts(source: BagSource, strategy: Strategy, ignored: Bytes, stages: Stages) -> tuple[TermVocabulary, Texts]:
    reading = source.reading
    pages = ranges_of(len(reading), _PAGES)
    found = gathered(stages, "tags", _languages, (source, strategy.language), pages)["language"]
    used = sorted(set[int]().union(*(np.unique(some).tolist() for some in blocks(found))))
    languages = [_LANGUAGES[number] for number in used] or [strategy.language]
    terms = source.vocabulary(languages, strategy.stemming, stages)
    of_page = gathered(stages, "languages", _places_in, (found, np.array(used, np.uint8)), pages)["language"]
    tokens, of_blocks = reading.tokens, reading.blocks
    ends = (reading.sentences.offsets, reading.sentences.token, reading.titles.offsets, reading.titles.form)
    text = (of_blocks.offsets, of_blocks.token, of_blocks.kinds, ignored, *ends)
    return terms, Texts(tokens.offsets, tokens.form, terms.of_form, of_page, *text)


def _languages(tagged: tuple[BagSource, str], pages: range) -> dict[str, Array]:
    """The languages of some pages, as places in `_LANGUAGES`; a page without a tag has the one that is given."""
    source, fallback = tagged
    known: dict[str, int] = {}
    tags = list(source.reading.pages.language.part(pages.start, pages.stop))
    for tag in set(tags):
        known[tag] = _LANGUAGES.index(language_of(tag, fallback))
    return {"language": np.fromiter(map(known.__getitem__, tags), np.uint8, len(tags))}


def _places_in(found: tuple[Bytes, Bytes], pages: range) -> dict[str, Array]:
    """The places of the languages of some pages among those that are used."""
    numbers, used = found
    return {"language": np.searchsorted(used, numbers[pages.start : pages.stop]).astype(np.uint8)}


def _citations(source: BagSource, strategy: Strategy, ignored: IgnoredParts, stages: Stages) -> Citations:
    links, anchors = source.links, source.reading.anchors
    link = (links.offsets, links.page, links.anchor, counting_links(source, strategy, ignored, stages))
    anchor = (anchors.offsets, anchors.start, anchors.end, anchors.flags)
    return Citations(source.nodes, *link, *anchor, source.node_of_page(stages))


def _plan(strategy: Strategy) -> FoldPlan:
    parts = (strategy.content, strategy.anchors, strategy.links)
    window = (_WINDOWS[strategy.window], strategy.window_width, strategy.distance_weight)
    return FoldPlan(*parts, *window, float(strategy.lead))


def _pieces(folding: Folding, mapper: Mapper = map) -> Iterator[SpilledPiece]:
    """The bags of all nodes, range by range."""
    spare: list[FoldMemory] = []

    def fold(nodes: range) -> list[SpilledPiece]:
        try:
            memory = spare.pop()
        except IndexError:
            memory = FoldMemory.of(folding)
        pieces = [bags.spilled() for bags in _folded(folding, nodes, memory)]
        spare.append(memory)
        return pieces

    step = max(1, min(_MAX_NODES, folding.nodes // 64))
    ranges = [range(first, min(first + step, folding.nodes)) for first in range(0, folding.nodes, step)]
    for folded in mapper(fold, ranges):
        yield from folded


def fold_range(folding: Folding, nodes: range, citing: range | None = None) -> BagSums:
    """Fold the bags of a range of nodes; all citations are by the nodes `citing`, which need memory, or by any."""
    citing = citing or range(folding.nodes)
    memory = FoldMemory.of(folding._replace(nodes=len(citing)))
    # The terms of citing nodes begin after the words: here, with the first of them.
    shifted = folding._replace(words=folding.words - citing.start)
    pieces = [[column.copy() for column in piece] for piece in _folded(shifted, nodes, memory)]
    lengths, term, *sums = map(np.concatenate, zip(*pieces, strict=True))
    term[term >= folding.words] += np.uint32(citing.start)
    return BagSums(lengths, term, *sums)


def _folded(folding: Folding, nodes: range, memory: FoldMemory) -> Iterator[BagSums]:
    """The bags of a range of nodes, as many at a time as fit into the memory, which the next ones overwrite."""
    sums, term, occurrences, content, around = memory
    inputs = (folding.words, folding.plan, folding.texts, folding.citations, sums)
    node = nodes.start
    while node < nodes.stop:
        lengths = np.empty(nodes.stop - node, np.int64)
        end, n = fold_nodes(node, nodes.stop, *inputs, term, occurrences, content, around, lengths)
        yield BagSums(lengths[: end - node], term[:n], occurrences[:n], content[:n], around[:n])
        node = end
