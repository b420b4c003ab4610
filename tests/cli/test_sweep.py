"""`pagekin sweep` on the sample web."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cli.conftest import Pagekin
from cli.processes import PAGEKIN
from pagekin.evaluation.sweep_plan import paper_text

SWEEP = """
store = "sample_web.kin"
hierarchy = "labels.tsv"
resamples = 20
references = ["tf-idf"]

[[figure]]
title = "Windows"
grid = { window_width = [0, 8] }
"""


@pytest.fixture
def sample(sample_folder: Path, tmp_path: Path) -> Path:
    """A folder with the sample web, its labels and a sweep."""
    folder = Path(shutil.copytree(sample_folder, tmp_path / "sample"))
    (folder / "s.toml").write_text(SWEEP)
    return folder


def test_a_sweep_writes_one_table_three_times_and_a_report(pagekin: Pagekin, sample: Path) -> None:
    answer = pagekin("sweep", sample / "s.toml", "-o", "out", "--json")
    assert (answer.code, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert sorted(path.name for path in Path("out").iterdir()) == sorted([*told["files"], "done"])
    assert (told["judged"], told["reused"], [row["name"] for row in told["rows"]]) == (
        3,
        0,
        ["window_width 0", "window_width 8", "tf-idf"],
    )
    assert json.loads(Path("out/results.json").read_text())["rows"] == told["rows"]
    with Path("out/results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["P@10"]) for row in rows] == [row["P@10"] for row in told["rows"]]
    assert [row["window_width"] for row in rows] == ["0", "8", ""]
    assert "<svg" in Path("out/report.html").read_text()


def test_people_get_a_table_and_are_told_what_is_new(pagekin: Pagekin, sample: Path) -> None:
    first = pagekin("sweep", sample / "s.toml", "-o", "out")
    assert "178 pages in 36 classes" in first.out
    assert "gamma sibling  somers_d sibling  P@10   nDCG@10  orthogonal" in first.out
    assert "3 judged, 0 known from before; out: results.csv" in first.out
    assert "0 judged, 3 known from before" in pagekin("sweep", sample / "s.toml", "-o", "out").out


@pytest.mark.slow
def test_a_store_is_swept_by_the_figures_of_the_paper(pagekin: Pagekin, sample: Path) -> None:
    answer = pagekin(
        "sweep",
        sample / "sample_web.kin",
        "--hierarchy",
        sample / "labels.tsv",
        "-o",
        "out",
        "--references",
        "co-citation",
    )
    assert (answer.code, answer.err) == (0, "")
    for words in ("figure 3", "topical windows", "figure 9", "co-citation"):
        assert words in answer.out
    assert "more-like-this" not in answer.out
    html = Path("out/report.html").read_text()
    for title in ("figure 3", "figure 4", "figure 5", "figure 6", "figures 7 and 8", "figure 9", "figure 2"):
        assert title in html


def test_the_paper_s_sweep_is_printed_to_start_from(pagekin: Pagekin) -> None:
    assert pagekin("sweep", "--print").out == paper_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a sweep file, or a STORE"),
        (["gone.toml"], "there is no sweep file or store 'gone.toml'"),
        (["bad.toml"], "bad.toml: there is no 'stores'"),
        (["bare.toml"], "the sweep names no store"),
        (["bare.toml", "--references", "google"], "there is no 'google'"),
    ],
)
def test_misuse_is_told_in_a_sentence(pagekin: Pagekin, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "bad.toml").write_text('stores = "x"')
    (tmp_path / "bare.toml").write_text('references = ["tf-idf"]')
    answer = pagekin("sweep", *arguments)
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.slow
def test_a_sweep_that_was_killed_goes_on(pagekin: Pagekin, sample: Path, tmp_path: Path) -> None:
    many = SWEEP.replace("[0, 8]", str(list(range(20))))
    (sample / "many.toml").write_text(many)
    command = [*PAGEKIN, "sweep", str(sample / "many.toml"), "--threads", "1", "-o", str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    done = tmp_path / "out" / "done"
    while process.poll() is None and len(list(done.glob("*.json"))) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len(list(done.glob("*.json")))
    assert kept >= 2
    told = json.loads(pagekin("sweep", sample / "many.toml", "-o", "out", "--json").out)
    assert told["reused"] == kept
    assert told["judged"] > 0
