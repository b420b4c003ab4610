"""Arrays in `.npy` files, memory-mapped: an array in one file, or in several that are mapped side by side.

A piece of an array is a `.npy` file of its own. Its header is padded so that the distance from the start of the file to
a row is, modulo ALIGNMENT, the distance from the start of the array to that row, plus HEAD. Pages of memory that lie
within one piece are then mapped from its file; those that hold the end of a piece and the start of the next are copied,
as are short pieces.
Compiled code and numpy see one array. (numpy reads a piece with `np.load(path, max_header_size=20_000)`.)
"""

import ctypes
import math
import mmap
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from pagekin.model.arrays import Array
from pagekin.store.checks import check

ALIGNMENT = 1 << 14  # a multiple of the size of a page of memory on most machines
HEAD = 128  # bytes before the rows of a whole array, and of a first piece
_FACTS = (
    rb"\x93NUMPY\x01\x00(?P<length>..)"
    rb"\{'descr': '(?P<dtype>[<|](?:b1|[iu][1248]|f[48]))', "
    rb"'fortran_order': False, 'shape': \((?P<shape>[0-9]{1,15},(?: [0-9]{1,15})?)\), \} *"
)
_WHOLE, _PIECE = re.compile(_FACTS + rb"\n", re.DOTALL), re.compile(_FACTS, re.DOTALL)
_LONGEST_FACTS = 1 << 10
_SHORT = 1 << 16  # bytes; files up to this size are read, not mapped
_SHORT_ARRAY = 1 << 20  # bytes; the same for arrays
_WRONG_SIZE = "its size is not what its header says"


class _Header(NamedTuple):
    """What a file says of its array: type, shape, and the place of the first row."""

    dtype: Any
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        return math.prod(self.shape) * int(self.dtype.itemsize)


def write_header(file: IO[bytes], dtype: Any, shape: tuple[int, ...]) -> None:
    """Write the header of a whole array."""
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def reserve_piece(path: Path, dtype: Any, shape: tuple[int, ...], begin: int) -> None:
    """Create a file for some rows of an array, which are zero until they are written.

    The rows begin at this byte of the whole array.
    """
    with path.open("wb") as file:
        file.write(_piece_header(dtype, shape, begin))
        file.truncate(file.tell() + math.prod(shape) * int(dtype.itemsize))


def place_of_row(row: int, first: int, row_bytes: int) -> int:
    """The place in its file of a row of a piece, whose first row is this row of the whole array."""
    return HEAD + first * row_bytes % ALIGNMENT + row * row_bytes


def _piece_header(dtype: Any, shape: tuple[int, ...], begin: int) -> bytes:
    facts = BytesIO()
    write_header(facts, dtype, shape)
    start = HEAD + begin % ALIGNMENT
    text = facts.getvalue()[10:].rstrip().ljust(start - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _header(found: re.Match[bytes] | None, size: int, path: Path) -> _Header:
    """The header of a file of this size, checked."""
    check(found is not None, path, "it does not begin as a column does")
    assert found is not None
    shape = tuple(int(length) for length in found["shape"].split(b",") if length)
    header = _Header(np.dtype(found["dtype"].decode()), shape, 10 + int.from_bytes(found["length"], "little"))
    check(header.start + header.size == size, path, _WRONG_SIZE)
    return header


def map_array(file: IO[bytes], path: Path) -> Array:
    """Map the array of an open file.

    numpy's own reader passes the header to Python's parser, which fails if another thread is parsing at that moment
    (seen in Python 3.11), and returns a `memmap`, whose slices cost several times as much as those of a plain array.
    """
    found = _WHOLE.match(file.read(_LONGEST_FACTS))
    dtype, shape, start = header = _header(found, os.fstat(file.fileno()).st_size, path)
    check(found is not None and found.end() == start and start % 64 == 0, path, _WRONG_SIZE)
    if not header.size:  # an empty range cannot be mapped
        return np.empty(shape, dtype)
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype, math.prod(shape), start).reshape(shape)


class _Piece(NamedTuple):
    path: Path
    header: _Header
    begin: int  # the place of its first byte in the array
    data: bytes  # of the file, if it is short


def map_pieces(paths: Sequence[Path], *, in_memory: bool = False) -> Array:
    """One array of the pieces in several files; read into memory if it is short, or cannot be mapped side by side."""
    pieces: list[_Piece] = []
    begin = 0
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            size = os.fstat(descriptor).st_size
            data = os.read(descriptor, size if size <= _SHORT else _LONGEST_FACTS)
        finally:
            os.close(descriptor)
        header = _header(_PIECE.match(data), size, path)
        first = pieces[0].header if pieces else header
        check((header.dtype, header.shape[1:]) == (first.dtype, first.shape[1:]), path, "it holds another type of rows")
        check(header.start == HEAD + begin % ALIGNMENT, path, "it does not follow the piece before it")
        pieces.append(_Piece(path, header, begin, data if size <= _SHORT else b""))
        begin += header.size
    dtype, shape, _ = pieces[0].header
    shape = (sum(piece.header.shape[0] for piece in pieces), *shape[1:])
    if not begin:
        return np.empty(shape, dtype)
    side_by_side = sys.platform in ("linux", "darwin") and ALIGNMENT % mmap.PAGESIZE == 0 and not in_memory
    mapped = side_by_side and begin > _SHORT_ARRAY
    data_of_all = _side_by_side(pieces, begin) if mapped else _copied(pieces, begin)
    return np.frombuffer(data_of_all, dtype, math.prod(shape), HEAD).reshape(shape)


def _copied(pieces: Sequence[_Piece], size: int) -> memoryview:
    data = memoryview(bytearray(HEAD + size))
    for piece in pieces:
        place = HEAD + piece.begin
        rows = piece.data or piece.path.read_bytes()
        check(len(rows) == piece.header.start + piece.header.size, piece.path, _WRONG_SIZE)
        data[place : place + piece.header.size] = memoryview(rows)[piece.header.start :]
    return data.toreadonly()


def _side_by_side(pieces: Sequence[_Piece], size: int) -> mmap.mmap:
    """Map pieces over a range of addresses that belongs to a mapping of nothing, which unmaps all of it at its end."""
    page = mmap.PAGESIZE
    nothing = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    mapped = mmap.mmap(-1, _up(HEAD + size, page), flags=nothing, prot=mmap.PROT_READ)
    base = np.frombuffer(mapped, np.uint8).ctypes.data
    copies: dict[int, bytearray] = {}  # pages of memory that are not mapped from one file

    def copy(first: int, data: bytes) -> None:
        """Less than a page, or a short piece."""
        while data:
            at = first % page
            copied = copies.setdefault(first - at, bytearray(page))
            copied[at : at + len(data)] = data[: page - at]
            first, data = first - at + page, data[page - at :]

    for piece in pieces:
        begin, end = HEAD + piece.begin, HEAD + piece.begin + piece.header.size
        if piece.data:
            check(len(piece.data) == piece.header.start + piece.header.size, piece.path, _WRONG_SIZE)
            copy(begin, piece.data[piece.header.start :])
            continue
        to_file = piece.header.start - begin  # from a place in the range to the place in the file
        inner = min(_up(begin, page), end)
        outer = max(inner, end - end % page)
        with piece.path.open("rb", buffering=0) as file:
            check(os.fstat(file.fileno()).st_size == end + to_file, piece.path, _WRONG_SIZE)
            if inner < outer:
                _map_over(base + inner, outer - inner, file.fileno(), inner + to_file)
            for first, last in ((begin, inner), (outer, end)):
                rows = os.pread(file.fileno(), last - first, first + to_file)
                check(len(rows) == last - first, piece.path, _WRONG_SIZE)
                copy(first, rows)
    for first, copied in copies.items():
        _write_over(base + first, bytes(copied))
    return mapped


def _up(place: int, step: int) -> int:
    return -(-place // step) * step


@cache
def _system() -> Any:
    """The C library of this process."""
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64]
    system.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return system


def _map_over(address: int, length: int, descriptor: int, offset: int) -> None:
    """Map a part of a file over addresses that are mapped already."""
    fixed = 0x10  # MAP_FIXED, on Linux and macOS
    flags = mmap.MAP_SHARED | fixed
    if _system().mmap(address, length, mmap.PROT_READ, flags, descriptor, offset) != address:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _write_over(address: int, data: bytes) -> None:
    """Write a page of memory that is mapped read-only, and to no file."""
    for access in (mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ):
        if _system().mprotect(address, len(data), access):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        if access & mmap.PROT_WRITE:
            ctypes.memmove(address, data, len(data))
