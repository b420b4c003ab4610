"""A gigabyte of zeros, packed small."""

from __future__ import annotations

import zlib

import brotli
import zstandard

from sources.warcs import HTML, http, record

GIGABYTE = 1 << 30
_BLOCK = bytes(1 << 20)
_BLOCKS = GIGABYTE // len(_BLOCK)


def gzip_bomb(before: bytes = b"", after: bytes = b"", zeros: int = GIGABYTE) -> bytes:
    """A gzip member that unpacks to a gigabyte of zeros (or fewer whole megabytes), with something before and after."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    head = packer.compress(before) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush nothing refers back, so that the same bytes can be said again and again.
    block = packer.compress(_BLOCK) + packer.flush(zlib.Z_FULL_FLUSH)
    tail = packer.compress(after) + packer.flush()[:-8]
    checksum = zlib.crc32(before)
    for _ in range(zeros // len(_BLOCK)):
        checksum = zlib.crc32(_BLOCK, checksum)
    checksum = zlib.crc32(after, checksum)
    size = (len(before) + zeros + len(after)) % (1 << 32)
    return head + block * (zeros // len(_BLOCK)) + tail + checksum.to_bytes(4, "little") + size.to_bytes(4, "little")


def brotli_bomb() -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join(packer.process(_BLOCK) for _ in range(_BLOCKS)) + bytes(packer.finish())


def zstd_bomb() -> bytes:
    packer = zstandard.ZstdCompressor(level=1).compressobj(size=GIGABYTE)
    return b"".join(packer.compress(_BLOCK) for _ in range(_BLOCKS)) + packer.flush()


def record_bomb(url: str) -> bytes:
    """A gzip member with a sound record whose page is a gigabyte of zeros."""
    head = http(b"", HTML)
    length = len(head) + GIGABYTE
    whole = record("response", url, head, ("Content-Type", "application/http; msgtype=response"), length=length)
    return gzip_bomb(whole[: -len(b"\r\n\r\n")], b"\r\n\r\n")


BOMBS = {"gzip": gzip_bomb, "br": brotli_bomb, "zstd": zstd_bomb}
