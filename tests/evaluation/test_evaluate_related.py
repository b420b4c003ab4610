"""Evaluation by related pairs, on a small collection with scores by hand, on runs, and on the sample web."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest

from pagekin.errors import MisuseError
from pagekin.evaluation.evaluate_related import RelatedEvaluation, evaluate_related
from pagekin.evaluation.options import RelatedEvaluationOptions
from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from store.builders import page, write_jsonl

HOST = "http://p.example/"
TEXTS = {"a": "oak elm ash yew", "b": "oak elm ash fir", "c": "oak elm box bay", "d": "oak sloe plum pear", "e": "kiwi"}
LINKS = {"a": "c", "d": "a"}


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    """Five pages; a shares three of its four words with b, two with c, one with d and none with e."""
    folder = tmp_path_factory.mktemp("trees")
    links = {name: f'<p><a href="{LINKS[name]}"></a>' if name in LINKS else "" for name in TEXTS}
    write_jsonl(folder / "t.jsonl", [page(HOST + name, f"<p>{TEXTS[name]}{links[name]}") for name in TEXTS])
    flat = Strategy(anchors=False, links=False, frequency_weight="none", stemming="none", lead=0.0, templates=True)
    return IndexedStore.open(build([folder / "t.jsonl"], folder / "t.kin", strategy=flat, processes=1).store.root)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def evaluated(indexed: IndexedStore | None, pairs: str, **options: object) -> RelatedEvaluation:
    Path("pairs.tsv").write_text(pairs)
    return evaluate_related(indexed, "pairs.tsv", RelatedEvaluationOptions(resamples=10, **options))  # type: ignore[arg-type]


def values(found: RelatedEvaluation, system: int = 0) -> list[float]:
    one = found.systems[system]
    return [each.value for each in (one.recall, one.mrr, one.average_precision, one.ndcg)]


def test_measures_of_a_small_collection_by_hand(trees: IndexedStore) -> None:
    """The pair (a, d): d is the third for a, after b and c. For d, the others share one word each: a, b, c tie and
    come by URL, so a is the first. The means of 1/3 and 1, and of 1/log2(4) and 1.
    """
    found = evaluated(trees, f"{HOST}a\t{HOST}d\n")
    assert (found.pairs, found.pages, found.systems[0].sources) == (1, 5, 2)
    assert values(found) == pytest.approx([1.0, (1 / 3 + 1) / 2, (1 / 3 + 1) / 2, (1 / log2(4) + 1) / 2])


def test_a_page_that_shares_nothing_is_not_found(trees: IndexedStore) -> None:
    """The related pages of a are b, first, and e, never found; those of b are a; e has no answer at all."""
    found = evaluated(trees, f"{HOST}a\t{HOST}b\n{HOST}e\t{HOST}a\n", per_source="sources.tsv")
    rows = [line.split("\t") for line in Path("sources.tsv").read_text().splitlines()]
    assert rows[0] == ["url", "related", "R@10", "MRR", "AP", "nDCG@10"]
    assert [(row[0][-1], row[1]) for row in rows[1:]] == [("a", "2"), ("b", "1"), ("e", "1")]
    assert [[float(value) for value in row[2:5]] for row in rows[1:]] == [[0.5, 1, 0.5], [1, 1, 1], [0, 0, 0]]
    assert float(rows[1][5]) == pytest.approx(1 / (1 + 1 / log2(3)), abs=1e-6)
    assert found.systems[0].unanswered == 1


def test_pairs_of_linked_pages_can_be_left_out(trees: IndexedStore) -> None:
    """a links to c, and d to a, which is the second page of the pair."""
    pairs = "".join(f"{HOST}a\t{HOST}{name}\n" for name in "bcd")
    found = evaluated(trees, pairs, unlinked=True)
    assert (found.pairs, found.unlinked) == (1, True)
    assert values(found) == [1.0] * 4
    assert [(each.count, each.reason) for each in found.left_out] == [
        (2, "related pairs in which a page links to the other")
    ]
    with pytest.raises(MisuseError, match="in all 1 related pairs a page links to the other"):
        evaluated(trees, f"{HOST}c\t{HOST}a\n", unlinked=True)


def test_queries_choose_among_the_sources(trees: IndexedStore) -> None:
    Path("queries.txt").write_text(f"{HOST}a\n{HOST}e\n{HOST}gone\n")
    found = evaluated(trees, f"{HOST}a\t{HOST}d\n", queries="queries.txt")
    assert found.systems[0].sources == 1
    assert found.systems[0].mrr.value == pytest.approx(1 / 3)
    assert [each.count for each in found.left_out] == [1]


def test_a_run_is_judged_with_and_without_a_store(trees: IndexedStore) -> None:
    """The run has x, which is no page of the collection, before b: without a store it counts as a page."""
    Path("run.tsv").write_text(f"{HOST}a\t1\t{HOST}x\t3\n{HOST}a\t2\t{HOST}b\t2\n")
    stored = evaluated(trees, f"{HOST}a\t{HOST}b\n", run="run.tsv")
    alone = evaluated(None, f"{HOST}a\t{HOST}b\n", run="run.tsv")
    assert (stored.pages, alone.pages) == (5, 3)
    assert (stored.systems[0].mrr.value, alone.systems[0].mrr.value) == (1 / 2, 1 / 4)
    assert (stored.systems[0].unanswered, stored.systems[0].comparable) == (1, [])
    with pytest.raises(MisuseError, match="--unlinked needs the links of a collection"):
        evaluated(None, f"{HOST}a\t{HOST}b\n", run="run.tsv", unlinked=True)
    with pytest.raises(MisuseError, match="only pairs of a page with itself"):
        evaluated(None, f"{HOST}a\t{HOST}a\n", run="run.tsv")


def test_what_is_written_is_judged_alike(trees: IndexedStore) -> None:
    pairs = f"{HOST}a\t{HOST}d\n{HOST}b\t{HOST}c\n{HOST}d\t{HOST}c\n"
    found = evaluated(trees, pairs, write_run="run", write_qrels="qrels")
    assert Path("qrels").read_text().splitlines()[0] == f"{HOST}a 0 {HOST}d 1"
    assert len(Path("qrels").read_text().splitlines()) == 6
    assert values(evaluated(trees, pairs, run="run")) == values(found)


def test_systems_are_compared_source_by_source(trees: IndexedStore) -> None:
    pairs = f"{HOST}a\t{HOST}d\n{HOST}b\t{HOST}c\n"
    for other in ("cosine", "paper", "tf-idf", "co-citation", str(trees.root)):
        found = evaluated(trees, pairs, against=other)
        assert found.comparison is not None
        for k, difference in enumerate(found.comparison.differences.values()):
            assert difference.value == pytest.approx(values(found)[k] - values(found, 1)[k])
            assert other != str(trees.root) or (difference.value, difference.p) == (0.0, 1.0)


def test_options_reach_the_system(trees: IndexedStore) -> None:
    pairs = f"{HOST}a\t{HOST}d\n"
    assert evaluated(trees, pairs, link_share=0.25).systems[0].system.endswith("(jaccard), 0.25 by links")
    assert evaluated(trees, pairs, blend={"links": 1.0}).systems[0].system.endswith("1 by links")
    assert evaluated(trees, pairs, strategy="paper", similarity="cosine").systems[0].system == "paper (cosine)"


def test_files_name_pages_as_labels_do(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "site" / f"{name}.html").write_text(f"<p>{text}")
    store = build([tmp_path / "site"], tmp_path / "s.kin", processes=1).store
    found = evaluated(IndexedStore.open(store.root), "site/a.html\tb.html\ngone.html\tb.html\n")
    assert (found.pairs, found.systems[0].sources) == (1, 2)
    assert [(each.count, each.example) for each in found.left_out] == [(1, "gone.html b.html"), (1, "gone.html")]


def test_the_same_call_says_the_same_whatever_the_threads(trees: IndexedStore) -> None:
    pairs = f"{HOST}a\t{HOST}d\n{HOST}b\t{HOST}c\n"
    assert evaluated(trees, pairs, threads=1) == evaluated(trees, pairs, threads=3)


def test_pairs_of_other_pages_are_refused(trees: IndexedStore) -> None:
    with pytest.raises(MisuseError, match=r"no pair of two of the 5 pages of .* names pages such as 'x', .*/a'"):
        evaluated(trees, "x\ty\n")
    with pytest.raises(MisuseError, match="name a STORE to evaluate"):
        evaluated(None, "x\ty\n")
