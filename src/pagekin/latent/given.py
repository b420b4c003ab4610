"""Vectors of pages from a file, as any encoder makes them: checked, reduced to small integers, in the order of pages.

A file is `NAME.npy` (a matrix of floats, a row for each page) with the names of the pages in `NAME.urls` or `NAME.txt`,
a line for each row; or `NAME.parquet` with the columns `url` (string) and `vector` (list of floats). A page is named by
its URL or by its path in the folder that was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from pagekin.errors import MisuseError, need
from pagekin.latent.lists import Unordered, write_ordered
from pagekin.latent.matrix import mapped_file
from pagekin.latent.vectors import MOST_DIMENSIONS, Vectors, block_size, quantised
from pagekin.model.arrays import Array, Floats
from pagekin.model.files import open_unpacked
from pagekin.store.catalog import Find
from pagekin.store.columns import checksum
from pagekin.store.pieces import append_pieces
from pagekin.store.stage_files import Stages

_LARGEST = 1e30  # larger numbers are errors of an encoder
_MAX_LINE = 1 << 16  # bytes
_NAMES = (".urls", ".txt")
_HOW = "see `Vectors of your own` in docs/strategy.md"

Batch = tuple[list[str], Floats]  # the names of some pages, and their vectors


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors that was checked."""

    path: Path
    digest: str  # of the vectors and the names
    rows: int
    dimensions: int

    def batches(self) -> Iterator[Batch]:
        """The vectors in the order of the file; raise MisuseError for what is not a vector."""
        return _batches(self.path)


def open_vector_file(path: Path) -> VectorFile:
    """Read a file of vectors once to check it; raise MisuseError if there is anything wrong with it."""
    rows, dimensions, known = 0, 0, set[str]()
    for names, vectors in _batches(path):
        for number, name in enumerate(names, rows + 1):
            if name in known:
                raise MisuseError(f"{path}: row {number} is a second vector of {name}; leave one of them out")
            known.add(name)
        rows, dimensions = rows + len(names), vectors.shape[1]
    if not rows:
        raise MisuseError(f"{path} has no vectors; {_HOW}")
    files = [path] if path.suffix == ".parquet" else [path, _names_of(path)]
    return VectorFile(path, sha256("".join(map(checksum, files)).encode()).hexdigest(), rows, dimensions)


def write_given_vectors(folder: Path, file: VectorFile, find: Find, pages: int, stages: Stages) -> dict[str, Any]:
    """Write the vectors of pages; return their entry in the manifest.

    `find` gives the node that a name means. A page without a vector gets one of zeros, which is like no other. If
    several names mean the same page, the first counts.
    """
    row_of_node = np.full(pages, -1, np.int64)
    unknown, repeated, row, example = 0, 0, 0, ""
    with TemporaryFile(dir=folder) as spool:
        norms = []
        for names, vectors in file.batches():
            made = quantised(vectors)
            spool.write(np.ascontiguousarray(made.row).data)
            norms.append(made.norm)
            for name in names:
                node = find(name)
                if node is None or node >= pages:
                    unknown, example = unknown + 1, example or name
                elif row_of_node[node] >= 0:
                    repeated += 1
                else:
                    row_of_node[node] = row
                row += 1
        if row != file.rows:
            raise MisuseError(f"{file.path} changed while it was read; build again")
        if unknown == row and pages:
            raise MisuseError(
                f"{file.path} has no vector of a page of the collection (it names pages such as {example!r}); a page is"
                " named by its URL or by its path in the folder that was read"
            )
        given = Vectors(mapped_file(spool, np.int8).reshape(row, file.dimensions), np.concatenate(norms))
        size = block_size(file.dimensions)
        unordered = Unordered(folder.absolute(), "vectors")
        append_pieces(folder, (unordered.columns(given.take(row_of_node[k : k + size])) for k in range(0, pages, size)))
    write_ordered(unordered, stages)
    return {
        "sha256": file.digest,
        "dimensions": file.dimensions,
        "pages": int(np.count_nonzero(row_of_node >= 0)),
        "without": int(np.count_nonzero(row_of_node < 0)),
        "unknown": unknown,
        "repeated": repeated,
    }


def _batches(path: Path) -> Iterator[Batch]:
    """The vectors of a file, checked."""
    if path.suffix not in (".npy", ".parquet"):
        raise MisuseError(f"{path} is neither .npy nor .parquet; {_HOW}")
    dimensions, row = 0, 0
    for names, vectors in _npy_batches(path) if path.suffix == ".npy" else _parquet_batches(path):
        dimensions = dimensions or vectors.shape[1]
        if not vectors.shape[1] == dimensions <= MOST_DIMENSIONS or not dimensions:
            raise MisuseError(f"{path} has {vectors.shape[1]:,} dimensions; there can be 1 to {MOST_DIMENSIONS:,}")
        sound = (np.abs(vectors) <= _LARGEST).all(axis=1)  # NaN is not
        if not sound.all():
            wrong = int(np.argmin(sound))
            raise MisuseError(
                f"{path}: the vector of {names[wrong]} (row {row + wrong + 1}) has numbers that are not finite or"
                f" larger than {_LARGEST:g}"
            )
        yield names, vectors
        row += len(names)


def _npy_batches(path: Path) -> Iterator[Batch]:
    matrix = _mapped_matrix(path)
    rows, size = len(matrix), block_size(matrix.shape[1])
    file = _names_of(path)
    with open_unpacked(file) as stream:
        names = _lines(file, iter(lambda: stream.readline(_MAX_LINE + 1), b""))
        for begin in range(0, rows, size):
            block = matrix[begin : begin + size]
            some = list(islice(names, len(block)))
            if len(some) < len(block):
                raise MisuseError(f"{file} has {begin + len(some):,} lines, but {path} has {rows:,} rows")
            yield some, block.astype(np.float64)
        if next(names, None) is not None:
            raise MisuseError(f"{file} has more lines than the {rows:,} rows of {path}")


def _mapped_matrix(path: Path) -> Array:
    """A matrix of floats, memory-mapped. Objects, which are pickled, are refused as everything else is."""
    try:
        matrix = np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        raise MisuseError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # numpy parses the header as Python: a damaged one can raise anything
        raise MisuseError(f"{path} is not a .npy file of floats ({str(error)[:200]}); {_HOW}") from error
    if matrix.ndim != 2 or matrix.dtype.kind != "f" or matrix.dtype.itemsize > 8:
        found = f"{matrix.ndim} dimensions of {matrix.dtype}"
        raise MisuseError(f"{path} is an array of {found}; it must be a matrix of float16, float32 or float64")
    if matrix.offset + matrix.nbytes != path.stat().st_size:
        raise MisuseError(f"{path} is damaged: its size is not what its header says")
    return np.asarray(matrix)


def _names_of(path: Path) -> Path:
    """The file with the names of the pages."""
    for suffix in _NAMES:
        if path.with_suffix(suffix).is_file():
            return path.with_suffix(suffix)
    names = " or ".join(path.with_suffix(suffix).name for suffix in _NAMES)
    raise MisuseError(f"{path} needs a file {names} beside it: a URL or file name a line, for each row")


def _lines(file: Path, lines: Iterator[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        try:
            name = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise MisuseError(f"line {number:,} of {file} is not UTF-8") from error
        if not name or len(line) > _MAX_LINE:
            raise MisuseError(
                f"line {number:,} of {file} is {'too long' if name else 'empty'}; each line must hold one URL"
            )
        yield name


def _parquet_batches(path: Path) -> Iterator[Batch]:
    need("pyarrow.parquet", what="a Parquet file of vectors", extra="parquet", otherwise=", or give a .npy file")
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    with _reporting(path), ParquetFile(path) as file:
        kinds = {field.name: field.type for field in file.schema_arrow}
        lists = types.is_list, types.is_large_list, types.is_fixed_size_list
        floats = [name for name, kind in kinds.items() if any(each(kind) for each in lists)]
        if "url" not in kinds or "vector" not in floats or not types.is_floating(kinds["vector"].value_type):
            raise MisuseError(f"{path} must have the columns url (string) and vector (list of floats); {_HOW}")
        row = 0
        for batch in file.iter_batches(batch_size=block_size(MOST_DIMENSIONS), columns=["url", "vector"]):
            if len(batch):
                yield _arrow_batch(path, row, batch)
            row += len(batch)


def _arrow_batch(path: Path, row: int, batch: Any) -> Batch:
    import pyarrow
    from pyarrow import compute

    url, vector = batch.column("url"), batch.column("vector")
    values, lengths = vector.flatten(), compute.list_value_length(vector)
    if url.null_count or vector.null_count or values.null_count:
        raise MisuseError(f"{path}: there are missing values in rows {row + 1:,} to {row + len(batch):,}")
    length = lengths[0].as_py()
    if not compute.all(compute.equal(lengths, length)).as_py():
        raise MisuseError(f"{path}: the vectors in rows {row + 1:,} to {row + len(batch):,} differ in length")
    names = [name.strip() for name in url.cast(pyarrow.string()).to_pylist()]
    if not all(names):
        raise MisuseError(f"{path}: row {row + names.index('') + 1:,} has an empty url")
    return names, values.to_numpy(zero_copy_only=False).astype(np.float64).reshape(len(batch), length)


@contextmanager
def _reporting(path: Path) -> Iterator[None]:
    """Turn an error of pyarrow into a MisuseError."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError) as error:
        raise MisuseError(f"{path} cannot be read as Parquet: {str(error)[:200]}") from error
