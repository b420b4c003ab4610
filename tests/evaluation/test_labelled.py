"""A collection before the judge: the sample web, and a folder whose labels are paths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluation.builders import rows_of
from model.learned import DRAWN
from pagekin import sample_web
from pagekin.errors import MisuseError
from pagekin.evaluation.labelled import BlendSystem, LabelledCollection, open_labelled
from pagekin.evaluation.options import HierarchyOptions
from pagekin.model.projection import Projection
from pagekin.model.strategy import PRESETS, TEXT_ONLY, Strategy
from pagekin.model.weighting import Learned, Okapi, load_weights, save_weights
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from store.builders import page, write_jsonl


@pytest.fixture(scope="module")
def indexed(sample_index: Path) -> IndexedStore:
    return IndexedStore.open(sample_index)


@pytest.fixture
def case(sample_folder: Path, indexed: IndexedStore) -> LabelledCollection:
    return open_labelled(str(sample_folder / "labels.tsv"), indexed)


def test_every_labelled_page_of_the_sample_web_is_compared_in_its_class(
    case: LabelledCollection, indexed: IndexedStore
) -> None:
    # A copy of a page, and a page that has moved, are aliases: their labels are those of one node.
    urls = {row["url"] for row in indexed.catalog.rows("SELECT url FROM nodes WHERE first_row IS NOT NULL")}
    labels: dict[str, list[str]] = {}
    for url, label in sample_web.labels():
        labels.setdefault(url, []).append(label)
    assert {url for url in labels if url in urls} == set(case.population.urls)
    for k, url in enumerate(case.population.urls):
        assert "/".join(case.population.classes_of(k)[0]) == min(labels[url]), url  # all are of depth 3
    assert [reason for reason, *_ in rows_of(case.notes)] == ["pages without a class"]


@pytest.mark.parametrize("weighting", [Okapi(1.2, 0.7), DRAWN], ids=["okapi", "linklearn"])
def test_scores_of_measures_that_weigh_are_the_inner_products_of_answers(
    case: LabelledCollection, indexed: IndexedStore, weighting: Okapi | Learned
) -> None:
    strategy = replace(
        indexed.index.strategy, okapi_k=1.2, okapi_b=0.7, weights=DRAWN.as_text(), similarity=weighting.kind
    )
    systems = [case.under(strategy, "index"), case.under(replace(strategy, anchors=False, links=False), "made anew")]
    if isinstance(weighting, Learned):
        systems.append(case.index_system(indexed, RelatedOptions(weighting=DRAWN)))
    for source in (0, 50, 100):
        options = RelatedOptions(
            limit=500, min_similarity=0.0, weighting=weighting, explain=False, group_duplicates=False
        )
        answer = {each.url: each.score for each in indexed.related(case.population.urls[source], options)}
        assert len(answer) > 50
        for system in systems:
            (row,) = system.scores(np.array([source])).tolist()
            found = {url: max(score, 0.0) for url, score in zip(case.population.urls, row, strict=True)}
            common = answer.keys() & found.keys()
            assert {url: found[url] for url in common} == pytest.approx(
                {url: answer[url] for url in common}, rel=1e-6, abs=1e-6
            )


def test_a_projection_is_in_scores_as_in_answers(
    case: LabelledCollection, indexed: IndexedStore, tmp_path: Path
) -> None:
    terms = tuple(indexed.index.terms.name)[::3]
    matrix = np.random.default_rng(1).normal(0.0, 0.1, (len(terms), 3)).astype(np.float32)
    weighting = replace(DRAWN, projection=Projection(terms, matrix))
    save_weights(tmp_path / "w.json", weighting)
    system = case.index_system(indexed, RelatedOptions(weighting=load_weights(tmp_path / "w.json")))
    assert system.name.endswith("(linklearn), projected")
    options = RelatedOptions(limit=500, min_similarity=0.0, weighting=weighting, explain=False, group_duplicates=False)
    for source in (0, 50, 100):
        answer = {each.url: each.score for each in indexed.related(case.population.urls[source], options)}
        (row,) = system.scores(np.array([source])).tolist()
        found = {url: max(score, 0.0) for url, score in zip(case.population.urls, row, strict=True)}
        common = answer.keys() & found.keys()
        assert len(common) > 50
        assert {url: found[url] for url in common} == pytest.approx(
            {url: max(answer[url] or 0.0, 0.0) for url in common}, rel=1e-4, abs=1e-4
        )


def test_links_have_the_learned_share_in_scores_as_in_answers(case: LabelledCollection, indexed: IndexedStore) -> None:
    weighting = replace(DRAWN, link_share=0.3)
    strategy = replace(indexed.index.strategy, weights=weighting.as_text(), similarity="linklearn")
    systems = [case.under(strategy, "index"), case.index_system(indexed, RelatedOptions(weighting=weighting))]
    options = RelatedOptions(limit=500, min_similarity=0.0, weighting=weighting, explain=False, group_duplicates=False)
    for source in (0, 50, 100):
        answer = {each.url: each.similarity for each in indexed.related(case.population.urls[source], options)}
        for system in systems:
            (row,) = system.scores(np.array([source])).tolist()
            found = {url: max(score, 0.0) for url, score in zip(case.population.urls, row, strict=True)}
            common = answer.keys() & found.keys()
            assert len(common) > 50
            assert {url: found[url] for url in common} == pytest.approx(
                {url: answer[url] for url in common}, rel=1e-6, abs=1e-6
            )
    assert case.under(strategy, "index", RelatedOptions(link_share=0.0)).name == "index (linklearn)"
    auto = case.under(indexed.index.strategy, "index", RelatedOptions(link_share="auto"))
    assert auto.name == f"index (jaccard), {indexed.automatic_link_weight:g} by links"


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
def test_scores_are_the_similarities_that_answers_have(
    case: LabelledCollection, indexed: IndexedStore, measure: str
) -> None:
    nodes = case.population.nodes
    system = case.index_system(indexed, RelatedOptions(similarity=measure))
    for source in (0, 50, 100):
        expected = indexed.text_similarities(int(nodes[source]), nodes, measure)
        (found,) = system.scores(np.array([source]))
        assert np.maximum(found, 0.0) == pytest.approx(expected, abs=2e-9)
        assert ((found == -np.inf) <= (expected == 0.0)).all()


def test_bags_made_anew_are_those_of_the_index(case: LabelledCollection, indexed: IndexedStore) -> None:
    bags, pages = case.bags(indexed.index.strategy), len(indexed.nodes) - 1
    index = indexed.index.bags.first(pages)
    assert np.array_equal(bags.offsets, index.offsets)
    for column in ("term", "weight", "content", "around"):
        assert np.array_equal(getattr(bags, column), getattr(index, column)[: bags.offsets[-1]]), column


def test_bags_in_many_pieces_are_the_same(case: LabelledCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = case.bags(PRESETS["paper"])
    monkeypatch.setattr("pagekin.bags.build._PIECE", 1)
    pieces = case.bags(PRESETS["paper"])
    assert np.array_equal(whole.offsets, pieces.offsets)
    assert np.array_equal(whole.term, pieces.term)
    assert np.array_equal(whole.weight, pieces.weight)


def test_a_system_can_be_another_measure_strategy_or_store(
    case: LabelledCollection, indexed: IndexedStore, tmp_path: Path
) -> None:
    (tmp_path / "wide.toml").write_text("window_width = 32\n")
    assert (
        case.named("cosine").scores(np.arange(3)).tolist()
        == case.index_system(indexed, RelatedOptions(similarity="cosine")).scores(np.arange(3)).tolist()
    )
    systems = ("cosine", "paper", str(tmp_path / "wide.toml"), str(indexed.root))
    names = [case.named(name).name for name in systems]
    assert names == [
        f"{indexed.root} (cosine)",
        "paper (jaccard)",
        f"{tmp_path}/wide.toml (blend)",
        f"{indexed.root} (blend)",
    ]
    wide = case.under(replace(indexed.index.strategy, window_width=32), "wide").scores(np.arange(3))
    assert np.array_equal(case.named(str(tmp_path / "wide.toml")).scores(np.arange(3)), wide)
    assert not np.array_equal(case.index_system(indexed).scores(np.arange(3)), wide)
    with pytest.raises(MisuseError, match="there is no 'nothing' to compare with"):
        case.named("nothing")


def test_pages_that_another_store_lacks_tie_there_and_are_counted(
    case: LabelledCollection, indexed: IndexedStore, tmp_path: Path
) -> None:
    url = case.population.urls[5]
    write_jsonl(tmp_path / "few.jsonl", [page(url, "<p>oak birch"), page("http://far.example/", "<p>oak")])
    few = build([tmp_path / "few.jsonl"], tmp_path / "few.kin", strategy=PRESETS["text-only"], processes=1).store
    scores = case.index_system(IndexedStore.open(few.root)).scores(np.array([5, 6]))
    assert (scores == -np.inf).sum() == scores.size - 1
    assert scores[0, 5] == pytest.approx(1.0, abs=1e-6)  # a bag sums to one as nearly as 32 bits can tell
    count = len(case.population) - 1
    assert (f"pages that are not in {few.root}, where they tie", count, case.population.urls[0]) in rows_of(case.notes)


def test_a_store_with_none_of_the_pages_is_refused(case: LabelledCollection, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "far.jsonl", [page("http://far.example/", "<p>oak")])
    build([tmp_path / "far.jsonl"], tmp_path / "far.kin", processes=1)
    with pytest.raises(MisuseError, match="has none of the pages that are compared"):
        case.named(str(tmp_path / "far.kin"))


def test_labels_join_files_by_their_paths_also_those_with_escapes_in_their_names(tmp_path: Path) -> None:
    """As in a mirror of a site whose files are called by escaped URLs; a link writes %2528 for such a %28."""
    for name in ("wp/a/A%28b%29.htm", "wp/b/B.htm", "wp/b/C.htm"):
        (tmp_path / "mirror" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mirror" / name).write_text(f"<title>{name}</title><p>some oak")
    (tmp_path / "labels.tsv").write_text("wp/a/A%28b%29.htm\tX/Y\nwp/b/B.htm\tX/Y\nwp/b/C.htm\tZ\nwp/c/gone.htm\tZ\n")
    store = build([tmp_path / "mirror"], tmp_path / "m.kin", processes=1).store
    case = open_labelled(str(tmp_path / "labels.tsv"), IndexedStore.open(store.root))
    assert [case.population.classes_of(page) for page in range(3)] == [[("X", "Y")], [("X", "Y")], [("Z",)]]
    assert case.population.urls[0].endswith("/wp/a/A%2528b%2529.htm")
    assert ("labels that name no page of the collection", 1, "wp/c/gone.htm") in rows_of(case.notes)


def test_a_dump_of_a_directory_gives_the_same_classes_as_lines_of_labels(
    case: LabelledCollection, indexed: IndexedStore, tmp_path: Path
) -> None:
    pages = [
        f'<ExternalPage about="{url}"><topic>Top/{label}</topic></ExternalPage>' for url, label in sample_web.labels()
    ]
    (tmp_path / "content.rdf.u8").write_text(f"<RDF>{''.join(pages)}</RDF>", "utf-8")
    dump = open_labelled(str(tmp_path / "content.rdf.u8"), indexed).population
    assert (dump.urls, dump.names) == (case.population.urls, case.population.names)
    assert np.array_equal(dump.classes, case.population.classes)


def test_a_hierarchy_that_matches_no_page_is_refused(indexed: IndexedStore, tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text("http://nowhere.example/\tA/B/C\n")
    with pytest.raises(MisuseError, match=r"none of the 213 pages of .* \(labels such as 'http://nowhere.example/'"):
        open_labelled(str(tmp_path / "labels.tsv"), indexed)


def test_folders_of_urls_can_be_the_hierarchy(indexed: IndexedStore) -> None:
    population = open_labelled("path", indexed).population
    k = next(k for k, url in enumerate(population.urls) if url == "http://treeroom.example/oak.html")
    assert population.classes_of(k) == [("treeroom.example",)]
    assert len(population) == 213


def test_a_sample_has_pages_with_in_links_unless_told_otherwise(sample_folder: Path, indexed: IndexedStore) -> None:
    labels = str(sample_folder / "labels.tsv")
    degrees = indexed.in_degrees()
    drawn = open_labelled(labels, indexed, HierarchyOptions(sample=3))
    assert 4 <= len(drawn.population.names) <= 6
    assert (degrees[drawn.population.nodes] >= 1).all()
    assert open_labelled(labels, indexed, HierarchyOptions(sample=3)).population.urls == drawn.population.urls
    everything = open_labelled(labels, indexed).population
    assert (degrees[everything.nodes] == 0).any()
    linked = open_labelled(labels, indexed, HierarchyOptions(min_in_links=4))
    assert linked.population.nodes.tolist() == [k for k in everything.nodes.tolist() if degrees[k] >= 4]
    assert any(reason == "pages with fewer than 4 in-links" for reason, *_ in rows_of(linked.notes))


def test_a_similarity_that_there_is_not_is_refused(case: LabelledCollection, indexed: IndexedStore) -> None:
    with pytest.raises(MisuseError, match="it can be jaccard, cosine"):
        case.index_system(indexed, RelatedOptions(similarity="euclid"))


def test_an_empty_bag_shares_nothing(tmp_path: Path) -> None:
    rows = [page(f"http://g.example/{name}", f"<p>{text}") for name, text in (("a", "oak"), ("b", "oak"), ("c", ""))]
    write_jsonl(tmp_path / "g.jsonl", rows)
    strategy = Strategy(anchors=False, frequency_weight="none", templates=True, blend=TEXT_ONLY)
    indexed = IndexedStore.open(
        build([tmp_path / "g.jsonl"], tmp_path / "g.kin", strategy=strategy, processes=1).store.root
    )
    system = BlendSystem("g", indexed.index, indexed.blend(RelatedOptions()), np.arange(3))
    scores = system.scores(np.arange(3))
    assert scores.tolist() == [[1.0, 1.0, -np.inf]] * 2 + [[-np.inf] * 3]


def test_shape_and_tree_reach_the_population(indexed: IndexedStore, tmp_path: Path) -> None:
    oak, birch = "http://treeroom.example/oak.html", "http://treeroom.example/birch.html"
    (tmp_path / "labels.tsv").write_text(f"{oak}\toaks\n{birch}\tbirches\n{birch}\ttimber\n")
    (tmp_path / "tree.tsv").write_text("oaks\ttrees\nbirches\ttrees\ntrees\tnature\ntimber\thome\n")
    options = HierarchyOptions(multi="min", tree=str(tmp_path / "tree.tsv"))
    population = open_labelled(str(tmp_path / "labels.tsv"), indexed, options).population
    assert population.names == [("home", "timber"), ("nature", "trees", "birches"), ("nature", "trees", "oaks")]
    assert population.distances(population.urls.index(oak)).tolist() == [1, 0]
