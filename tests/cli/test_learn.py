"""`pagekin learn`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, P, Rprec

from cli.conftest import Pagekin
from cli.processes import in_a_terminal
from pagekin.learning import projection as projecting
from pagekin.learning.trainer import Checkpoint
from pagekin.model.weighting import load_weights
from pagekin.pipeline import build

QUICK = ("--units", "2,3,2", "--rate", "0.1", "--steps", "1000")


def report_of(answer: Any) -> dict[str, Any]:
    assert (answer.code, answer.err) == (0, "")
    report: dict[str, Any] = json.loads(answer.out)
    return report


@pytest.mark.slow
def test_it_learns_reports_and_writes_weights_figures_and_files_of_trec(pagekin: Pagekin, sample_index: Path) -> None:
    flags = ("-o", "weights.json", "--figures", "pictures", "--trec", "trec", "--json")
    report = report_of(pagekin("learn", sample_index, *QUICK, *flags))
    weighting = load_weights(Path("weights.json"))
    assert weighting.learned_from["okapi"] == {"K": report["okapi"]["K"], "B": report["okapi"]["B"]}
    assert report["linklearn"]["units"] == [2, 3, 2]
    assert weighting.link_share == report["links"]["share"]
    assert 0 < report["links"]["test"]["pages"] <= report["test"]["pages"]
    assert set(report["links"]["test"]["measures"]) == set(report["test"]["measures"])
    assert [part["pages"] for part in report["parts"].values()] == [71, 71, 71]
    assert {path.name for path in Path("pictures").iterdir()} == {"training.svg", "weights.svg"}
    qrels = list(ir_measures.read_trec_qrels("trec/qrels.txt"))
    for name in ("okapi", "linklearn"):
        theirs = ir_measures.calc_aggregate([P @ 10, Rprec, AP], qrels, ir_measures.read_trec_run(f"trec/{name}.run"))
        for measure, ours in ((P @ 10, "P@10"), (Rprec, "break-even"), (AP, "AP")):
            assert report["test"]["measures"][ours][name] == pytest.approx(theirs[measure], abs=1e-9)
    assert {path.name for path in Path.cwd().iterdir()} == {"weights.json", "pictures", "trec"}


def test_a_projection_is_kept_beside_the_weights_and_used_with_them(
    pagekin: Pagekin, sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projecting, "BATCHES", 5)
    monkeypatch.setattr(projecting, "VALIDATE_EVERY", 5)
    report = report_of(pagekin("learn", sample_index, *QUICK, "--projection", "-o", "weights.json", "--json"))
    assert report["projection"]["valid"]["with"] > report["projection"]["valid"]["without"]
    known = load_weights(Path("weights.json")).projection
    assert known is not None
    assert known.matrix.shape == (report["projection"]["terms"], report["projection"]["dimensions"])
    said = pagekin("learn", sample_index, *QUICK, "--projection", "-o", "again.json")
    assert "Projected" in said.out
    assert Path("again.json.projection").read_bytes() == Path("weights.json.projection").read_bytes()
    assert pagekin("learn", sample_index, *QUICK, "-o", "plain.json").code == 0
    Path("words.txt").write_text("sourdough bread and flour")
    answers = [
        json.loads(pagekin("related", sample_index, "--text", "words.txt", "--weights", each, "--json").out)["related"]
        for each in ("plain.json", "weights.json")
    ]
    assert [each["score"] for each in answers[0]] != [each["score"] for each in answers[1]]


def test_the_tables_are_those_of_the_paper_and_the_same_call_writes_the_same_bytes(
    pagekin: Pagekin, sample_index: Path
) -> None:
    first = pagekin("learn", sample_index, *QUICK, "-o", "a.json")
    second = pagekin("learn", sample_index, *QUICK, "-o", "b.json")
    assert (first.code, first.err) == (0, "")
    for words in ("vocabulary", "links per page", "units 2,3,2", "Error rate", "Precision at top 10", "Wilcoxon"):
        assert words in first.out
    assert first.out.partition(":")[2] == second.out.partition(":")[2]
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_interrupted_learning_goes_on_and_ends_with_the_same_weights(
    pagekin: Pagekin, sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pagekin("learn", sample_index, *QUICK, "-o", "whole.json").code == 0
    keep = Checkpoint.save

    def once(self: Checkpoint, state: Any) -> None:
        keep(self, state)
        raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", once)
    answer = pagekin("learn", sample_index, *QUICK, "-o", "torn.json")
    assert (answer.code, answer.err) == (1, "pagekin: stopped\n")
    assert not Path("torn.json").exists()
    assert Path("torn.json.unfinished").exists()
    monkeypatch.setattr(Checkpoint, "save", keep)
    report = report_of(pagekin("learn", sample_index, *QUICK, "-o", "torn.json", "--json"))
    assert report["resumed"] is True
    assert Path("torn.json").read_bytes() == Path("whole.json").read_bytes()
    assert not Path("torn.json.unfinished").exists()


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"fingerprint": 1}', '{"fingerprint": "x", "done": [], "run": 3}'])
def test_what_cannot_be_gone_on_with_is_begun_again(pagekin: Pagekin, sample_index: Path, text: str) -> None:
    Path("w.json.unfinished").write_text(text)
    report = report_of(
        pagekin("learn", sample_index, "--units", "1,1,1", "--rate", "1", "--steps", "20", "-o", "w.json", "--json")
    )
    assert report["resumed"] is False


@pytest.mark.parametrize("inside", [False, True])
def test_weights_are_written_beside_the_store_unless_told_otherwise(
    pagekin: Pagekin, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    shutil.copytree(sample_index, tmp_path / "sites" / "my.kin")
    folder = tmp_path / "sites" / "my.kin" if inside else tmp_path
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    flags = ("--units", "1,1,1", "--rate", "1", "--steps", "20", "--json")
    report = report_of(pagekin("learn", "." if inside else "sites/my.kin", *flags))
    assert report["weights"] == (str(tmp_path / "sites/my.weights.json") if inside else "sites/my.weights.json")
    assert load_weights(tmp_path / "sites" / "my.weights.json").learned_from
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_a_terminal_shows_validation_as_it_goes(sample_index: Path, tmp_path: Path) -> None:
    code, said = in_a_terminal("learn", sample_index, *QUICK, "-o", tmp_path / "w.json")
    assert code == 0
    assert b"step 500: AP 0." in said
    assert b"(OKAPI 0." in said


def test_what_was_learned_is_tried_on_another_collection(pagekin: Pagekin, sample_index: Path) -> None:
    assert pagekin("learn", sample_index, *QUICK, "-o", "weights.json").code == 0
    Path("docs").write_text(
        "<DOC>\n<DOCNO>a</DOCNO>\noak trees and acorns\n</DOC>\n<DOC>\n<DOCNO>b</DOCNO>\nrye bread and acorns\n</DOC>\n"
    )
    Path("topics").write_text("1\toak acorns\n")
    Path("qrels").write_text("1 0 a 1\n")
    files = ("--transfer", "docs", "--weights", "weights.json", "--topics", "topics", "--qrels", "qrels")
    report = report_of(pagekin("learn", *files, "--json"))
    assert report["collection"]["documents"] == 2
    assert set(report["okapi"]) == {"paper", "tuned"}
    said = pagekin("learn", *files)
    assert (said.code, said.err) == (0, "")
    assert "Compared with OKAPI of K 1.5, B 0.6 (paper):" in said.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a STORE to learn from"),
        (("{store}", "--units", "1,2"), "write three numbers such as 5,10,10"),
        (("{store}", "--units", "0,2,2"), "they must be three numbers from 1"),
        (("{store}", "--rate", "-1"), "it must be above 0"),
        (("--transfer", "x"), "with --weights"),
        (("--transfer", "x", "--weights", "missing.json"), "missing.json cannot be read"),
        (("--transfer", "x", "--weights", "nan.json"), "nan.json"),
        (("--transfer", "x", "--weights", "old.json"), "learn them again"),
    ],
)
def test_misuse_is_told_in_a_sentence(
    pagekin: Pagekin, sample_index: Path, arguments: tuple[str, ...], said: str
) -> None:
    network = {"shift": 0.0, "scale": float("nan"), "inner": [], "bias": [], "outer": [], "last": 0.0}
    facts = {"format": "pagekin weighting", "version": 1, "kind": "linklearn"}
    Path("nan.json").write_text(json.dumps({**facts, "networks": dict.fromkeys(("tf", "idf", "length"), network)}))
    Path("old.json").write_text(json.dumps({**facts, "version": 99, "networks": {}}))
    answer = pagekin("learn", *(each.format(store=sample_index) for each in arguments))
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


@pytest.mark.slow
def test_pages_without_links_one_page_and_pages_without_words_are_told(pagekin: Pagekin) -> None:
    pages = {
        "unlinked": [f"<p>words of page {k} and more" for k in range(30)],
        "one": ["<p>one page <a href=0.html>itself</a>"],
        "wordless": [f"<a href={k + 1}.html><img src=x></a><a href={k + 2}.html></a>" for k in range(40)],
    }
    for name, bodies in pages.items():
        Path(name).mkdir()
        for k, body in enumerate(bodies):
            Path(name, f"{k}.html").write_text(body)
        build([Path(name)], Path(f"{name}.kin"))
        answer = pagekin("learn", f"{name}.kin")
        assert (answer.code, answer.out) == (2, ""), name
        assert "learn" in answer.err or "weigh" in answer.err
        assert not Path("weights.json").exists()


def test_a_place_that_cannot_be_written_is_told(pagekin: Pagekin, sample_index: Path) -> None:
    Path("note.txt").write_text("a note")
    answer = pagekin("learn", sample_index, *QUICK, "-o", "note.txt/w.json")
    assert (answer.code, answer.out) == (1, "")
    assert "cannot be written" in answer.err
    assert [path.name for path in Path.cwd().iterdir()] == ["note.txt"]
