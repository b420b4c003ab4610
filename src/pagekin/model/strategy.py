"""A strategy: all settings between a store and its answers, as one frozen object."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagekin.errors import MisuseError
from pagekin.model.options import check_regex
from pagekin.model.term_weights import TERM_WEIGHTS, WEIGHTINGS

if TYPE_CHECKING:
    from pagekin.model.weighting import Weighting

MEASURES = ("jaccard", "cosine", *WEIGHTINGS)
_CHOICES: dict[str, tuple[str, ...]] = {
    "mix": ("sum", "shares"),
    "window": ("basic", "syntactic", "topical"),
    "stemming": ("none", "stem", "stopstem"),
    "frequency_weight": tuple(TERM_WEIGHTS),
    "voters": ("all", "other-hosts"),
    "similarity": MEASURES,
}


# Weights and damping were chosen on halves of four collections (docs/findings.md).
BLEND = (
    "text=0.3, latent=0.9, proximity=0.55, cocitation=0.15, coupling=0.45, title=0.5, link=2.5, bm25=0.45, neighbours=2"
)
TEXT_ONLY = "text=1"
_OF_CONTENTS = ("latent", "bm25")  # evidences
NEIGHBOURS = "neighbours"  # the evidence by lists of near pages, which the others of the blend make
VECTORS = "vectors"  # the evidence by vectors that are given to a build


def parse_blend(text: str) -> dict[str, float]:
    """The weights of evidences by their names.

    >>> parse_blend("text=0.7, links=0.3")
    {'text': 0.7, 'links': 0.3}
    """
    try:
        weights = {name.strip(): float(weight) for name, weight in (each.split("=") for each in text.split(","))}
    except ValueError as error:
        raise MisuseError(f"blend is {text!r}; it must be like text=0.7,links=0.3") from error
    if not (min(weights.values()) >= 0.0 and 0.0 < sum(weights.values()) < math.inf):
        raise MisuseError(f"blend is {text!r}; weights must not be negative, and one must be positive")
    return weights


_parsed = cache(parse_blend)


@dataclass(frozen=True)
class Strategy:
    """What the bag of a page consists of, how its terms are weighted, and how bags are compared.

    >>> Strategy(window="basic", window_width=16).window_width
    16
    >>> Strategy(window="sideways")
    Traceback (most recent call last):
    pagekin.errors.MisuseError: window is 'sideways'; it can be basic, syntactic, topical
    """

    # Which terms (paper, 3.1). `sum` adds the parts of a bag; `shares` normalises each part first.
    content: bool = True
    anchors: bool = True
    links: bool = True
    mix: str = "shares"
    anchor_share: float = 0.2
    link_share: float = 0.05
    evidence: float = 8.0  # the number of citing pages that earns half of these shares; 0: one page earns all
    # Anchor windows.
    window: str = "basic"
    window_width: int = 16  # words on either side; 0: the anchor alone, -1: unlimited
    # Words to terms (3.2).
    stemming: str = "stopstem"
    language: str = "en"  # of pages that do not declare theirs
    # Term weights (3.3).
    lead: float = 50.0  # the number of words after which a word counts half as much as the first; 0: all count alike
    distance_weight: bool = True
    frequency_weight: str = "nmdf"
    nmdf_center: float | None = None  # ln of the document frequency that counts most; default: by collection size
    nmdf_width: float | None = None
    okapi_k: float = 1.5
    okapi_b: float = 0.6
    weights: str | None = None  # of `linklearn`: a file of learned weights, or its contents
    # Which links count.
    voters: str = "all"
    silent: tuple[str, ...] = ()  # regular expressions: links of pages with matching URLs do not count
    # Template blocks, which recur on many pages of a host.
    templates: bool = False  # whether their words count
    template_links: bool = False  # whether their links count
    template_share: float = 0.2  # the share of the pages of a host that makes a block a template
    # Navigation, which pages mark as such.
    navigation: bool = True  # whether its words and links count
    sequences: bool = True  # whether links to the previous and the next page count
    # Signatures and index.
    signature_length: int = 80
    seed: int = 2002
    min_in_links: int = 0  # pages with fewer can be queries but not results
    outside: bool = False  # whether pages that are known only from links can be results
    similarity: str = "jaccard"
    # The ranking: weights of evidences, each in units of its scale in the collection.
    blend: str = BLEND
    damping: float = 350.0  # the length of pages in words at which titles, links and BM25 count one half
    popularity: float = 0.15  # short pages count by up to this factor more, by the number of pages that link to them

    def __post_init__(self) -> None:
        for each in fields(self):
            if not _fits(getattr(self, each.name), str(each.type)):
                raise MisuseError(f"{each.name} = {getattr(self, each.name)!r} should be {each.type}")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise MisuseError(f"{name} is {getattr(self, name)!r}; it can be {', '.join(choices)}")
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise MisuseError(f"{name} is {value}; it must be from {low} to {high}")
        shares = self.anchor_share + (self.link_share if self.links else 0.0)
        if shares > 1.0:
            raise MisuseError(f"anchor_share and link_share are {shares} together; they can be at most 1")
        if 0 < self.lead < 1:
            raise MisuseError(f"lead is {self.lead}; it must be at least 1, or 0 for none")
        if not (self.content or self.anchors or self.links):
            raise MisuseError("a strategy needs terms: content, anchors or links")
        self._check_weightings()
        self._check_blend()
        for pattern in self.silent:
            check_regex("silent", pattern)

    def _check_blend(self) -> None:
        weights = self.weights_of_evidences()
        if weights.pop(NEIGHBOURS, 0.0) and not any(weights.values()):
            raise MisuseError(f"blend is {self.blend!r}; neighbours are found by other evidences, so name one")

    def _check_weightings(self) -> None:
        if self.weights is not None:
            from pagekin.model.weighting import weights_from  # loads numpy

            object.__setattr__(self, "weights", weights_from(self.weights).as_text())
        for name in ("frequency_weight", "similarity"):
            if getattr(self, name) in WEIGHTINGS and not self.content:
                raise MisuseError(f"{name} is {getattr(self, name)!r}, which weighs contents; set content = true")
            self.weighting_named(getattr(self, name))

    def weighting_named(self, name: str) -> Weighting | None:
        """The weighting of a measure or a frequency weight; None if it does not use counts."""
        weight = TERM_WEIGHTS.get(name)
        return None if weight is None or weight.weighting is None else weight.weighting(*self.values(weight.settings))

    def weights_of_evidences(self) -> dict[str, float]:
        """The weights of the blend; without contents, those that do not compare them."""
        weights = _parsed(self.blend)
        return {name: weight for name, weight in weights.items() if self.content or name not in _OF_CONTENTS}

    @property
    def uses_vectors(self) -> bool:
        """Whether the blend names vectors that are given to a build."""
        return VECTORS in self.weights_of_evidences()

    def with_vectors(self) -> Strategy:
        """This strategy with given vectors in its blend; they have the weight 1 if the blend does not name them.

        >>> Strategy(blend="text=0.5").with_vectors().blend
        'text=0.5, vectors=1'
        """
        return self if self.uses_vectors else replace(self, blend=f"{self.blend}, {VECTORS}=1")

    def without_vectors(self) -> Strategy:
        """This strategy without given vectors in its blend.

        >>> Strategy(blend="text=0.5, vectors=1").without_vectors().blend
        'text=0.5'
        """
        if not self.uses_vectors:
            return self
        others = {name: weight for name, weight in self.weights_of_evidences().items() if name != VECTORS}
        blend = ", ".join(f"{name}={weight:g}" for name, weight in others.items())
        return replace(self, blend=blend if any(others.values()) else TEXT_ONLY)

    def values(self, settings: tuple[str, ...]) -> list[Any]:
        return [getattr(self, name) for name in settings]

    def measures(self) -> list[str]:
        """The similarity measures of an index with this strategy."""
        known = {"okapi": self.content, "linklearn": self.content and self.weights is not None}
        return [name for name in MEASURES if known.get(name, True)]

    def has_bags_of(self, other: Strategy) -> bool:
        return self._of_bags() == other._of_bags()

    def _of_bags(self) -> dict[str, Any]:
        others = [TERM_WEIGHTS[name] for name in WEIGHTINGS if name != self.frequency_weight]
        of_ranking = {"similarity", "blend", "damping", "popularity"}
        unused = of_ranking.union(setting for weight in others for setting in weight.settings)
        return {key: value for key, value in self.as_dict().items() if key not in unused}

    def as_dict(self) -> dict[str, Any]:
        """For a manifest; settings that are None are left out, since TOML has no null."""
        values = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
        return {key: value for key, value in values.items() if value is not None}

    def as_toml(self) -> list[str]:
        """Lines of a TOML file, with the settings that differ from the default, the blend and the damping.

        >>> Strategy(lead=20.0, silent=("/menu/",), blend="text=1").as_toml()
        ['lead = 20.0', 'silent = ["/menu/"]', 'blend = "text=1"', 'damping = 350.0']
        """
        default, kept = Strategy().as_dict(), ("blend", "damping")
        changed = {key: value for key, value in self.as_dict().items() if key in kept or value != default.get(key)}
        # Strings of JSON are strings of TOML, which also escapes the character 127.
        texts = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in changed.items()]
        return [text.replace("\x7f", "\\u007f") for text in texts]

    @classmethod
    def from_dict(cls, values: dict[str, Any], where: str = "strategy") -> Strategy:
        """A strategy from a table; missing settings have their defaults."""
        kinds = {each.name: each.type for each in fields(cls)}
        for key, value in values.items():
            if key not in kinds:
                raise MisuseError(f"{where}: there is no setting {key!r}; there are {', '.join(kinds)}")
            if not _fits(value, str(kinds[key])):
                raise MisuseError(f"{where}: {key} = {value!r} should be {kinds[key]}")
        settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        return cls(**settings)

    @classmethod
    def from_toml(cls, text: str, where: str = "strategy", folder: Path | None = None) -> Strategy:
        """A strategy from TOML; its file of weights is relative to `folder`."""
        import tomllib  # takes longer than a query

        try:
            return cls.from_dict(resolve_paths(folder or Path(), tomllib.loads(text)), where)
        except tomllib.TOMLDecodeError as error:
            raise MisuseError(f"{where} is not valid TOML: {error}") from error


_RANGES: tuple[tuple[str, float, float], ...] = (
    ("anchor_share", 0.0, 1.0),
    ("evidence", 0.0, 1_000_000.0),
    ("link_share", 0.0, 1.0),
    ("window_width", -1, 1_000_000),
    ("lead", 0.0, 1_000_000.0),
    ("damping", 1.0, 1_000_000_000.0),
    ("popularity", 0.0, 100.0),
    ("nmdf_center", 0.0, 30.0),
    ("nmdf_width", 0.05, 30.0),
    ("okapi_k", 0.0, 1000.0),
    ("okapi_b", 0.0, 1.0),
    ("template_share", 0.0, 1.0),
    ("signature_length", 1, 1024),
    ("min_in_links", 0, 1_000_000),
    ("seed", 0, 2**63 - 1),
)


def resolve_paths(folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with file names resolved against a folder, to which they are relative."""
    weights = settings.get("weights")
    is_file = isinstance(weights, str) and not weights.lstrip().startswith("{")
    return {**settings, "weights": str(folder / str(weights))} if is_file else settings


def _fits(value: Any, kind: str) -> bool:
    if value is None:
        return kind.endswith("None")
    if kind.startswith("tuple"):
        return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    if kind.startswith("str"):
        return isinstance(value, str)
    return isinstance(value, int) or (kind.startswith("float") and isinstance(value, float))


PRESETS: dict[str, Strategy] = {
    "default": Strategy(),
    "paper": Strategy(
        links=False,
        mix="sum",
        window_width=32,
        stemming="stem",
        lead=0.0,
        templates=True,
        template_links=True,
        blend=TEXT_ONLY,
    ),
    "text-only": Strategy(blend=TEXT_ONLY),
    "fast": Strategy(anchors=False, links=False, signature_length=40, blend=TEXT_ONLY),
}


def strategy_named(name: str) -> Strategy:
    """A preset, or the strategy in a TOML file with this name."""
    if name in PRESETS:
        return PRESETS[name]
    path = Path(name)
    if not path.is_file():
        raise MisuseError(f"{name!r} is not a strategy: neither a preset ({', '.join(PRESETS)}) nor a TOML file")
    try:
        return Strategy.from_toml(path.read_text("utf-8"), name, path.parent)
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"{name} is not valid TOML: {error}") from error
