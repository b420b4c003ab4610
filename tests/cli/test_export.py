"""`pagekin export` into Parquet, read back with pyarrow; and no export leaves half a file."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from pyarrow import parquet

from cli.conftest import Pagekin
from pagekin.evaluation import export
from pagekin.evaluation.labelled import open_labelled
from pagekin.search.indexed_store import IndexedStore

ROBIN = "http://lib.example/birds/robin.html"
FORMATS = ["tsv", "trec", "csv", "jsonl", "parquet"]
COLUMNS = ["query", "rank", "url", "similarity", "score", "query_title", "title"]


@pytest.fixture
def broken_off(tmp_path: Path) -> Path:
    """A file of queries whose last cannot be answered."""
    path = tmp_path / "queries.txt"
    path.write_text(f"{ROBIN}\nno such page at all\n")
    return path


def test_parquet_holds_the_same_answers_as_json_lines(pagekin: Pagekin, library: Path) -> None:
    said = pagekin("export", library, "-o", "answers.parquet", "--json")
    assert (said.code, said.err) == (0, "")
    assert pagekin("export", library, "-o", "answers.jsonl").code == 0
    rows = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    assert rows
    assert parquet.read_table("answers.parquet").to_pylist() == [{**row, "score": None} for row in rows]
    facts = {"output": "answers.parquet", "format": "parquet", "pages": 3, "answers": len(rows)}
    assert json.loads(said.out) == facts


def test_columns_of_parquet_have_their_types(pagekin: Pagekin, library: Path) -> None:
    pagekin("export", library, "-o", "answers.parquet")
    types = {field.name: str(field.type) for field in parquet.read_schema("answers.parquet")}
    columns = {"query": "string", "rank": "int32", "url": "string", "similarity": "double", "score": "double"}
    assert types == {**columns, "query_title": "string", "title": "string"}


def test_parquet_is_written_in_groups_and_loses_no_answer_between_them(
    pagekin: Pagekin, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pagekin("export", library, "-o", "one.parquet")
    whole = parquet.read_table("one.parquet")
    assert parquet.ParquetFile("one.parquet").num_row_groups == 1
    monkeypatch.setattr(export, "ROW_GROUP", 1)
    pagekin("export", library, "-o", "many.parquet")
    assert parquet.ParquetFile("many.parquet").num_row_groups == whole.num_rows > 1
    assert parquet.read_table("many.parquet").equals(whole)


def test_parquet_without_answers_has_its_columns(pagekin: Pagekin, library: Path) -> None:
    assert pagekin("export", library, "-o", "none.parquet", "--min-similarity", "1").code == 0
    table = parquet.read_table("none.parquet")
    assert (table.num_rows, table.column_names) == (0, COLUMNS)


def test_without_pyarrow_it_is_said_what_to_install_before_anything_is_asked(
    pagekin: Pagekin, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(IndexedStore, "related", lambda *query: asked.append(query))
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    answer = pagekin("export", library, "-o", "answers.parquet")
    assert (answer.code, answer.out) == (2, "")
    assert "pip install 'pagekin[parquet]'" in answer.err
    assert (asked, list(Path.cwd().iterdir())) == ([], [])


def test_other_formats_need_no_pyarrow(pagekin: Pagekin, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert pagekin("export", library, "-o", "answers.tsv").code == 0


@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_that_fails_leaves_the_old_file_and_nothing_else(
    pagekin: Pagekin, library: Path, broken_off: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "ROW_GROUP", 1)  # the first answers are on the disk when it fails
    old = Path(f"answers.{kind}")
    old.write_bytes(b"old")
    answer = pagekin("export", library, "-o", old, "--queries", broken_off)
    assert answer.code == 2
    assert old.read_bytes() == b"old"
    assert {path.name for path in Path.cwd().iterdir()} == {old.name, broken_off.name}


@pytest.mark.parametrize("kind", FORMATS)
def test_a_place_that_cannot_be_written_is_told(pagekin: Pagekin, library: Path, kind: str) -> None:
    Path("note.txt").write_text("a note")
    Path(f"folder.{kind}").mkdir()
    below = pagekin("export", library, "-o", f"note.txt/answers.{kind}")
    assert (below.code, below.out) == (1, "")
    assert "cannot be written" in below.err
    assert pagekin("export", library, "-o", f"folder.{kind}").code == 2


def test_the_standard_output_is_no_file(pagekin: Pagekin, library: Path) -> None:
    said = pagekin("export", library, "-o", "-", "--format", "tsv")
    assert (said.code, said.out) == (2, "")
    assert "name a file with -o" in said.err
    assert not Path("-").exists()


@pytest.mark.parametrize("kind", ["trec", "tsv"])
def test_a_query_named_by_a_title_is_exported_under_its_url(pagekin: Pagekin, library: Path, kind: str) -> None:
    Path("queries.txt").write_text("The robin in winter\n")
    assert pagekin("export", library, "-o", f"answers.{kind}", "--queries", "queries.txt").code == 0
    wren = ROBIN.replace("robin", "wren")
    Path("labels.tsv").write_text(f"{ROBIN}\tBirds/Robins\n{wren}\tBirds/Wrens\n")
    labelled = open_labelled("labels.tsv", IndexedStore.open(library))
    source, result = (labelled.population.urls.index(url) for url in (ROBIN, wren))
    (scores,) = labelled.run(f"answers.{kind}").scores(np.array([source]))
    assert scores[result] > 0
    if kind == "trec":
        assert {line.query_id for line in ir_measures.read_trec_run("answers.trec")} == {ROBIN}


def test_csv_has_a_header_titles_and_reasons(pagekin: Pagekin, library: Path) -> None:
    assert "plain.csv: 3 answers for 3 pages" in pagekin("export", library, "-o", "plain.csv", "--limit", "1").out
    assert pagekin("export", library, "-o", "answers.csv", "--limit", "1", "--explain").code == 0
    with Path("answers.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["query"]: row for row in csv.DictReader(file)}
    row = rows[ROBIN]
    assert list(row) == ["query", "rank", "url", "similarity", "query_title", "title", "why"]
    assert (row["query_title"], row["title"]) == ("The robin in winter", "The wren in winter")
    assert "winter" in row["why"]
    assert Path("plain.csv").read_text().splitlines()[0] == "query,rank,url,similarity,query_title,title"


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_titles_and_reasons_are_in_other_formats_too(pagekin: Pagekin, library: Path, kind: str) -> None:
    assert pagekin("export", library, "-o", f"answers.{kind}", "--explain").code == 0
    if kind == "jsonl":
        rows = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    else:
        rows = parquet.read_table("answers.parquet").to_pylist()
    (wren,) = (row for row in rows if row["query"] == ROBIN and row["url"].endswith("wren.html"))
    assert (wren["query_title"], wren["title"]) == ("The robin in winter", "The wren in winter")
    assert "winter" in wren["why"]


def test_what_is_exported_can_be_filtered(pagekin: Pagekin, library: Path) -> None:
    def urls(*flags: str) -> set[str]:
        assert pagekin("export", library, "-o", "some.jsonl", *flags).code == 0
        rows = map(json.loads, Path("some.jsonl").read_text().splitlines())
        return {row["url"].rpartition("/")[2] for row in rows if row["query"] == ROBIN}

    assert "wren.html" in urls()
    assert "wren.html" not in urls("--exclude", "wren")
    assert urls("--include", "wren") == {"wren.html"}
    assert "wren.html" not in urls("--exclude-linked")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.tsv", "a.trec", "a.txt"])
def test_every_format_that_is_written_is_read_by_evaluate(pagekin: Pagekin, library: Path, name: str) -> None:
    """The content tells the format, not the name."""
    flags = ("--format", "csv") if name.endswith("txt") else ()
    assert pagekin("export", library, "-o", name, "--explain", *flags).code == 0
    wren = ROBIN.replace("robin", "wren")
    Path("labels.tsv").write_text(f"{ROBIN}\tBirds/Robins\n{wren}\tBirds/Wrens\n")
    labelled = open_labelled("labels.tsv", IndexedStore.open(library))
    source, result = (labelled.population.urls.index(url) for url in (ROBIN, wren))
    (scores,) = labelled.run(name).scores(np.array([source]))
    answers = json.loads(pagekin("related", library, ROBIN, "--min-similarity", "0", "--json").out)["related"]
    (similarity,) = (each["similarity"] for each in answers if each["url"] == wren)
    assert scores[result] == pytest.approx(similarity, abs=1e-6)
