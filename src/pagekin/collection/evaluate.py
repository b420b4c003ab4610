"""Evaluation of a ranking by a hierarchy of classes, and the files that it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pagekin.engines.local import cpu_count
from pagekin.evaluation.evaluate import JudgedSystems, judge_systems
from pagekin.evaluation.options import EvaluationOptions
from pagekin.evaluation.report import Evaluation, per_source_lines
from pagekin.evaluation.runs import qrel_lines, qrels_of, rankings_of, run_lines, untie
from pagekin.model.files import write_lines
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore


def evaluate_and_write(
    indexed: IndexedStore | None,
    hierarchy: str,
    options: EvaluationOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Evaluation:
    """Evaluate the index of a collection, another strategy or a run file, and write the files that options name."""
    threads = options.threads or cpu_count()
    judged = judge_systems(indexed, hierarchy, options, threads=threads, progress=progress)
    evaluation = judged.evaluation()
    _write(judged, options)
    return evaluation


def _write(judged: JudgedSystems, options: EvaluationOptions) -> None:
    population, judgement = judged.labelled.population, judged.judgements[0]
    if options.per_source:
        write_lines(Path(options.per_source), per_source_lines(judgement, population))
    if options.write_qrels:
        write_lines(Path(options.write_qrels), qrel_lines(qrels_of(population, judgement.sources)))
    if options.write_run:
        rankings = rankings_of(judged.systems[0], population, judgement.sources, options.run_depth)
        write_lines(Path(options.write_run), run_lines(untie(rankings)))
