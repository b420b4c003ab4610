"""The registry of term weights: how a term counts by its document frequency df (paper, 3.3 and figure 7).

`none` 1, `log` 1 / (1 + log2 df), `sqrt` 1 / sqrt df, `nmdf` a bell curve over ln df. `okapi` and `linklearn` are
weightings: they also weigh the words of contents by their counts and by the length of the page, and are similarity
measures as well. To add a term weight, add an entry to TERM_WEIGHTS and its settings to `Strategy`.

This module is imported by `Strategy` and so by every command; numpy is imported when a weight is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagekin.errors import MisuseError

if TYPE_CHECKING:
    from pagekin.model.arrays import Floats, Int64s
    from pagekin.model.weighting import Weighting

LEAST = 1e-30  # the smallest factor or weight: a page whose terms all weigh next to nothing still has a bag


@dataclass(frozen=True)
class TermWeight:
    """One way to weigh terms. Its function is called with the values of its settings, in this order."""

    settings: tuple[str, ...] = ()  # of a strategy
    factor: Callable[..., Floats] | None = None  # of (numpy, document frequency, number of bags, *settings)
    weighting: Callable[..., Weighting] | None = None  # of (*settings); its rarity is the factor

    def factors(self, frequency: Int64s, bags: int, *settings: object) -> Floats:
        """The factor that the count of each term is multiplied by."""
        import numpy as np

        if self.weighting is not None:
            return np.maximum(self.weighting(*settings).rarity(frequency, bags), LEAST)
        assert self.factor is not None
        return np.maximum(self.factor(np, np.maximum(frequency, 1).astype(np.float64), bags, *settings), LEAST)


def nmdf_shape(bags: int, center: float | None = None, width: float | None = None) -> tuple[float, float]:
    """Centre and width of the non-monotonic weight, over ln df.

    By default the centre is half of ln of the number of bags: a term in the square root of the collection counts most.
    The width is 15 % of that ln, and at least 1. On collections of 5,000 to 9,000 pages a centre of 4 to 5 and a width
    of 1 to 1.5 were best.
    """
    size = math.log(max(bags, 2))
    return (0.5 * size if center is None else center, max(1.0, 0.15 * size) if width is None else width)


def _nmdf(np: Any, df: Floats, bags: int, center: float | None, width: float | None) -> Floats:
    center, width = nmdf_shape(bags, center, width)
    return np.exp(-0.5 * ((np.log(df) - center) / width) ** 2)  # type: ignore[no-any-return]


def _okapi(k: float, b: float) -> Weighting:
    from pagekin.model.weighting import Okapi

    return Okapi(k, b)


def _linklearn(weights: str | None) -> Weighting:
    from pagekin.model.weighting import weights_from

    if weights is None:
        raise MisuseError(
            "linklearn needs weights, which `pagekin learn` writes into a file; name it with --weights, or as"
            " `weights` in the strategy"
        )
    return weights_from(weights)


TERM_WEIGHTS: dict[str, TermWeight] = {
    "none": TermWeight(factor=lambda np, df, bags: df**0.0),
    "log": TermWeight(factor=lambda np, df, bags: 1.0 / (1.0 + np.log2(df))),
    "sqrt": TermWeight(factor=lambda np, df, bags: 1.0 / np.sqrt(df)),
    "nmdf": TermWeight(("nmdf_center", "nmdf_width"), factor=_nmdf),
    "okapi": TermWeight(("okapi_k", "okapi_b"), weighting=_okapi),
    "linklearn": TermWeight(("weights",), weighting=_linklearn),
}
WEIGHTINGS = tuple(name for name, weight in TERM_WEIGHTS.items() if weight.weighting is not None)
