"""A map of vectors: points in the plane, near to each other where vectors are similar (t-SNE).

Affinities are those of the nearest vectors, all equal, as Böhm, Berens and Kobak (JMLR 2022) propose; repulsion is
computed on a grid by Fourier transforms (Linderman et al., Nature Methods 2019). There is no chance in it: points begin
at the two principal components.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from pagekin.model.arrays import Floats, Int64s

NEAREST = 12  # vectors that attract each vector
STEPS = 300
_EARLY, _EXAGGERATION = 90, 12.0  # steps in which attraction counts this many times more, so that groups form
_BLOCK = 1 << 22  # similarities that are compared at a time
_CELL = 0.5  # of the grid; repulsion changes over distances of about 1
_CELLS = 32, 256  # the smallest and the largest grid, in one direction
_RATE = 4.0 / _EXAGGERATION  # Belkina et al., Nature Communications 2019; 4 is a factor of the gradient
_LEAST = 0.1  # per point, of the sum over all pairs: on a grid it can be too small where points are far apart
_FEW = 50  # fewer points are laid out by their principal components
_SHORTEST = 1e-9
Spectrum = NDArray[np.complex128]
Steps = Callable[[range], Iterable[int]]


def layout(vectors: Floats, over: Steps = iter) -> Floats:
    """A point for each vector, with coordinates from 0 to 1. No vector may be zero."""
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    count = len(unit)
    points = principal(unit) if count else np.empty((0, 2))
    if count < _FEW:
        return (points + 1.0) / 2.0
    edges = _edges(nearest(unit, NEAREST))
    points *= 1e-2
    speed, gain = np.zeros_like(points), np.ones_like(points)
    for step in over(range(STEPS)):
        early = step < _EARLY
        push, total = repulsion(points)
        force = (_EXAGGERATION if early else 1.0) * _attraction(points, edges) - push / max(total, _LEAST * count)
        gain = np.maximum(np.where(force * speed < 0.0, gain + 0.2, gain * 0.8), 0.01)
        speed = (0.5 if early else 0.8) * speed - _RATE * count * gain * force
        points = points + speed
        points -= points.mean(axis=0)
    low, high = points.min(axis=0), points.max(axis=0)
    square: Floats = (points - (low + high) / 2) / max(float((high - low).max()), _SHORTEST) + 0.5
    return square


def nearest(unit: Floats, count: int) -> Int64s:
    """The numbers of the vectors with the largest cosines, for each of some vectors of length 1, without itself."""
    found = np.empty((len(unit), count), np.int64)
    size = max(1, _BLOCK // len(unit))
    for begin in range(0, len(unit), size):
        cosines = unit[begin : begin + size] @ unit.T
        rows = np.arange(len(cosines))
        cosines[rows, begin + rows] = -2.0
        found[begin : begin + size] = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
    return found


def principal(unit: Floats) -> Floats:
    """The first two principal components, scaled to a largest deviation of 1; the largest value of each is positive."""
    centred = unit - unit.mean(axis=0)
    _, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    points = np.zeros((len(unit), 2))
    axes = axes[:, ::-1][:, :2]
    points[:, : axes.shape[1]] = centred @ axes
    extreme = points[np.abs(points).argmax(axis=0), [0, 1]]
    return points / np.where(np.abs(extreme) > _SHORTEST, extreme, 1.0)


def _edges(neighbours: Int64s) -> tuple[Int64s, Int64s, Floats]:
    """Pairs of neighbours, each in both directions, and their affinities, which sum to 1."""
    count, each = neighbours.shape
    one, other = np.repeat(np.arange(count), each), neighbours.ravel()
    pairs, weight = np.unique(np.concatenate([one * count + other, other * count + one]), return_counts=True)
    return pairs // count, pairs % count, weight / weight.sum()


def _attraction(points: Floats, edges: tuple[Int64s, Int64s, Floats]) -> Floats:
    one, other, affinity = edges
    apart = points[one] - points[other]
    pull = affinity / (1.0 + np.square(apart).sum(axis=1))
    return np.column_stack([np.bincount(one, pull * apart[:, axis], len(points)) for axis in (0, 1)])


def repulsion(points: Floats) -> tuple[Floats, float]:
    """The sums over other points of (y - z) / (1 + |y - z|^2)^2, and the sum over all pairs of 1 / (1 + |y - z|^2)."""
    low = points.min(axis=0)
    extent = float((points.max(axis=0) - low).max())
    cells = int(np.clip(1 << int(np.ceil(np.log2(extent / _CELL + 2))), *_CELLS))
    cell = max(extent, _SHORTEST) / (cells - 1.001)
    place = (points - low) / cell
    corner = np.floor(place).astype(np.int64)
    part = place - corner
    places, shares = [], []
    for dx, dy in ((0, 0), (0, 1), (1, 0), (1, 1)):  # each point is shared by the corners of its cell
        places.append((corner[:, 0] + dx) * cells + corner[:, 1] + dy)
        shares.append(np.abs(1 - dx - part[:, 0]) * np.abs(1 - dy - part[:, 1]))
    distance = cell * np.minimum(np.arange(2 * cells), 2 * cells - np.arange(2 * cells))
    near = 1.0 / (1.0 + np.square(distance)[:, np.newaxis] + np.square(distance))
    kernels = np.fft.rfft2(near), np.fft.rfft2(np.square(near))

    def spread(values: Floats) -> Spectrum:
        grid = np.bincount(np.concatenate(places), np.concatenate([share * values for share in shares]), cells * cells)
        return np.fft.rfft2(grid.reshape(cells, cells), (2 * cells, 2 * cells))

    def gathered(spectrum: Spectrum) -> Floats:
        grid = np.fft.irfft2(spectrum)[:cells, :cells].ravel()
        return np.asarray(np.sum([grid[at] * share for at, share in zip(places, shares, strict=True)], axis=0))

    ones = spread(np.ones(len(points)))
    total = float(gathered(ones * kernels[0]).sum()) - len(points)
    around = gathered(ones * kernels[1])
    push = [points[:, axis] * around - gathered(spread(points[:, axis]) * kernels[1]) for axis in (0, 1)]
    return np.column_stack(push), total
