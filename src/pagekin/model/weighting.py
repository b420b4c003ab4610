"""What a term weighs on a page: Okapi BM25, and weightings learned from links (paper linklearn, 2.1 and 3.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.model.arrays import Bools, Floats
from pagekin.model.projection import Projection

STOP_SHARE = 10_000 / 150_625  # of the pages: a term that is on more of them tells nothing (the paper, 4.1)
STOP_PAGES = 10  # but one that is on so few may tell something, however small the collection
FORMAT, VERSION = "pagekin weighting", 2
NETWORKS = ("tf", "idf", "length")
MOST_UNITS = 1000  # of a network
_LARGEST = 1e9  # number of a network, so that no weight overflows
_TABLE = 1 << 22  # numbers up to here are looked up in a table, larger ones sorted


Numbers: TypeAlias = NDArray[np.integer[Any]]


class Size(NamedTuple):
    """How large a collection is: its pages, and the mean of their lengths in terms."""

    pages: int
    mean_length: float


class Lengths(NamedTuple):
    """What the length of each page makes of the weights of its terms: see `Weighting`."""

    scale: Floats
    base: Floats


class Weighting(Protocol):
    """What a term weighs on a page, as a function of three numbers.

    The weight is rarity * scale * rise / (base + slope * rise), where `rise` comes from how often the term is on the
    page, `rarity` from how many pages have it, and `scale` and `base` from the length of the page.
    """

    @property
    def kind(self) -> str:
        """What the measure is called."""

    @property
    def slope(self) -> float:
        """How much the weight of a term saturates."""

    @property
    def binary(self) -> bool:
        """Whether the terms of what is asked for count one each, in place of their weights."""

    @property
    def link_share(self) -> float:
        """The share of links in a similarity, unless somebody wishes for another."""

    @property
    def projection(self) -> Projection | None:
        """What lets terms count for each other, if anything does."""

    def rise(self, counts: Numbers) -> Floats:
        """What it is worth that a term is so often on a page."""

    def rarity(self, frequencies: Numbers, pages: int) -> Floats:
        """What it is worth that so many of the pages have a term."""

    def lengths(self, lengths: Numbers, mean_length: float) -> Lengths:
        """What it makes that a page is so long."""

    def weigh(self, counts: Numbers, frequencies: Numbers, lengths: Numbers, size: Size) -> Floats:
        """The weights of terms that are so often on pages, are on so many pages, and whose page is so long."""


def _weigh(weighting: Weighting, counts: Numbers, frequencies: Numbers, lengths: Numbers, size: Size) -> Floats:
    rise = weighting.rise(counts)
    scale, base = weighting.lengths(lengths, size.mean_length)
    damped = np.divide(rise, base + weighting.slope * rise, out=np.zeros(len(rise)), where=counts > 0)
    return weighting.rarity(frequencies, size.pages) * (scale * damped)


@dataclass(frozen=True)
class Okapi:
    """(K + 1) tf idf / (K ((1 - B) + B ndl) + tf), where ndl is the length of the page over the mean length.

    >>> one = np.array([1])
    >>> Okapi(k=1.0, b=0.5).weigh(3 * one, one, 40 * one, Size(8, 20.0)).tolist()  # 2 * 3 ln 8 / (0.5 + 0.5 * 2 + 3)
    [2.7725887222397807]
    """

    k: float = 1.5
    b: float = 0.6
    kind = "okapi"
    slope = 1.0
    binary = True
    link_share = 0.0
    projection = None

    def __post_init__(self) -> None:
        for name, value, most in (("K", self.k, 1000.0), ("B", self.b, 1.0)):
            if not 0.0 <= value <= most:
                raise MisuseError(f"{name} of Okapi is {value}; it must be from 0 to {most:g}")

    def rise(self, counts: Numbers) -> Floats:
        """The count itself."""
        return np.asarray(counts, np.float64)

    def rarity(self, frequencies: Numbers, pages: int) -> Floats:
        """The inverse document frequency."""
        return inverse_frequency(frequencies, pages)

    def lengths(self, lengths: Numbers, mean_length: float) -> Lengths:
        """K ((1 - B) + B ndl), by which a count saturates."""
        normal = np.asarray(lengths, np.float64) / mean_length if mean_length > 0 else np.zeros(len(lengths))
        return Lengths(np.full(len(lengths), self.k + 1.0), self.k * ((1.0 - self.b) + self.b * normal))

    weigh = _weigh


def inverse_frequency(frequencies: Numbers, pages: int) -> Floats:
    """ln(N / df); a term that is on no page has that of one that is on a single one."""
    return np.asarray(np.log(max(pages, 1) / np.maximum(frequencies, 1)), np.float64)


@dataclass(frozen=True)
class Network:
    """softplus(sum of outer * tanh(inner * ((x - shift) * scale) + bias) + last): a perceptron with one input."""

    shift: float
    scale: float
    inner: tuple[float, ...]
    bias: tuple[float, ...]
    outer: tuple[float, ...]
    last: float

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            numbers = [value] if each.type == "float" else [float(number) for number in value]
            if not all(abs(number) <= _LARGEST for number in numbers):  # which NaN is not
                raise MisuseError(f"{each.name} is {value}; it must be finite, at most {_LARGEST:g}")
            if each.type != "float":
                object.__setattr__(self, each.name, tuple(numbers))
        if not len(self.inner) == len(self.bias) == len(self.outer) <= MOST_UNITS:
            raise MisuseError(
                f"inner, bias and outer have {len(self.inner)}, {len(self.bias)} and {len(self.outer)} numbers; they"
                f" must be equally many, at most {MOST_UNITS}"
            )

    def __call__(self, x: Floats | Numbers) -> Floats:
        """Its values."""
        scaled = (np.asarray(x, np.float64) - self.shift) * self.scale
        total = np.full(scaled.shape, self.last)
        for inner, bias, outer in zip(self.inner, self.bias, self.outer, strict=True):
            total += outer * np.tanh(inner * scaled + bias)
        return np.asarray(np.logaddexp(0.0, total), np.float64)


def looked_up(function: Callable[[Numbers], Floats], numbers: Numbers) -> Floats:
    """A function of numbers that are not negative, evaluated once for each distinct one."""
    numbers = np.asarray(numbers)
    most = int(numbers.max(initial=0))
    if most >= _TABLE:
        distinct, place = np.unique(numbers, return_inverse=True)
        return function(distinct)[place]
    there = np.zeros(most + 1, bool)
    there[numbers] = True
    table = np.zeros(most + 1)
    table[there] = function(np.flatnonzero(there))
    return table[numbers]


@dataclass(frozen=True)
class Learned:
    """f_tf(tf) f_idf(ln(N / df)) f_l(l): three networks, whose weights were learned from links.

    So was the share of links themselves in a similarity.
    """

    tf: Network
    idf: Network
    length: Network
    learned_from: Mapping[str, Any] = field(default_factory=dict, compare=False)
    link_share: float = 0.0
    projection: Projection | None = field(default=None, compare=False)  # on top of them; not part of their text
    kind = "linklearn"
    slope = 0.0
    binary = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.link_share <= 1.0:  # which NaN is not
            raise MisuseError(f"link_share is {self.link_share}; it must be from 0 to 1")
        try:
            json.dumps(dict(self.learned_from), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise MisuseError(f"learned_from cannot be kept as JSON: {error}") from error

    def rise(self, counts: Numbers) -> Floats:
        """f_tf, but nothing for a term that is not on the page."""
        return np.where(np.asarray(counts) > 0, looked_up(self.tf, counts), 0.0)

    def rarity(self, frequencies: Numbers, pages: int) -> Floats:
        """f_idf of the inverse document frequency."""
        return looked_up(lambda distinct: self.idf(inverse_frequency(distinct, pages)), frequencies)

    def lengths(self, lengths: Numbers, mean_length: float) -> Lengths:
        """f_l of the length."""
        return Lengths(looked_up(self.length, lengths), np.ones(len(lengths)))

    weigh = _weigh

    def as_text(self) -> str:
        """The weights as JSON, on one line; `learned` makes the same of it."""
        networks = {name: asdict(getattr(self, name)) for name in NETWORKS}
        facts = {"format": FORMAT, "version": VERSION, "kind": self.kind, "networks": networks}
        facts |= {"link_share": self.link_share, "learned_from": dict(self.learned_from)}
        return json.dumps(facts, ensure_ascii=False, allow_nan=False)


def stopped(frequencies: Numbers, pages: int) -> Bools:
    """Which terms are on so many of the pages that they tell nothing."""
    return np.asarray(frequencies) > max(STOP_SHARE * pages, STOP_PAGES)
