"""bzip2: streams decompressed in parallel, and what is left of damaged ones.

A multistream file is a sequence of short streams, each of which can be decompressed alone. Where a stream is damaged,
its blocks are tried one by one, as bzip2recover does. A block begins at any bit, with 48 bits that hardly occur by
chance.
"""

import bz2
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import IO, NamedTuple

from pagekin.engines.local import cpu_count

_STREAM = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_HEAD = 10  # bytes of a match
_READ = 1 << 20
_SHORT = 8 << 20  # bytes; a longer stream is decompressed as it is read
_MOST_AT_ONCE = 16 << 20  # bytes that are decompressed in parallel of one stream; the rest follows step by step
_LONGEST_BLOCK = 2 << 20  # bytes; a block of 900,000 bytes hardly grows
_BLOCK, _END = 0x314159265359, 0x177245385090


class Lost(NamedTuple):
    """A place where data is missing."""

    reason: str


def decompressed(file: IO[bytes]) -> Iterator[bytes | Lost]:
    """The data of a file in pieces, and a Lost for each damaged place."""
    workers = cpu_count()
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[tuple[bytes, Future[tuple[bytes, bz2.BZ2Decompressor]]]] = deque()
        streams = _streams(file)
        for stream in streams:
            if isinstance(stream, Lost):
                yield from _drained(waiting)
                yield stream
            elif len(stream) < _SHORT:
                waiting.append((stream, pool.submit(_begun, stream)))
                if len(waiting) > workers:
                    yield from _finished(*waiting.popleft())
            else:
                yield from _drained(waiting)
                yield from _long(stream, streams)
        yield from _drained(waiting)


def _drained(waiting: "deque[tuple[bytes, Future[tuple[bytes, bz2.BZ2Decompressor]]]]") -> Iterator[bytes | Lost]:
    while waiting:
        yield from _finished(*waiting.popleft())


def _streams(file: IO[bytes]) -> Iterator[bytes | Lost]:
    """Each stream; of a long one, pieces of `_SHORT` bytes, of which the last is shorter."""
    data = file.read(_READ)
    first = _STREAM.search(data)
    if first is None or first.start() > 0:
        yield Lost("no bzip2 data at the beginning")
    data = data[first.start() :] if first else b""
    searched = _HEAD
    while data:
        following = _STREAM.search(data, searched)
        if following is not None:
            if following.start():
                yield data[: following.start()]
            data, searched = data[following.start() :], _HEAD
            continue
        searched = max(_HEAD, len(data) - _HEAD + 1)
        more = file.read(_READ)
        if len(data) + len(more) >= _SHORT + _HEAD or not more:
            cut = len(data) if not more else _SHORT
            data += more
            yield data[:cut]
            data, searched = data[cut:], 0
        else:
            data += more


def _begun(stream: bytes) -> tuple[bytes, bz2.BZ2Decompressor]:
    """The beginning of the data of a short stream, and what decompresses the rest."""
    decompressor = bz2.BZ2Decompressor()
    return decompressor.decompress(stream, _MOST_AT_ONCE), decompressor


def _finished(stream: bytes, future: "Future[tuple[bytes, bz2.BZ2Decompressor]]") -> Iterator[bytes | Lost]:
    try:
        data, decompressor = future.result()
    except OSError:
        yield from _blocks(stream)
        return
    done = len(data)
    yield data
    try:
        while not decompressor.eof and not decompressor.needs_input:
            data = decompressor.decompress(b"", _READ)
            done += len(data)
            yield data
        if not decompressor.eof:
            yield Lost("bzip2 stream ends early")
    except OSError:
        yield from _after(done, _blocks(stream))


def _long(first: bytes, streams: Iterator[bytes | Lost]) -> Iterator[bytes | Lost]:
    """A stream that comes in pieces. After damage, its blocks are tried one by one."""
    decompressor = bz2.BZ2Decompressor()
    piece: bytes | Lost | None = first
    while isinstance(piece, bytes):
        done = 0
        try:
            data = decompressor.decompress(piece, _READ)
            while data or not (decompressor.eof or decompressor.needs_input):
                done += len(data)
                yield data
                data = b"" if decompressor.eof else decompressor.decompress(b"", _READ)
        except OSError:
            yield from _salvaged(piece, done, streams)
            return
        if decompressor.eof:
            return
        piece = next(streams, None)
    yield Lost("bzip2 stream ends early")


def _salvaged(piece: bytes, done: int, streams: Iterator[bytes | Lost]) -> Iterator[bytes | Lost]:
    """The intact blocks of a piece, but for its first `done` bytes, and of the pieces of the stream after it."""
    lost = 0
    while True:
        is_last = len(piece) < _SHORT
        following = None if is_last else next(streams, None)
        marks = _marks(piece)
        cut = len(piece) if not isinstance(following, bytes) or not marks else marks[-1] // 8
        for item in _blocks(piece, marks, is_whole=cut == len(piece)):
            lost += isinstance(item, Lost)
            if isinstance(item, Lost) or lost or done < len(item):
                yield item
            done -= 0 if isinstance(item, Lost) else len(item)
        if not isinstance(following, bytes):
            break
        is_last = len(following) < _SHORT
        piece = piece[cut:] + following
        if is_last:
            yield from _blocks(piece, _marks(piece))
            break
    if not lost:
        yield Lost("damaged bzip2 block")


def _after(done: int, items: Iterator[bytes | Lost]) -> Iterator[bytes | Lost]:
    """The items without their first `done` bytes of data."""
    for item in items:
        if isinstance(item, Lost):
            yield item
        else:
            yield item[done:]
            done = max(0, done - len(item))


def _blocks(stream: bytes, marks: list[int] | None = None, is_whole: bool = True) -> Iterator[bytes | Lost]:
    """The data of each intact block of a damaged stream; of the last one only if the stream `is_whole`."""
    marks = (_marks(stream) if marks is None else marks) + ([len(stream) * 8] if is_whole else [])
    for begin, end in pairwise(marks):
        bits = end - begin
        if bits < 80 or bits > _LONGEST_BLOCK * 8 or _bits(stream, begin, 48) != _BLOCK:
            continue
        checksum = _bits(stream, begin + 48, 32)
        whole = ((_bits(stream, begin, bits) << 48 | _END) << 32) | checksum
        pad = -(bits + 80) % 8
        packed = b"BZh9" + (whole << pad).to_bytes((bits + 80 + pad) // 8)
        try:
            yield bz2.BZ2Decompressor().decompress(packed)
        except OSError:
            yield Lost("damaged bzip2 block")


def _marks(stream: bytes) -> list[int]:
    """The bits at which blocks, or the end of a stream, begin."""
    found = []
    for magic in (_BLOCK, _END):
        for shift in range(8):
            whole = (magic << (8 - shift) % 8).to_bytes(7) if shift else magic.to_bytes(6)
            inner = whole[1:6] if shift else whole  # bytes that are known completely
            at = stream.find(inner)
            while at >= 0:
                begin = at * 8 - (8 - shift) if shift else at * 8
                if begin >= 0 and _bits(stream, begin, 48) == magic:
                    found.append(begin)
                at = stream.find(inner, at + 1)
    return sorted(found)


def _bits(data: bytes, begin: int, count: int) -> int:
    """The number in `count` bits of the data, or in those that it has."""
    first, last = begin // 8, -(-(begin + count) // 8)
    piece = data[first:last]
    return (int.from_bytes(piece) >> max(0, len(piece) * 8 - (begin - first * 8) - count)) & ((1 << count) - 1)
