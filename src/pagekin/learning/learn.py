"""A collection before the teacher: its words as counted and its links, and what is learned from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pagekin.bags.build import BagSource, bags_of_pages
from pagekin.errors import MisuseError
from pagekin.learning.checkpoint import Checkpoint
from pagekin.learning.corpus import PARTS, CorpusCounts, CorpusLinks, CorpusPart, part_of, split
from pagekin.learning.hidden_links import mixed, mixing_on
from pagekin.learning.hyperparameters import RATES, UNITS, Grid, SearchState, choose, fingerprint
from pagekin.learning.initial import STARTS
from pagekin.learning.networks import Units
from pagekin.learning.okapi_tuning import tune_okapi
from pagekin.learning.projection import WeightedSpace, learn_projection, space_of
from pagekin.learning.ranking import AP, ERROR, P10, Ranker, measured, questions_of, sampled
from pagekin.learning.report import compared
from pagekin.learning.trainer import Trainer, TrainingRun, TrainingSettings, demand_examples
from pagekin.links.link_graph import StoredLinks
from pagekin.links.stored import stored_links
from pagekin.model.projection import Projection
from pagekin.model.strategy import Strategy
from pagekin.model.strings import Strings
from pagekin.model.weighting import Learned, Okapi
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import Store, report_damage

# Words of the contents as counted, stemmed, without stop words and templates.
COUNTING = Strategy(anchors=False, links=False, lead=0.0, stemming="stem", frequency_weight="none")
MOST_LOOKED_AT = 2000  # pages of valid that training looks at; all of test are judged by


@dataclass(frozen=True)
class LearnOptions:
    """How to learn. Without a start, a rate or units, those that do best on valid are found."""

    seed: int = 2005
    begin: str | None = None
    rate: float | None = None
    units: Units | None = None
    most_steps: int = 54_000
    projection: bool = False  # whether to learn one on top

    def grid(self) -> Grid:
        """What is tried."""
        starts = STARTS if self.begin is None else (self.begin,)
        rates = RATES if self.rate is None else (self.rate,)
        units = UNITS if self.units is None else (self.units,)
        return Grid(starts, rates, units, TrainingSettings(units[0], rates[0], starts[0], self.seed, self.most_steps))


@dataclass(frozen=True)
class LearnResult:
    """What came of it."""

    weighting: Learned
    okapi: Okapi
    run: TrainingRun
    parts: dict[str, CorpusPart]
    names: list[str]  # of the pages of test
    report: dict[str, Any]
    okapi_on_valid: dict[str, float]


def counted(store: Store, strategy: Strategy = COUNTING) -> tuple[CorpusCounts, Strings]:
    """How often each term is on each page of a store, and the names of the terms."""
    bags, terms, _ = bags_of_pages(BagSource.of(store), strategy)
    return CorpusCounts(bags.offsets, bags.term, bags.content), terms.name


def links_of(indexed: IndexedStore) -> CorpusLinks:
    """The links between pages of a collection that count for the strategy of its index."""
    return _between_pages(stored_links(indexed, indexed.index.strategy))


def _between_pages(links: StoredLinks) -> CorpusLinks:
    inside = links.has_page[links.citing] & links.has_page[links.cited]
    return CorpusLinks(links.citing[inside], links.cited[inside])


@report_damage
def learn(
    indexed: IndexedStore,
    options: LearnOptions | None = None,
    notebook: Checkpoint | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> LearnResult:
    """Learn a weighting from the links of a collection, and compare it with OKAPI on pages that were kept apart."""
    options = options or LearnOptions()
    progress("counting words")
    counts, _ = counted(indexed)
    links = stored_links(indexed, indexed.index.strategy)
    parts = split(counts, _between_pages(links), options.seed)
    urls = indexed.reading.pages.url
    names = [urls[int(indexed.nodes[node])] for node in parts["test"].pages.tolist()]
    outcome = learn_from(parts, links, names, options, notebook or Checkpoint(), progress)
    return _projected(indexed, outcome, links, options.seed, progress) if options.projection else outcome


def learn_from(
    parts: dict[str, CorpusPart],
    links: StoredLinks,
    names: list[str],
    options: LearnOptions,
    notebook: Checkpoint,
    progress: Callable[[str], None],
) -> LearnResult:
    """Tune and train on train and valid; then, and only then, look at test."""
    train, valid, test = parts["train"], parts["valid"], parts["test"]
    queries = sampled(valid, MOST_LOOKED_AT, options.seed)
    demand_examples(train, queries)
    okapi, okapi_on_valid = tune_okapi(valid, queries, progress)
    trainer = Trainer(train, valid, queries, okapi)
    grid = options.grid()
    state = notebook.open(fingerprint(grid, train, valid))

    def looked(state: SearchState) -> None:
        notebook.keep(state)
        progress(_told(state, okapi_on_valid))

    run = choose(trainer, grid, state, looked)
    weighting = trainer.learned(run, _facts(parts, options, run, okapi))
    progress("mixing words with links")
    share, share_on_valid = mixing_on(valid, test, links, options.seed, weighting, MOST_LOOKED_AT).best_share()
    weighting = replace(weighting, link_share=share)
    progress("judging on test")
    report = {
        "parts": {name: part.statistics() for name, part in parts.items()},
        "okapi": {"K": okapi.k, "B": okapi.b, "valid": okapi_on_valid},
        "linklearn": {**_settings(run), "valid": _measures(run.best)},
        "tried": [{**_settings(each), "AP": each.best[AP]} for each in state.done],
        "resumed": notebook.resumed,
        "test": _tested(test, okapi, weighting),
        "links": {"share": share, "valid": share_on_valid, "test": mixed(test, valid, links, options.seed, weighting)},
    }
    return LearnResult(weighting, okapi, run, parts, names, report, okapi_on_valid)


def _projected(
    indexed: IndexedStore, outcome: LearnResult, links: StoredLinks, seed: int, progress: Callable[[str], None]
) -> LearnResult:
    """With a projection on top of the weights, over terms as the index has them; or without, if valid wants none."""
    progress("learning a projection")
    names, (train, valid, test) = spaces_of(indexed, outcome, links)
    matrix, on_valid = learn_projection(train, valid, seed, progress)
    weighting, queries, terms = outcome.weighting, questions_of(test.part), train.part.terms
    report: dict[str, Any] = {"dimensions": matrix.shape[1], "terms": len(terms), "valid": on_valid}
    if matrix.shape[1]:
        known = Projection(tuple(names[term] for term in terms.tolist()), matrix[terms].astype(np.float32))
        weighting = replace(weighting, projection=known)
    one, other = (test.measured(each, queries) for each in (matrix[:, :0], matrix))
    report["test"] = {"pages": len(queries), "measures": compared(one, other, ("without", "with"))}
    return replace(outcome, weighting=weighting, report={**outcome.report, "projection": report})


def spaces_of(indexed: IndexedStore, outcome: LearnResult, links: StoredLinks) -> tuple[Strings, list[WeightedSpace]]:
    """Train, valid and test as learned weights of terms as the index has them, and what these are called."""
    own = indexed.index.strategy
    counts, names = counted(indexed, replace(COUNTING, stemming=own.stemming, language=own.language))
    parts = [part_of(outcome.parts[name].pages, counts, _between_pages(links)) for name in PARTS]
    return names, [space_of(part, outcome.weighting, len(names)) for part in parts]


def _told(state: SearchState, okapi: dict[str, float]) -> str:
    run = state.run
    assert run is not None
    look = run.history[-1]
    figures = "  ".join(f"{name} {look[name]:.4f} (OKAPI {okapi[name]:.4f})" for name in (AP, P10, ERROR))
    how = f"from {run.descent.begin}, units {','.join(map(str, run.descent.units))}, rate {run.rate:g}"
    return f"learning {len(state.done) + 1}, {how}, step {run.steps:,}: {figures}"


def _settings(run: TrainingRun) -> dict[str, Any]:
    return {
        "start": run.descent.begin,
        "units": list(run.descent.units),
        "rate": run.descent.rate,
        "steps": run.best["steps"],
        "all_steps": run.steps,
    }


def _measures(look: dict[str, Any]) -> dict[str, float]:
    return {key: value for key, value in look.items() if key not in ("steps", "rate", "loss")}


def _facts(parts: dict[str, CorpusPart], options: LearnOptions, run: TrainingRun, okapi: Okapi) -> dict[str, Any]:
    from pagekin import __version__

    return {
        "pagekin": __version__,
        "pages": len(parts["train"]),
        "seed": options.seed,
        **_settings(run),
        "valid": _measures(run.best),
        "okapi": {"K": okapi.k, "B": okapi.b},
    }


def _tested(test: CorpusPart, okapi: Okapi, weighting: Learned) -> dict[str, Any]:
    """Table 4."""
    queries = questions_of(test)
    if not len(queries):
        raise MisuseError("no page of test is linked with some of its pages and not with others; nothing can be judged")
    one, other = (Ranker(test, each, queries).measured() for each in (okapi, weighting))
    paper = measured(test, Okapi(), queries)
    return {"pages": len(queries), "measures": compared(one, other), "okapi_of_the_paper": paper}
