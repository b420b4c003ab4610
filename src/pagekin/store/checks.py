"""What must hold for columns from a file before anything uses their numbers as indices.

Compiled code indexes arrays without bounds checks, so a wrong number would read or write anywhere. `columns.open_array`
checks the type, dimensions and size of a file and takes the bound of its numbers; `columns.open_part` checks offsets.
The long columns of a store are not read when it is opened. Whoever reads all of them gets them from `check_reading` and
`check_links`, whose results have types of their own; kernels for single queries skip numbers that are out of range.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import numpy as np
import zstandard

from pagekin.errors import StoreError
from pagekin.model.arrays import Array, Int64s, Numbers, Strings, row_ranges
from pagekin.model.reading import Blobs, CheckedLinks, CheckedReading, IndexOf, Links, PlaceIn, Reading, Width
from pagekin.model.zstd import decompress_all

_BLOCK = 1 << 20  # numbers that are compared at a time
_LARGEST_TEXT = 1 << 32  # bytes; places in a text are numbers of 32 bits


def check(holds: bool, path: Path | str, problem: str) -> None:
    """Raise StoreError if the file fails an invariant that held when it was written."""
    if not holds:
        raise StoreError(f"{path} is damaged ({problem}); build the store again")


def check_type(dtype: Any, shape: tuple[int, ...], kind: Any, dimensions: int, path: Path | str) -> None:
    """Raise StoreError unless an array is of the type `kind`, or one of several, and has so many dimensions."""
    check(dtype in (kind if isinstance(kind, tuple) else (kind,)), path, f"it holds {dtype}")
    check(len(shape) == dimensions, path, f"it has {len(shape)} dimensions")


def check_offsets(offsets: Array, length: int, path: Path | str) -> None:
    """Raise StoreError unless `offsets` ascend from 0 to `length`, so that no row lies outside of its column."""
    sound = offsets.dtype == np.int64 and offsets.ndim == 1 and len(offsets) > 0
    sound = sound and offsets[0] == 0 and offsets[-1] == length
    steps = range(0, len(offsets) - 1, _BLOCK) if sound else ()
    pairs = ((offsets[begin + 1 : begin + _BLOCK + 1], offsets[begin : begin + _BLOCK]) for begin in steps)
    sound = sound and all(bool((after >= before[: len(after)]).all()) for after, before in pairs)
    check(sound, path, "rows lie outside of their column")


def check_below(numbers: Numbers, bound: int, path: Path | str, none: int | None = None) -> None:
    """Raise StoreError unless all numbers are from 0 to `bound` - 1, or `none`."""
    for some in blocks(numbers):
        wrong = int(some.max()) >= bound or int(some.min()) < 0
        if wrong and none is not None:
            rest = some[some != none]
            wrong = int(rest.max(initial=0)) >= bound
        check(not wrong, path, f"a number is not below {bound:,}")


def check_finite(numbers: Array, path: Path | str, least: float = 0.0, most: float = np.inf) -> None:
    """Raise StoreError unless all numbers are finite, and between `least` and `most`."""
    for some in blocks(numbers):
        sound = bool(some.min() >= least) and bool(some.max() <= most) and bool(np.isfinite(some.max()))
        check(sound, path, "its numbers are out of range")


def blocks(column: Array) -> Iterator[Array]:
    """A column in pieces of bounded size, so that a comparison takes little memory."""
    step = max(1, _BLOCK // max(1, column[:1].size))
    return (column[begin : begin + step] for begin in range(0, len(column), step) if column[:1].size)


def column_types(kind: Any) -> dict[str, Any]:
    """The types of the columns of a dataclass: Strings, or the type of the values of an array."""
    return {name: hint if hint is Strings else value_type(hint) for name, (hint, _) in _hints(kind)}


def value_type(hint: Any) -> Any:
    """The type of the values of an array type. From numpy 2.5 on, NDArray is an alias that hides the type of the array.

    >>> value_type(np.ndarray[tuple[int], np.dtype[np.uint8]]) is value_type(list[np.uint8]) is np.uint8
    True
    """
    last = get_args(hint)[-1]
    return get_args(last)[0] if get_origin(last) is np.dtype else last


def rules_of(kind: Any) -> dict[str, IndexOf | PlaceIn | Width]:
    """What is declared of the columns of a dataclass."""
    return {name: rule for name, (_, rule) in _hints(kind) if rule is not None}


def _hints(kind: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for each in fields(kind):
        annotated = hasattr(each.type, "__metadata__")
        yield each.name, get_args(each.type)[:2] if annotated else (each.type, None)


def check_reading(reading: Reading, where: str = "") -> CheckedReading:
    """Check every number that is declared to lead somewhere; types, dimensions and offsets are checked already."""
    sizes = reading.pages.text_bytes
    check_below(sizes, _LARGEST_TEXT, f"{where}pages.text_bytes.npy")
    for each in fields(reading):
        part = getattr(reading, each.name)
        for name, rule in rules_of(type(part)).items() if is_dataclass(part) else ():
            path, column = f"{where}{each.name}.{name}.npy", getattr(part, name)
            if isinstance(rule, IndexOf):
                check_below(column, len(getattr(reading, rule.part)), path, rule.none)
            elif isinstance(rule, PlaceIn):
                ragged = None if rule.part == "pages.text_bytes" else getattr(reading, rule.part).offsets
                for first, last in row_ranges(part.offsets, _BLOCK):
                    most = sizes[first:last] if ragged is None else np.diff(ragged[first : last + 1])
                    offsets = part.offsets[first : last + 1]
                    some = column[offsets[0] : offsets[-1]]
                    _check_places(some, offsets - offsets[0], most, rule.ascending, path)
    return CheckedReading(reading)


def _check_places(column: Numbers, offsets: Int64s, most: Int64s, ascending: bool, path: str) -> None:
    """Raise StoreError unless the numbers of row k are at most most[k] and, if so wanted, ascend."""
    if not len(column):
        return
    filled = np.flatnonzero(offsets[1:] > offsets[:-1])
    starts = offsets[filled]
    check(bool((np.maximum.reduceat(column, starts) <= most[filled]).all()), path, "a number leads out of its page")
    if ascending:
        descents = np.flatnonzero(column[1:] < column[:-1]) + 1
        place = np.minimum(np.searchsorted(starts, descents), len(starts) - 1)
        check(bool((starts[place] == descents).all()), path, "its numbers do not ascend")


def unpack(packed: memoryview, most: int, where: str) -> bytes:
    """Decompress a zstd frame of at most `most` bytes."""
    try:
        size = zstandard.frame_content_size(packed)
        check(0 <= size <= most, where, f"a text of {size:,} bytes where there are at most {most:,}")
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise StoreError(f"{where} is damaged ({error}); build the store again") from error


def unpack_rows(blobs: Blobs, rows: range, sizes: Int64s, where: str) -> bytes:
    """Decompress the strings of consecutive rows, which have these sizes, by one call; joined."""
    offsets = blobs.offsets[rows.start : rows.stop + 1]
    packed = Strings(offsets - offsets[0], blobs.data[offsets[0] : offsets[-1]])
    try:
        return decompress_all(packed, sizes)
    except zstandard.ZstdError as error:
        raise StoreError(f"{where} is damaged ({error}); build the store again") from error


def check_urls(urls: Strings, path: Path | str) -> None:
    """Raise StoreError unless all strings have the scheme and the host of a canonical URL, and are UTF-8."""
    sound = all(url.startswith((b"http://", b"https://")) for url in urls.all_raw())
    try:
        urls.data.tobytes().decode("utf-8")  # no URL begins inside of a character
    except UnicodeDecodeError:
        sound = False
    check(sound, path, "it holds something else than URLs")


def check_links(links: Links, reading: Reading, where: str = "") -> CheckedLinks:
    """Check that every link names a page, and an anchor of that page."""
    check_below(links.page, len(reading), f"{where}links.page.npy")
    offsets = reading.anchors.offsets
    for page, anchor in zip(blocks(links.page), blocks(links.anchor), strict=True):
        anchors = offsets[page.astype(np.int64) + 1] - offsets[page]
        check(bool((anchor < anchors).all()), f"{where}links.anchor.npy", "a number leads out of its page")
    return CheckedLinks(links)
