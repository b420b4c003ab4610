"""The views of a small collection whose related pages are known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from duplicates.test_result_list import prose
from pagekin.collection.collection import Collection
from pagekin.errors import MisuseError
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.rendering import describe_overlap, read_form
from pagekin.serving.views.collection import (
    collection_view,
    duplicate_groups,
    missing_links,
    read_reports,
    similarities,
)
from pagekin.serving.views.drawings import graph_by_words
from pagekin.serving.views.names import PageRef, find_page, search_refs
from pagekin.serving.views.page import AnswerFilters, compare_pages, page_view, related_rows
from store.builders import page, write_jsonl

SAME = prose(3)
PAGES = {
    "one": f"<title>Of oaks | The Wood</title><p>{SAME}<a href=/two.html>to the second</a>",
    "two": f"<title>Of ashes | The Wood</title><p>{SAME}",
    "three": f"<title>Of elms | The Wood</title><p>{prose(4, 300)} {SAME[:700]} <a href=/one.html>oaks</a> "
    "<a href=/two.html>ashes</a> <a href=http://far.example/>far</a>",
    "four": f"<title>Of loaves | The Wood</title><p>{prose(5, 300)} {SAME[:700]} <a href=/one.html>oaks</a>",
}


@pytest.fixture(scope="module")
def wood(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    folder = tmp_path_factory.mktemp("wood")
    rows = [page(f"http://wood.example/{name}.html", f"<html lang=en>{html}") for name, html in PAGES.items()]
    build([write_jsonl(folder / "wood.jsonl", rows)], folder / "wood.kin", processes=1)
    return IndexedStore.open(folder / "wood.kin")


def at(wood: IndexedStore, name: str) -> PageRef:
    return find_page(wood, f"http://wood.example/{name}.html")


def test_titles_do_without_the_name_that_all_pages_of_a_host_have(wood: IndexedStore) -> None:
    assert at(wood, "one").title == "Of oaks"


def test_a_page_is_found_by_id_url_or_title(wood: IndexedStore) -> None:
    one = at(wood, "one")
    assert find_page(wood, one.id) == find_page(wood, "Of oaks") == one
    with pytest.raises(MisuseError, match="no page has the id"):
        find_page(wood, "0" * 16)
    assert [found.title for found in search_refs(wood, "loaves", 5)] == ["Of loaves"]
    assert [found.title for found in search_refs(wood, "e/two", 5)] == ["Of ashes"]
    assert search_refs(wood, " ", 5) == []


def test_a_page_is_shown_with_who_links_to_it_and_how(wood: IndexedStore) -> None:
    view = page_view(wood, at(wood, "one"))
    assert view.in_degree == 2 and view.out_degree == 1
    assert view.anchor_texts == [("oaks", 2)]
    assert [each.title for each in view.linked_from] == ["Of loaves", "Of elms"]  # by URL: four, three
    assert [each.title for each in view.links_to] == ["Of ashes"]
    assert view.terms[0][2] == 1.0
    assert view.original == "http://wood.example/one.html"


def test_other_captures_of_a_page_are_listed(tmp_path: Path) -> None:
    dates = ("2019-01-01", "2023-01-01", "2020-06-01")
    rows = [{"url": "http://a.example/", "html": f"<p>{date}", "captured": date} for date in dates]
    build([write_jsonl(tmp_path / "a.jsonl", rows)], tmp_path / "a.kin", processes=1)
    indexed = IndexedStore.open(tmp_path / "a.kin")
    view = page_view(indexed, find_page(indexed, "http://a.example/"))
    assert view.captures == [("2020-06-01", "a.jsonl"), ("2019-01-01", "a.jsonl")]


def test_a_page_that_is_known_only_from_links_is_marked(wood: IndexedStore) -> None:
    far = find_page(wood, "http://far.example/")
    view = page_view(wood, far)
    assert not view.in_collection and view.in_degree == 1 and view.anchor_texts == [("far", 1)]


def test_linked_pages_are_marked_and_near_duplicates_grouped(wood: IndexedStore) -> None:
    found = related_rows(wood, at(wood, "three"), AnswerFilters(least=0.0))
    by_title = {each.page.title: each for each in found}
    assert set(by_title) == {"Of oaks", "Of loaves"} or set(by_title) == {"Of ashes", "Of loaves"}
    best = by_title.get("Of oaks") or by_title["Of ashes"]
    assert best.linked and not best.links_back
    ((_, duplicate),) = best.duplicates
    assert re.fullmatch(
        r"([7-9]\d|100)% of the text is the same", describe_overlap(duplicate.overlap)
    )  # .7 makes a group
    assert not by_title["Of loaves"].linked


def test_a_near_duplicate_of_the_query_is_marked(wood: IndexedStore) -> None:
    first = related_rows(wood, at(wood, "one"), AnswerFilters())[0]
    assert first.page.title == "Of ashes" and first.result.is_duplicate and first.linked


def test_what_is_typed_into_a_filter_is_text_and_not_a_pattern(wood: IndexedStore) -> None:
    three = at(wood, "three")
    assert related_rows(wood, three, AnswerFilters(contains="wood.example/f", least=0.0))[0].page.title == "Of loaves"
    assert related_rows(wood, three, AnswerFilters(contains="wood.e.*e", least=0.0)) == []
    assert "Of loaves" not in [
        each.page.title for each in related_rows(wood, three, AnswerFilters(without="four", least=0.0))
    ]


@pytest.mark.parametrize(
    "query",
    [{"least": "x"}, {"least": "2"}, {"least": "nan"}, {"limit": "0"}, {"limit": "1e9"}, {"measure": "?"}, {"by": "?"}],
)
def test_an_invalid_choice_is_reported(query: dict[str, str]) -> None:
    with pytest.raises(MisuseError):
        read_form(AnswerFilters, query)


def test_a_page_compared_with_itself_has_similarity_1(wood: IndexedStore) -> None:
    found = compare_pages(wood, at(wood, "one"), at(wood, "one"))
    assert found.jaccard == pytest.approx(1.0) and found.cosine == pytest.approx(1.0)
    assert found.signatures.agree == found.signatures.of == 80
    assert found.only_one == found.only_other == []
    assert found.text_overlap == 1.0


def test_a_comparison_is_the_same_from_both_sides(wood: IndexedStore) -> None:
    there, back = (compare_pages(wood, at(wood, a), at(wood, b)) for a, b in (("one", "four"), ("four", "one")))
    assert there.jaccard == back.jaccard and there.signatures == back.signatures
    assert [each.term for each in there.shared] == [each.term for each in back.shared]
    assert there.only_one == back.only_other
    assert not there.one_links and there.other_links
    assert sum(each.share for each in there.shared) <= 1.0 + 1e-9


def test_two_pages_are_cited_together_by_the_one_that_links_to_both(wood: IndexedStore) -> None:
    found = compare_pages(wood, at(wood, "one"), at(wood, "two"))
    assert [(each.title, apart) for each, apart in found.cited_by] == [("Of elms", 1)]
    assert found.one_links and not found.other_links


def test_a_neighbourhood_by_words_has_the_page_in_the_middle(wood: IndexedStore) -> None:
    graph = graph_by_words(wood, at(wood, "three"))
    assert graph.nodes[0].page.title == "Of elms" and graph.nodes[0].similarity == pytest.approx(1.0)


def test_a_collection_is_counted(wood: IndexedStore) -> None:
    view = collection_view(wood)
    assert view.info.counts["pages"] == 4 and view.info.counts["outside"] == 1
    assert view.info.hosts == [("wood.example", 4)]
    assert [(bar.label, bar.count) for bar in view.in_degrees] == [("0", 2), ("1", 0), ("2–", 2)]
    assert [(bar.label, bar.count) for bar in view.out_degrees] == [("0", 1), ("1", 2), ("2–", 1)]
    assert sum(bar.count for bar in similarities(wood).rows) == 4


def test_related_pages_without_a_link_are_found_and_near_duplicates_grouped(wood: IndexedStore) -> None:
    pairs = {frozenset((one.title, other.title)) for _, (one, other), _ in missing_links(Collection(wood)).rows}
    assert frozenset(("Of elms", "Of loaves")) in pairs
    assert frozenset(("Of elms", "Of oaks")) not in pairs
    groups, [(anchor, [(member, _)], size)] = duplicate_groups(wood)
    assert (len(groups), size) == (1, 1)
    assert {anchor.title, member.title} == {"Of oaks", "Of ashes"}


def test_only_reports_that_lie_in_the_collection_are_read(tmp_path: Path) -> None:
    assert read_reports(tmp_path) == []
    secret = tmp_path / "secret.json"
    secret.write_text('{"hierarchy": "secret", "pages": 1, "classes": 1, "systems": []}')
    folder = tmp_path / "my.kin" / "reports"
    folder.mkdir(parents=True)
    (folder / "a.json").symlink_to(secret)
    (folder / "b.json").write_text("x" * (1 << 21))
    (folder / "c.json").write_text('{"hierarchy": "labels.tsv", "pages": 4, "classes": 2, "systems": []}')
    found = read_reports(tmp_path / "my.kin")
    assert [(each.name, each.hierarchy, bool(each.problem)) for each in found] == [
        ("a", "", True),
        ("b", "", True),
        ("c", "labels.tsv", False),
    ]
