"""Weightings of terms on pages: Okapi BM25, and weights learned from links (LinkLearn paper, 2.1 and 3.2).

Learned weights are a file of JSON, with what they were learned from:

{"format": "pagekin weighting", "version": 2, "kind": "linklearn", "link_share": 0.25, "learned_from": {...},
"networks": {"tf": {"shift", "scale", "inner": [...], "bias": [...], "outer": [...], "last"}, "idf", "length"}}

Files of version 1 have no link_share, which is 0. "projection", if present, is the digest of the projection file beside
it (`model/projection.py`).
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.errors import FailureError, MisuseError
from pagekin.model.arrays import Bools, Floats, Numbers
from pagekin.model.files import read_bounded, sync_folder, written_whole
from pagekin.model.projection import SUFFIX, Projection, load_projection

STOP_SHARE = 10_000 / 150_625  # a term on a larger share of the pages is a stop word (the paper, 4.1)
STOP_PAGES = 10  # but a term on at most this many pages is not, however small the collection
FORMAT, VERSION = "pagekin weighting", 2
NETWORKS = ("tf", "idf", "length")
MOST_UNITS = 1000  # per network
MOST_BYTES = 1 << 20  # of a file of weights
_WITHOUT_LINKS = 1  # an older version that is still read
_LARGEST = 1e9  # absolute value of a parameter, so that no weight overflows
_TABLE = 1 << 22  # numbers below this are looked up in a table, larger ones are sorted


class Size(NamedTuple):
    """The size of a collection: the number of pages, and their mean length in terms."""

    pages: int
    mean_length: float


class Weighting:
    """The weight of a term on a page: rarity * scale * rise / (base + slope * rise).

    `rise` depends on the count of the term on the page, `rarity` on its document frequency, and `scale` and `base` on
    the length of the page.
    """

    kind: str  # the name of the measure
    slope: float  # how much the weight saturates with the count
    binary: bool  # whether the terms of a query count 1 each, not their weights
    link_share: float  # the default share of links in a similarity
    projection: Projection | None  # of term vectors, if any

    def rise(self, counts: Numbers) -> Floats:
        """The effect of the counts of terms on a page."""
        raise NotImplementedError

    def rarity(self, frequencies: Numbers, pages: int) -> Floats:
        """The effect of document frequencies."""
        raise NotImplementedError

    def lengths(self, lengths: Numbers, mean_length: float) -> tuple[Floats, Floats]:
        """Length normalisation: `scale` and `base`."""
        raise NotImplementedError

    def weigh(self, counts: Numbers, frequencies: Numbers, lengths: Numbers, size: Size) -> Floats:
        """The weights of terms, given their counts, their document frequencies and the lengths of their pages."""
        rise = self.rise(counts)
        scale, base = self.lengths(lengths, size.mean_length)
        damped = np.divide(rise, base + self.slope * rise, out=np.zeros(len(rise)), where=counts > 0)
        return self.rarity(frequencies, size.pages) * (scale * damped)


@dataclass(frozen=True)
class Okapi(Weighting):
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
        return np.asarray(counts, np.float64)

    def rarity(self, frequencies: Numbers, pages: int) -> Floats:
        return inverse_frequency(frequencies, pages)

    def lengths(self, lengths: Numbers, mean_length: float) -> tuple[Floats, Floats]:
        normal = np.asarray(lengths, np.float64) / mean_length if mean_length > 0 else np.zeros(len(lengths))
        return np.full(len(lengths), self.k + 1.0), self.k * ((1.0 - self.b) + self.b * normal)


@dataclass(frozen=True)
class Bm25(Okapi):
    """The same with a query whose terms have their weights, as a page has."""

    binary = False


def inverse_frequency(frequencies: Numbers, pages: int) -> Floats:
    """ln(N / df); a term on no page is treated as if it were on one."""
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
            single = each.type is float
            numbers = (value,) if single else value
            if not isinstance(numbers, list | tuple) or not all(type(number) in (int, float) for number in numbers):
                raise MisuseError(f"{each.name} should be {'a number' if single else 'numbers'}")
            if not all(abs(number) <= _LARGEST for number in numbers):  # false for NaN
                raise MisuseError(f"{each.name} is {value}; it must be finite, at most {_LARGEST:g}")
            if not single:
                object.__setattr__(self, each.name, tuple(map(float, value)))
        if not len(self.inner) == len(self.bias) == len(self.outer) <= MOST_UNITS:
            raise MisuseError(
                f"inner, bias and outer have {len(self.inner)}, {len(self.bias)} and {len(self.outer)} numbers; they"
                f" must be equally many, at most {MOST_UNITS}"
            )

    def __call__(self, x: Floats | Numbers) -> Floats:
        scaled = (np.asarray(x, np.float64) - self.shift) * self.scale
        total = np.full(scaled.shape, self.last)
        for inner, bias, outer in zip(self.inner, self.bias, self.outer, strict=True):
            total += outer * np.tanh(inner * scaled + bias)
        return np.asarray(np.logaddexp(0.0, total), np.float64)


def looked_up(function: Callable[[Numbers], Floats], numbers: Numbers) -> Floats:
    """The values of a function of non-negative numbers, evaluated once per distinct number."""
    numbers = np.asarray(numbers)
    most = int(numbers.max(initial=0))
    if most >= _TABLE:
        distinct, place = np.unique(numbers, return_inverse=True)
        return function(distinct)[place]
    present = np.zeros(most + 1, bool)
    present[numbers] = True
    table = np.zeros(most + 1)
    table[present] = function(np.flatnonzero(present))
    return table[numbers]


@dataclass(frozen=True)
class Learned(Weighting):
    """f_tf(tf) f_idf(ln(N / df)) f_l(l): three networks learned from links, and the learned share of links."""

    tf: Network
    idf: Network
    length: Network
    learned_from: Mapping[str, Any] = field(default_factory=dict, compare=False)
    link_share: float = 0.0
    projection: Projection | None = field(default=None, compare=False)  # not part of `as_text`
    kind = "linklearn"
    slope = 0.0
    binary = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.link_share <= 1.0:  # false for NaN
            raise MisuseError(f"link_share is {self.link_share}; it must be from 0 to 1")
        try:
            json.dumps(dict(self.learned_from), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise MisuseError(f"learned_from cannot be kept as JSON: {error}") from error

    def rise(self, counts: Numbers) -> Floats:
        """f_tf; 0 for a term that is not on the page."""
        return np.where(np.asarray(counts) > 0, looked_up(self.tf, counts), 0.0)

    def rarity(self, frequencies: Numbers, pages: int) -> Floats:
        return looked_up(lambda distinct: self.idf(inverse_frequency(distinct, pages)), frequencies)

    def lengths(self, lengths: Numbers, mean_length: float) -> tuple[Floats, Floats]:
        return looked_up(self.length, lengths), np.ones(len(lengths))

    def as_text(self) -> str:
        """The weights as JSON on one line, which `learned` reads."""
        networks = {name: asdict(getattr(self, name)) for name in NETWORKS}
        facts = {"format": FORMAT, "version": VERSION, "kind": self.kind, "networks": networks}
        facts |= {"link_share": self.link_share, "learned_from": dict(self.learned_from)}
        return json.dumps(facts, ensure_ascii=False, allow_nan=False)


def stopped(frequencies: Numbers, pages: int) -> Bools:
    """Which terms are stop words: on too many pages to be informative."""
    return np.asarray(frequencies) > max(STOP_SHARE * pages, STOP_PAGES)


def learned(text: str, where: str = "weights") -> Learned:
    """A weighting from its JSON; `where` is the source to name in errors."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MisuseError(f"{where} holds no weights: it is not JSON ({error})") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise MisuseError(f"{where} holds no weights; such a file is written by `pagekin learn`")
    if facts.get("version") not in (_WITHOUT_LINKS, VERSION) or facts.get("kind") != Learned.kind:
        raise MisuseError(
            f"{where} has weights of kind {facts.get('kind')!r}, version {facts.get('version')!r}; this pagekin reads"
            f" {Learned.kind!r}, versions {_WITHOUT_LINKS} and {VERSION}: learn them again"
        )
    networks, source = facts.get("networks"), facts.get("learned_from", {})
    if not isinstance(networks, dict) or set(networks) != set(NETWORKS) or not isinstance(source, dict):
        raise MisuseError(f"{where}: networks should be a table of {', '.join(NETWORKS)}, learned_from one of facts")
    tf, idf, length = (_network(networks[name], f"{where}, {name}") for name in NETWORKS)
    share = 0.0 if facts["version"] == _WITHOUT_LINKS else facts.get("link_share")
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise MisuseError(f"{where}: link_share should be a number")
    try:
        return Learned(tf, idf, length, source, float(share))
    except (MisuseError, OverflowError) as error:
        raise MisuseError(f"{where}: {error}") from error


def _network(facts: Any, where: str) -> Network:
    names = [each.name for each in fields(Network)]
    if not isinstance(facts, dict) or set(facts) != set(names):
        raise MisuseError(f"{where} should be a table of {', '.join(names)}")
    try:
        return Network(**facts)
    except MisuseError as error:
        raise MisuseError(f"{where}: {error}") from error


def weights_from(weights: str) -> Learned:
    """A weighting from its JSON, or from the file of this name."""
    return _cached(weights) if weights.lstrip().startswith("{") else load_weights(Path(weights))


_cached = lru_cache(maxsize=8)(learned)  # a strategy has its weights as JSON, and each query needs them


def load_weights(path: Path) -> Learned:
    """The weighting in a file, with the projection beside it, if it has one."""
    data = read_bounded(path, MOST_BYTES, "learned weights")
    try:
        weighting = learned(data.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise MisuseError(f"{path} holds no weights: it is not JSON ({error})") from error
    digest = json.loads(data).get("projection")
    if digest is None:
        return weighting
    kept, following = _beside(path)
    with suppress(MisuseError):  # mostly there is none
        beside = load_projection(following)
        if hashlib.sha256(beside.as_bytes()).hexdigest() == digest:
            return replace(weighting, projection=beside)
    beside = load_projection(kept)
    if hashlib.sha256(beside.as_bytes()).hexdigest() != digest:
        raise MisuseError(f"{kept} belongs to other weights than {path}; learn them again")
    return replace(weighting, projection=beside)


def _beside(path: Path) -> tuple[Path, Path]:
    """The file of the projection of weights, and the one of the next projection, until its weights are in place."""
    return path.with_name(path.name + SUFFIX), path.with_name(f"{path.name}{SUFFIX}.next")


def save_weights(path: Path, weighting: Learned) -> None:
    """Write a weighting to a file, and its projection beside it, in one step.

    The new projection has another name until the weights that name its digest are in place. `load_weights` finds it
    under both names, so that a process that is killed at any moment leaves the old weights or the new ones.
    """
    facts = json.loads(weighting.as_text())
    kept, following = _beside(path)
    if weighting.projection is not None:
        data = weighting.projection.as_bytes()
        with written_whole(following) as file:
            file.write_bytes(data)
        facts["projection"] = hashlib.sha256(data).hexdigest()
    with written_whole(path) as file:
        file.write_bytes((json.dumps(facts, ensure_ascii=False, allow_nan=False) + "\n").encode())
    if weighting.projection is not None:
        try:
            following.replace(kept)
            sync_folder(kept.parent)
        except OSError as error:
            raise FailureError(f"{kept} cannot be written: {error.strerror or error}") from error
