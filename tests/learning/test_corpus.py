"""The training, validation and test sets are disjoint."""

from __future__ import annotations

import numpy as np
import pytest

from learning.builders import counted, links, topical, whole
from pagekin.errors import MisuseError
from pagekin.learning.corpus import part_of, split


def test_linked_pages_are_split_into_thirds_each_once() -> None:
    counts, web = topical(100)
    lonely = links((a, b) for a, b in zip(web.citing.tolist(), web.cited.tolist(), strict=True) if 7 not in (a, b))
    parts = split(counts, lonely, 1)
    pages = np.concatenate([part.pages for part in parts.values()])
    assert list(parts) == ["train", "valid", "test"]
    assert [len(part) for part in parts.values()] == [33, 33, 33]
    assert sorted(pages.tolist()) == [page for page in range(100) if page != 7]


def test_the_same_seed_draws_the_same_parts_and_another_others() -> None:
    counts, web = topical(100)
    one, same, other = (split(counts, web, seed)["test"].pages.tolist() for seed in (1, 1, 2))
    assert one == same != other


def test_links_between_parts_are_dropped_and_go_both_ways_within() -> None:
    counts, web = topical()
    pairs = set(zip(web.citing.tolist(), web.cited.tolist(), strict=True))
    for part in split(counts, web, 3).values():
        for place, page in enumerate(part.pages.tolist()):
            linked = {
                other
                for other in part.pages.tolist()
                if other != page and ((page, other) in pairs or (other, page) in pairs)
            }
            found = part.link[part.link_offsets[place] : part.link_offsets[place + 1]]
            assert set(part.pages[found].tolist()) == linked
            assert len(found) == len(linked)


def test_terms_on_too_many_pages_and_terms_that_occur_once_are_left_out() -> None:
    """Of 400 pages 6.6 % are 26: the term on 27 goes, that on 26 stays; so does one that is twice on a single page."""
    pages = [{0: 1} if page < 27 else {1: 1} if page < 53 else {} for page in range(400)]
    pages[399] = {2: 1, 3: 2}
    part = part_of(np.arange(400), counted(pages), links([(0, 1)]))
    assert part.terms.tolist() == [1, 3]
    assert part.frequency.tolist() == [26, 1]
    assert part.lengths.sum() == 26 + 2
    assert part.idf() == pytest.approx(np.log([400 / 26, 400]))


def test_statistics_by_hand() -> None:
    part = whole([{0: 2, 1: 1}, {0: 1, 1: 1}, {}, {2: 1}], [(0, 1), (1, 0), (2, 2)])
    assert part.statistics() == {
        "pages": 4,
        "vocabulary": 2,
        "terms_per_page": 5 / 4,
        "distinct_terms_per_page": 1.0,
        "links_per_page": 2 / 4,
        "pages_without_terms": 2,
        "pages_without_links": 2,
    }
    assert part.linked().tolist() == [0, 1]


def test_a_page_linked_with_all_others_is_no_query() -> None:
    assert whole([{0: 2}, {0: 1}, {1: 2}], [(0, 1), (0, 2)]).linked().tolist() == [1, 2]


@pytest.mark.parametrize(("pages", "pairs"), [(0, []), (1, [(0, 0)]), (40, []), (40, [(0, 1), (2, 3)])])
def test_too_few_links_are_misuse(pages: int, pairs: list[tuple[int, int]]) -> None:
    with pytest.raises(MisuseError, match="pages are linked with others"):
        split(counted([{0: 1}] * pages), links(pairs), 1)
