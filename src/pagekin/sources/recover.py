"""The slow WARC reader, which checks every record, finds the damage in a stream, and continues after it."""

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO

from pagekin.sources.record import Record, block_limit, make_record, parse_fields

GZIP = b"\x1f\x8b\x08"
PLAIN = b"WARC/"
MAX_HEADER = 64 * 1024
_VERSION = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n")
_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n")
_AFTER_BLOCK = (b"", b"\r", b"\n")  # a block should be followed by two line breaks
_BEGINNING = b"WARC/1."  # searched for after damage
_MARKER = re.compile(rb"WARC/1\.|" + re.escape(GZIP))
_STEP = 64 * 1024
_SEARCH_STEP = 1 << 20


@dataclass(frozen=True)
class Damage:
    """A place in the stream where a record could not be read."""

    offset: int
    reason: str


class _BadRecordError(Exception):
    """A damaged record in a stream that can be read further."""


class _BadStreamError(Exception):
    """A gzip member that cannot be decompressed any further."""


class _Stream:
    """The bytes of an archive from an offset on: as stored, or decompressed up to the end of one gzip member."""

    def __init__(self, file: IO[bytes], offset: int, compressed: bool) -> None:
        self._file = file
        self._position = offset  # of the file
        self._packed = b""
        self._buffer = b""
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16) if compressed else None
        self._problem: _BadStreamError | None = None
        self.record_ended = False  # whether the last record was followed by its two line breaks

    def tell(self) -> int:
        """The offset of the next byte; for a finished gzip member, the offset of its end."""
        return self._position - len(self._packed) - (len(self._buffer) if self._inflater is None else 0)

    def peek(self, count: int) -> bytes:
        """The next `count` bytes or more, without consuming them; fewer only at the end."""
        pieces = [self._buffer]
        size = len(self._buffer)
        while size < count and (more := self._more()):
            pieces.append(more)
            size += len(more)
        self._buffer = b"".join(pieces)
        return self._buffer

    def check(self) -> None:
        """Raise _BadStreamError if the bytes ended because the stream is damaged."""
        if self._problem is not None:
            raise self._problem

    def skip(self, count: int) -> int:
        """Consume `count` bytes without keeping them; return how many there were."""
        left = count
        while left > 0 and (data := self.peek(1)):
            part = min(left, len(data))
            self._buffer = data[part:]
            left -= part
        return count - left

    def skip_blank_lines(self) -> None:
        while self.peek(1)[:1] in (b"\r", b"\n"):
            self.skip(1)

    def skip_to(self, marker: bytes) -> bool:
        """Consume bytes up to the next marker; return whether there is one."""
        while True:
            data = self.peek(_STEP)
            found = data.find(marker)
            if found >= 0:
                self._buffer = data[found:]
                return True
            if len(data) < _STEP:
                self._buffer = b""
                self.check()
                return False
            self._buffer = data[1 - len(marker) :]

    def _more(self) -> bytes:
        if self._inflater is None:
            return self._next_piece()
        while not self._inflater.eof and self._problem is None:
            self._packed = self._packed or self._next_piece()
            if not self._packed:
                self._problem = _BadStreamError("truncated record")
                break
            try:
                data = self._inflater.decompress(self._packed, _STEP)
            except zlib.error:
                self._problem = _BadStreamError("damaged compression")
                break
            self._packed = self._inflater.unconsumed_tail or self._inflater.unused_data
            if data:
                return data
        return b""

    def _next_piece(self) -> bytes:
        self._file.seek(self._position)
        data = self._file.read(_STEP)
        self._position += len(data)
        return data


def _read_member(stream: _Stream, offset: int, limit: int) -> Iterator[Record | Damage]:
    """The records of the gzip member at `offset`; after the last one, the stream is at the end of the member."""
    waiting: list[Record] = []  # the last record, until what follows it (at best the checksum) has been verified
    while True:
        try:
            record = _read_record(stream, offset, limit)
        except _BadStreamError:
            if stream.record_ended:
                yield from waiting
            raise
        except _BadRecordError as error:
            yield from waiting
            waiting = []
            yield Damage(offset, str(error))
            if not stream.skip_to(_BEGINNING):
                return
            continue
        yield from waiting
        if record is None:
            return
        waiting = [record]


def recover_records(file: IO[bytes], offset: int, limit: int) -> Iterator[tuple[Record | Damage, bool]]:
    """(record or damage, whether it is compressed) from `offset` to the end; consecutive damage is yielded once.

    A record or a gzip member may begin at any byte, so even an archive whose beginning is lost, or to which something
    else was appended, can be read.
    """
    size = file.seek(0, os.SEEK_END)
    intact = True  # whether the last item was a record
    place: int | None = offset
    while place is not None and place < size:
        compressed = starts_with(file, place, GZIP)
        resume = place + 1
        try:
            stream = _Stream(file, place, compressed)
            if compressed:
                for item in _read_member(stream, place, limit):
                    if isinstance(item, Record) or intact:
                        yield item, True
                    intact = isinstance(item, Record)
                place = stream.tell()
                continue
            stream.skip_blank_lines()
            begin = stream.tell()
            resume = begin + 1
            record = _read_record(stream, begin, limit)
            if record is None:  # the end, even if a zip claims that there is more
                if intact and begin < size:
                    yield Damage(begin, "truncated record"), False
                return
            yield record, False
            intact = True
            place = stream.tell()
        except (_BadStreamError, _BadRecordError) as error:
            if intact:
                yield Damage(place, str(error)), compressed
            intact = False
            place = next_start(file, resume)


def _read_record(stream: _Stream, offset: int, limit: int) -> Record | None:
    """The next record, or None at the end. After a bad record, the stream is after its header, if it has one."""
    stream.skip_blank_lines()
    head = stream.peek(MAX_HEADER)[:MAX_HEADER]
    if not head:
        stream.check()
        return None
    blank = _BLANK_LINE.search(head)
    end = blank.end() if blank else -1
    if end < 0 and len(head) < MAX_HEADER:
        stream.check()
    if end < 0 or not _VERSION.match(head):
        stream.skip(1)
        cut = end < 0 and len(head) < MAX_HEADER and (head.startswith(PLAIN) or PLAIN.startswith(head))
        long = end < 0 and len(head) == MAX_HEADER and _VERSION.match(head)
        raise _BadRecordError("truncated record" if cut else "record header too long" if long else "damaged record")
    fields = parse_fields(head[:end])
    stream.skip(end)
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        raise _BadRecordError("damaged record")
    return _read_block(stream, fields, int(length), offset, limit)


def _read_block(stream: _Stream, fields: dict[str, str], length: int, offset: int, limit: int) -> Record:
    kept = min(length, block_limit(limit))
    # A compressed stream cannot go back, so look at the block before consuming it, as far as memory allows.
    block = stream.peek(kept)[:kept]
    if len(block) < kept:
        stream.check()
        raise _BadRecordError("truncated record")
    if length == kept and stream.peek(kept + 1)[kept : kept + 1] not in _AFTER_BLOCK:
        raise _BadRecordError("damaged record")
    stream.skip(kept)
    if stream.skip(length - kept) < length - kept:
        stream.check()
        raise _BadRecordError("truncated record")
    following = stream.peek(4)[:4]
    if following[:1] not in _AFTER_BLOCK:
        raise _BadRecordError("damaged record")
    stream.record_ended = following == b"\r\n\r\n"
    return make_record(fields, block, length, offset, limit)


def starts_with(file: IO[bytes], offset: int, marker: bytes) -> bool:
    file.seek(offset)
    return file.read(len(marker)) == marker


def next_start(file: IO[bytes], offset: int) -> int | None:
    """The next offset at which a record begins, compressed or not.

    Never goes back in the file: in a compressed zip member, each step back would decompress everything before it again.
    """
    file.seek(offset)
    data, place, ended = b"", 0, False
    while True:
        marker = _MARKER.search(data, place)
        if marker is None and ended:
            return None
        if marker is None or (marker.start() + _STEP > len(data) and not ended):
            kept = marker.start() if marker else max(0, len(data) - len(_BEGINNING) + 1)
            piece = file.read(_SEARCH_STEP)
            offset, data, place, ended = offset + kept, data[kept:] + piece, 0, len(piece) < _SEARCH_STEP
        elif marker[0] == _BEGINNING or _contains_record(data[marker.start() : marker.start() + _STEP]):
            return offset + marker.start()
        else:
            place = marker.start() + 1


def _contains_record(data: bytes) -> bool:
    with suppress(zlib.error):
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, len(PLAIN)) == PLAIN
    return False


def has_single_records(file: IO[bytes], limit: int) -> bool:
    """Whether the first gzip member holds exactly one record, as the members of a WARC should."""
    with suppress(_BadStreamError):
        found = list(islice(_read_member(_Stream(file, 0, compressed=True), 0, limit), 2))
        return len(found) == 1 and isinstance(found[0], Record)
    return False
