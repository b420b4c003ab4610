"""Plain hrefs, such as `../trees/oak.html#leaf`: most of all, which need no parser of URLs."""

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Bytes, Int64s

_SLASH, _DOT, _UP = 47, 46, 3  # the latter: bytes of `../`
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~-"
_BEGINS_SEGMENT = np.isin(np.arange(256), list(_LETTERS))


@kernel
def levels_of_plain(hrefs: Bytes, begins: Int64s, ends: Int64s) -> Int64s:
    """For each href, how many folders it goes up by `../`; -1 if it is not plain.

    A plain href consists of these, and then of segments without escapes, of which none begins with a dot.
    """
    levels = np.empty(len(begins), np.int64)
    for k in range(len(begins)):
        i, end = begins[k], ends[k]
        while i + _UP <= end and hrefs[i] == _DOT and hrefs[i + 1] == _DOT and hrefs[i + 2] == _SLASH:
            i += _UP
        levels[k] = (i - begins[k]) // _UP if i < end else -1
        previous = _SLASH
        while i < end:
            byte = hrefs[i]
            if not _BEGINS_SEGMENT[byte] and (previous == _SLASH or (byte != _DOT and byte != _SLASH)):
                levels[k] = -1
                break
            previous = byte
            i += 1
    return levels


@kernel
def join_plain(
    folders: Bytes, offsets: Int64s, folder: Int64s, hrefs: Bytes, begins: Int64s, ends: Int64s, levels: Int64s
) -> tuple[Bytes, Int64s]:
    """The URLs that plain hrefs mean on pages in folders, and the offset of each.

    A folder is `scheme://host/path/`; no level is above that of the host.
    """
    room = 0
    for k in range(len(folder)):
        room += offsets[folder[k] + 1] - offsets[folder[k]] + ends[k] - begins[k]
    urls, places = np.empty(room, np.uint8), np.zeros(len(folder) + 1, np.int64)
    n = 0
    for k in range(len(folder)):
        begin, stop = offsets[folder[k]], offsets[folder[k] + 1]
        root, slashes = begin, 0
        while root < stop and slashes < 3:
            slashes += folders[root] == _SLASH
            root += 1
        for _ in range(levels[k]):
            stop -= stop > root
            while stop > root and folders[stop - 1] != _SLASH:
                stop -= 1
        for i in range(begin, stop):
            urls[n] = folders[i]
            n += 1
        for i in range(begins[k] + _UP * levels[k], ends[k]):
            urls[n] = hrefs[i]
            n += 1
        places[k + 1] = n
    return urls[:n].copy(), places
