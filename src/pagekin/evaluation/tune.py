"""Weights of the blend that suit the judgements of a collection, and what they gain on pages that were held out.

The weights and the damping of an index are changed step by step (coordinate ascent) as long as P@10 by classes, or R@10
by related pairs, increases. Cross-validation measures the gain: the pages of a fold take no part in the fit of the
weights that they are judged by, neither as sources nor as results.
"""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError
from pagekin.evaluation.evaluate_related import SEE_ALSO, open_related
from pagekin.evaluation.judge import CUTOFF
from pagekin.evaluation.labelled import ComparedCollection, open_labelled, page_queries
from pagekin.evaluation.labels import LeftOutReason
from pagekin.evaluation.measures import PRECISION, Difference, Estimate, Ratios, compare, estimates
from pagekin.evaluation.options import RelatedEvaluationOptions, TuneOptions
from pagekin.evaluation.population import Population
from pagekin.evaluation.related_pairs import RECALL, RelatedPairs
from pagekin.model.arrays import Bools, Float32s, Floats, Int64s
from pagekin.model.files import write_lines
from pagekin.model.jsons import json_field
from pagekin.model.progress import Progress
from pagekin.search.blend import Blend
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions

_NEAREST = 60  # candidates of a source: its best pages by each evidence
_BLENDED = 300  # and its best pages by the weights of the index
_MOST_SOURCES, _MAX_SCORES = 100, 1 << 20  # of a block: sources, and scores of each evidence
_STEPS = (0.0, 0.5, 0.75, 0.9, 1.12, 1.35, 2.0)  # factors of a weight or of the damping; 0 drops an evidence
_ROUNDS = 8  # over all weights
_LEAST = 1e-9  # an improvement
_DROPPED = math.log(10.0)  # the distance of weight 0 from any other, in logarithms


@dataclass(frozen=True)
class FoldGain:
    """A fold: the measure on its pages, and the weights that were fitted without them."""

    sources: int
    before: float = json_field(digits=6)
    after: float = json_field(digits=6)
    blend: str = json_field()
    damping: float = json_field()


@dataclass(frozen=True)
class TuneReport:
    """Tuned weights, and what tuning gains on held-out pages."""

    store: str
    judgements: str  # the hierarchy, the file of pairs, or the sections
    measure: str  # P@10 by classes, R@10 by related pairs
    pages: int  # that are ranked
    sources: int
    before: Estimate  # the measure on held-out pages with the weights of the index
    after: Estimate  # with tuned weights
    gain: Difference
    significant: bool  # whether the interval of the gain is above 0
    folds: list[FoldGain]
    index_blend: str
    index_damping: float
    blend: str  # fitted on all sources
    damping: float
    output: str | None  # the strategy file
    left_out: list[LeftOutReason]


@dataclass(frozen=True)
class JudgedByClasses:
    """A page is relevant to the pages of its class. P@10 is the share of relevant pages among ten."""

    population: Population
    measure = PRECISION

    def sources(self) -> Int64s:
        return np.arange(len(self.population))

    def relevant(self, source: int, pages: Int64s) -> Bools:
        return np.asarray(self.population.distances(source)[pages] == 0)

    def divisor(self, sources: Int64s, held_out: Bools) -> Floats:
        return np.full(len(sources), float(CUTOFF))


@dataclass(frozen=True)
class JudgedByPairs:
    """A page is relevant to related pages. R@10 is the share of the relevant pages that is among ten."""

    related: RelatedPairs
    measure = RECALL

    def sources(self) -> Int64s:
        return np.flatnonzero(self.related.lengths())

    def relevant(self, source: int, pages: Int64s) -> Bools:
        return np.isin(pages, self.related.page[self.related.row(source)])

    def divisor(self, sources: Int64s, held_out: Bools) -> Floats:
        """The number of relevant pages of each source that are not held out."""
        row, places = self.related.places(sources)
        return np.bincount(row[~held_out[self.related.page[places]]], minlength=len(sources)).astype(np.float64)


JudgedPages = JudgedByClasses | JudgedByPairs


@dataclass(frozen=True)
class Candidates:
    """The candidates of each source, ascending, and their scores by each evidence; what fills up a row scores 0.

    Settings of a blend are an array: the weight of each evidence, and the damping.
    """

    sources: Int64s
    page: Int64s  # [source, candidate]
    scores: Float32s  # [evidence, source, candidate], in units of the scale of the evidence
    lengths: Float32s  # [source, candidate]: the product of the lengths of both pages
    popularity: Float32s  # [source, candidate]: of the candidate
    relevant: Bools  # [source, candidate]
    divisor: Floats  # [source]: what the number of relevant pages among the first ten is divided by
    by_length: Floats  # [evidence, 2]: how much each counts, by the lengths of both pages (see `Evidence`)

    def blended(self, settings: Floats) -> Float32s:
        """As `Blend` computes the scores of pages."""
        return _blended(settings, self.scores, self.lengths, self.popularity, self.by_length)

    def quality(self, settings: Floats) -> Floats:
        """P@10 or R@10 of each source. Ties are in order of pages, and pages that score 0 are not listed."""
        scores = self.blended(settings)
        least = np.partition(scores, -CUTOFF, axis=1)[:, -CUTOFF, np.newaxis]
        above, tied = scores > least, scores == least
        first = above | (tied & (np.cumsum(tied, axis=1) <= CUTOFF - above.sum(axis=1, keepdims=True)))
        return np.asarray((first & self.relevant & (scores > 0.0)).sum(axis=1) / self.divisor)

    def select(self, which: Bools) -> "Candidates":
        return replace(
            self,
            sources=self.sources[which],
            page=self.page[which],
            scores=self.scores[:, which],
            lengths=self.lengths[which],
            popularity=self.popularity[which],
            relevant=self.relevant[which],
            divisor=self.divisor[which],
        )

    def without(self, held_out: Bools, judged: JudgedPages) -> "Candidates":
        """Without pages that are held out, as sources and as candidates."""
        kept = ~held_out[self.sources]
        kept[kept] = judged.divisor(self.sources[kept], held_out) > 0.0
        found = self.select(kept)
        scores = found.scores * ~held_out[found.page]
        return replace(found, scores=scores, divisor=judged.divisor(found.sources, held_out))

    def mean_of_best(self, settings: Floats) -> float:
        """The mean score of the ten best candidates of each source."""
        return float(np.partition(self.blended(settings), -CUTOFF, axis=1)[:, -CUTOFF:].mean())


def _blended(
    settings: Floats, scores: Float32s, lengths: Float32s, popularity: Float32s, by_length: Floats
) -> Float32s:
    factors = (settings[:-1, np.newaxis] * by_length).astype(np.float32)
    constant, damped = (np.tensordot(column, scores, 1) for column in factors.T)
    damping = np.float32(1.0) / (np.float32(1.0) + lengths * np.float32(settings[-1] ** -2))
    return np.asarray((constant + damped * damping) * (np.float32(1.0) + popularity * damping * damping), np.float32)


def find_candidates(
    compared: ComparedCollection, blend: Blend, judged: JudgedPages, sources: Int64s, tell: Callable[[int], None]
) -> Candidates:
    """Score all pages for each source by every evidence, and keep the best."""
    indexed, scaling, nodes = compared.indexed, blend.scaling, compared.population.nodes
    assert indexed is not None and scaling is not None
    pairs = [each.pair_scores(nodes, page_queries(indexed.index)) for each in blend.active]
    scales = [scaling.scales[each.name] for each in blend.active]
    by_length = np.array([each.by_length for each in blend.active])
    length, popularity = (column[nodes].astype(np.float32) for column in (scaling.length, scaling.popularity))
    settings = settings_of(blend)

    def candidates_of(block: Int64s) -> list[tuple[Int64s, Float32s, Bools]]:
        scores = np.empty((len(pairs), len(block), len(nodes)), np.float32)
        for rows, each, scale in zip(scores, pairs, scales, strict=True):
            rows[:] = np.maximum(each.scores(block), 0.0) / scale
            rows[np.arange(len(block)), block] = 0.0
        blended = _blended(settings, scores, np.outer(length[block], length), popularity, by_length)
        best = np.zeros(blended.shape, np.bool_)
        for rows, most in [*((rows, _NEAREST) for rows in scores), (blended, _BLENDED)]:
            count = min(most, len(nodes))
            np.put_along_axis(best, np.argpartition(rows, -count, axis=1)[:, -count:], True, axis=1)
        best &= scores.any(axis=0)
        pages = [np.flatnonzero(row) for row in best]
        return [
            (page, scores[:, k, page], judged.relevant(source, page))
            for k, (source, page) in enumerate(zip(block.tolist(), pages, strict=True))
        ]

    step, found = max(1, min(_MOST_SOURCES, _MAX_SCORES // len(nodes))), list[tuple[Int64s, Float32s, Bools]]()
    with ThreadPoolExecutor(cpu_count()) as pool:
        for some in pool.map(candidates_of, [sources[k : k + step] for k in range(0, len(sources), step)]):
            found += some
            tell(len(found))
    shape = len(sources), max(CUTOFF, *(len(page) for page, _, _ in found))
    page, relevant = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    scores = np.zeros((len(pairs), *shape), np.float32)
    for k, (pages, columns, right) in enumerate(found):
        page[k, : len(pages)], scores[:, k, : len(pages)], relevant[k, : len(pages)] = pages, columns, right
    divisor = judged.divisor(sources, np.zeros(len(nodes), np.bool_))
    lengths = length[sources][:, np.newaxis] * length[page]
    return Candidates(sources, page, scores, lengths, popularity[page], relevant, divisor, by_length)


def settings_of(blend: Blend) -> Floats:
    """The weights of the evidences that count, and the damping, as an array."""
    assert blend.scaling is not None
    return np.array([*(blend.weights[each.name] for each in blend.active), blend.scaling.damping])


def fit(candidates: Candidates, start: Floats) -> Floats:
    """The settings with the largest mean quality; each is changed in turn while that improves it.

    A setting far from the start must be worth it: the penalty is the squared distance of the logarithms, divided by the
    number of sources, as noise decreases with it.
    """

    def objective(settings: Floats) -> float:
        kept = settings > 0.0
        moved = np.where(kept, np.log(np.where(kept, settings, 1.0) / start), _DROPPED)
        return float(candidates.quality(settings).mean() - (moved**2).sum() / len(candidates.sources))

    best, settings = objective(start), start
    for _ in range(_ROUNDS):
        before = best
        for k in range(len(start)):
            for changed in _changes(settings, start, k):
                value = objective(changed)
                if value > best + _LEAST:
                    best, settings = value, changed
        if best == before:
            break
    return settings


def _changes(settings: Floats, start: Floats, k: int) -> Iterator[Floats]:
    """Settings with another value of the k-th. The damping and the last two evidences are not dropped."""
    weights = np.delete(settings[:-1], k) if k < len(settings) - 1 else np.empty(0)
    for step in _STEPS:
        if step > 0.0 or np.count_nonzero(weights) >= 2:
            changed = settings.copy()
            changed[k] = step * (settings[k] or start[k])
            yield changed


def tune(
    indexed: IndexedStore,
    options: TuneOptions,
    hierarchy: str | None = None,
    related: str | None = None,
    output: Path | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> TuneReport:
    """Fit the weights of the blend of an index, measure the gain by cross-validation, and write a strategy file.

    Judgements are the classes of a hierarchy, as in `evaluate`; a file of related pairs; or, without both, "See also"
    sections, as in `evaluate_related`.
    """
    if output is not None and not output.absolute().parent.is_dir():
        raise MisuseError(f"there is no folder for {output}; make it first")
    with _open_judged(indexed, hierarchy, related, options, progress) as (compared, judged):
        assert compared.indexed is not None
        blend = compared.indexed.blend(RelatedOptions())
        if blend.scaling is None:
            raise MisuseError(
                f"the index of {indexed.root} does not rank by a blend of several evidences, so there are no weights to"
                " tune; build it with --strategy default"
            )
        rng, sources = np.random.default_rng(options.seed), judged.sources()
        sources = np.sort(rng.choice(sources, min(options.sources, len(sources)), replace=False))
        if len(sources) < 2 * options.folds:
            raise MisuseError(
                f"there are only {len(sources):,} sources; {options.folds} folds need at least {2 * options.folds}:"
                " give more judgements, more --sources or fewer --folds"
            )

        def tell(done: int) -> None:
            progress(Progress("scoring pairs", done, len(sources)))

        candidates, start = find_candidates(compared, blend, judged, sources, tell), settings_of(blend)
        fold = rng.permutation(np.arange(len(sources)) % options.folds)
        values, folds = np.empty((2, len(sources))), list[FoldGain]()
        for k in range(options.folds):
            progress(Progress("fitting", k, options.folds + 1))
            settings, values[:, fold == k] = _held_out(candidates, judged, start, fold == k, len(compared.population))
            before, after = values[:, fold == k].mean(axis=1).tolist()
            folds.append(FoldGain(int((fold == k).sum()), before, after, *_shown(blend, settings)))
        progress(Progress("fitting", options.folds, options.folds + 1))
        settings = fit(candidates, start)
        # Scores as high as before, so that similarities keep their meaning.
        settings[:-1] *= candidates.mean_of_best(start) / max(candidates.mean_of_best(settings), 1e-9)
        tables = [Ratios([judged.measure], row[:, np.newaxis], np.ones((len(row), 1))) for row in values]
        drawn = options.resamples, options.seed
        gain = compare(tables[1], tables[0], *drawn)[judged.measure]
        shown = _shown(blend, settings)
        if output is not None:
            tuned = replace(indexed.index.strategy, blend=shown[0], damping=shown[1])
            gained = f"{gain.value:+.3f}, 95 % interval {gain.low:+.3f} to {gain.high:+.3f}"
            write_lines(output, [f"# {judged.measure} on held-out pages: {gained}", *tuned.as_toml()])
        return TuneReport(
            str(indexed.root),
            hierarchy or related or SEE_ALSO,
            judged.measure,
            len(compared.population),
            len(sources),
            estimates(tables[0], *drawn)[judged.measure],
            estimates(tables[1], *drawn)[judged.measure],
            gain,
            gain.low > 0.0,
            folds,
            *_shown(blend, start),
            *shown,
            None if output is None else str(output),
            compared.notes.reasons(),
        )


def _held_out(
    candidates: Candidates, judged: JudgedPages, start: Floats, which: Bools, pages: int
) -> tuple[Floats, Floats]:
    """Settings that are fitted without some sources, and the quality of these by the start and by the settings."""
    held_out = np.zeros(pages, np.bool_)
    held_out[candidates.sources[which]] = True
    training = candidates.without(held_out, judged)
    settings = fit(training, start) if len(training.sources) else start
    part = candidates.select(which)
    return settings, np.stack([part.quality(start), part.quality(settings)])


def _shown(blend: Blend, settings: Floats) -> tuple[str, float]:
    """Settings as those of a strategy, to three digits."""
    weights = zip(blend.active, settings[:-1].tolist(), strict=True)
    shown = ", ".join(f"{each.name}={weight:.3g}" for each, weight in weights if weight > 0.0)
    return shown, float(f"{settings[-1]:.3g}")


@contextmanager
def _open_judged(
    indexed: IndexedStore,
    hierarchy: str | None,
    related: str | None,
    options: TuneOptions,
    progress: Callable[[Progress], None],
) -> Iterator[tuple[ComparedCollection, JudgedPages]]:
    if hierarchy is not None:
        labelled = open_labelled(hierarchy, indexed, options)
        yield labelled, JudgedByClasses(labelled.population)
    else:
        chosen = RelatedEvaluationOptions(unlinked=options.unlinked, seed=options.seed)
        with open_related(indexed, related, chosen, progress) as truth:
            yield truth.compared, JudgedByPairs(truth.related)
