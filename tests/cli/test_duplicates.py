"""`pagekin duplicates`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cli.conftest import Pagekin
from cli.processes import PAGEKIN
from duplicates.test_result_list import prose

ROWS = [
    {"id": "a", "url": "http://a.example/", "title": "Wrens", "text": prose(1)},
    {"id": "b", "text": prose(2)},
    {"id": "c", "title": "Wrens again", "text": prose(1) + prose(3, 100)},
    {"id": "d"},
]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(ROWS))
    return path


def test_json_has_the_documented_shape(pagekin: Pagekin, results: Path) -> None:
    answer = pagekin("duplicates", results, "--json")
    assert (answer.code, answer.err) == (0, "")
    facts = json.loads(answer.out)
    assert set(facts) == {"settings", "results", "groups", "uncompared", "repeated_ids", "without_words"}
    assert (facts["results"], facts["uncompared"], facts["repeated_ids"]) == (4, {"no text": 1}, 0)
    assert [[g["anchor"]["id"], *(m["id"] for m in g["members"])] for g in facts["groups"]] == [
        ["a", "c"],
        ["b"],
        ["d"],
    ]
    assert facts["groups"][0]["anchor"] == {
        "id": "a", "position": 1, "rank": 1, "url": "http://a.example/", "title": "Wrens",
    }  # fmt: skip
    member = facts["groups"][0]["members"][0]
    overlap = {"similarity", "share", "share_of_anchor", "bits", "bits_of_anchor", "contains", "contained"}
    assert set(member) == {"id", "position", "rank", "url", "title"} | overlap
    assert 0.9 < member["similarity"] <= 1 and member["similarity"] == member["share_of_anchor"] > member["share"]
    assert facts["groups"][2]["anchor"]["uncompared"] == "no text"
    assert facts["settings"]["threshold"] == 0.7


def test_people_are_told_the_same(pagekin: Pagekin, results: Path) -> None:
    lines = pagekin("duplicates", results).out.splitlines()
    assert lines[0] == "a  Wrens  http://a.example/"
    assert lines[1].endswith("c  Wrens again") or "(contains it)" in lines[1]
    assert lines[-2:] == ["4 results in 3 groups, 1 grouped", "not compared: 1 (no text)"]


def test_ids_come_out_as_they_went_in(pagekin: Pagekin, tmp_path: Path) -> None:
    ids = ["\ud800", "\u202e\x1b[2J", 7, 2.5, "Ä"]
    (tmp_path / "odd.json").write_text(json.dumps([{"id": each, "text": str(k)} for k, each in enumerate(ids)]))
    answer = pagekin("duplicates", "odd.json", "--json")
    assert [group["anchor"]["id"] for group in json.loads(answer.out)["groups"]] == ids
    assert not set("\ud800\u202e\x1b") & set(answer.out + pagekin("duplicates", "odd.json").out)


def test_options_reach_the_groups(pagekin: Pagekin, results: Path) -> None:
    assert "4 results in 4 groups" in pagekin("duplicates", results, "--text-field", "title").out
    assert "not compared: 4 (no field contnt)" in pagekin("duplicates", results, "--text-field", "contnt").out
    assert json.loads(pagekin("duplicates", results, "--complete-link", "--json").out)["settings"]["link"] == "complete"
    assert (
        json.loads(pagekin("duplicates", results, "--chunk-size", "64", "--json").out)["settings"]["chunk_bytes"] == 64
    )


def test_files_are_compared_by_name_or_by_a_list_of_names(pagekin: Pagekin, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(prose(1))
    (tmp_path / "b.html").write_text(f"<title>B</title><p>{prose(1)}")
    (tmp_path / "c.txt").write_text(prose(2))
    (tmp_path / "names").write_text("a.txt\n\nb.html\nc.txt\n")
    by_name = pagekin("duplicates", "a.txt", "b.html", "c.txt", "--json")
    assert by_name.out == pagekin("duplicates", "--files-from", "names", "--json").out
    groups = json.loads(by_name.out)["groups"]
    assert [group["anchor"]["id"] for group in groups] == ["a.txt", "c.txt"]
    assert groups[0]["members"][0]["id"] == "b.html"


@pytest.mark.slow
def test_a_stream_is_answered_result_by_result() -> None:
    """The answer for a result comes before the next result is sent."""
    command = [*PAGEKIN, "duplicates", "-", "--stream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None and running.stdout is not None
        answers = []
        for row in [*ROWS[:3], ROWS[0]]:
            running.stdin.write(json.dumps(row) + "\n")
            running.stdin.flush()
            answers.append(json.loads(running.stdout.readline()))
        running.stdin.close()
    assert [each["anchor"] for each in answers] == ["a", "b", "a", "a"]
    assert [[near["position"] for near in each["similar"]] for each in answers] == [[], [], [1], [1, 3]]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("", "is empty"),
        ("{", "line 1, column 2"),
        ('[{"id": 1},\n {"id": }]', "line 2, column 9"),
        ('{"a": 1}', ""),
        ('{"error": {"reason": "no such index"}}', "no such index"),
    ],
)
def test_bad_lists_are_told_in_a_sentence(pagekin: Pagekin, tmp_path: Path, data: str, told: str) -> None:
    (tmp_path / "bad.json").write_text(data)
    answer = pagekin("duplicates", "bad.json")
    if told:
        assert (answer.code, answer.out) == (2, "") and told in answer.err and "Traceback" not in answer.err
    else:  # an object in a line is a result, if one without a text
        assert answer.code == 0 and "not compared: 1 (no text)" in answer.out


@pytest.mark.parametrize(
    "wrong",
    [[], ["missing.json"], ["missing.txt"], ["a", "--files-from", "b"], ["--files-from", "missing"], ["."]],
)
def test_misuse_is_told_and_exits_with_2(pagekin: Pagekin, wrong: list[str]) -> None:
    answer = pagekin("duplicates", *wrong)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err


def test_settings_out_of_range_are_refused(pagekin: Pagekin, results: Path) -> None:
    for wrong in (["--threshold", "0"], ["--threshold", "1.5"], ["--chunk-size", "100"], ["--chunk-size", "-1"]):
        assert pagekin("duplicates", results, *wrong).code == 2


# --- collections ---------------------------------------------------------------------------------


def test_a_collection_has_groups_in_the_documented_shape(pagekin: Pagekin, copies: Path) -> None:
    facts = json.loads(pagekin("duplicates", copies, "--json").out)
    assert set(facts) == {"settings", "pages", "groups", "uncompared", "compared_pairs", "cut_pages"}
    overlap = {"similarity", "share", "share_of_anchor", "bits", "bits_of_anchor", "contains", "contained"}
    (group,) = facts["groups"]
    assert group["anchor"] == {"url": "http://a.example/", "title": "Of a"}
    assert [set(member) for member in group["members"]] == [{"url", "title"} | overlap]
    assert (facts["pages"], facts["compared_pairs"], group["members"][0]["similarity"]) == (3, 1, 1.0)


def test_people_are_told_the_groups_of_a_collection(pagekin: Pagekin, copies: Path) -> None:
    assert pagekin("duplicates", copies).out.splitlines() == [
        "http://a.example/  Of a",
        "  1.000  http://b.example/  Of b  (the same)",
        "3 pages, 1 group of near-duplicates, 1 grouped",
        "pairs compared: 1",
    ]


def test_what_is_for_collections_is_refused_for_lists(pagekin: Pagekin, results: Path) -> None:
    for wrong in (["--whole-text"], ["--link-weight", "0.2"]):
        answer = pagekin("duplicates", results, *wrong)
        assert answer.code == 2 and "for a collection" in answer.err
    answer = pagekin("duplicates", "nowhere.kin")
    assert answer.code == 2 and "no store" in answer.err


def test_a_report_is_drawn_and_told(pagekin: Pagekin, results: Path, copies: Path, tmp_path: Path) -> None:
    for source, count, page in ((results, "4 pages", "c"), (copies, "3 pages", "http://b.example/")):
        lines = pagekin("duplicates", source, "--report", "picture.png", "--page", page).out.splitlines()
        assert lines[0] == f"picture.png: {count}" and len(lines) == 7
        assert lines[-1].endswith(page)
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    facts = json.loads(pagekin("duplicates", copies, "--report", "p.svg", "--json").out)
    assert set(facts) == {"picture", "pages", "curves", "profile"}
    assert [set(curve) for curve in facts["curves"]] == [{"threshold", "pages", "shares"}] * 5
    assert facts["curves"][2]["shares"][-1] == 0.3333  # one of three is grouped under another
    assert facts["profile"]["chunks"] == [1.0, 1.0, 0.0]


def test_a_report_that_cannot_be_drawn_is_told(pagekin: Pagekin, results: Path, copies: Path) -> None:
    for source in (results, copies):
        answer = pagekin("duplicates", source, "--report", "picture.doc")
        assert answer.code == 2 and "svg, png, pdf" in answer.err
    assert pagekin("duplicates", copies, "--query", "wren").code == 2
    assert pagekin("duplicates", results, "--report", "missing/picture.png").code == 1


def test_a_query_reaches_the_groups(pagekin: Pagekin, results: Path) -> None:
    facts = json.loads(pagekin("duplicates", results, "--query", "nowhere", "--json").out)
    assert (facts["without_words"], len(facts["groups"])) == (3, 3)
    assert "without a word of the query" in pagekin("duplicates", results, "--query", "nowhere").out
