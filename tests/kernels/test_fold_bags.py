"""Bags: folded from words and windows, and weighed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.kernels import page_output
from pagekin.kernels.fold_bags import Citations, FoldPlan, fold_nodes, make_sums, sort_by_weight, weigh
from pagekin.kernels.sorting import FEW
from pagekin.kernels.windows import BASIC, SYNTACTIC, TOPICAL, Texts
from pagekin.model.arrays import Int64s
from pagekin.model.reading import AnchorFlag
from reference import fold_bags as reference
from reference import windows
from reference.fold_bags import Bag, Block, Link, Page

FORMS = 6
WORDS = 5
PLAIN = {form: form for form in range(WORDS)}  # form 5 is a stop word
STOP = 5
ANCHORS = FoldPlan(content=False, anchors=True, links=False, window=BASIC, width=-1, by_distance=True)
CONTENT = FoldPlan(content=True, anchors=False, links=False, window=BASIC, width=-1, by_distance=True)


def offsets_of(rows: Sequence[Sequence[object]]) -> Int64s:
    return np.array([0, *accumulate(map(len, rows))], np.int64)


def texts_of(pages: Sequence[Page]) -> Texts:
    """Pages as columns; every page has a language of its own."""
    words = [[word for block in page.blocks for word in block.words] for page in pages]
    starts = [windows.starts([windows.Block(b.kinds, len(b.words)) for b in page.blocks]) for page in pages]
    terms = [[page.terms.get(form, -1) for form in range(FORMS)] for page in pages]
    return Texts(
        token_offsets=offsets_of(words),
        form=np.array(list(chain.from_iterable(words)), np.uint32),
        terms=np.array(terms, np.int32).reshape(-1, FORMS),
        language=np.arange(len(pages), dtype=np.uint8),
        block_offsets=offsets_of(starts),
        block_token=np.array(list(chain.from_iterable(starts)), np.uint32),
        block_kinds=np.array([block.kinds for page in pages for block in page.blocks], np.uint8),
        block_excluded=np.array([block.silent for page in pages for block in page.blocks], np.uint8),
        sentence_offsets=offsets_of([page.sentences for page in pages]),
        sentence=np.array([place for page in pages for place in page.sentences], np.uint32),
        title_offsets=offsets_of([page.title for page in pages]),
        title_form=np.array([form for page in pages for form in page.title], np.uint32),
    )


def citations_of(pages: Sequence[Page], links: Sequence[Link], nodes: int) -> Citations:
    """Links as columns: each page's are its anchors in their order, each node's are sorted by page."""
    anchors = [[link for link in links if link.page == page] for page in range(len(pages))]
    number = {id(link): k for row in anchors for k, link in enumerate(row)}
    cited = [[link for row in anchors for link in row if link.node == node] for node in range(nodes)]
    last = max((page.node for page in pages), default=-1)
    return Citations(
        node_pages=offsets_of([[page for page in pages if page.node == node] for node in range(last + 1)]),
        link_offsets=offsets_of(cited),
        link_page=np.array([link.page for row in cited for link in row], np.uint32),
        link_anchor=np.array([number[id(link)] for row in cited for link in row], np.uint32),
        link_counts=np.array([link.counts for row in cited for link in row], np.uint8),
        anchor_offsets=offsets_of(anchors),
        anchor_start=np.array([link.start for row in anchors for link in row], np.uint32),
        anchor_end=np.array([link.end for row in anchors for link in row], np.uint32),
        anchor_flags=np.array([AnchorFlag.TRAILING * link.trailing for row in anchors for link in row], np.uint8),
        node_of_page=np.array([page.node for page in pages], np.uint32),
    )


def fold(
    pages: Sequence[Page], links: Sequence[Link], plan: FoldPlan, nodes: int
) -> list[dict[int, tuple[float, float]]]:
    """The kernel's bags, term -> (content, around)."""
    bags = folded(pages, links, plan, nodes, WORDS + 100)
    return [{term: (content, loud) for term, (_, content, loud) in bag.items()} for bag in bags]


def folded(
    pages: Sequence[Page], links: Sequence[Link], plan: FoldPlan, nodes: int, room: int
) -> list[dict[int, tuple[int, float, float]]]:
    """The kernel's bags, term -> (count, content, around), folded in as many calls as the room makes necessary."""
    texts, citations, sums = texts_of(pages), citations_of(pages, links, nodes), make_sums(WORDS + nodes)
    bags: list[dict[int, tuple[int, float, float]]] = []
    node = 0
    while node < nodes:
        term = np.empty(room, np.uint32)
        count, content, around = np.empty(room, np.uint32), np.empty(room), np.empty(room)
        columns, lengths = (term, count, content, around), np.full(nodes - node, -1, np.int64)
        after, n = fold_nodes(node, nodes, WORDS, plan, texts, citations, sums, *columns, lengths)
        assert node < after, "a bag that fits into the room must be folded"
        ends = np.cumsum(lengths[: after - node])
        assert n == ends[-1]
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            mine = term[start:end].tolist()
            assert mine == sorted(set(mine))
            values = zip(*(each[start:end].tolist() for each in (count, content, around)), strict=True)
            bags.append(dict(zip(mine, values, strict=True)))
        node = after
    assert not sums.of_term.any()
    return bags


def around(page: Page, start: int, end: int, plan: FoldPlan = ANCHORS) -> dict[int, float]:
    """What an anchor of a page says of the node 1, which has no page."""
    bag = fold([page], [Link(0, start, end, 1)], plan, 2)[1]
    return {term: value for term, (_, value) in bag.items()}


def page_of(*blocks: Block, sentences: Sequence[int] = ()) -> Page:
    return Page(0, list(blocks), PLAIN, sentences=sentences)


# --- by hand -------------------------------------------------------------------------------------


def test_contents_are_counted_without_stop_words_and_silent_blocks() -> None:
    page = page_of(Block([0, 1, 0, STOP]), Block([2, 2], silent=True), Block([1, 0]))
    assert fold([page], [], CONTENT, 1) == [{0: (3, 0), 1: (2, 0)}]


def test_with_a_lead_words_count_less_the_more_words_come_before_them() -> None:
    # With a lead of 2 the words count 1, 2/3, 2/4 and 2/5; stop words and silent blocks take no place.
    page = page_of(Block([0, STOP, 1]), Block([3, 3], silent=True), Block([0, 2]))
    (bag,) = fold([page], [], CONTENT._replace(lead=2.0), 1)
    assert {term: content for term, (content, _) in bag.items()} == pytest.approx({0: 1.5, 1: 2 / 3, 2: 0.4})


@pytest.mark.parametrize("words", [4095, 4096, 4097, 10_000])  # some are added before the rest is looked at
def test_no_page_is_too_long(words: int) -> None:
    forms = [STOP if k % 3 == 2 else k % 3 for k in range(words * 3 // 2)]
    (bag,) = fold([page_of(Block(forms[:100]), Block(forms[100:]))], [], CONTENT._replace(lead=50.0), 1)
    weights = [50.0 / (50.0 + place) for place in range(words)]
    assert {term: content for term, (content, _) in bag.items()} == {0: sum(weights[::2]), 1: sum(weights[1::2])}


def test_every_page_of_a_node_has_its_own_beginning() -> None:
    pages = [page_of(Block([0, 1])), page_of(Block([1]))]
    (bag,) = fold(pages, [], CONTENT._replace(lead=1.0), 1)
    assert {term: content for term, (content, _) in bag.items()} == pytest.approx({0: 1.0, 1: 1.5})


def test_an_anchor_counts_five_and_its_neighbours_by_their_distance() -> None:
    # 3 2 [0 1] 4 2: the anchor has log2 32, its neighbours log2 16, theirs log2 (32/3).
    page = page_of(Block([3, 2, 0, 1, 4, 2]))
    third = math.log2(32 / 3)
    assert around(page, 2, 4) == pytest.approx({0: 5, 1: 5, 2: 4 + third, 3: third, 4: 4}, rel=1e-6)


def test_stop_words_are_neither_kept_nor_counted() -> None:
    page = page_of(Block([3, STOP, 2, STOP, STOP, 0, STOP, 1]))
    assert around(page, 5, 6) == pytest.approx({0: 5, 1: 4, 2: 4, 3: math.log2(32 / 3)}, rel=1e-6)
    assert around(page, 5, 6, ANCHORS._replace(width=1)) == {0: 5, 1: 4, 2: 4}


def test_words_of_silent_blocks_are_neither_kept_nor_counted() -> None:
    page = page_of(Block([3]), Block([2, 2], silent=True), Block([0]), Block([1, 1], silent=True), Block([4]))
    assert around(page, 3, 4) == {0: 5, 3: 4, 4: 4}


def test_the_words_of_an_anchor_in_a_silent_block_count() -> None:
    page = page_of(Block([3]), Block([2, 0, 2], silent=True), Block([4]))
    assert around(page, 2, 3) == {0: 5, 3: 4, 4: 4}


@pytest.mark.parametrize(("stops", "reached"), [(127, True), (128, False)])
def test_a_window_of_one_word_reaches_over_127_stop_words(stops: int, reached: bool) -> None:
    """A page of links and stop words would else be read to its ends for each of its links."""
    plan = ANCHORS._replace(width=1)
    after = page_of(Block([0] + [STOP] * stops + [1]))
    assert around(after, 0, 1, plan) == ({0: 5, 1: 4} if reached else {0: 5})
    before = page_of(Block([1] + [STOP] * stops + [0]))
    assert around(before, stops + 1, stops + 2, plan) == ({0: 5, 1: 4} if reached else {0: 5})


def test_a_window_of_width_zero_is_the_anchor() -> None:
    assert around(page_of(Block([1, 0, 2])), 1, 2, ANCHORS._replace(width=0)) == {0: 5}


def test_without_distance_all_words_of_a_window_count_one() -> None:
    page = page_of(Block([1, 1, 0, 2, 2, 2]))
    assert around(page, 2, 3, ANCHORS._replace(by_distance=False, width=2)) == {0: 1, 1: 2, 2: 2}


def test_words_that_are_too_far_to_be_heard_are_not_in_the_bag() -> None:
    # Distance 30 is heard (log2 (32/31)), distance 31 is not (log2 1).
    page = page_of(Block([0] + [1] * 29 + [2, 3]))
    heard = around(page, 0, 1)
    assert set(heard) == {0, 1, 2}
    assert heard[2] == pytest.approx(math.log2(32 / 31), rel=1e-5)


def test_an_anchor_without_words_still_has_a_window() -> None:
    assert around(page_of(Block([1, 2])), 1, 1) == {1: 4, 2: 4}


def test_windows_stay_within_their_bounds() -> None:
    item, heading = page_output.ITEM, page_output.HEADING | page_output.PARAGRAPH
    page = page_of(Block([4]), Block([3], heading), Block([2], item), Block([0, 1], item), Block([4], heading))
    assert around(page, 3, 4, ANCHORS._replace(window=SYNTACTIC)) == {0: 5, 1: 4}
    assert around(page, 3, 4, ANCHORS._replace(window=TOPICAL)) == pytest.approx(
        {0: 5, 1: 4, 2: 4, 3: math.log2(32 / 3)}, rel=1e-6
    )


def test_the_title_is_in_the_anchor_bag_as_loud_as_an_anchor() -> None:
    page = Page(0, [Block([1])], PLAIN, title=[0, STOP, 2, 0])
    assert fold([page], [], ANCHORS, 1) == [{0: (0, 10), 2: (0, 5)}]
    assert fold([page], [], ANCHORS._replace(by_distance=False), 1) == [{0: (0, 2), 2: (0, 1)}]
    assert fold([page], [], CONTENT, 1) == [{1: (1, 0)}]


def test_fragments_are_summed() -> None:
    pages = [Page(0, [Block([0, 1])], PLAIN, title=[0]), Page(1, [Block([0])], PLAIN), Page(2, [Block([1, 0])], PLAIN)]
    links = [Link(1, 0, 1, 0), Link(2, 1, 2, 0)]
    # Title 5, two anchors of 5 each, and the neighbour of the second.
    assert fold(pages, links, ANCHORS._replace(content=True), 3)[0] == {0: (1, 15), 1: (1, 4)}


def test_all_pages_of_a_node_are_in_its_bag() -> None:
    pages = [Page(0, [Block([0])], PLAIN), Page(0, [Block([0, 1])], PLAIN)]
    assert fold(pages, [], CONTENT, 1) == [{0: (2, 0), 1: (1, 0)}]


def test_links_that_do_not_count_say_nothing() -> None:
    page = page_of(Block([0]))
    assert fold([page], [Link(0, 0, 1, 1, counts=False)], ANCHORS._replace(links=True), 2)[1] == {}


def test_a_citing_node_counts_once_however_often_it_cites() -> None:
    pages = [Page(0, [Block([0, 1])], PLAIN), Page(0, [Block([0])], PLAIN), Page(1, [Block([0])], PLAIN)]
    links = [Link(0, 0, 1, 2), Link(0, 1, 2, 2), Link(1, 0, 1, 2), Link(2, 0, 1, 2)]
    plan = CONTENT._replace(content=False, links=True)
    assert fold(pages, links, plan, 3) == [{}, {}, {WORDS: (0, 1), WORDS + 1: (0, 1)}]


def test_the_words_around_an_anchor_are_read_in_the_language_of_the_citing_page() -> None:
    pages = [Page(0, [Block([0, 1])], {0: 3}), Page(1, [Block([0, 1])], {1: 4})]
    assert fold(pages, [Link(0, 0, 1, 1)], ANCHORS._replace(content=True), 2)[1] == {3: (0, 5), 4: (1, 0)}


# --- the reference ------------------------------------------------------------------------------------

FORM = st.integers(0, FORMS - 1)
KINDS = st.sampled_from([0, 0, 1, 2, 4, 8, 16, 32, 64, 17, 40])
BLOCK = st.builds(Block, st.lists(FORM, max_size=6) | st.lists(FORM, min_size=35, max_size=40), KINDS, st.booleans())
PLANS = st.builds(
    FoldPlan,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([BASIC, SYNTACTIC, TOPICAL]),
    st.sampled_from([-1, 0, 1, 2, 8, 40]),
    st.booleans(),
    st.sampled_from([0.0, 1.0, 2.5, 50.0]),
)


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[Page], list[Link], int]:
    """Pages of a few nodes, links between them, and how many nodes there are; the last ones have no pages."""
    pages: list[Page] = []
    links: list[Link] = []
    own = draw(st.integers(0, 3))
    nodes = own + draw(st.integers(0 if own else 1, 2))
    for node in range(own):
        for _ in range(draw(st.integers(1, 2))):
            blocks = draw(st.lists(BLOCK, max_size=5))
            size = sum(len(block.words) for block in blocks)
            sentences = sorted(draw(st.sets(st.integers(1, max(1, size)), max_size=5)))
            terms = draw(st.dictionaries(FORM, st.integers(0, WORDS - 1)))
            title = draw(st.lists(FORM, max_size=3))
            for _ in range(draw(st.integers(0, 3))):
                start = draw(st.integers(0, size))
                end = draw(st.integers(start, min(size, start + 3)))
                target = draw(st.integers(0, nodes - 1))
                counts = draw(st.sampled_from([True, True, False]))
                trailing = start == end > 0 and draw(st.booleans())
                links.append(Link(len(pages), start, end, target, counts, trailing))
            pages.append(Page(node, blocks, terms, title, sentences))
    return pages, links, nodes


@given(collections(), PLANS, st.integers(0, 20))
def test_bags_are_those_of_the_reference(
    collection: tuple[list[Page], list[Link], int], plan: FoldPlan, spare: int
) -> None:
    pages, links, nodes = collection
    found = folded(pages, links, plan, nodes, WORDS + nodes + spare)
    for node in range(nodes):
        expected = reference.bag(node, pages, links, WORDS, plan)
        assert set(found[node]) == {*expected.content, *expected.around}
        plain = reference.bag(node, pages, links, WORDS, plan._replace(lead=0.0))
        for term, (count, content, loud) in found[node].items():
            assert count == plain.content.get(term, 0)
            assert content == pytest.approx(expected.content.get(term, 0), rel=1e-6)
            assert loud == pytest.approx(expected.around.get(term, 0), rel=1e-5)


# --- weights -------------------------------------------------------------------------------------


def weighed(
    bags: Sequence[Bag], factors: Sequence[float], words: int, shares: tuple[float, float] | None
) -> list[dict[int, float]]:
    """The kernel's weights. Shares are those of windows and of citing nodes; None adds all up."""
    rows = [sorted({*bag.content, *bag.around}) for bag in bags]
    content = [bag.content.get(term, 0.0) for bag, row in zip(bags, rows, strict=True) for term in row]
    loud = [bag.around.get(term, 0.0) for bag, row in zip(bags, rows, strict=True) for term in row]
    offsets = offsets_of(rows)
    weight: NDArray[np.float32] = np.full(len(content), np.nan, np.float32)
    weigh(
        offsets,
        np.array(list(chain.from_iterable(rows)), np.uint32),
        np.array([each * factors[term] for each, term in zip(content, chain.from_iterable(rows), strict=True)]),
        np.array(loud, np.float32),
        np.array(factors, np.float64),
        words,
        shares is None,
        np.full(len(bags), shares[0] if shares else 0.0),
        np.full(len(bags), shares[1] if shares else 0.0),
        weight,
    )
    return [
        dict(zip(row, weight[a:b].tolist(), strict=True))
        for row, a, b in zip(rows, offsets[:-1], offsets[1:], strict=True)
    ]


def test_added_up_weights_are_shares_of_the_sum() -> None:
    # Term 0: 2 + 5, term 1: 1 + 4, the citing node: 1; 13 in all. With half of term 1: 7 + 2.5 + 1, 10.5 in all.
    bag = Bag({0: 2, 1: 1}, {0: 5, 1: 4, 2: 1})
    assert weighed([bag], [1, 1, 1], 2, None) == [pytest.approx({0: 7 / 13, 1: 5 / 13, 2: 1 / 13}, rel=1e-6)]
    assert weighed([bag], [1, 0.5, 1], 2, None) == [pytest.approx({0: 14 / 21, 1: 5 / 21, 2: 2 / 21}, rel=1e-6)]


def test_every_part_gets_its_share() -> None:
    # Contents 3/4 and 1/4 of 0.7; windows 1/5 and 4/5 of 0.2; citing nodes 1/2 each of 0.1.
    bag = Bag({0: 3, 1: 1}, {1: 1, 2: 4, 3: 1, 4: 1})
    assert weighed([bag], [1] * 5, 3, (0.2, 0.1)) == [
        pytest.approx({0: 0.525, 1: 0.175 + 0.04, 2: 0.16, 3: 0.05, 4: 0.05}, rel=1e-6)
    ]


def test_an_empty_part_leaves_its_share_to_the_others() -> None:
    # Contents 0.7 and citing nodes 0.1 share the whole as 7 to 1.
    assert weighed([Bag({0: 3}, {3: 1})], [1] * 4, 3, (0.2, 0.1)) == [pytest.approx({0: 7 / 8, 3: 1 / 8}, rel=1e-6)]
    assert weighed([Bag({}, {0: 4})], [1], 1, (0.2, 0.1)) == [{0: 1}]


def test_a_bag_without_terms_has_no_weights() -> None:
    assert weighed([Bag({}, {}), Bag({0: 2}, {}), Bag({}, {})], [1], 1, (0.2, 0)) == [{}, {0: 1}, {}]


def test_shares_of_more_than_one_in_all_do_not_make_weights_of_more_than_one() -> None:
    """Strategy allows anchor_share 0.95 and link_share 0.25, which leave contents -0.2."""
    (weights,) = weighed([Bag({0: 1}, {1: 1, 2: 1})], [1, 1, 1], 2, (0.95, 0.25))
    assert sum(weights.values()) == pytest.approx(1, rel=1e-6)


COUNTS = st.integers(1, 50).map(float)
BAGS = st.builds(
    Bag,
    st.dictionaries(st.integers(0, WORDS - 1), COUNTS),
    st.dictionaries(st.integers(0, WORDS + 3), st.integers(1, 50).map(lambda k: k / 4)),
)
FACTORS = st.lists(st.floats(0.001, 1), min_size=WORDS + 4, max_size=WORDS + 4)
# Hundredths, that what is left for contents is exact enough to be nothing or more.
SHARES = st.tuples(st.integers(1, 60), st.integers(1, 39)).map(lambda pair: (pair[0] / 100, pair[1] / 100))


@settings(deadline=None)
@given(st.lists(BAGS, max_size=4), FACTORS, st.none() | SHARES)
def test_the_weights_of_a_bag_sum_to_one(
    bags: list[Bag], factors: list[float], shares: tuple[float, float] | None
) -> None:
    for weights in weighed(bags, factors, WORDS, shares):
        assert all(weight > 0 for weight in weights.values())
        assert sum(weights.values()) == pytest.approx(1 if weights else 0, rel=1e-5)


@given(st.lists(BAGS, max_size=4), FACTORS, st.none() | SHARES)
def test_weights_are_those_of_the_reference(
    bags: list[Bag], factors: list[float], shares: tuple[float, float] | None
) -> None:
    three = None if shares is None else (1 - sum(shares), *shares)
    for bag, found in zip(bags, weighed(bags, factors, WORDS, shares), strict=True):
        assert found == pytest.approx(reference.weights(bag, factors, WORDS, three), rel=1e-5)


@settings(deadline=None)
@given(BAGS, FACTORS, st.none() | SHARES)
def test_weights_do_not_mind_the_size_of_all_counts(
    bag: Bag, factors: list[float], shares: tuple[float, float] | None
) -> None:
    double = Bag({t: 2 * n for t, n in bag.content.items()}, {t: 2 * n for t, n in bag.around.items()})
    one, two = weighed([bag, double], factors, WORDS, shares)
    assert one == pytest.approx(two, rel=1e-5)


TERM_WEIGHTS = st.sampled_from([0.0, 0.25, 0.5]) | st.floats(0, 1, width=32)


@given(st.lists(st.lists(TERM_WEIGHTS, max_size=8) | st.lists(TERM_WEIGHTS, min_size=FEW, max_size=80), max_size=5))
def test_every_bag_is_sorted_as_its_reference_and_by_itself(bags: list[list[float]]) -> None:
    offsets = np.cumsum([0, *map(len, bags)])
    weight = np.array([each for bag in bags for each in bag], np.float32)
    places = np.arange(len(weight))
    term, content, around = places.astype(np.uint32), (places + 5).astype(np.uint32), -places.astype(np.float32)
    sort_by_weight(offsets, term, weight, content, around)
    expected = [int(offsets[k]) + place for k, bag in enumerate(bags) for place in reference.sort_by_weight(bag)]
    assert term.tolist() == expected
    assert weight.tolist() == [[each for bag in bags for each in bag][place] for place in expected]
    assert content.tolist() == [place + 5 for place in expected]
    assert around.tolist() == [-place for place in expected]


def test_equal_weights_stay_in_their_order() -> None:
    offsets = np.array([0, 4])
    term, weight = np.array([1, 2, 3, 4], np.uint32), np.array([0.25, 0.5, 0.25, 0.0], np.float32)
    sort_by_weight(offsets, term, weight, np.zeros(4, np.uint32), np.zeros(4, np.float32))
    assert term.tolist() == [2, 1, 3, 4]
