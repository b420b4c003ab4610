"""Copy many stretches of one array to many places of another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, UInt32s


@kernel
def copy_runs(source: NDArray[Any], starts: Int64s, lengths: Int64s, target: NDArray[Any], places: Int64s) -> None:
    """For every k: target[places[k] : ...] = source[starts[k] : starts[k] + lengths[k]]."""
    for k in range(len(starts)):
        start = starts[k]
        place = places[k]
        for i in range(lengths[k]):
            target[place + i] = source[start + i]


@kernel
def map_runs(
    source: NDArray[Any], starts: Int64s, lengths: Int64s, table: NDArray[Any], target: NDArray[Any], places: Int64s
) -> None:
    """As `copy_runs`, each value v copied as table[v]; a value beyond the table stays as it is."""
    for k in range(len(starts)):
        start = starts[k]
        place = places[k]
        for i in range(lengths[k]):
            value = source[start + i]
            target[place + i] = table[value] if value < len(table) else value


@kernel
def count_runs(source: NDArray[Any], starts: Int64s, lengths: Int64s, counts: Int64s) -> None:
    """Add one to counts[v] for every value v of the stretches; a value beyond the counts is passed over."""
    for k in range(len(starts)):
        start = starts[k]
        for i in range(lengths[k]):
            value = source[start + i]
            if value < len(counts):
                counts[value] += 1


@kernel
def places_within(places: Int64s, bounds: Int64s, begins: Int64s) -> UInt32s:
    """Every place less where its row begins, row k being places[bounds[k]:bounds[k+1]]."""
    within = np.empty(len(places), np.uint32)
    for k in range(len(begins)):
        for i in range(bounds[k], bounds[k + 1]):
            within[i] = places[i] - begins[k]
    return within
