"""The nearest pages of many pages are found by the executors of Spark, several blocks of pages in a job."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.kernels.page_rows import ScoredRows
from pagekin.model.arrays import Array
from pagekin.store.columns import Mapper
from pagekin.store.stage_files import Columns, Stages

_BLOCKS = 16  # of a job: it takes seconds


def blocks_mapper(stages: Stages, name: str) -> Mapper:
    """What maps the functions of `all_pages` over blocks of pages, on any engine.

    Their results are arrays, or the pages of a block with rows of nearest pages.
    """
    if not isinstance(stages.pool, SparkPool):
        return stages.pool.map

    def mapper(function: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:
        every = list(blocks)
        jobs = [every[begin : begin + _BLOCKS] for begin in range(0, len(every), _BLOCKS)]
        for job, columns in zip(jobs, stages.map(name, _found, function, jobs), strict=True):
            yield from (_result(columns, str(number)) for number in range(len(job)))

    return mapper


def _found(function: Callable[[Any], Any], blocks: list[Any]) -> dict[str, Array]:
    columns: dict[str, Array] = {}
    for number, block in enumerate(blocks):
        result = function(block)
        if isinstance(result, np.ndarray):
            columns[f"{number}"] = result
        else:
            columns[f"{number}.page"], rows = result
            columns |= {f"{number}.{name}": column for name, column in rows._asdict().items()}
    return columns


def _result(columns: Columns, number: str) -> Any:
    if number in columns:
        return columns[number]
    return columns[f"{number}.page"], ScoredRows(*(columns[f"{number}.{name}"] for name in ScoredRows._fields))
