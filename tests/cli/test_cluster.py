"""`pagekin cluster` and `pagekin graph` on the sample web."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from cli.conftest import Pagekin

OAK = "http://treeroom.example/oak.html"


def test_json_has_the_ordering_the_tree_and_the_size_of_the_subgraph(pagekin: Pagekin, sample_index: Path) -> None:
    answer = pagekin("cluster", sample_index, OAK, "--json", "--alpha", "0.25", "--limit", "4")
    assert (answer.code, answer.err) == (0, "")
    report = json.loads(answer.out)
    assert report["query"]["url"] == OAK
    assert report["query"]["alphas"] == [0.25]
    assert report["subgraph"]["pages"] == report["subgraph"]["of"] > 100
    distances = [each["distance"] for each in report["related"]]
    assert (len(distances), distances) == (4, sorted(distances))
    assert report["tree"]["leaves"] == [OAK, *(each["url"] for each in report["related"])]
    heights = [merge[2] for merge in report["tree"]["merges"]]
    assert (len(heights), heights) == (4, sorted(heights))


def test_people_see_the_ordering_and_a_tree(pagekin: Pagekin, sample_index: Path) -> None:
    answer = pagekin(
        "cluster", sample_index, OAK, "--limit", "3", "--clusters", "2", "--alpha", "0.5", "--alpha", "0.8"
    )
    assert answer.code == 0
    assert answer.out.startswith("Oak and its many guests, by amsler at alpha 0.5\n")
    assert "── Oak and its many guests  <--" in answer.out
    assert "Positions by similarity alone, and at each alpha:" in answer.out
    assert "Cluster 2: " in answer.out


def test_alpha_changes_the_ordering(pagekin: Pagekin, sample_index: Path) -> None:
    orders = {
        alpha: [
            each["url"]
            for each in json.loads(pagekin("cluster", sample_index, OAK, "--json", "--alpha", alpha).out)["related"]
        ]
        for alpha in ("0.06", "0.8")
    }
    assert orders["0.06"] != orders["0.8"]


def test_a_large_subgraph_is_cut_and_the_answer_says_so(pagekin: Pagekin, sample_index: Path) -> None:
    cut = json.loads(pagekin("cluster", sample_index, OAK, "--most", "20", "--json").out)["subgraph"]
    assert cut["pages"] == 20 < cut["of"]
    assert "20 pages of" in pagekin("cluster", sample_index, OAK, "--most", "20").out


def test_every_measure_answers_and_hosts_can_be_one(pagekin: Pagekin, sample_index: Path) -> None:
    for measure in ("co-citation", "coupling", "amsler", "proximity"):
        report = json.loads(pagekin("cluster", sample_index, OAK, "--measure", measure, "--json").out)
        assert (report["query"]["measure"], len(report["related"])) == (measure, 10)
    hosts = json.loads(pagekin("cluster", sample_index, OAK, "--chop-hosts", "--json").out)
    assert hosts["query"]["url"] == "http://treeroom.example/"


def test_a_page_without_links_has_an_empty_answer_that_says_why(pagekin: Pagekin, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<title>a</title><p>one <a href=b.html>b</a>")
    (tmp_path / "b.html").write_text("<title>b</title><p>two")
    (tmp_path / "c.html").write_text("<title>Lonely</title><p>three")
    pagekin("build", tmp_path, "-o", "x.kin")
    answer = pagekin("cluster", "x.kin", "Lonely", "-o", "x.svg")
    assert (answer.code, answer.out.splitlines()[1][:32]) == (0, "No page hangs together with it: ")
    assert json.loads(pagekin("cluster", "x.kin", "Lonely", "--json").out)["related"] == []


def test_a_collection_without_links_is_told_so(pagekin: Pagekin, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<title>a</title><p>one")
    pagekin("build", tmp_path, "-o", "x.kin")
    for command in (("cluster", "x.kin", "a.html"), ("graph", "x.kin"), ("cluster", "x.kin", "--cross-topic")):
        answer = pagekin(*command)
        assert (answer.code, answer.out) == (1, "")
        assert "has no links that count" in answer.err


@pytest.mark.parametrize("alpha", ["0", "1.5", "-1", "nan", "much"])
def test_an_alpha_out_of_range_is_misuse(pagekin: Pagekin, sample_index: Path, alpha: str) -> None:
    answer = pagekin("cluster", sample_index, OAK, "--alpha", alpha)
    assert (answer.code, answer.out) == (2, "")
    assert "alpha" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [OAK, "--cross-topic"],
        [OAK, "-o", "tree.bmp"],
        ["http://nowhere.example/"],
        ["--labels", "nothing.tsv"],
        [OAK, "--stop", "("],
        [OAK, "--delta", "2"],
    ],
)
def test_other_misuse_is_a_sentence(pagekin: Pagekin, sample_index: Path, arguments: list[str]) -> None:
    answer = pagekin("cluster", sample_index, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert "Traceback" not in answer.err


def test_the_pages_between_topics_are_listed_with_the_terms_of_both_ends(pagekin: Pagekin, sample_index: Path) -> None:
    found = json.loads(pagekin("cluster", sample_index, "--cross-topic", "--measure", "co-citation", "--json").out)
    strengths = [each["strength"] for each in found["cross_topic"]]
    assert (len(strengths), strengths) == (10, sorted(strengths, reverse=True))
    for each in found["cross_topic"]:
        assert [len(end["terms"]) for end in each["between"]] == [5, 5]
    assert "is between two that are" in pagekin("cluster", sample_index, "--cross-topic", "--limit", "2").out


def test_clusters_are_judged_by_labels(pagekin: Pagekin, sample_folder: Path, sample_index: Path) -> None:
    labels = (sample_folder / "labels.tsv").read_text("utf-8")
    Path("labels.tsv").write_text(labels + "http://gone.example/\tNature/Trees\n", "utf-8")
    judged = json.loads(pagekin("cluster", sample_index, "--labels", "labels.tsv", "--json").out)
    assert (judged["recall"], judged["unknown"]) == (1.0, 1)
    assert [each["category"] for each in judged["by_alpha"][0]["categories"]] == ["Craft", "Food", "Nature", "Science"]
    assert judged["by_alpha"][0]["precision"] > 0.7
    assert "precision" in pagekin("cluster", sample_index, "--labels", "labels.tsv").out


def labelled_categories(answer: str) -> list[str]:
    return [each["category"] for each in json.loads(answer)["by_alpha"][0]["categories"]]


def test_labels_are_read_from_a_dump_of_the_open_directory(
    pagekin: Pagekin, sample_folder: Path, sample_index: Path, tmp_path: Path
) -> None:
    lines = (sample_folder / "labels.tsv").read_text("utf-8").splitlines()
    pages = "".join(
        f'<ExternalPage about="{url}"><topic>Top/{name}</topic></ExternalPage>'
        for url, name in (line.split("\t") for line in lines)
    )
    dump = tmp_path / "content.rdf.u8.gz"
    dump.write_bytes(gzip.compress(f"<RDF>{pages}</RDF>".encode()))
    from_dump, from_lines = (
        pagekin("cluster", sample_index, "--labels", file, "--json").out
        for file in (dump, sample_folder / "labels.tsv")
    )
    assert labelled_categories(from_dump) == ["Craft", "Food", "Nature", "Science"]
    assert json.loads(from_dump)["by_alpha"] == json.loads(from_lines)["by_alpha"]


def test_labels_can_be_the_folders_of_urls(pagekin: Pagekin, sample_index: Path) -> None:
    answer = pagekin("cluster", sample_index, "--labels", "path", "--json")
    assert answer.code == 0
    assert {"treeroom.example", "birdnotes.example"} <= set(labelled_categories(answer.out))


def test_labels_name_pages_by_their_files(pagekin: Pagekin, tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    for name, other in (("a", "b"), ("b", "a"), ("c", "a")):
        (tmp_path / "web" / f"{name}.html").write_text(f"<title>{name}</title><p>one <a href={other}.html>{other}</a>")
    pagekin("build", tmp_path / "web", "-o", "x.kin")
    Path("labels.tsv").write_text("a.html\tTop\nweb/b.html\tTop\nnothing.html\tTop\nno tab\n", "utf-8")
    judged = json.loads(pagekin("cluster", "x.kin", "--labels", "labels.tsv", "--json").out)
    assert (judged["labelled"], judged["unknown"]) == (2, 1)
    assert [(row["reason"], row["count"]) for row in judged["left_out"]] == [
        ("labels that name no page of the collection", 1),
        ("lines without a tab", 1),
    ]
    answer = pagekin("cluster", "x.kin", "--labels", "labels.tsv")
    assert "1 lines without a tab, e.g. line 4 of labels.tsv" in answer.out
    assert pagekin("cluster", "x.kin", "--labels", "path").code == 2


@pytest.mark.parametrize("labels", ["labels.tsv", "content.rdf.u8", "path"])
def test_a_graph_is_coloured_by_labels_of_every_format(pagekin: Pagekin, sample_index: Path, labels: str) -> None:
    pytest.importorskip("matplotlib")
    Path("labels.tsv").write_text(f"{OAK}\tTrees/Oaks\n", "utf-8")
    page = f'<ExternalPage about="{OAK}"><topic>Top/Trees/Oaks</topic></ExternalPage>'
    Path("content.rdf.u8").write_text(f"<RDF>{page}</RDF>", "utf-8")
    answer = pagekin("graph", sample_index, "-o", "g.svg", "--labels", labels)
    assert (answer.code, answer.err) == (0, "")
    assert ("treeroom.example" if labels == "path" else ">Trees<") in Path("g.svg").read_text("utf-8")


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_trees_and_graphs_are_drawn(pagekin: Pagekin, sample_folder: Path, sample_index: Path, kind: str) -> None:
    pytest.importorskip("matplotlib")
    assert pagekin("cluster", sample_index, OAK, "-o", f"tree.{kind}").code == 0
    assert pagekin("graph", sample_index, "-o", f"g.{kind}", "--labels", sample_folder / "labels.tsv").code == 0
    assert all(Path(f"{name}.{kind}").stat().st_size > 5000 for name in ("tree", "g"))


@pytest.mark.parametrize("kind", ["graphml", "gexf", "csv", "parquet"])
def test_graphs_are_written_for_other_programs(pagekin: Pagekin, sample_index: Path, kind: str) -> None:
    report = json.loads(pagekin("graph", sample_index, "-o", f"g.{kind}", "--json").out)
    assert report["output"] == f"g.{kind}"
    assert Path(f"g.{kind}").stat().st_size > 10_000
    if kind == "csv":
        assert len(Path("g.csv").read_text().splitlines()) == report["pairs"] + 1


def test_a_graph_that_cannot_be_written_leaves_nothing(pagekin: Pagekin, sample_index: Path) -> None:
    answer = pagekin("graph", sample_index, "-o", "nowhere/g.csv")
    assert (answer.code, "cannot be written" in answer.err) == (1, True)
    assert pagekin("graph", sample_index, "-o", "g.txt").code == 2


def test_a_core_set_is_compared_by_its_own_links_and_then_with_what_they_lead_to(
    pagekin: Pagekin, sample_index: Path
) -> None:
    Path("core.txt").write_text(f"{OAK}\nhttp://treeroom.example/beech.html\nhttp://treeroom.example/birch.html\n")
    one = json.loads(pagekin("graph", sample_index, "--core", "core.txt", "--json").out)
    two = json.loads(pagekin("graph", sample_index, "--core", "core.txt", "--steps", "2", "--json").out)
    assert (one["pages"], one["pairs"]) == (3, 3)
    assert 3 < one["all_pages"] < two["all_pages"]
    assert two["pages"] > 3
    answer = pagekin("graph", sample_index, "--core", "core.txt")
    assert "connected subgraphs; the largest has 3 pages" in answer.out
