"""Many short strings, each compressed by zstd on its own, so that one of them can be read without the others.

All of them by one call: between calls, a thread waits until the Python code of another one pauses. The library says
that its calls for many strings are experimental; without them, there is one call for each, with the same results.
"""

import numpy as np
import zstandard

from pagekin.model.arrays import Int64s, Strings

_HAS_CALLS_FOR_MANY = hasattr(zstandard.ZstdCompressor, "multi_compress_to_buffer")


def compress_all(strings: Strings, level: int) -> Strings:
    """Each string as a zstd frame that has the size of the string.

    >>> packed = compress_all(Strings.of(["kin" * 100, "page" * 100]), 1)
    >>> decompress_all(packed, np.array([300, 400])) == b"kin" * 100 + b"page" * 100
    True
    """
    compressor = zstandard.ZstdCompressor(level=level)
    if not len(strings.data) or not _HAS_CALLS_FOR_MANY:  # the call for many refuses no bytes at all
        return Strings.of(compressor.compress(strings.raw(k)) for k in range(len(strings)))
    packed = compressor.multi_compress_to_buffer(_segments(strings), threads=1)
    return Strings.of(packed[k].tobytes() for k in range(len(packed)))


def decompress_all(packed: Strings, sizes: Int64s) -> bytes:
    """The strings of zstd frames, which have these sizes, joined; raise ZstdError if a frame is damaged."""
    filled = np.flatnonzero(sizes)
    if not len(filled):
        return b""
    decompressor = zstandard.ZstdDecompressor()
    if _HAS_CALLS_FOR_MANY:
        expected = np.ascontiguousarray(sizes[filled], np.int64)
        unpacked = decompressor.multi_decompress_to_buffer(_segments(packed, filled), expected.data, threads=1)
        return b"".join(unpacked[k].tobytes() for k in range(len(unpacked)))
    texts = []
    for k in filled.tolist():
        if zstandard.frame_content_size(packed.raw(k)) != sizes[k]:  # before memory is allocated for it
            raise zstandard.ZstdError(f"string {k} has not its size")
        texts.append(decompressor.decompress(packed.raw(k)))
    return b"".join(texts)


def _segments(strings: Strings, rows: Int64s | slice = slice(None)) -> zstandard.BufferWithSegments:
    places = np.column_stack([strings.offsets[:-1], np.diff(strings.offsets)])[rows]
    return zstandard.BufferWithSegments(strings.data.data, np.ascontiguousarray(places).data)
