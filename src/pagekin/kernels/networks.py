"""Networks with one input, evaluated once per distinct value, and the way back to their parameters.

A network of k units with the input x says softplus(last + sum outer_j tanh(inner_j x + bias_j)); its parameters lie one
after the other: inner, bias, outer, last. `descending` walks them, and its twin binds both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.kernels.inline import inlined
from pagekin.model.arrays import Bools, Floats


class NetworkArrays(NamedTuple):
    """One of the three: where its parameters begin, its units, and its distinct inputs."""

    base: int
    units: int
    x: Floats


class ValueTable(NamedTuple):
    """What a network said of its distinct inputs, and room for the way back."""

    value: Floats
    slope: Floats  # of the value by what the units sum up to
    hidden: Floats  # inputs x units, flat
    back: Floats  # the derivative of the loss by the value; all 0 between steps
    known: Bools  # whether it was asked in this step; none between steps


@inlined
def evaluate(theta: Floats, network: NetworkArrays, v: int, table: ValueTable) -> None:
    """What a network makes of its v-th input, with all that the way back takes."""
    inner_at, units = network.base, network.units
    z = theta[inner_at + 3 * units]
    for j in range(units):
        h = np.tanh(theta[inner_at + j] * network.x[v] + theta[inner_at + units + j])
        table.hidden[v * units + j] = h
        z += theta[inner_at + 2 * units + j] * h
    small = np.exp(-abs(z))
    table.value[v] = max(z, 0.0) + np.log1p(small)
    table.slope[v] = 1.0 / (1.0 + small) if z >= 0.0 else small / (1.0 + small)


@inlined
def send_back(theta: Floats, network: NetworkArrays, v: int, table: ValueTable, gradient: Floats) -> None:
    """Add to the gradient what the loss wishes of a network at its v-th input."""
    inner_at, units = network.base, network.units
    wish = table.back[v] * table.slope[v]
    table.back[v] = 0.0
    gradient[inner_at + 3 * units] += wish
    for j in range(units):
        h = table.hidden[v * units + j]
        gradient[inner_at + 2 * units + j] += wish * h
        through = wish * theta[inner_at + 2 * units + j] * (1.0 - h * h)
        gradient[inner_at + units + j] += through
        gradient[inner_at + j] += through * network.x[v]
