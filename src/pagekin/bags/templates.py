"""Which blocks are templates: the same on many pages of a host."""

from __future__ import annotations

import numpy as np

from pagekin.model.arrays import Bytes, Int64s, UInt64s

_FEWEST = 4  # on fewer pages than this nothing is a template


def template_blocks(hosts: Int64s, offsets: Int64s, hashes: UInt64s, share: float) -> Bytes:
    """1 for every block whose text stands on more than `share` of the pages of its host, and on at least four.

    `hosts` is the host of every page, `offsets` and `hashes` are the blocks of every page.
    """
    if len(hashes) == 0:
        return np.zeros(0, np.uint8)
    lengths = np.diff(offsets)
    page = np.repeat(np.arange(len(lengths)), lengths)
    host = hosts[page]
    order = np.lexsort((page, hashes, host))
    new_text = np.ones(len(order), bool)
    new_text[1:] = (host[order][1:] != host[order][:-1]) | (hashes[order][1:] != hashes[order][:-1])
    new_page = new_text.copy()
    new_page[1:] |= page[order][1:] != page[order][:-1]
    group = np.cumsum(new_text) - 1
    pages = np.bincount(group, weights=new_page).astype(np.int64)
    pages_of_host = np.bincount(hosts)[host[order][new_text]]
    template = (pages >= _FEWEST) & (pages > share * pages_of_host)
    result = np.zeros(len(hashes), np.uint8)
    result[order] = template[group]
    return result
