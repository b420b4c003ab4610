"""Beyond the paper: what do a linear projection on top of learned weights, and a learned mix of evidence, add?

`python -m benchmarks.beyond` prints the figures and writes `results/beyond.json`. PAGEKIN_BENCH_DATA names the folder
of pages; without it, and in a quick run, the sample web serves. All parameters are chosen on valid, all figures are of
test.

Projection: the learned vectors of train are decomposed (LSA), and the score of two pages is that of LinkLearn plus
beta times the inner product of what the decomposition keeps of them. The learned projection goes on from there by
descent on the loss of equation 4, the weights of terms being fixed.

Evidence: half of the links inside of valid and of test are hidden. Pages are compared by LinkLearn, by the windows of
the anchors that lead to them and by the pages that both are linked with, as far as links are not hidden; the three
cosines are added with shares that put the hidden links of valid first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.decomposition import TruncatedSVD

from benchmarks.learning import collection
from benchmarks.machine import Figure, facts, keep, kept, show
from pagekin.arrays import Bools, Floats, Int64s
from pagekin.bags.making import fold_bags
from pagekin.kernels.precision import measure_rows
from pagekin.kin import Kin
from pagekin.learning.corpus import Part, offsets_of
from pagekin.learning.judging import AP, ERROR, MEASURES, P10, weights_in
from pagekin.learning.wilcoxon import signed_rank
from pagekin.lesson import Lesson, Outcome, teach
from pagekin.linkage import found
from pagekin.model.reading import Links
from pagekin.model.strategy import Strategy
from pagekin.pipeline import bag_source

RANKS = (64, 128)
BETAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
BATCHES, BATCH = 150, 32
RATES = (0.01, 0.1)
SHARES = np.linspace(0.0, 1.0, 21)
SEED = 2005
SHOWN = (ERROR, P10, AP)
Matrix: TypeAlias = Any  # scipy's, which has no types


def main() -> None:
    """Try both."""
    with collection() as store:
        kin = Kin.open(store)
        outcome = teach(kin, Lesson(SEED, "flat", 0.1, (5, 10, 10)))
        figures = [*projecting(outcome), *mixing(kin, outcome)]
    show(figures)
    keep("beyond", {"machine": facts("scipy", "scikit-learn"), "figures": kept(figures)})


def vectors(part: Part, outcome: Outcome, terms: int) -> Matrix:
    """The learned vectors of the pages of a part, over the terms of the collection."""
    weight = weights_in(part, outcome.weighting)
    return csr_matrix((weight, part.terms[part.counts.term], part.counts.offsets), shape=(len(part), terms))


def measured(part: Part, scores: Floats, right: tuple[Int64s, NDArray[np.uint32]] | None = None) -> Floats:
    """The measures of each page that has right pages; by default those that it is linked with."""
    offsets, page = right or (part.link_offsets, part.link)
    asking = np.flatnonzero(np.diff(offsets) > 0)
    out = np.empty((len(asking), len(MEASURES)))
    for k, each in enumerate(asking.tolist()):
        mine = page[offsets[each] : offsets[each + 1]]
        row = np.maximum(scores[each : each + 1], 0.0)
        measure_rows(asking[k : k + 1], np.array([0, len(mine)]), mine, row, out[k : k + 1])
    return out


def beside(what: str, before: Floats, after: Floats) -> Iterator[Figure]:
    """Three measures of two systems over the same pages."""
    for name in SHOWN:
        k = MEASURES.index(name)
        yield Figure(f"{what}: {name} before", round(100 * float(before[:, k].mean()), 2), "%")
        yield Figure(f"{what}: {name} after", round(100 * float(after[:, k].mean()), 2), "%")
        yield Figure(f"{what}: {name}, p", float(f"{signed_rank(before[:, k], after[:, k]):.2g}"))


def table(result: dict[str, Any]) -> str:
    """What was found, for the docs."""
    lines = ["| | " + " | ".join(SHOWN) + " |", "|---" + "|---:" * len(SHOWN) + "|"]
    value = {row["what"]: row["measured"] for row in result["figures"]}
    for what in dict.fromkeys(each.rpartition(": ")[0] for each in value):
        cells = [
            f"{value[f'{what}: {name} before']:.1f} / {value[f'{what}: {name} after']:.1f}"
            f" (p {value[f'{what}: {name}, p']:.1g})"
            for name in SHOWN
        ]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


@dataclass
class Projection:
    """A linear map of vectors of terms."""

    matrix: Floats  # terms x dimensions

    def scores(self, x: Matrix) -> Floats:
        """Inner products of what it makes of vectors."""
        z = x @ self.matrix
        return np.asarray(z @ z.T)


def projecting(outcome: Outcome) -> Iterator[Figure]:
    """LinkLearn alone, with LSA on top, and with a projection that is learned."""
    parts = outcome.parts
    terms = 1 + max(int(part.terms.max(initial=0)) for part in parts.values())
    x = {name: vectors(part, outcome, terms) for name, part in parts.items()}
    plain = {name: np.asarray((each @ each.T).todense()) for name, each in x.items()}
    average = partial(_average, parts["valid"])
    lone = measured(parts["test"], plain["test"])
    best, chosen, beta = -1.0, Projection(np.zeros((terms, 1))), 0.0
    for rank in RANKS:
        svd = TruncatedSVD(min(rank, len(parts["train"]) - 1), random_state=SEED).fit(x["train"])
        each = Projection(svd.components_.T.copy())
        scores = each.scores(x["valid"])
        for b in BETAS:
            value = average(plain["valid"] + b * scores)
            if value > best:
                best, chosen, beta = value, each, b
    what = f"LSA of {chosen.matrix.shape[1]} dimensions, beta {beta:g}, on top of LinkLearn"
    yield from beside(what, lone, measured(parts["test"], plain["test"] + beta * chosen.scores(x["test"])))
    found = [_descended(Projection(np.sqrt(beta or BETAS[1]) * chosen.matrix), rate, parts, x, plain) for rate in RATES]
    learned = max(found, key=lambda each: average(plain["valid"] + each.scores(x["valid"])))
    after = measured(parts["test"], plain["test"] + learned.scores(x["test"]))
    yield from beside("a projection learned on top of LinkLearn", lone, after)


def _average(part: Part, scores: Floats) -> float:
    return float(measured(part, scores)[:, MEASURES.index(AP)].mean())


def _descended(
    begin: Projection, rate: float, parts: dict[str, Part], x: dict[str, Matrix], plain: dict[str, Floats]
) -> Projection:
    """Descent on the loss by the projection alone, and the best of several looks at valid."""
    train, random = parts["train"], np.random.default_rng(SEED)
    a, pages = begin.matrix.copy(), train.linked()
    best, value = begin, _average(parts["valid"], plain["valid"] + begin.scores(x["valid"]))
    transposed = x["train"].T.tocsr()
    for batch in range(1, BATCHES + 1):
        drawn = random.choice(pages, BATCH)
        z = x["train"] @ a
        wish = _wishes(train, drawn, plain["train"][drawn] + z[drawn] @ z.T)
        slope = transposed @ (csr_matrix((np.ones(BATCH), (drawn, np.arange(BATCH))), (len(train), BATCH)) @ (wish @ z))
        slope += transposed @ (wish.T @ z[drawn])
        a -= rate * slope
        if batch % 25 == 0:
            look = _average(parts["valid"], plain["valid"] + Projection(a).scores(x["valid"]))
            if look > value:
                best, value = Projection(a.copy()), look
    return best


def _wishes(train: Part, drawn: Int64s, scores: Floats) -> Floats:
    """The derivative of the loss by the scores of all pages, for some pages that ask."""
    wish = np.zeros_like(scores)
    for k, page in enumerate(drawn.tolist()):
        linked = train.link[train.link_offsets[page] : train.link_offsets[page + 1]]
        others = np.ones(len(train), bool)
        others[linked] = False
        others[page] = False
        close = scores[k][linked][:, None] - 1.0 < scores[k][others][None]
        pairs = close.shape[0] * close.shape[1] * len(drawn)
        wish[k, others] = close.sum(axis=0) / pairs
        wish[k, linked] = -close.sum(axis=1) / pairs
    return wish


def mixing(kin: Kin, outcome: Outcome) -> Iterator[Figure]:
    """Shares of words, anchors and links, learned from hidden links."""
    every = found(kin)
    hidden, right = _hidden(every.citing, every.cited, outcome.parts, len(every.has_page))
    anchors, links = _anchors(kin, hidden), _neighbours(kin, hidden)
    evidence, known, mine = {}, {}, {}
    for name in ("valid", "test"):
        part = outcome.parts[name]
        terms = int(part.terms.max(initial=0)) + 1
        sides = (vectors(part, outcome, terms), anchors[part.pages], links[part.pages])
        evidence[name] = [_cosines(each) for each in sides]
        mine[name] = right[name]
        known[name] = _known(part, right[name])
    grid = [(a, b) for a in SHARES.tolist() for b in SHARES.tolist() if a + b <= 1.0]

    def mixed(name: str, shares: tuple[float, float]) -> Floats:
        words, near, together = evidence[name]
        scores = (1.0 - sum(shares)) * words + shares[0] * near + shares[1] * together
        scores[known[name]] = 0.0  # links that are not hidden are no news
        return measured(outcome.parts[name], scores, mine[name])

    value = {shares: float(mixed("valid", shares)[:, MEASURES.index(AP)].mean()) for shares in grid}
    lone = mixed("test", (0.0, 0.0))
    for what, allowed in (
        ("words and anchors", [each for each in grid if each[1] == 0.0]),
        ("words and links", [each for each in grid if each[0] == 0.0]),
        ("words, anchors and links", grid),
    ):
        best = max(allowed, key=lambda each: value[each])
        told = f"{what}, shares {1 - sum(best):.2f}, {best[0]:.2f}, {best[1]:.2f}"
        yield from beside(told, lone, mixed("test", best))


def _hidden(
    citing: Int64s, cited: Int64s, parts: dict[str, Part], nodes: int
) -> tuple[Bools, dict[str, tuple[Int64s, NDArray[np.uint32]]]]:
    """Which links are hidden: half of the pairs of linked pages inside of valid and of test. And who is right."""
    hidden = np.zeros(len(citing), bool)
    right = {}
    for number, name in enumerate(("valid", "test")):
        part = parts[name]
        first = np.repeat(np.arange(len(part)), np.diff(part.link_offsets))
        low, high = np.minimum(first, part.link), np.maximum(first, part.link)
        pair = np.unique(low * len(part) + high)
        pair = pair[np.random.default_rng((SEED, number)).random(len(pair)) < 0.5]
        a, b = pair // len(part), pair % len(part)
        both = np.sort(np.concatenate([a * len(part) + b, b * len(part) + a]))
        right[name] = (
            offsets_of(np.bincount(both // len(part), minlength=len(part))),
            (both % len(part)).astype(np.uint32),
        )
        keys = np.concatenate([part.pages[a] * nodes + part.pages[b], part.pages[b] * nodes + part.pages[a]])
        hidden |= np.isin(citing * nodes + cited, keys)
    return hidden, right


def _known(part: Part, right: tuple[Int64s, NDArray[np.uint32]]) -> Bools:
    seen = np.zeros((len(part), len(part)), bool)
    seen[np.repeat(np.arange(len(part)), np.diff(part.link_offsets)), part.link] = True
    seen[np.repeat(np.arange(len(part)), np.diff(right[0])), right[1]] = False
    return seen


def _anchors(kin: Kin, hidden: Bools) -> Matrix:
    """The bags of the windows of anchors whose links are not hidden."""
    from tempfile import TemporaryFile

    source = bag_source(kin)
    strategy = Strategy(content=False, links=False)
    kept_links = np.ones(len(source.links.page), bool)
    kept_links[_places(kin)] = ~hidden
    node = np.repeat(np.arange(len(source.links.offsets) - 1), np.diff(source.links.offsets))[kept_links]
    offsets = offsets_of(np.bincount(node, minlength=len(source.links.offsets) - 1))
    links = Links(offsets, source.links.page[kept_links], source.links.anchor[kept_links])
    with TemporaryFile() as file:
        folded = fold_bags(replace(source, links=links), strategy, file)
        pieces = list(folded.weighed())
    weight, term = (np.concatenate([getattr(each, name) for each in pieces]) for name in ("weight", "term"))
    return csr_matrix((weight, term.astype(np.int64), folded.offsets))


def _places(kin: Kin) -> Int64s:
    """Which links of the store are those that count."""
    from pagekin.bags.making import counting_links

    return np.flatnonzero(counting_links(bag_source(kin), kin.index.strategy))


def _neighbours(kin: Kin, hidden: Bools) -> Matrix:
    """The pages that each node is linked with, in either direction, as far as it is not hidden."""
    every = found(kin)
    a, b = every.citing[~hidden], every.cited[~hidden]
    n = len(every.has_page)
    matrix = csr_matrix((np.ones(2 * len(a)), (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(n, n))
    matrix.data[:] = 1.0
    degree = np.asarray(matrix.sum(axis=0)).ravel()
    return matrix @ diags(1.0 / np.sqrt(np.maximum(degree, 1.0)))  # who is linked with everybody tells little


def _cosines(x: Matrix) -> Floats:
    length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    normal = diags(1.0 / np.maximum(length, 1e-12)) @ x
    return np.asarray((normal @ normal.T).todense())


if __name__ == "__main__":
    main()
