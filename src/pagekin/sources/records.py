"""The records of one WARC stream, over what is damaged in it.

fastwarc reads; it is quick, and right as long as the archive is. Where it stumbles, or stops without a word, the
careful reader (`careful.py`) takes over with the last record, finds the damage, and reads the rest. A record is
therefore given out only when fastwarc has seen the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from pagekin.sources.record import Record, digest_agrees, longest_block, make_record
from pagekin.sources.recover import GZIP, PLAIN, Damage, careful_records, one_record_a_member, starts_with

_MAX_HEADER = 64 * 1024
_MAX_DAMAGES = 100_000  # per stream; a bound on the time that a hostile one can take
_WANTED = ("response", "resource", "revisit")
_VERSION = re.compile(r"WARC/\d+\.\d+")
_ZSTD = b"\x28\xb5\x2f\xfd"


def read_records(file: IO[bytes], limit: int) -> Iterator[Record | Damage]:
    """Responses, resources and revisits, and one Damage for each stretch that cannot be read.

    Payloads hold at most limit + 1 bytes.
    """
    damages = 0
    for item, packed in _read(file, limit):
        if isinstance(item, Damage):
            damages += 1
            yield item
            if damages == _MAX_DAMAGES:
                yield Damage(item.offset, "too many damaged places, the rest was not read")
                return
        elif item.kind in _WANTED:
            # A packed record carries a checksum of its own.
            if packed or digest_agrees(item):
                yield item
            else:
                yield Damage(item.offset, "record does not match its digest")


def _read(file: IO[bytes], limit: int) -> Iterator[tuple[Record | Damage, bool]]:
    if starts_with(file, 0, _ZSTD):
        yield from ((record, True) for record, _ in _fast(file, limit, last=True))
        return
    compressed = starts_with(file, 0, GZIP)
    offset = 0
    if starts_with(file, 0, PLAIN) or (compressed and one_record_a_member(file, limit)):
        for record, following in _fast(file, limit):
            yield record, compressed
            offset = following
    yield from careful_records(file, offset, limit)


def _fast(file: IO[bytes], limit: int, last: bool = False) -> Iterator[tuple[Record, int]]:
    """(record, where the next one begins) for every record that fastwarc can read, the last one only if asked for."""
    from fastwarc.warc import ArchiveIterator

    file.seek(0)
    previous: Record | None = None
    try:
        for raw in ArchiveIterator(file, parse_http=False, max_header_len=_MAX_HEADER):
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
    """The record, or None if it is not what it says of itself."""
    if not _VERSION.fullmatch(str(raw.headers.status_line)):
        return None
    fields = {name.lower(): value for name, value in raw.headers.items()}
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return None
    kept = min(int(length), longest_block(limit))
    block = raw.reader.read(kept)
    return make_record(fields, block, int(length), raw.stream_pos, limit) if len(block) == kept else None
