"""`pagekin evaluate` on the sample web and on runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import P, nDCG

import pagekin as pagekin_library
from cli.conftest import Pagekin
from pagekin import sample_web
from pagekin.evaluation.evaluate import evaluate as evaluate_store
from pagekin.evaluation.options import EvaluationOptions
from pagekin.model.jsons import to_json
from pagekin.search.indexed_store import IndexedStore
from reference import familial_distance as analysis
from reference import gamma as judging
from reference import similarity

SOURCES = [f"http://treeroom.example/{name}.html" for name in ("oak", "birch", "yew")]


@pytest.fixture
def evaluate(pagekin: Pagekin, sample_folder: Path, sample_index: Path) -> Any:
    """Judge the sample web by its labels."""

    def call(*arguments: str | Path) -> Any:
        return pagekin("evaluate", sample_index, "--hierarchy", sample_folder / "labels.tsv", *arguments)

    return call


def report_of(answer: Any) -> dict[str, Any]:
    assert (answer.code, answer.err) == (0, "")
    report: dict[str, Any] = json.loads(answer.out)
    return report


@pytest.mark.slow
def test_measures_of_some_sources_are_those_of_brute_force(evaluate: Any, sample_index: Path) -> None:
    """From the stored bags, by the definitions."""
    Path("queries.txt").write_text("\n".join(SOURCES))
    (found,) = report_of(evaluate("--queries", "queries.txt", "--blend", "text=1", "--json"))["systems"]
    indexed = IndexedStore.open(sample_index)
    urls = [
        row["url"] for row in indexed.catalog.rows("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
    ]
    labels: dict[str, list[tuple[str, ...]]] = {}
    for url, label in sample_web.labels():
        labels.setdefault(url, []).append(tuple(label.split("/")))
    bags, classes = {}, {}
    for node, url in enumerate(urls):
        if url in labels:
            row = indexed.index.bags.row(node)
            bags[url] = dict(
                zip(indexed.index.bags.term[row].tolist(), indexed.index.bags.weight[row].tolist(), strict=True)
            )
            classes[url] = min(labels[url])
    totals = [[0, 0, 0] for _ in range(4)]
    for source in SOURCES:
        others = [url for url in bags if url != source]
        scores = [round(similarity.jaccard(bags[source], bags[url]), 9) for url in others]
        distances = [analysis.family(classes[source], classes[url]) for url in others]
        for total, counts in zip(totals, judging.count_pairs(scores, distances, 4), strict=True):
            total[:] = [a + b for a, b in zip(total, counts, strict=True)]
    for (right, wrong, tied), of in zip(totals, found["regions"].values(), strict=True):
        assert of["pairs"] == right + wrong + tied
        assert of["gamma"]["value"] == pytest.approx((right - wrong) / (right + wrong), abs=1e-4)
        assert of["somers_d"]["value"] == pytest.approx((right - wrong) / (right + wrong + tied), abs=1e-4)


def test_the_table_has_every_measure_and_what_was_left_out(evaluate: Any) -> None:
    answer = evaluate()
    assert (answer.code, answer.err) == (0, "")
    for words in ("Gamma", "Somers' D", "tied", "sibling", "cousin", "unrelated", "P@10", "nDCG@10", "orthogonal"):
        assert words in answer.out
    assert "178 pages in 36 classes" in answer.out
    assert "35  pages without a class  e.g. http://almanac.example/" in answer.out
    assert "Gamma by in-links of the source" in answer.out


def test_all_pages_are_sources_and_bands_hold_each_once(evaluate: Any) -> None:
    (found,) = report_of(evaluate("--json"))["systems"]
    assert found["sources"] == sum(band["sources"] for band in found["in_link_bands"]) == 178
    assert [band["from"] for band in found["in_link_bands"]] == [0, 1, 4, 16]
    for of in found["regions"].values():
        assert of["gamma"]["low"] < of["gamma"]["value"] < of["gamma"]["high"]


def test_ir_measures_finds_the_same_in_the_files_that_are_written(evaluate: Any) -> None:
    (found,) = report_of(evaluate("--write-qrels", "qrels", "--write-run", "run", "--json"))["systems"]
    theirs = ir_measures.calc_aggregate(
        [P(rel=3) @ 10, nDCG @ 10], ir_measures.read_trec_qrels("qrels"), ir_measures.read_trec_run("run")
    )
    assert found["P@10"]["value"] == pytest.approx(theirs[P(rel=3) @ 10], abs=1e-6)
    assert found["nDCG@10"]["value"] == pytest.approx(theirs[nDCG @ 10], abs=1e-6)


def test_our_own_run_is_judged_like_the_index_where_that_can_be(evaluate: Any) -> None:
    evaluate("--write-run", "ten", "--run-depth", "10")
    evaluate("--write-run", "all", "--run-depth", "1000")
    index, ten = report_of(evaluate("--against", "ten", "--json"))["systems"]
    assert ten["longest_list"] == 10
    assert ten["comparable"] == ["P@10", "nDCG@10"]
    assert [ten[name]["value"] for name in ten["comparable"]] == [index[name]["value"] for name in ten["comparable"]]
    assert ten["regions"]["all"]["tied"]["value"] > 0.5 > index["regions"]["all"]["tied"]["value"]
    whole = report_of(evaluate("--run", "all", "--json"))["systems"][0]
    assert whole["longest_list"] is None
    assert whole["regions"]["sibling"]["gamma"] == index["regions"]["sibling"]["gamma"]


def test_it_is_said_plainly_what_can_be_compared(evaluate: Any) -> None:
    evaluate("--write-run", "ten", "--run-depth", "10")
    said = evaluate("--against", "ten").out
    assert "It lists 10 pages a source at most" in said
    assert "compare P@10 and nDCG@10: not Gamma, not Somers' D, not ties" in said
    lines = {line.split("  ")[1]: line for line in said.splitlines() if line.startswith(("  gamma", "  P@10"))}
    assert "not comparable" in lines["gamma all"]
    assert "not comparable" not in lines["P@10"]


def test_an_answer_of_export_is_a_run(evaluate: Any, pagekin: Pagekin, sample_index: Path) -> None:
    for name in ("answers.tsv", "answers.trec"):
        assert pagekin("export", sample_index, "-o", name).code == 0
    said = [report_of(evaluate("--run", name, "--json")) for name in ("answers.tsv", "answers.trec")]
    for report, name in zip(said, ("answers.tsv", "answers.trec"), strict=True):
        assert report["systems"][0].pop("system") == name
    assert said[0]["systems"] == said[1]["systems"]
    assert said[0]["systems"][0]["P@10"]["value"] > 0.3
    assert any("with a query that is not compared" in row["reason"] for row in said[0]["left_out"])


def test_a_system_does_not_differ_from_itself_and_bags_without_words_are_worse(
    evaluate: Any, sample_index: Path
) -> None:
    same = report_of(evaluate("--against", sample_index, "--json"))["comparison"]
    assert {(of["value"], of["p"]) for of in same["differences"].values()} == {(0.0, 1.0)}
    Path("links.toml").write_text("content = false\nanchors = false\nlinks = true\nblend = 'text=1'\n")
    report = report_of(evaluate("--against", "links.toml", "--json"))
    differences = report["comparison"]["differences"]
    assert differences["P@10"]["low"] > 0
    assert differences["P@10"]["p"] < 0.05
    assert differences["orthogonal"]["value"] < 0 < report["systems"][1]["orthogonal"]["value"]
    assert "(p by permutation" in evaluate("--against", "links.toml").out


def test_another_strategy_and_measure_can_be_judged(evaluate: Any) -> None:
    systems = report_of(evaluate("--strategy", "paper", "--similarity", "cosine", "--against", "jaccard", "--json"))[
        "systems"
    ]
    assert [each["system"].rpartition(" ")[2] for each in systems] == ["(cosine)", "(jaccard)"]
    assert systems[0]["P@10"] != systems[1]["P@10"]


def test_measures_of_each_source_are_written(evaluate: Any) -> None:
    (found,) = report_of(evaluate("--per-source", "sources.tsv", "--json"))["systems"]
    head, *lines = [line.split("\t") for line in Path("sources.tsv").read_text().splitlines()]
    assert (head[:2], len(lines)) == (["url", "class"], 178)
    values = [float(line[head.index("P@10")]) for line in lines]
    assert sum(values) / 178 == pytest.approx(found["P@10"]["value"], abs=1e-6)
    oak = next(line for line in lines if line[0] == SOURCES[0])
    assert oak[1] == next(label for url, label in sample_web.labels() if url == SOURCES[0])


def test_a_run_is_judged_without_a_store(pagekin: Pagekin) -> None:
    """Pages of one class first: as good as can be. What the hierarchy does not know is counted."""
    Path("labels.tsv").write_text("p 1\tA/B/C\np 2\tA/B/C\np 3\tD/E/F\np 4\tD/E/F\n")
    Path("run.tsv").write_text("p 1\t1\tp 2\t3\np 1\t2\tp 3\t2\np 1\t3\tp 4\t1\np 3\t1\tp 4\t9\np 3\t2\twhat\t8\n")
    report = report_of(pagekin("evaluate", "--run", "run.tsv", "--hierarchy", "labels.tsv", "--json"))
    (found,) = report["systems"]
    assert found["regions"]["unrelated"]["gamma"]["value"] == 1.0
    assert found["regions"]["unrelated"]["pairs"] == 4 * 2
    assert found["regions"]["unrelated"]["tied"]["value"] == 0.5  # two pages have no lines
    assert found["regions"]["sibling"]["gamma"]["value"] is None
    assert (found["unanswered"], found["in_link_bands"]) == (2, [])
    assert [row["count"] for row in report["left_out"]] == [1]
    assert "2 sources without any answer" in pagekin("evaluate", "--run", "run.tsv", "--hierarchy", "labels.tsv").out


def test_a_page_from_which_all_are_equally_far_is_no_source_and_counted(pagekin: Pagekin) -> None:
    Path("labels.tsv").write_text("p1\tA/B/C\np2\tA/B/C\np3\tD\n")
    Path("run.tsv").write_text("p1\t1\tp2\t3\n")
    report = report_of(pagekin("evaluate", "--run", "run.tsv", "--hierarchy", "labels.tsv", "--json"))
    assert report["systems"][0]["sources"] == 2
    reasons = {row["reason"]: row["example"] for row in report["left_out"]}
    assert reasons["pages that are no source, since all others are equally far from them"] == "p3"
    assert reasons["classes of one page, for which no page is right"] == "D"


def test_a_sample_and_the_distance_of_a_tree(evaluate: Any) -> None:
    report = report_of(evaluate("--sample", "4", "--distance", "tree", "--json"))
    assert report["pages"] < 178
    assert list(report["systems"][0]["regions"]) == ["all", "distance 1", "distance 2", "distance 3"]


def test_the_same_call_says_the_same_whatever_the_threads(evaluate: Any) -> None:
    assert evaluate("--threads", "1", "--json") == evaluate("--threads", "3", "--json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://nowhere.example/\tA/B\n", "has a class for none of the 213 pages"),
        ("".join(f"{url}\tTrees\n" for url in SOURCES), "are in the same class, 'Trees'"),
        ("", "has a class for none"),
    ],
)
def test_a_hierarchy_that_tells_nothing_is_misuse(pagekin: Pagekin, sample_index: Path, text: str, said: str) -> None:
    Path("bad.tsv").write_text(text)
    answer = pagekin("evaluate", sample_index, "--hierarchy", "bad.tsv")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--run", "nan.tsv"), "the score 'nan' is not a number"),
        (("--run", "strange.tsv"), "no line with a query and a result that are compared"),
        (("--run", "missing.tsv"), "missing.tsv cannot be read"),
        (("--against", "missing.tsv"), "there is no 'missing.tsv' to compare with"),
        (("--run", "nan.tsv", "--similarity", "cosine"), "do not apply to a run file"),
        (("--strategy", "nothing"), "'nothing' is not a strategy"),
        (("--queries", "strange.tsv"), "no page has judgements"),
        (("--tree", "cycle.tsv"), "the tree has a cycle"),
        (("--sample", "2", "--depth", "4"), "no two classes at depth 4"),
    ],
)
def test_misuse_is_told_in_a_sentence(evaluate: Any, arguments: tuple[str, ...], said: str) -> None:
    Path("nan.tsv").write_text(f"{SOURCES[0]}\t1\t{SOURCES[1]}\tnan\n")
    Path("strange.tsv").write_text("http://x.example/\t1\thttp://y.example/\t1\n")
    Path("cycle.tsv").write_text("a\tb\nb\ta\n")
    answer = evaluate(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_something_must_be_judged(pagekin: Pagekin, sample_folder: Path) -> None:
    answer = pagekin("evaluate", "--hierarchy", sample_folder / "labels.tsv")
    assert (answer.code, answer.err) == (2, "pagekin: name a STORE to evaluate, or a run file with --run\n")
    Path("run.tsv").write_text("a\t1\tb\t1\n")
    assert "name a STORE" in pagekin("evaluate", "--run", "run.tsv", "--hierarchy", "path").err


def test_a_place_that_cannot_be_written_is_told_and_an_old_file_stays(evaluate: Any) -> None:
    Path("note.txt").write_text("a note")
    answer = evaluate("--per-source", "note.txt/sources.tsv")
    assert (answer.code, answer.out) == (1, "")
    assert "cannot be written" in answer.err
    assert [path.name for path in Path.cwd().iterdir()] == ["note.txt"]


def test_pages_of_one_folder_have_no_classes_by_their_paths(pagekin: Pagekin, tmp_path: Path) -> None:
    folder = tmp_path / "flat"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.html").write_text(f"<p>oak {name}")
    assert pagekin("build", folder, "-o", tmp_path / "flat.kin").code == 0
    done = pagekin("evaluate", tmp_path / "flat.kin", "--hierarchy", "path")
    assert done.code == 2
    assert "lie in one folder: paths give no classes; name a file of labels" in done.err


def test_the_library_computes_what_the_command_prints(evaluate: Any, sample_folder: Path, sample_index: Path) -> None:
    printed = report_of(evaluate("--against", "okapi", "--resamples", "20", "--depth", "2", "--json"))
    options = EvaluationOptions(depth=2, against="okapi", resamples=20)
    evaluation = evaluate_store(IndexedStore.open(sample_index), str(sample_folder / "labels.tsv"), options)
    assert to_json(evaluation) == printed
    assert evaluation.comparison is not None
    assert evaluation.systems[0].precision.value == pytest.approx(printed["systems"][0]["P@10"]["value"], abs=1e-6)


@pytest.fixture
def related(pagekin: Pagekin, sample_index: Path) -> Any:
    """Judge the sample web by two pairs, and by one with a page that it does not have."""
    Path("pairs.tsv").write_text(f"{SOURCES[0]}\t{SOURCES[1]}\n{SOURCES[1]}\t{SOURCES[2]}\nhttp://gone.example/\tx\n")

    def call(*arguments: str | Path) -> Any:
        return pagekin("evaluate", sample_index, "--related", "pairs.tsv", *arguments)

    return call


def test_related_pairs_are_judged_and_missing_pages_are_told(related: Any, sample_index: Path) -> None:
    answer = related("--against", "tf-idf")
    assert (answer.code, answer.err) == (0, "")
    assert "2 related pairs of pairs.tsv, among 213 pages" in answer.out
    for words in ("R@10", "MRR", "AP", "nDCG@10", "3 sources", "tf-idf cosine", "(p by permutation"):
        assert words in answer.out
    assert "2  pages of related pairs that the collection does not have  e.g. http://gone.example/" in answer.out
    found = report_of(related("--resamples", "20", "--json"))
    assert found == to_json(pagekin_library.open(sample_index).evaluate_related("pairs.tsv", resamples=20))
    assert list(found["systems"][0])[-4:] == ["R@10", "MRR", "AP", "nDCG@10"]


def test_it_is_said_which_measures_of_a_list_by_related_pairs_can_be_compared(related: Any) -> None:
    related("--write-run", "ten", "--run-depth", "10")
    answer = related("--run", "ten")
    assert "compare R@10 and nDCG@10: not MRR, not AP" in answer.out


def test_see_also_sections_are_the_truth(pagekin: Pagekin, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for name, other in ("ab", "ba", "ca"):
        (folder / f"{name}.html").write_text(f"<p>oak {name}<h2>See also</h2><a href={other}.html>tree {other}</a>")
    assert pagekin("build", folder, "-o", "site.kin").code == 0
    answer = pagekin("evaluate", "site.kin", "--see-also")
    assert (answer.code, answer.err) == (0, "")
    assert "2 related pairs of See also sections, among 3 pages" in answer.out
    assert "Sections: 3 See also" in answer.out
    assert "site.kin, sections hidden (blend), 3 sources" in answer.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give one of --hierarchy, --related and --see-also"),
        (("--related", "pairs.tsv", "--see-also"), "give one of"),
        (("--related", "empty.tsv"), "empty.tsv has no pairs; a line is a page, a tab and a related page"),
        (("--related", "pairs.tsv"), "has no pair of two of the 213 pages"),
        (("--related", "missing.tsv"), "missing.tsv cannot be read"),
        (("--related", "pairs.tsv", "--min-in-links", "2"), "--min-in-links is for a hierarchy; leave it out"),
        (("--hierarchy", "path", "--unlinked"), "--unlinked is for related pairs; leave it out"),
        (("--see-also",), "has a section such as 'See also' with links to other pages of the collection"),
    ],
)
def test_misuse_of_related_pairs_is_told(
    pagekin: Pagekin, sample_index: Path, arguments: tuple[str, ...], said: str
) -> None:
    Path("empty.tsv").write_text("no tab\n")
    Path("pairs.tsv").write_text("a\tb\n")
    answer = pagekin("evaluate", sample_index, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
