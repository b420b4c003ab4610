"""Learning term weights from links, and trying them on another collection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekin.errors import FailureError, need
from pagekin.evaluation.run_lines import run_lines
from pagekin.evaluation.runs import qrel_lines, untie
from pagekin.learning.learn import LearnResult, draw_training, draw_weights
from pagekin.learning.learn import learn as learn_weights
from pagekin.learning.options import LearnOptions, Log
from pagekin.learning.projection import need_projection
from pagekin.learning.ranking import Ranker, page_queries, qrels_of, rankings_of
from pagekin.learning.trainer import Checkpoint, Grid
from pagekin.learning.transfer import evaluate_transfer, open_task
from pagekin.model.files import write_lines, written_whole
from pagekin.model.jsons import json_field
from pagekin.model.weighting import load_weights, save_weights
from pagekin.search.indexed_store import IndexedStore

_UNFINISHED = ".unfinished"


@dataclass(frozen=True)
class LearnReport:
    """The file of learned weights, and how good they are; docs/json.md describes `results`."""

    store: str
    weights: str
    results: dict[str, Any] = json_field(inline=True)


@dataclass(frozen=True)
class TransferReport:
    """Learned weights on another collection, compared with OKAPI; docs/json.md describes `results`."""

    documents: str
    weights: str
    results: dict[str, Any] = json_field(inline=True)


def learn(
    indexed: IndexedStore,
    output: Path | None,
    options: LearnOptions,
    figures: Path | None,
    trec: Path | None,
    progress: Log,
) -> LearnReport:
    """Learn weights and write them to `output`, by default beside the store; an interrupted run continues."""
    if figures is not None:
        need("matplotlib", what="a picture", extra="plots")
    if options.projection:
        need_projection()
    output = output or _beside(indexed.root)
    Grid.of(options)  # checks the settings before the work begins
    checkpoint = Checkpoint(output.with_name(output.name + _UNFINISHED))
    outcome = learn_weights(indexed, options, checkpoint, progress)
    save_weights(output, outcome.weighting)
    if figures is not None:
        _draw(outcome, figures)
    if trec is not None:
        _write_trec(outcome, trec)
    checkpoint.remove()
    return LearnReport(str(indexed.root), str(output), outcome.report)


def transfer_weights(
    documents: str,
    weights: str,
    topics: str | None = None,
    qrels: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> TransferReport:
    """Compare learned weights with OKAPI on another collection with queries and relevance judgements.

    `documents` is a store, documents in the TREC format (a file or a folder), or irds:NAME of ir_datasets; `topics` and
    `qrels` are files in the TREC formats.
    """
    weighting, task = load_weights(Path(weights)), open_task(documents, topics, qrels, progress)
    return TransferReport(documents, weights, evaluate_transfer(task, weighting))


def _beside(root: Path) -> Path:
    """The default file of weights.

    >>> _beside(Path("sites/my.kin")).as_posix()
    'sites/my.weights.json'
    """
    root = root if root.name.strip(".") else root.resolve()
    return root.with_name(root.name.removesuffix(".kin") + ".weights.json")


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailureError(f"{folder} cannot be written: {error.strerror or error}") from error
    return folder


def _draw(outcome: LearnResult, folder: Path) -> None:
    with written_whole(_made(folder) / "training.svg") as path:
        draw_training(path, "svg", outcome.run.history, outcome.okapi_validation)
    with written_whole(folder / "weights.svg") as path:
        draw_weights(path, "svg", outcome.parts["train"], outcome.weighting, outcome.okapi)


def _write_trec(outcome: LearnResult, folder: Path) -> None:
    test, names = outcome.parts["test"], outcome.names
    queries = page_queries(test)
    query_names = [names[page] for page in queries.pages.tolist()]
    write_lines(_made(folder) / "qrels.txt", qrel_lines(qrels_of(queries, query_names, names)))
    for name, weighting in (("okapi", outcome.okapi), ("linklearn", outcome.weighting)):
        rankings = rankings_of(Ranker(test, weighting, queries), query_names, names)
        write_lines(folder / f"{name}.run", run_lines(untie(rankings), tag=name))
