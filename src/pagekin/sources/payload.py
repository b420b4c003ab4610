"""Decode HTTP bodies: chunks and compression are undone, up to a size limit."""

import io
import zlib
from collections.abc import Callable
from functools import partial

import brotli
import zstandard

_MAX_ENCODINGS = 4
_STEP = 64 * 1024


class PayloadError(ValueError):
    """A body that contradicts its headers; the message is the reason for the skip."""


def decode_payload(data: bytes, transfer: str, content: str, limit: int) -> bytes:
    r"""Undo chunking and compression. A result longer than `limit` is cut to limit + 1 bytes, so that it is noticed.

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
    """Join the chunks of a body; data that is not chunked is returned unchanged."""
    parts: list[bytes] = []
    i = 0
    while i < len(data):
        stop = data.find(b"\r\n", i, i + 1024)
        digits = data[i:stop].split(b";")[0].strip() if stop >= 0 else b""
        try:
            size = int(digits, 16) if digits.isalnum() else -1
        except ValueError:
            size = -1
        if size < 0:
            # Crawlers that undo the chunking often keep the header that announced it.
            return data if i == 0 else b"".join(parts)
        if size == 0:
            break
        parts.append(data[stop + 2 : stop + 2 + size])
        i = stop + 2 + size + 2
    return b"".join(parts)


def _decompress(data: bytes, name: str, limit: int) -> bytes:
    is_plain = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"<", b"")
    decoder = _DECODERS.get(name)
    if decoder is None:
        if is_plain:  # some servers say "utf-8" or "none" here
            return data
        raise PayloadError("unknown content encoding")
    try:
        return decoder(data, limit)
    except (zlib.error, brotli.error, zstandard.ZstdError, EOFError) as error:
        if is_plain:  # announced, but not compressed
            return data
        raise PayloadError("compressed body damaged") from error


def _inflate_members(data: bytes, limit: int, window: int) -> bytes:
    """Decompress all members of a zlib or gzip stream."""
    out = b""
    while data and len(out) <= limit:
        decoder = zlib.decompressobj(window)
        out += decoder.decompress(data, limit + 1 - len(out))
        if len(out) > limit:
            break
        if not decoder.eof:
            raise EOFError
        data = decoder.unused_data
        if not data.startswith(b"\x1f\x8b"):
            break
    return out


def _inflate(data: bytes, limit: int) -> bytes:
    try:
        return _inflate_members(data, limit, zlib.MAX_WBITS)
    except zlib.error:  # some servers send the stream without the zlib header
        return _inflate_members(data, limit, -zlib.MAX_WBITS)


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
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    reader = decompressor.stream_reader(io.BytesIO(data), read_across_frames=True)
    out = bytearray()
    while len(out) <= limit and (piece := reader.read(min(_STEP, limit + 1 - len(out)))):
        out += piece
    while data and len(out) <= limit:  # small enough to be decompressed again, to check that the last frame is whole
        decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        decoder.decompress(data)
        if not decoder.eof:
            raise EOFError
        data = decoder.unused_data
    return bytes(out)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": partial(_inflate_members, window=zlib.MAX_WBITS | 16),
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
