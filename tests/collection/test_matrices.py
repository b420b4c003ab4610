"""A collection as tables, matrices and graphs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import pagekin
from pagekin.model.tables import html_table

SITE = "http://site.example/"


@pytest.fixture(scope="module")
def site(example_folder: Path) -> pagekin.Collection:
    return pagekin.open(example_folder / "site.kin")


def test_a_row_of_bags_has_the_weights_of_the_terms_of_its_page(site: pagekin.Collection) -> None:
    bags = site.bags()
    assert bags.urls == [page.url for page in site]
    for row, page in enumerate(site):
        weights = dict(zip(bags.terms, bags.matrix[[row]].toarray()[0].tolist(), strict=True))
        assert weights["oak"] > 0 or page.title not in ("The oak", "Trees")
        for term, weight in site.page(page).top_terms:
            assert weights[term] == pytest.approx(weight)
    assert (np.asarray(bags.matrix.sum(axis=1)) <= 1 + 1e-6).all()


def test_similarities_are_those_of_answers(site: pagekin.Collection) -> None:
    pages = list(site)
    matrix = site.similarity_matrix(pages)
    assert np.diag(matrix).tolist() == [1.0] * len(pages)
    place = {page.url: k for k, page in enumerate(pages)}
    for row, page in enumerate(pages):
        for each in site.related(page, group_duplicates=False, limit=20):
            assert matrix[row, place[each.url]] == pytest.approx(each.similarity, abs=1e-6)


def test_neighbours_are_those_of_answers_in_the_arrays_of_scikit_learn(site: pagekin.Collection) -> None:
    distances, indices = site.kneighbors(n_neighbors=3)
    assert distances.shape == indices.shape == (len(site), 3)
    urls = site.bags().urls
    for row, page in enumerate(site):
        found = site.related(page, limit=3, min_similarity=0.0, group_duplicates=False)
        similar = [each for each in found if each.similarity > 0]
        assert [urls[k] for k in indices[row].tolist() if k >= 0] == [each.url for each in similar]
        expected = [1 - each.similarity for each in similar]
        assert distances[row][: len(similar)].tolist() == pytest.approx(expected, abs=1e-6)
        assert np.isinf(distances[row][len(similar) :]).all()
    assert site.kneighbors(["oak"], 2, return_distance=False).shape == (1, 2)  # type: ignore[union-attr]


def test_rows_are_filled_up_if_there_are_too_few_pages(site: pagekin.Collection) -> None:
    distances, indices = site.kneighbors(["oak"], 20)
    assert (indices[0] == -1).sum() >= 20 - (len(site) - 1)
    assert np.isinf(distances[0][indices[0] == -1]).all()
    with pytest.raises(pagekin.MisuseError, match="n_neighbors is 0"):
        site.kneighbors(n_neighbors=0)


def test_the_graph_has_the_links_of_the_pages(site: pagekin.Collection) -> None:
    graph = site.to_networkx()
    assert sorted(graph.nodes) == sorted(page.url for page in site)
    assert graph.nodes[SITE + "trees/oak.html"]["title"] == "The oak"
    links = {(one.removeprefix(SITE), other.removeprefix(SITE)) for one, other in graph.edges}
    assert {other for one, other in links if one == "birds/robin.html"} == {"birds/wren.html", "birds/finch.html"}
    assert {one for one, other in links if other == "birds/copy.html"} == set()
    assert graph.edges[SITE + "birds/copy.html", SITE + "birds/wren.html"] == {"weight": 1, "in_text": True}


def test_results_are_data_frames_with_a_row_for_each(site: pagekin.Collection) -> None:
    related = site.related("robin", limit=2)
    frame = related.to_pandas()
    assert frame["url"].tolist() == [page.url for page in related]
    assert frame["rank"].tolist() == [1, 2]
    assert related.to_arrow().column("similarity").to_pylist() == frame["similarity"].tolist()
    assert site.to_pandas()["url"].tolist() == [page.url for page in site]
    assert site.duplicates().to_pandas()["title"].tolist() == ["The robin", "Redbreast"]
    assert site.clusters("robin", limit=2).to_pandas()["title"].tolist() == ["The wren", "Home"]
    assert len(site.gaps(limit=3).to_arrow()) == 3
    assert len(site.search("oak").to_pandas()) == len(site.search("oak"))


def test_a_missing_library_is_named(site: pagekin.Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, call in {"pandas": site.to_pandas, "networkx": site.to_networkx, "scipy.sparse": site.bags}.items():
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(pagekin.MisuseError, match=r"pip install 'pagekin\[notebook\]'"):
            call()


def test_tables_in_notebooks_have_bounded_cells_and_no_empty_columns() -> None:
    rows: list[dict[str, object]] = [{"a": 0.0, "b": None, "c": "x" * 500}, {"a": 0.0, "b": "", "c": ""}]
    shown = html_table(rows)
    assert "<th>a</th><th>c</th>" in shown and "<th>b</th>" not in shown
    assert "x" * 199 + "…" in shown and "x" * 200 not in shown


def test_texts_of_pages_are_escaped_in_notebooks(site: pagekin.Collection) -> None:
    evil = '<img src=x onerror="alert(1)">\u202e'
    html = html_table([{"title": evil, "url": "javascript:alert(1)"}, {"title": evil, "url": 'http://a/"><b>'}])
    assert "<img" not in html and "\u202e" not in html and "<b>" not in html
    assert "href" in html and 'href="javascript' not in html
    assert "The first 50 of 60 rows" in html_table([{"a": 1}] * 60)
    for result in (
        site,
        site.related("robin"),
        site.duplicates(),
        site.clusters("robin"),
        site.gaps(),
        site.search("x"),
    ):
        assert result._repr_html_().startswith("<")
    assert "The robin" in site.duplicates()._repr_html_()
