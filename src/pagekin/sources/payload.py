"""HTTP bodies as they lie in archives -> the bytes of the page, never more than asked for."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable

import brotli
import zstandard

_MAX_ENCODINGS = 4
_STEP = 64 * 1024


class PayloadError(ValueError):
    """A body that is not what its headers say; the sentence is the reason for skipping it."""


def decode_payload(data: bytes, transfer: str, content: str, limit: int) -> bytes:
    r"""Undo chunking and compression. A result longer than `limit` is cut just beyond it, so that it shows.

    >>> decode_payload(b"3\r\nkin\r\n0\r\n\r\n", "chunked", "", 100)
    b'kin'
    """
    if "chunked" in transfer.lower():
        data = dechunk(data)
    encodings = [name for name in content.lower().replace(" ", "").split(",") if name and name != "identity"]
    if len(encodings) > _MAX_ENCODINGS:
        raise PayloadError("too many content encodings")
    for name in reversed(encodings):
        data = _decompress(data, name, limit)
    return data


def dechunk(data: bytes) -> bytes:
    """The chunks of a chunked body joined; data that was never chunked comes back as it is."""
    parts: list[bytes] = []
    i = 0
    while i < len(data):
        stop = data.find(b"\r\n", i, i + 1024)
        size = _chunk_size(data[i:stop]) if stop >= 0 else -1
        if size < 0:
            # Crawlers that undo the chunking often keep the header that announced it.
            return data if i == 0 else b"".join(parts)
        if size == 0:
            break
        parts.append(data[stop + 2 : stop + 2 + size])
        i = stop + 2 + size + 2
    return b"".join(parts)


def _chunk_size(line: bytes) -> int:
    digits = line.split(b";")[0].strip()
    try:
        return int(digits, 16) if digits.isalnum() else -1
    except ValueError:
        return -1


def _decompress(data: bytes, name: str, limit: int) -> bytes:
    decoder = _DECODERS.get(name.removeprefix("x-"))
    if decoder is None:
        raise PayloadError("unknown content encoding")
    try:
        return decoder(data, limit)
    except (zlib.error, brotli.error, zstandard.ZstdError, EOFError) as error:
        if data.lstrip()[:1] == b"<":  # announced, but not done
            return data
        raise PayloadError("compressed body damaged") from error


def _gunzip(data: bytes, limit: int) -> bytes:
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    return decoder.decompress(data, limit + 1)


def _inflate(data: bytes, limit: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, limit + 1)
    except zlib.error:  # some servers send the bare stream
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, limit + 1)


def _unbrotli(data: bytes, limit: int) -> bytes:
    decoder = brotli.Decompressor()
    out = bytearray()
    for start in range(0, len(data), _STEP):
        out += decoder.process(data[start : start + _STEP], output_buffer_limit=limit + 1)
        while not decoder.can_accept_more_data() and len(out) <= limit:
            out += decoder.process(b"", output_buffer_limit=limit + 1)
        if len(out) > limit:
            break
    return bytes(out[: limit + 1])


def _unzstd(data: bytes, limit: int) -> bytes:
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(io.BytesIO(data))
    return reader.read(limit + 1)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
