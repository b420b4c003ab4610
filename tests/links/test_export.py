"""Exported graphs and pairs, plots and dendrograms as text."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from links.test_clusters import FIGURE_2
from pagekin.errors import MisuseError
from pagekin.links.clusters import build_hierarchy
from pagekin.links.export import GRAPH_WRITERS, PAIR_WRITERS, Vertex, dendrogram_lines, draw_dendrograms, draw_graph
from pagekin.links.measures import SimilarPairs

EDGES = SimilarPairs(np.array([1, 2]), np.array([2, 5]), np.array([0.25, 0.125]))
VERTICES = [
    Vertex(1, "http://a.example/?x=1&y=2", 'Salt & "pepper" <b>', 1, 1),
    Vertex(2, "http://b.example/", "bell \x07 and \ud800", 1, 3),
    Vertex(5, "http://c.example/", "", 1, 1),
]
URLS = {each.node: each.url for each in VERTICES}


@pytest.mark.parametrize("kind", GRAPH_WRITERS)
def test_a_graph_is_xml_with_all_pages_and_edges(tmp_path: Path, kind: str) -> None:
    GRAPH_WRITERS[kind](tmp_path / "g", VERTICES, EDGES)
    tree = ElementTree.parse(tmp_path / "g")
    text = (tmp_path / "g").read_text("utf-8")
    assert [node.get("id") for node in tree.iterfind(".//{*}node")] == ["1", "2", "5"]
    edges = list(tree.iterfind(".//{*}edge"))
    assert [(edge.get("source"), edge.get("target")) for edge in edges] == [("1", "2"), ("2", "5")]
    weights = [edge.get("weight") or edge.findtext("{*}data") for edge in edges]
    assert weights == ["0.250000", "0.125000"]
    values = {each.get("value") or each.text for each in tree.iter() if each.get("value") or each.text}
    assert {"http://a.example/?x=1&y=2", "3"} <= values
    assert "bell \ufffd and \ufffd" in text


def test_pairs_are_lines_of_two_urls_and_their_similarity(tmp_path: Path) -> None:
    PAIR_WRITERS["csv"](tmp_path / "p.csv", URLS, EDGES)
    with (tmp_path / "p.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["first", "second", "similarity"]
    assert rows[1:] == [[URLS[1], URLS[2], "0.250000"], [URLS[2], URLS[5], "0.125000"]]


def test_parquet_has_the_same_columns(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    PAIR_WRITERS["parquet"](tmp_path / "p.parquet", URLS, EDGES)
    table = parquet.read_table(tmp_path / "p.parquet").to_pydict()
    assert table == {"first": [URLS[1], URLS[2]], "second": [URLS[2], URLS[5]], "similarity": [0.25, 0.125]}


def test_a_tree_is_drawn_with_lines_and_heights() -> None:
    assert dendrogram_lines(build_hierarchy(FIGURE_2, 0.5), list("abcd")) == [
        "0.900",
        "├── 0.750",
        "│   ├── 0.500",
        "│   │   ├── a",
        "│   │   └── b",
        "│   └── d",
        "└── c",
    ]
    ones = build_hierarchy(np.ones((3, 3)) - np.eye(3), 0.5)
    assert dendrogram_lines(ones, list("abc")) == ["1.000", "├── a", "├── b", "└── c"]
    assert dendrogram_lines(build_hierarchy(np.zeros((1, 1)), 0.5), ["a"]) == ["a"]


def test_a_chain_of_any_length_can_be_drawn() -> None:
    distance = np.abs(np.subtract.outer(np.arange(1500.0) ** 1.01, np.arange(1500.0) ** 1.01))
    assert len(dendrogram_lines(build_hierarchy(distance, 0.001), [str(k) for k in range(1500)])) >= 1500


def test_a_restricted_hierarchy_keeps_its_heights() -> None:
    smaller = build_hierarchy(FIGURE_2, 0.5).restrict_to([3, 1, 2])
    assert smaller.merges.tolist() == [[1, 0], [3, 2]]
    assert smaller.heights.tolist() == pytest.approx([0.75, 0.9])


@pytest.mark.parametrize(("kind", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_same_plot_has_the_same_bytes(tmp_path: Path, kind: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib")
    hierarchies = [build_hierarchy(FIGURE_2, alpha) for alpha in (0.06, 0.5, 0.8)]
    for name in ("one", "two"):
        draw_dendrograms(tmp_path / name, kind, hierarchies, ["a", "b $x_1$", "c" * 99, "d"], 1)
        draw_graph(tmp_path / f"g{name}", kind, EDGES, np.array([1, 2, 5]), list("abc"), ["", "x", "y"])
    for name in ("", "g"):
        assert (tmp_path / f"{name}one").read_bytes() == (tmp_path / f"{name}two").read_bytes()
        assert (tmp_path / f"{name}one").read_bytes().startswith(begins)


def test_an_error_without_matplotlib_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MisuseError, match=r"pip install 'pagekin\[plots\]'"):
        draw_graph(tmp_path / "graph.svg", "svg", EDGES, np.array([1, 2, 5]), list("abc"), ["", "x", "y"])
