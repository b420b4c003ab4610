"""What bags share with the one that is asked for, which lies open: `asked` is a weight for every term there is.

A bag holds its heaviest terms first, so that the beginning of it tells most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, UInt32s


@kernel
def sum_minima(asked: NDArray[np.float32], term: UInt32s, weight: NDArray[np.float32]) -> float:
    """The sum of the minima of the weights."""
    both = 0.0
    for i in range(len(term)):
        if term[i] < len(asked):  # else the file is damaged
            mine, theirs = np.float64(asked[term[i]]), np.float64(weight[i])
            both += mine if mine < theirs else theirs
    return both


@kernel
def minima(
    asked: NDArray[np.float32],
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    nodes: Int64s,
    shared: NDArray[np.float64],
) -> None:
    """For each of some bags, the sum of the minima of the weights."""
    for k in range(len(nodes)):
        begin, end = offsets[nodes[k]], offsets[nodes[k] + 1]
        shared[k] = sum_minima(asked, term[begin:end], weight[begin:end])


@kernel
def weigh_products(
    worth: NDArray[np.float64],
    offsets: Int64s,
    term: UInt32s,
    count: UInt32s,
    nodes: Int64s,
    rise: NDArray[np.float64],
    scale: NDArray[np.float64],
    base: NDArray[np.float64],
    slope: float,
    shared: NDArray[np.float64],
) -> None:
    """For each of some bags, the sum of worth * (scale * (rise / (base + slope * rise))) over the terms that it counts.

    `worth` is what is asked for: a number for every word. `rise` is by counts, of which larger ones count as the last;
    `scale` and `base` are by bags.
    """
    for k in range(len(nodes)):
        both = 0.0
        node = nodes[k]
        if node < len(scale):
            for i in range(offsets[node], offsets[node + 1]):
                if term[i] < len(worth) and count[i] > 0:  # else it is no word, or not on the page
                    risen = rise[min(count[i], len(rise) - 1)]
                    both += worth[term[i]] * (scale[node] * (risen / (base[node] + slope * risen)))
        shared[k] = both


@kernel
def products(
    asked: NDArray[np.float32],
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    nodes: Int64s,
    shared: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """For each of some bags, the sum of the products of the weights, and of the squares of its own."""
    for k in range(len(nodes)):
        both = 0.0
        square = 0.0
        for i in range(offsets[nodes[k]], offsets[nodes[k] + 1]):
            theirs = np.float64(weight[i])
            if term[i] < len(asked):
                both += np.float64(asked[term[i]]) * theirs
            square += theirs * theirs
        shared[k] = both
        squares[k] = square
