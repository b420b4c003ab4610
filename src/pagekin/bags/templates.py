"""Template blocks: blocks with the same text on many pages of a host."""

import numpy as np

from pagekin.model.arrays import Bytes, Int64s, UInt64s

_MIN_PAGES = 4  # that share a template


def template_blocks(hosts: Int64s, offsets: Int64s, hashes: UInt64s, share: float) -> Bytes:
    """1 for every block whose text is on more than `share` of the pages of its host, and on at least four.

    `hosts` gives the host of every page, `offsets` and `hashes` the blocks of every page.
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
    template = (pages >= _MIN_PAGES) & (pages > share * pages_of_host)
    result = np.zeros(len(hashes), np.uint8)
    result[order] = template[group]
    return result
