"""The records of one WARC stream, including those after a damaged place.

fastwarc reads fast, but only intact archives. Where it fails, or stops without an error, the slow reader (`recover.py`)
continues with the last record, finds the damage, and reads the rest. A record of fastwarc is therefore yielded only
after fastwarc has found the next one.
"""

import re
from collections.abc import Iterator
from typing import IO, Any

from pagekin.sources.record import Record, block_limit, make_record, matches_digest
from pagekin.sources.recover import GZIP, MAX_HEADER, PLAIN, Damage, has_single_records, recover_records, starts_with

_MAX_DAMAGES = 100_000  # per stream; bounds the time that a hostile one can take
_WANTED = ("response", "resource", "revisit")
_VERSION = re.compile(r"WARC/\d+\.\d+")
_ZSTD = b"\x28\xb5\x2f\xfd"


def read_records(file: IO[bytes], limit: int) -> Iterator[Record | Damage]:
    """Responses, resources and revisits, and one Damage for each place that cannot be read.

    Payloads have at most limit + 1 bytes.
    """
    damages = 0
    for item, compressed in _read(file, limit):
        if isinstance(item, Damage):
            damages += 1
            yield item
            if damages == _MAX_DAMAGES:
                yield Damage(item.offset, "too many damaged places, the rest was not read")
                return
        elif item.kind in _WANTED:
            # A compressed record has a checksum of its own.
            intact = compressed or matches_digest(item)
            yield item if intact else Damage(item.offset, "record does not match its digest")


def _read(file: IO[bytes], limit: int) -> Iterator[tuple[Record | Damage, bool]]:
    """(record or damage, whether it is compressed)."""
    if starts_with(file, 0, _ZSTD):
        yield from ((record, True) for record, _ in _read_fast(file, limit, last=True))
        return
    compressed = starts_with(file, 0, GZIP)
    offset = 0
    if starts_with(file, 0, PLAIN) or (compressed and has_single_records(file, limit)):
        for record, following in _read_fast(file, limit):
            yield record, compressed
            offset = following
    yield from recover_records(file, offset, limit)


def _read_fast(file: IO[bytes], limit: int, last: bool = False) -> Iterator[tuple[Record, int]]:
    """(record, offset of the next one) for every record that fastwarc can read; the last one only if `last`."""
    from fastwarc.warc import ArchiveIterator

    file.seek(0)
    previous: Record | None = None
    try:
        for raw in ArchiveIterator(file, parse_http=False, max_header_len=MAX_HEADER):
            if previous is not None:
                yield previous, raw.stream_pos
            previous = _record(raw, limit)
            if previous is None:
                return
    except (OSError, ValueError, RuntimeError, EOFError, OverflowError):
        return
    if last and previous is not None:
        yield previous, previous.offset


def _record(raw: Any, limit: int) -> Record | None:
    """The record, or None if it contradicts its header."""
    fields = {name.lower(): value for name, value in raw.headers.items()}
    length = fields.get("content-length", "")
    if not _VERSION.fullmatch(str(raw.headers.status_line)) or not (length.isascii() and length.isdigit()):
        return None
    kept = min(int(length), block_limit(limit))
    block = raw.reader.read(kept)
    return make_record(fields, block, int(length), raw.stream_pos, limit) if len(block) == kept else None
