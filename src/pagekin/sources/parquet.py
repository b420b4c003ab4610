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
    """The pages of a Parquet file; the name of a file of a folder begins with that of the folder."""

    def __init__(self, path: Path, settings: ReadingSettings, name: str = "") -> None:
        need("pyarrow.parquet", what=f"{path.name}, a Parquet file,", extra="parquet")
        super().__init__(path, settings, name)

    def read(self) -> Iterator[SourceItem]:
        number = 0
        for row in self._rows():
            if isinstance(row, Skip):
                yield row
                continue
            number += 1
            item: Capture | tuple[str, str] = ("page too large", "")
            if row is not None:
                item = row_capture(row, Origin(self.name, number, self.size, self.whole.modified), self.settings)
            yield item if isinstance(item, Capture) else Skip(self.name, item[0], f"row {number}{item[1]}")

    def _rows(self) -> Iterator[dict[str, Any] | Skip | None]:
        """Each row, None for one that is too large. A long value of many rows stays one value in a dictionary."""
        import pyarrow
        from pyarrow.parquet import ParquetFile

        try:
            file = ParquetFile(self.path)
            columns = [file.schema.column(k) for k in range(len(file.schema))]
            names = [name for name in ("url", *TEXTS, *OPTIONAL) if name in file.schema_arrow.names]
            texts = [each.path for each in columns if each.path in names and each.physical_type == "BYTE_ARRAY"]
            file = ParquetFile(self.path, read_dictionary=texts)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise SourceError(
                f"{self.path} is no Parquet file that can be read: {error}; fetch or write it again"
            ) from error
        if "url" not in names or not set(names) & set(TEXTS):
            known = ", ".join(TEXTS)
            raise SourceError(f"{self.path} has no column url, or no text column ({known}); rename its columns")
        try:
            for batch in file.iter_batches(_ROWS, columns=names):
                for cells in zip(*batch.columns, strict=True):
                    is_large = any(_bytes(cell) > self.settings.max_page_bytes for cell in cells)
                    yield None if is_large else {name: _value(cell) for name, cell in zip(names, cells, strict=True)}
        except (pyarrow.ArrowException, OSError) as error:
            yield Skip(self.name, "damaged Parquet data, the rest is lost", str(error)[:200])


def _value(cell: Any) -> Any:
    """What a cell holds; in a string, what is not UTF-8 is replaced."""
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return getattr(cell, "value", cell).as_buffer().to_pybytes().decode("utf-8", "replace")


def _bytes(cell: Any) -> int:
    """The length of a string or of bytes, without a copy; 0 for anything else."""
    value = getattr(cell, "value", cell)  # of a dictionary
    return value.as_buffer().size if hasattr(value, "as_buffer") and value.is_valid else 0
