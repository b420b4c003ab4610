"""In how many bits H and I are kept: 16 where there are few pages, else 32."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pagekin.model.arrays import UInt32s, Unsigned

Kind: TypeAlias = type[np.unsignedinteger[Any]]

_FEW = 1 << 16


def kind_for(nodes: int) -> Kind:
    """The numbers for so many signatures, and for the nodes that have them.

    Pages agree by chance in one of 65,536 coordinates of 16 bits: where there are fewer pages than that, a value meets
    less than one that it should not.

    >>> kind_for(65_535).__name__, kind_for(65_536).__name__
    ('uint16', 'uint32')
    """
    return np.uint16 if nodes < _FEW else np.uint32


def kept_in(kind: Kind, signatures: UInt32s) -> Unsigned:
    """Signatures by the leading bits of their values; those of an empty bag are the largest number there is.

    >>> kept_in(np.uint16, np.array([0x12345678, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)).tolist()
    [4660, 65534, 65535]
    """
    if signatures.dtype == kind:
        return signatures
    most = np.iinfo(kind).max
    leading: Unsigned = np.minimum(signatures >> np.uint32(32 - np.iinfo(kind).bits), most - 1).astype(kind)
    leading[signatures == np.iinfo(signatures.dtype).max] = most
    return leading
