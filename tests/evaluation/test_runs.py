"""Run files of other systems, and ours for other programs."""

from __future__ import annotations

import math
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from ir_measures import P, nDCG

from evaluation.builders import Table, peopled, rows_of
from pagekin.errors import MisuseError
from pagekin.evaluation.evaluate import comparable_measures
from pagekin.evaluation.judge import judge
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.measures import NDCG, PRECISION, ratios
from pagekin.evaluation.run_lines import run_lines
from pagekin.evaluation.runs import RunSystem, qrel_lines, qrels_of, rankings_of, read_run, untie

LABELS = ["a/b/c", "a/b/c", "a/b/d", "a/e/f", "g/h/i", "g/h/i"]
NUMBERS = {f"p{page}": page for page in range(len(LABELS))}


def read(tmp_path: Path, text: str, notes: LeftOut | None = None) -> RunSystem:
    (tmp_path / "run").write_text(text, "utf-8")
    return read_run(tmp_path / "run", peopled(LABELS), NUMBERS.get, notes or LeftOut())


@pytest.mark.parametrize(
    "text",
    ["p0\t1\tp4\t0.75\np0\t2\tp1\t-1e-3\np5\t1\tp4\t2", "p0 Q0 p4 1 0.75 x\np0  Q0 p1 2 -1e-3\tx\np5 Q0 p4 1 2 x\n"],
)
def test_tsv_and_trec_are_read_alike(tmp_path: Path, text: str) -> None:
    run = read(tmp_path, text)
    none = -math.inf
    assert run.scores(np.array([0, 5, 1])).tolist() == [
        [none, -0.001, none, none, 0.75, none],
        [none, none, none, none, 2.0, none],
        [none] * 6,
    ]
    assert run.longest == 2


def test_what_a_run_says_of_others_and_twice_is_counted(tmp_path: Path) -> None:
    notes = LeftOut()
    lines = ["p0\t1\tp1\t0.5", "p0\t2\tp1\t0.9", "p0\t3\tp0\t1", "p0\t4\tnowhere\t1", "elsewhere\t1\tp1\t1"]
    run = read(tmp_path, "\n".join(lines), notes)
    assert run.scores(np.array([0]))[0, 1] == 0.9  # the better of both
    file = tmp_path / "run"
    assert rows_of(notes) == [
        (f"lines of {file} that repeat a result of their query", 1, "p0 p1"),
        (f"lines of {file} with the query itself as a result", 1, "p0"),
        (f"lines of {file} with a result that is not compared", 1, "nowhere"),
        (f"lines of {file} with a query that is not compared", 1, "elsewhere"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p0\t1\tp1\t0.5\np0\t2\tp2\tnan\n", "line 2: the score 'nan' is not a number"),
        ("p0 Q0 p1 1 inf x", "line 1: the score 'inf' is not a number"),
        ("p0\t1\tp1\tgood", "line 1: the score 'good' is not a number"),
        ("p0,1,p1,0.5", "line 1 is not a line of a run"),
        ("query,rank,url,similarity\np0,1,p1\n", "line 2 is not a line of a run"),
        ("query,rank,url,similarity\np0,1,p1,much\n", "line 2: the score 'much' is not a number"),
        ('{"query": "p0", "url": 3, "similarity": 1}', "line 1 is not a line of a run"),
        ('{"query": "p0", "url": "p1"}', "line 1: the score None is not a number"),
        ('{"query": "p0", "url": "p1", "similarity": true}', "line 1: the score True is not a number"),
        ("{" * 10000, "line 1 is not a line of a run"),
        ("PAR1 and nothing else", "cannot be read as Parquet"),
        ("p0 p1 0.5", "line 1 is not a line of a run"),
        ("x\t1\ty\t1\n", "no line with a query and a result that are compared, such as http://p.example/0"),
        ("", "no line with a query"),
    ],
)
def test_a_run_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(MisuseError, match=said):
        read(tmp_path, text)


def test_a_list_of_the_top_pages_can_be_compared_by_them_alone(tmp_path: Path) -> None:
    assert comparable_measures(read(tmp_path, "p0\t1\tp1\t1")) == []  # not even ten
    everything = "".join(f"p0\t1\tp{page}\t{page}\n" for page in range(1, 6))
    assert read(tmp_path, everything).longest is None
    assert "gamma" in comparable_measures(read(tmp_path, everything))
    ten = RunSystem("ten", np.array([0, 10, *[10] * 19]), np.arange(1, 11), np.ones(10))
    assert comparable_measures(ten) == [PRECISION, NDCG]


@settings(deadline=None, max_examples=40)
@given(data=st.data(), count=st.integers(2, 30))
def test_ir_measures_finds_the_same_from_our_files(data: st.DataObject, count: int) -> None:
    """With ties, which it would break by names; with pages that are not listed; and with sources without answers."""
    parts = st.sampled_from("ab")
    labels = data.draw(
        st.lists(st.tuples(parts, parts, parts).map("/".join), min_size=count, max_size=count).filter(
            lambda x: len({*x}) > 1
        )
    )
    score = st.sampled_from([0.0, 0.25, 0.25 + 1e-9, 1.0, -math.inf]) | st.floats(-2, 2)
    rows = data.draw(st.lists(st.lists(score, min_size=count, max_size=count), min_size=count, max_size=count))
    population, system = peopled(labels), Table(rows)
    try:
        judgement = judge(system, population)
    except MisuseError:  # from every page all others are equally far
        reject()
    ours = ratios(judgement, population.regions).values()
    qrels = list(ir_measures.read_trec_qrels("\n".join(qrel_lines(qrels_of(population, judgement.sources)))))
    run = list(
        ir_measures.read_trec_run("\n".join(run_lines(untie(rankings_of(system, population, judgement.sources, 10)))))
    )
    theirs = ir_measures.calc_aggregate([P(rel=3) @ 10, nDCG @ 10], qrels, run)
    assert ours[PRECISION] == pytest.approx(theirs[P(rel=3) @ 10], abs=1e-9)
    assert ours[NDCG] == pytest.approx(theirs[nDCG @ 10], abs=1e-9)


def test_our_run_is_read_back_as_the_same_order(tmp_path: Path) -> None:
    population = peopled(LABELS)
    rows = [[0.5, 0.5, 0.5, 0.1, -math.inf, 0.5]] * 6
    file = tmp_path / "run"
    lines = list(run_lines(untie(rankings_of(Table(rows), population, np.array([3]), 3))))
    assert [line.split()[:4] for line in lines] == [
        ["http://p.example/3", "Q0", f"http://p.example/{page}", str(page + 1)] for page in (0, 1, 2)
    ]
    file.write_text("\n".join(lines))
    numbers = {url: page for page, url in enumerate(population.urls)}
    (back,) = read_run(file, population, numbers.get, LeftOut()).scores(np.array([3])).tolist()
    assert 0.5 == back[0] > back[1] > back[2] > 0.4999999
    assert back[3:] == [-math.inf] * 3
