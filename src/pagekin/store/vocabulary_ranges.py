"""The vocabulary is written by the executors of Spark: forms and their words travel to ranges of ranks.

The words of the forms are united like the forms themselves (`string_ranges.py`): a range of forms is a group of words.
Each range of ranks becomes a stage file, which is a piece of the columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s, Strings, UInt32s, distinct, offsets_of
from pagekin.store.columns import flat_columns
from pagekin.store.merge import pick, unite
from pagekin.store.pieces import ColumnPieces, place_pieces
from pagekin.store.stage_files import StageFile, finished_or, read_stage, run_stage, shapes_of, strings_in, write_stage
from pagekin.store.string_ranges import columns_of_table, first_ranks, ranks_of, tables_of_groups, united_strings
from pagekin.store.write import words_of, write_vocabulary

_Ranked = tuple[UInt32s, Strings, dict[str, Array]]  # ranks, strings, columns


class _Range(NamedTuple):
    """A range of strings, and how it is divided: the number of the first range of ranks, and how many ranks are in one.

    Forms also have the files of their words, and of the ranks of these words.
    """

    file: StageFile
    ranks: Int64s  # of the first string with each count
    first: int
    step: int
    words: tuple[StageFile, ...] = ()


def write_vocabulary_on_executors(
    pool: SparkPool, spool: Path, folder: Path, forms: Sequence[StageFile], ranks: Sequence[Int64s]
) -> None:
    """What `write_vocabulary` writes, given the ranges of forms and the first ranks of each."""
    if not forms:
        write_vocabulary(folder, Strings.of(()), np.empty(0, np.int64))
        return
    depends_on = [file.digest for file in forms]
    words = run_stage(pool, spool, "lower", _words_of_forms, forms, depends_on)
    united = united_strings(pool, spool, words, ["words"], "words")
    first = first_ranks(pool, united.files["words"])
    numbers = tables_of_groups(pool, spool, united, {"words": first}, "numbers")
    jobs = [each._replace(words=(words[k], numbers[k])) for k, each in enumerate(_ranges(forms, ranks, 0))]
    jobs += _ranges(united.files["words"], first, len(forms))
    depends_on = [file.digest for each in jobs for file in (each.file, *each.words)]
    join = partial(_join_ranks, spool.absolute())
    found = finished_or(spool, "ranked", depends_on, lambda: dict(pool.shuffle(_cut_ranks, jobs, join)))
    files = {"forms": range(len(forms)), "words": range(len(forms), len(jobs))}
    place_pieces(pool.run, folder, *(_pieces([found[k] for k in files[name] if k in found], name) for name in files))


def _ranges(files: Sequence[StageFile], ranks: Sequence[Int64s], first: int) -> list[_Range]:
    """Ranges of strings, which are divided into as many ranges of ranks, numbered from `first`."""
    strings = sum(shapes_of(file)["count"][1][0] for file in files)
    return [_Range(file, some, first, -(-strings // len(files))) for file, some in zip(files, ranks, strict=True)]


def _words_of_forms(file: StageFile) -> dict[str, Array]:
    """The distinct words of a range of forms with their counts, and the number of the word of each form."""
    part = read_stage(file)
    table = unite([(words_of(strings_in(part, "strings")), part["count"])])
    return columns_of_table(table, "words") | {"words.numbers": table.tables[0]}


def _cut_ranks(job: _Range) -> Iterator[tuple[int, _Ranked]]:
    """The strings of a range by the range of their ranks."""
    part = read_stage(job.file)
    ranks, strings, columns = ranks_of(part["count"], job.ranks), strings_in(part, "strings"), {"count": part["count"]}
    if job.words:
        words, numbers = map(read_stage, job.words)
        columns["word"] = numbers["words"][words["words.numbers"]]
    ranges = job.first + ranks.astype(np.int64) // job.step
    for number in distinct(ranges).tolist():
        which = np.flatnonzero(ranges == number)
        yield number, (ranks[which], pick(strings, which), {name: column[which] for name, column in columns.items()})


def _join_ranks(spool: Path, number: int, parts: Iterable[_Ranked]) -> tuple[int, StageFile]:
    """The strings of a range of ranks, in the order of their ranks."""
    ranks, strings, columns = zip(*parts, strict=True)
    order = np.argsort(np.concatenate(ranks))
    lengths, data = zip(*((np.diff(some.offsets), some.data) for some in strings), strict=True)
    ordered = pick(Strings(offsets_of(np.concatenate(lengths)), np.concatenate(data)), order)
    merged = {name: np.concatenate([some[name] for some in columns])[order] for name in columns[0]}
    return number, write_stage(spool, f"ranked-{number}", dict(flat_columns("strings", ordered)) | merged)


def _pieces(files: Sequence[StageFile], name: str) -> ColumnPieces:
    """The columns of strings in files for ranges of ranks."""
    columns = {"strings.offsets": f"{name}.offsets", "strings.data": f"{name}.data", "count": f"{name}.count"}
    return ColumnPieces(files, names=columns | ({"word": "forms.word"} if name == "forms" else {}))
