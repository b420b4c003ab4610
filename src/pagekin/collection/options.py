"""Options of evaluation and learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, option, option_like
from pagekin.search.options import RelatedOptions

_LEARNED = "linklearn"


@dataclass(frozen=True)
class EvaluateOptions:
    """Which pages are compared with a hierarchy, by which system, and what is written.

    >>> EvaluateOptions(depth=2).depth
    2
    """

    tree: str | None = option(
        None,
        "A file with a line per class: the class, a tab, its parent. For labels that name only the class.",
        file=True,
    )
    depth: int = option(3, "Cut the hierarchy at this depth.", minimum=1, maximum=32)
    strict_depth: bool = option(False, "Leave out pages with a class above the depth.")
    multi: str = option(
        "deepest", "Of several classes of a page, use the deepest or the nearest (min).", choices=("deepest", "min")
    )
    distance: str = option(
        "family",
        "Familial distance (same class, sibling, cousin, unrelated), or steps up the tree.",
        choices=("family", "tree"),
    )
    sample: int | None = option(None, "Sample this number of pairs of sibling classes (300 in the paper).", minimum=1)
    seed: int = option(2002, "Seed of all random choices.", minimum=0)
    min_in_links: int | None = option(
        None, "Leave out pages with fewer in-links. Default: 0, and 1 in a sample.", minimum=0
    )
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
    resamples: int = option(1000, "Resamples for confidence intervals and tests.", minimum=1)
    threads: int | None = option(None, "Number of threads. Default: one per processor.", minimum=1)
    per_source: str | None = option(None, "Write the measures of each source as TSV.", file=True)
    write_qrels: str | None = option(None, "Write the relevant pages of each source in the TREC format.", file=True)
    write_run: str | None = option(None, "Write the evaluated ranking in the TREC format.", file=True)
    run_depth: int = option(100, "Results per source in this ranking.", minimum=1)

    def __post_init__(self) -> None:
        check_options(self)
        if self.weights is not None:
            if self.similarity not in (None, _LEARNED):
                raise MisuseError(f"similarity is {self.similarity!r}, but the weights are for {_LEARNED}")
            object.__setattr__(self, "similarity", _LEARNED)


@dataclass(frozen=True)
class TrainingOptions:
    """How term weights are learned. What is None is chosen on the validation part.

    >>> TrainingOptions(start="okapi").start
    'okapi'
    """

    seed: int = option(2005, "Seed of all random choices.", minimum=0)
    start: str | None = option(
        None,
        "Initial weights: all equal, or near OKAPI. Default: both are tried, and validation decides.",
        choices=("flat", "okapi"),
    )
    rate: float | None = option(None, "Learning rate. Default: validation decides.")
    units: str | None = option(
        None, "Units of the three networks, such as 5,10,10. Default: validation decides.", metavar="TF,IDF,LENGTH"
    )
    steps: int = option(54_000, "Maximum number of steps of a training run.", minimum=1)
    projection: bool = option(
        False, "Also learn a linear projection, kept in a file beside the weights; needs pagekin[lsa]."
    )

    def __post_init__(self) -> None:
        check_options(self)
