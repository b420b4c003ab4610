"""How commands are told by which measure pages are compared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from pagekin.errors import MisuseError
from pagekin.model.strategy import MEASURES

if TYPE_CHECKING:
    from pagekin.model.weighting import Weighting

_LEARNED = "linklearn"
similarity_option = click.option(
    "--similarity", type=click.Choice(MEASURES), help="By default that of the strategy; with --weights linklearn."
)
weights_option = click.option(
    "--weights",
    metavar="FILE",
    help="Learned weights for linklearn: a file that `pagekin learn` has written.",
)
links_option = click.option(
    "--links",
    "share",
    metavar="SHARE",
    help="The share of links in the similarity, from 0 to 1; auto: as much as they agree with words. By default as much"
    " as was learned for linklearn, and none for other measures.",
)


def measured(similarity: str | None, weights: str | None) -> str | None:
    """The measure that is meant; None for that of the strategy."""
    if weights is not None and similarity not in (None, _LEARNED):
        raise MisuseError(f"--weights are for --similarity {_LEARNED}, not for {similarity}; leave out one of them")
    return _LEARNED if weights is not None else similarity


def weighting_of(weights: str | None) -> Weighting | None:
    """The weighting that a file holds, if one is named."""
    if weights is None:
        return None
    from pagekin.model.weights import load_weights

    return load_weights(Path(weights))


def share_of(text: str | None) -> float | Literal["auto"] | None:
    """The share of links that is wished for, if any is."""
    if text is None:
        return None
    if text == "auto":
        return "auto"
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise MisuseError(f"--links is {text!r}; it can be a number from 0 to 1, or auto")
    return share
