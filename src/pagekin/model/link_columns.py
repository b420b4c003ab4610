"""The links of a collection as columns: by the page they are on, and by the page they lead to."""

from typing import NamedTuple

from pagekin.model.arrays import Bytes, Float32s, Floats, Int64s, UInt32s


class LinkLimits(NamedTuple):
    """How much is looked at for the scores of one page, so that pages with a million links are scored quickly."""

    links: int = 2_000  # links to the page, evenly spaced
    words: int = 256  # to either side of such a link
    anchors: int = 256  # likewise
    postings: int = 20_000  # links to the pages that the page links to, those with the fewest in-links first


LIMITS = LinkLimits()


class LinkColumns(NamedTuple):
    """Links and their statistics. Nodes are the pages of the collection, numbers below `len(in_degree)`."""

    rows: Int64s  # the pages of node k are rows[k] to rows[k + 1]
    node: UInt32s  # of every page
    # The links to node k are cited[k] to cited[k + 1]: the page, and the number of the anchor on it.
    cited: Int64s
    page: UInt32s
    anchor: UInt32s
    # The anchors of page k are offsets[k] to offsets[k + 1], in document order.
    offsets: Int64s
    start: UInt32s  # the number of the word
    target: UInt32s
    counting: Bytes  # a bit for each, the lowest first: whether the link counts and leads to another page
    node_of_target: UInt32s
    in_degree: UInt32s  # of every node: the other nodes with links to it that count
    norm: Float32s  # of every node: the length of its vector of link targets, for coupling
    idf: Floats  # of every node as a link target: ln(N / in_degree)
    rarity: Floats  # of every node as a link target: ln(1 + N / (1 + in_degree)) / ln(1 + N), from 0 to 1
