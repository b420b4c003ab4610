"""What bags share with the query, which is a dense vector: `query` has a weight for every term.

A bag lists its heaviest terms first, so its head has most of its weight.
"""

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s


@kernel
def sum_minima(query: Float32s, term: UInt32s, weight: Float32s) -> float:
    """The sum of the minima of the weights of the query and of one bag."""
    total = 0.0
    for i in range(len(term)):
        if term[i] < len(query):  # else the file is damaged
            a, b = np.float64(query[term[i]]), np.float64(weight[i])
            total += a if a < b else b
    return total


@kernel
def minima(query: Float32s, offsets: Int64s, term: UInt32s, weight: Float32s, nodes: Int64s, shared: Floats) -> None:
    """For the bag of each node, the sum of the minima of the weights."""
    for k in range(len(nodes)):
        begin, end = offsets[nodes[k]], offsets[nodes[k] + 1]
        shared[k] = sum_minima(query, term[begin:end], weight[begin:end])


@kernel
def weigh_products(
    query: Floats,
    offsets: Int64s,
    term: UInt32s,
    count: UInt32s,
    nodes: Int64s,
    rise: Floats,
    scale: Floats,
    base: Floats,
    slope: float,
    shared: Floats,
) -> None:
    """For the bag of each node, the sum of query * (scale * (rise / (base + slope * rise))) over its counted terms.

    `query` has a weight for every word. `rise` is indexed by count (larger counts use its last value), `scale` and
    `base` are indexed by node.
    """
    for k in range(len(nodes)):
        total = 0.0
        node = nodes[k]
        if node < len(scale):
            for i in range(offsets[node], offsets[node + 1]):
                if term[i] < len(query) and count[i] > 0:  # else it is not a word, or not in the contents
                    risen = rise[min(count[i], len(rise) - 1)]
                    total += query[term[i]] * (scale[node] * (risen / (base[node] + slope * risen)))
        shared[k] = total


@kernel
def products(
    query: Float32s, offsets: Int64s, term: UInt32s, weight: Float32s, nodes: Int64s, shared: Floats, squares: Floats
) -> None:
    """For the bag of each node, the dot product with the query, and the sum of the squares of its own weights."""
    for k in range(len(nodes)):
        total = 0.0
        square = 0.0
        for i in range(offsets[nodes[k]], offsets[nodes[k] + 1]):
            own = np.float64(weight[i])
            if term[i] < len(query):
                total += np.float64(query[term[i]]) * own
            square += own * own
        shared[k] = total
        squares[k] = square
