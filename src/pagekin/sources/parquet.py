"""Parquet files of pages, with the columns of a JSON line: `url`, and `html`, `body`, `content` or `text`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagekin.errors import SourceError, need
from pagekin.model.capture import Capture, Origin, ReadingSettings, Skip, SourceItem
from pagekin.sources.jsonl import OPTIONAL, TEXTS, row_capture
from pagekin.sources.single_file import FileSource

_ROWS = 64  # at a time; a page may have megabytes


class ParquetSource(FileSource):
    """The pages of a Parquet file."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        need("pyarrow.parquet", what=f"{path.name}, a Parquet file,", extra="parquet")
        super().__init__(path, settings)

    def read(self) -> Iterator[SourceItem]:
        number = 0
        for row in self._rows():
            if isinstance(row, Skip):
                yield row
                continue
            number += 1
            item = row_capture(row, Origin(self.name, number, self.size, self.whole.modified), self.settings)
            yield item if isinstance(item, Capture) else Skip(self.name, item[0], f"row {number}{item[1]}")

    def _rows(self) -> Iterator[dict[str, Any] | Skip]:
        import pyarrow
        from pyarrow.parquet import ParquetFile

        try:
            file = ParquetFile(self.path)
        except (pyarrow.ArrowException, OSError) as error:
            raise SourceError(f"{self.path} is no Parquet file: {error}") from error
        names = [name for name in ("url", *TEXTS, *OPTIONAL) if name in file.schema_arrow.names]
        if "url" not in names or not set(names) & set(TEXTS):
            raise SourceError(f"{self.path} has no column url, or none of {', '.join(TEXTS)}; rename its columns")
        try:
            for batch in file.iter_batches(_ROWS, columns=names):
                yield from batch.to_pylist()
        except (pyarrow.ArrowException, OSError) as error:
            yield Skip(self.name, "damaged Parquet data, the rest is lost", str(error)[:200])
