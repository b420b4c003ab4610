"""`pagekin related` and `pagekin export`."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pagekin as pagekin_package
from cli.conftest import Pagekin
from pagekin.kernels.compile import usable
from pagekin.kernels.signatures import known

ROBIN = "http://lib.example/birds/robin.html"
WREN = "http://lib.example/birds/wren.html"


def test_json_has_the_documented_shape(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("related", library, ROBIN, "--json")
    assert (answer.code, answer.err) == (0, "")
    facts = json.loads(answer.out)
    assert facts["query"] == {"pages": [ROBIN], "titles": ["The robin in winter"], "similarity": "jaccard"}
    first = facts["related"][0]
    assert set(first) == {"url", "title", "similarity", "pinned", "duplicate_of_query", "duplicates", "why"}
    assert set(first["why"]) == {"terms", "cited_by", "apart", "parts", "details"}
    assert first["url"] == WREN
    assert 0 < first["similarity"] < 1


def test_people_are_told_the_same(pagekin: Pagekin, library: Path) -> None:
    lines = pagekin("related", library, ROBIN).out.splitlines()
    assert lines[0] == f"Related to The robin in winter, {ROBIN}"
    assert lines[1].endswith("  The wren in winter")
    assert lines[2].strip() == WREN
    assert lines[3].strip().startswith("shares ")


@pytest.mark.parametrize("name", ["robin winter", "lib.example/birds/robin.html", "birds/robin.html", "old.html"])
def test_the_answer_names_the_page_that_was_understood(pagekin: Pagekin, library: Path, name: str) -> None:
    assert pagekin("related", library, name).out.splitlines()[0] == f"Related to The robin in winter, {ROBIN}"
    query = json.loads(pagekin("related", library, name, "--json").out)["query"]
    assert (query["pages"], query["titles"]) == ([ROBIN], ["The robin in winter"])


@pytest.mark.slow
def test_a_page_of_the_collection_is_answered_without_loading_a_compiler(library: Path) -> None:
    program = (
        "import sys; from pagekin.cli.main import main\n"
        f"sys.argv = ['pagekin', 'related', {str(library)!r}, {ROBIN!r}]\n"
        "try: main()\n"
        "finally: print('numba' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert WREN in ran.stdout
    assert ran.stdout.splitlines()[-1] == "False"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted by Linux")
def test_a_query_from_a_shell_starts_no_threads(library: Path) -> None:
    program = "import os, sys; from pagekin.cli.main import cli; cli(sys.argv[1:], standalone_mode=False)"
    program += "; print(len(os.listdir('/proc/self/task')))"
    command = [sys.executable, "-c", program, "related", str(library), ROBIN]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600, env=environment)
    assert done.stdout.splitlines()[-1] == "1"


@pytest.mark.slow
@pytest.mark.skipif(not usable(), reason="no machine code: python -m tools.machine_code")
def test_a_kernel_with_a_changed_source_is_compiled_and_said_so_once(library: Path, tmp_path: Path) -> None:
    package = Path(pagekin_package.__file__).parent
    copy = shutil.copytree(package, tmp_path / "pagekin", ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "kernels" / "int8_products.py").open("a") as file:
        file.write("# changed\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "PAGEKIN"))}
    command = [sys.executable, "-m", "pagekin", "related", str(library), ROBIN]

    def run(folder: Path) -> tuple[str, str]:
        done = subprocess.run(
            command, env=environment | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=True
        )
        return done.stdout, done.stderr

    answer, silence = run(package.parent)
    assert WREN in answer and silence == ""
    same, said = run(tmp_path)
    assert same == answer
    why = "their sources have changed since the machine code was compiled"
    begin = re.fullmatch(rf"compiling (\d+) of {len(known())} kernels, once \({why}\)", said.splitlines()[0])
    assert begin and 1 <= int(begin[1]) < len(known())  # the kernel, and those that call it
    assert said.splitlines()[-1] == f"  {begin[1]} of {begin[1]}" and said.count("compiling") == 1
    assert run(tmp_path) == (answer, "")


def test_options_reach_the_answer(pagekin: Pagekin, library: Path) -> None:
    assert pagekin("related", library, ROBIN, "--exclude-host").out.splitlines()[1].startswith("No page is similar")
    assert WREN not in pagekin("related", library, ROBIN, "--never", WREN).out
    assert WREN not in pagekin("related", library, ROBIN, "--exclude-linked").out


def test_a_page_from_elsewhere_can_be_asked_for(pagekin: Pagekin, library: Path, tmp_path: Path) -> None:
    (tmp_path / "new.html").write_text("<title>Wrens</title><p>The wren in winter")
    answer = json.loads(pagekin("related", library, "--html", tmp_path / "new.html", "--json").out)
    assert {each["url"] for each in answer["related"][:2]} == {ROBIN, WREN}
    assert pagekin("related", library, "--text", tmp_path / "missing.txt").code == 2


@pytest.mark.parametrize("wrong", [[], [ROBIN, "--limit", "0"], ["nothing-like-it"], [ROBIN, "--include", "("]])
def test_misuse_is_told_and_exits_with_2(pagekin: Pagekin, library: Path, wrong: list[str]) -> None:
    answer = pagekin("related", library, *wrong)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err


def test_export_holds_the_answers_of_every_page(pagekin: Pagekin, library: Path, tmp_path: Path) -> None:
    for kind in ("tsv", "trec", "csv", "jsonl"):
        answer = pagekin("export", library, "-o", tmp_path / f"answers.{kind}", "--json")
        assert (answer.code, answer.err) == (0, "")
        assert json.loads(answer.out)["pages"] == 3
    tsv = [line.split("\t") for line in (tmp_path / "answers.tsv").read_text().splitlines()]
    assert [ROBIN, "1", WREN] in [row[:3] for row in tsv]
    trec = [line.split(" ") for line in (tmp_path / "answers.trec").read_text().splitlines()]
    assert [[q, rank, url, score] for q, _, url, rank, score, _ in trec] == tsv
    header, *lines = csv.reader((tmp_path / "answers.csv").read_text().splitlines())
    assert header[:4] == ["query", "rank", "url", "similarity"]
    assert [row[:4] for row in lines] == tsv
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [[r["query"], str(r["rank"]), r["url"], f"{r['similarity']:.6f}"] for r in rows] == tsv


def test_export_may_be_of_some_pages_and_must_know_its_format(pagekin: Pagekin, library: Path, tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text(ROBIN + "\n\n")
    answer = pagekin("export", library, "-o", tmp_path / "some.tsv", "--queries", tmp_path / "some.txt", "--limit", "1")
    assert answer.code == 0
    assert [line.split("\t")[0] for line in (tmp_path / "some.tsv").read_text().splitlines()] == [ROBIN]
    assert pagekin("export", library, "-o", tmp_path / "some.doc").code == 2


def test_near_duplicates_take_one_line_and_can_be_shown(pagekin: Pagekin, copies: Path) -> None:
    asked = ("related", copies, "http://c.example/", "--min-similarity", "0", "--no-explain")
    lines = pagekin(*asked).out.splitlines()
    assert len(lines) == 3 and lines[1].endswith("  Of a  (and 1 near-duplicate)")
    assert pagekin(*asked, "--expand").out.splitlines()[3] == "       = http://b.example/  (the same)"
    assert len(pagekin(*asked, "--no-group-duplicates").out.splitlines()) == 5
    (answer,) = json.loads(pagekin(*asked, "--json").out)["related"]
    assert answer["duplicate_of_query"] is False
    (duplicate,) = answer["duplicates"]
    assert set(duplicate) == {"url", "title", "similarity", "text_similarity", "contains", "contained"}
    assert (duplicate["url"], duplicate["text_similarity"]) == ("http://b.example/", 1.0)
    assert (duplicate["contains"], duplicate["contained"]) == (True, True)


def test_a_copy_of_the_page_is_called_so(pagekin: Pagekin, copies: Path) -> None:
    lines = pagekin("related", copies, "http://a.example/", "--min-similarity", "0").out.splitlines()
    assert lines[1].endswith("  Of b  (near-duplicate of the query page)")
