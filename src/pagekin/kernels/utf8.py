"""Are bytes UTF-8? Without making a string of them."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Bytes, UInt64s

_HIGH_BITS = np.uint64(0x8080808080808080)


@kernel
def is_utf8(data: Bytes, words: UInt64s) -> bool:
    """Whether `data` is UTF-8; `words` are the same bytes, eight at a time, as far as they go."""
    i = 0
    while i < len(data):
        if i & 7 == 0:
            while i >> 3 < len(words) and words[i >> 3] & _HIGH_BITS == 0:
                i += 8
            if i >= len(data):
                return True
        lead = data[i]
        if lead < 0x80:
            i += 1
            continue
        size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        if lead < 0xC2 or lead > 0xF4 or i + size > len(data):
            return False
        second = data[i + 1]
        # Too long for what they hold, surrogates, and what lies beyond U+10FFFF.
        if (lead == 0xE0 and second < 0xA0) or (lead == 0xF0 and second < 0x90):
            return False
        if (lead == 0xED and second > 0x9F) or (lead == 0xF4 and second > 0x8F):
            return False
        for k in range(i + 1, i + size):
            if data[k] & 0xC0 != 0x80:
                return False
        i += size
    return True
