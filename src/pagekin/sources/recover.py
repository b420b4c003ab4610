"""Reading records one by one and trusting none: where is the damage, and where does the next record begin?"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from pagekin.sources.record import Record, longest_block, make_record, parse_fields

GZIP = b"\x1f\x8b\x08"
PLAIN = b"WARC/"
VERSION = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n")
_BEGINNING = b"WARC/1."  # what is looked for after damage
_MARKER = re.compile(rb"WARC/1\.|" + re.escape(GZIP))
_MAX_HEADER = 64 * 1024
_STEP = 64 * 1024
_SEARCH_STEP = 1 << 20


@dataclass(frozen=True)
class Damage:
    """A place in the stream where a record could not be read."""

    offset: int
    reason: str


class _BadRecordError(Exception):
    """A record that is not what it should be; its stream can still be read."""


class _BadStreamError(Exception):
    """A gzip member that cannot be unpacked any further."""


class _Stream:
    """The bytes of an archive from an offset on: as they are, or unpacked to the end of one gzip member."""

    def __init__(self, file: IO[bytes], offset: int, compressed: bool) -> None:
        self._file = file
        self._read = offset  # the file is read up to here
        self._packed = b""
        self._buffer = b""
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16) if compressed else None
        self._problem: _BadStreamError | None = None
        self.record_ended = False  # whether the last record was followed by its two line breaks

    def tell(self) -> int:
        """The offset of what was not yet taken; of a member that is used up, the offset of its end."""
        return self._read - len(self._packed) - (len(self._buffer) if self._inflater is None else 0)

    def peek(self, count: int) -> bytes:
        """At least the next `count` bytes, if there are as many."""
        pieces = [self._buffer]
        size = len(self._buffer)
        while size < count and self._problem is None:
            try:
                more = self._more()
            except _BadStreamError as error:
                self._problem = error
                break
            if not more:
                break
            pieces.append(more)
            size += len(more)
        self._buffer = b"".join(pieces)
        return self._buffer

    def check(self) -> None:
        """Say what is wrong with the stream, if its bytes ended too soon."""
        if self._problem is not None:
            raise self._problem

    def take(self, count: int) -> bytes:
        """The next `count` bytes, or what there is."""
        data = self.peek(count)[:count]
        self._buffer = self._buffer[len(data) :]
        return data

    def pass_over(self, count: int) -> int:
        """Leave out bytes without keeping them; how many there were."""
        left = count
        while left > 0 and (data := self.peek(1)):
            part = min(left, len(data))
            self._buffer = data[part:]
            left -= part
        return count - left

    def pass_to(self, marker: bytes) -> bool:
        """Leave out bytes up to the next marker; whether there is one."""
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
        while not self._inflater.eof:
            self._packed = self._packed or self._next_piece()
            if not self._packed:
                raise _BadStreamError("truncated record")
            try:
                data = self._inflater.decompress(self._packed, _STEP)
            except zlib.error as error:
                raise _BadStreamError("damaged compression") from error
            self._packed = self._inflater.unconsumed_tail or self._inflater.unused_data
            if data:
                return data
        return b""

    def _next_piece(self) -> bytes:
        self._file.seek(self._read)
        data = self._file.read(_STEP)
        self._read += len(data)
        return data


class _Member:
    """The records of one gzip member, and its end once they are read."""

    def __init__(self, file: IO[bytes], offset: int, limit: int) -> None:
        self._stream = _Stream(file, offset, compressed=True)
        self._offset = offset
        self._limit = limit
        self.end = offset

    def __iter__(self) -> Iterator[Record | Damage]:
        waiting: Record | None = None  # until what follows it, at best the checksum, has proved to be right
        while True:
            try:
                record = _read_record(self._stream, self._offset, self._limit)
            except _BadStreamError:
                if waiting is not None and self._stream.record_ended:
                    yield waiting
                raise
            except _BadRecordError as error:
                if waiting is not None:
                    yield waiting
                waiting = None
                yield Damage(self._offset, str(error))
                if not self._stream.pass_to(_BEGINNING):
                    break
                continue
            if waiting is not None:
                yield waiting
            waiting = record
            if record is None:
                break
        self.end = self._stream.tell()


def careful_records(file: IO[bytes], offset: int, limit: int) -> Iterator[tuple[Record | Damage, bool]]:
    """(record or damage, whether it was packed) from `offset` to the end; damage of one stretch is given once.

    A record may begin as it is or as a gzip member at any place, so that even an archive whose beginning is lost, or
    to whose end something else was appended, is read.
    """
    size = file.seek(0, os.SEEK_END)
    fresh = True
    place: int | None = offset
    while place is not None and place < size:
        compressed = starts_with(file, place, GZIP)
        problem: Damage | None = None
        resume = place + 1
        try:
            if compressed:
                member = _Member(file, place, limit)
                for item in member:
                    good = isinstance(item, Record)
                    if good or fresh:
                        yield item, True
                    fresh = good
                place = member.end
                continue
            stream = _Stream(file, place, compressed=False)
            _pass_blank_lines(stream)
            begin = stream.tell()
            resume = begin + 1
            record = _read_record(stream, begin, limit)
            if record is None:  # the end, though a zip may claim that there is more
                if fresh and begin < size:
                    yield Damage(begin, "truncated record"), False
                return
            yield record, False
            fresh = True
            place = stream.tell()
        except _BadStreamError as error:
            problem = Damage(place, str(error))
        except _BadRecordError as error:
            problem = Damage(place, str(error))
        if problem is not None:
            if fresh:
                yield problem, compressed
            fresh = False
            place = next_start(file, resume)


def _pass_blank_lines(stream: _Stream) -> None:
    while stream.peek(1)[:1] in (b"\r", b"\n"):
        stream.pass_over(1)


def _read_record(stream: _Stream, offset: int, limit: int) -> Record | None:
    """The next record; None at the end. After a bad record the stream stands behind its header, if it has one."""
    _pass_blank_lines(stream)
    head = stream.peek(_MAX_HEADER)[:_MAX_HEADER]
    if not head:
        stream.check()
        return None
    end = _header_end(head)
    if end < 0 and len(head) < _MAX_HEADER:
        stream.check()
    if not VERSION.match(head) and end >= 0:
        stream.pass_over(1)
        raise _BadRecordError("damaged record")
    if end < 0:
        stream.pass_over(1)
        cut = len(head) < _MAX_HEADER and (head.startswith(PLAIN) or PLAIN.startswith(head))
        long = len(head) == _MAX_HEADER and VERSION.match(head)
        raise _BadRecordError("truncated record" if cut else "record header too long" if long else "damaged record")
    fields = parse_fields(stream.take(end))
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        raise _BadRecordError("damaged record")
    return _read_block(stream, fields, int(length), offset, limit)


def _header_end(head: bytes) -> int:
    ends = [found + len(blank) for blank in (b"\r\n\r\n", b"\n\n") if (found := head.find(blank)) >= 0]
    return min(ends, default=-1)


def _read_block(stream: _Stream, fields: dict[str, str], length: int, offset: int, limit: int) -> Record:
    kept = min(length, longest_block(limit))
    # A packed stream cannot go back to what was taken; so look before taking, as far as memory allows.
    block = stream.peek(kept)[:kept]
    if len(block) < kept:
        stream.check()
        raise _BadRecordError("truncated record")
    if length == kept and not _ends_record(stream.peek(kept + 1)[kept : kept + 1]):
        raise _BadRecordError("damaged record")
    stream.pass_over(kept)
    if stream.pass_over(length - kept) < length - kept:
        stream.check()
        raise _BadRecordError("truncated record")
    following = stream.peek(4)[:4]
    if not _ends_record(following[:1]):
        raise _BadRecordError("damaged record")
    stream.record_ended = following == b"\r\n\r\n"
    return make_record(fields, block, length, offset, limit)


def _ends_record(following: bytes) -> bool:
    """Whether this byte, or none, can follow a block: two line breaks should."""
    return following in (b"", b"\r", b"\n")


def starts_with(file: IO[bytes], offset: int, marker: bytes) -> bool:
    """Whether the file has these bytes at `offset`."""
    file.seek(offset)
    return file.read(len(marker)) == marker


def next_start(file: IO[bytes], offset: int) -> int | None:
    """The next place from `offset` on at which a record begins, packed or not.

    Never goes back in the file: in one that is packed itself, each step back would unpack all before it again.
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
        elif marker[0] == _BEGINNING or _unpacks_to_a_record(data[marker.start() : marker.start() + _STEP]):
            return offset + marker.start()
        else:
            place = marker.start() + 1


def _unpacks_to_a_record(data: bytes) -> bool:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, len(PLAIN)) == PLAIN
    except zlib.error:
        return False


def one_record_a_member(file: IO[bytes], limit: int) -> bool:
    """Whether the gzip member at the start of the file holds just one record, as archives should be packed."""
    try:
        found = [item for item, _ in zip(_Member(file, 0, limit), range(2), strict=False)]
    except _BadStreamError:
        return False
    return len(found) == 1 and isinstance(found[0], Record)
