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
    transfers = _names(transfer)
    if "chunked" in transfers:
        data = dechunk(data)
    encodings = _names(content) + [name for name in transfers if name != "chunked"]
    if len(encodings) > _MAX_ENCODINGS:
        raise PayloadError("too many content encodings")
    for name in reversed(encodings):
        data = _decompress(data, name, limit)
    return data


def _names(value: str) -> list[str]:
    names = [name.strip().removeprefix("x-") for name in value.lower().split(",")]
    return [name for name in names if name and name != "identity"]


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
    decoder = _DECODERS.get(name)
    if decoder is None:
        if _is_plain(data):  # servers say "utf-8" or "none" here
            return data
        raise PayloadError("unknown content encoding")
    try:
        return decoder(data, limit)
    except (zlib.error, brotli.error, zstandard.ZstdError, EOFError) as error:
        if _is_plain(data):  # announced, but not done
            return data
        raise PayloadError("compressed body damaged") from error


def _is_plain(data: bytes) -> bool:
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"<", b"")


def _inflated(data: bytes, limit: int, kind: int) -> bytes:
    """All members of a zlib or gzip stream, up to just beyond the limit."""
    out = b""
    while data and len(out) <= limit:
        decoder = zlib.decompressobj(kind)
        out += decoder.decompress(data, limit + 1 - len(out))
        if len(out) > limit:
            break
        if not decoder.eof:
            raise EOFError
        data = decoder.unused_data
        if not data.startswith(b"\x1f\x8b"):
            break
    return out


def _gunzip(data: bytes, limit: int) -> bytes:
    return _inflated(data, limit, zlib.MAX_WBITS | 16)


def _inflate(data: bytes, limit: int) -> bytes:
    try:
        return _inflated(data, limit, zlib.MAX_WBITS)
    except zlib.error:  # some servers send the bare stream
        return _inflated(data, limit, -zlib.MAX_WBITS)


def _unbrotli(data: bytes, limit: int) -> bytes:
    decoder = brotli.Decompressor()
    out = bytearray()
    for start in range(0, len(data), _STEP):
        out += decoder.process(data[start : start + _STEP], output_buffer_limit=limit + 1)
        while not decoder.can_accept_more_data() and len(out) <= limit:
            out += decoder.process(b"", output_buffer_limit=limit + 1)
        if len(out) > limit:
            return bytes(out[: limit + 1])
    if data and not decoder.is_finished():
        raise EOFError
    return bytes(out)


def _unzstd(data: bytes, limit: int) -> bytes:
    whole = io.BytesIO(data)
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(whole, read_across_frames=True)
    out = bytearray()
    while len(out) <= limit and (piece := reader.read(min(_STEP, limit + 1 - len(out)))):
        out += piece
    if len(out) <= limit and not _ends_with_a_frame(data, limit):
        raise EOFError
    return bytes(out)


def _ends_with_a_frame(data: bytes, limit: int) -> bool:
    """Whether the last frame is whole. Only for what unpacks to no more than `limit`, so that it fits into memory."""
    while data:
        decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        decoder.decompress(data)
        if not decoder.eof:
            return False
        data = decoder.unused_data
    return True


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
