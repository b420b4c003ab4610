"""Options of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, option, option_like
from pagekin.search.options import RelatedOptions

_LEARNED = "linklearn"


@dataclass(frozen=True)
class HierarchyOptions:
    """Which pages a hierarchy compares, and how: all that it has a class for, or a sample (paper, section 5).

    Labels are cut at `depth`. If a page has several, `deepest` uses the deepest (the alphabetically first one of a tie)
    and `min` uses the smallest distance over all. The distance is that of a `family` (same class, sibling, cousin,
    unrelated) or of a `tree` (steps up to the lowest common ancestor).
    """

    depth: int = option(3, "Cut the hierarchy at this depth.", minimum=1, maximum=32)
    strict_depth: bool = option(False, "Leave out pages whose class is at a higher level than --depth.")
    multi: str = option(
        "deepest",
        "If a page has several classes, compare it by the deepest, or by the one nearest to the other page (min).",
        choices=("deepest", "min"),
    )
    distance: str = option(
        "family",
        "Familial distance (same class, sibling, cousin, unrelated), or steps up the tree.",
        choices=("family", "tree"),
    )
    tree: str | None = option(
        None,
        "A file with a line per class: the class, a tab, its parent. For labels that name only the class.",
        file=True,
    )
    sample: int | None = option(
        None, "Evaluate only the pages of this number of random pairs of sibling classes (300 in the paper).", minimum=1
    )
    seed: int = option(2002, "Seed of all random choices.", minimum=0)
    min_in_links: int | None = option(
        None, "Leave out pages with fewer in-links. Default: 0, and 1 in a sample.", minimum=0
    )

    def __post_init__(self) -> None:
        check_options(self)

    def classes(self, labels: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The classes of a page with these labels.

        >>> labels = [("Arts",), ("Home", "Garden", "Clubs", "Roses"), ("Arts", "Prints", "Old")]
        >>> HierarchyOptions().classes(labels), len(HierarchyOptions(multi="min", strict_depth=True).classes(labels))
        ([('Home', 'Garden', 'Clubs')], 2)
        """
        if self.multi == "deepest":
            labels = [min(labels, key=lambda path: (-len(path), path))]
        least = self.depth if self.strict_depth else 1
        return sorted({path[: self.depth] for path in labels if len(path) >= least})


@dataclass(frozen=True)
class SystemOptions:
    """Which system is evaluated, on which sources, and what is written."""

    queries: str | None = option(None, "Use only the pages of this file, one URL a line, as sources.", file=True)
    run: str | None = option(None, "Evaluate this run file (tsv or TREC) instead of the index.", file=True)
    strategy: str | None = option(None, "Evaluate the store under another strategy: a preset or a TOML file.")
    similarity: str | None = option_like(RelatedOptions, "similarity")
    weights: str | None = option_like(RelatedOptions, "weighting", parse=None)
    link_share: float | Literal["auto"] | None = option_like(RelatedOptions, "link_share")
    blend: Mapping[str, float] | None = option_like(RelatedOptions, "blend")
    against: str | None = option(
        None, "Compare with a store, a run file, a strategy or a similarity measure.", metavar="OTHER"
    )
    resamples: int = option(
        1000, "Number of bootstrap samples for confidence intervals and significance tests.", minimum=1
    )
    threads: int | None = option(None, "Number of threads. Default: one per processor.", minimum=1)
    per_source: str | None = option(None, "Write the measures of each source as TSV.", file=True)
    write_qrels: str | None = option(None, "Write the relevant pages of each source in the TREC format.", file=True)
    write_run: str | None = option(None, "Write the evaluated ranking in the TREC format.", file=True)
    run_depth: int = option(100, "Number of results per source in the ranking that is written.", minimum=1)

    def __post_init__(self) -> None:
        check_options(self)
        chosen = (self.strategy, self.similarity, self.weights, self.link_share, self.blend)
        if self.run is not None and any(each is not None for each in chosen):
            raise MisuseError(
                "--strategy, --similarity, --weights, --links and --blend do not apply to a run file; leave out --run,"
                " or these options"
            )
        if self.weights is not None:
            if self.similarity not in (None, _LEARNED):
                raise MisuseError(f"similarity is {self.similarity!r}, but the weights are for {_LEARNED}")
            object.__setattr__(self, "similarity", _LEARNED)


@dataclass(frozen=True)
class EvaluationOptions(SystemOptions, HierarchyOptions):
    """Which pages are compared with a hierarchy, by which system, and what is written.

    >>> EvaluationOptions(depth=2).depth
    2
    """


@dataclass(frozen=True)
class RelatedEvaluationOptions(SystemOptions):
    """Which related pairs count, which system is evaluated, and what is written.

    >>> RelatedEvaluationOptions(unlinked=True).unlinked
    True
    """

    unlinked: bool = option(False, "Leave out the related pairs in which a page links to the other.")
    seed: int = option_like(HierarchyOptions, "seed")


@dataclass(frozen=True)
class TuneOptions(HierarchyOptions):
    """By which judgements the weights of a blend are tuned, and how the gain is measured.

    >>> TuneOptions(folds=10).folds
    10
    """

    unlinked: bool = option_like(RelatedEvaluationOptions, "unlinked")
    sources: int = option(1500, "Tune on at most this number of pages as sources, drawn at random.", minimum=4)
    folds: int = option(5, "Number of folds of the cross-validation.", minimum=2, maximum=100)
    resamples: int = option_like(SystemOptions, "resamples")
