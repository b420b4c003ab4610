"""Learning a term weighting from the links of a collection: counts and links -> weights, a report and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.bags.build import bags_of_pages
from pagekin.bags.source import BagSource
from pagekin.errors import MisuseError
from pagekin.figures.charts import new_figure, save_figure
from pagekin.learning.corpus import PARTS, CorpusCounts, CorpusLinks, CorpusPart, part_of, split
from pagekin.learning.link_share import compare_with_links, link_share_tuner
from pagekin.learning.options import LearnOptions, Log
from pagekin.learning.projection import WeightedSpace, learn_projection, weighted_space
from pagekin.learning.ranking import AP, BREAK_EVEN, ERROR, P10, Ranker, compare_measures, page_queries, sample_queries
from pagekin.learning.trainer import Checkpoint, Grid, SearchState, Trainer, TrainingRun, require_examples, tune_okapi
from pagekin.links.link_graph import StoredLinks, stored_links
from pagekin.model.arrays import Array, Floats, Strings
from pagekin.model.projection import Projection
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import Learned, Okapi, Size
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import Store, report_damage

# Term frequencies of the page contents, stemmed, without stop words and templates.
COUNTING = Strategy(anchors=False, links=False, lead=0.0, stemming="stem", frequency_weight="none")
MAX_VALIDATION_QUERIES = 2000  # the test set is used completely
_LINKLEARN: dict[str, Any] = {"color": "#c62828", "label": "LinkLearn"}
_OKAPI: dict[str, Any] = {"color": "#37474f", "linestyle": "--", "label": "OKAPI"}
_POINTS = 200


@dataclass(frozen=True)
class LearnResult:
    """A learned weighting, OKAPI tuned on the same validation set, and their comparison on the test set."""

    weighting: Learned
    okapi: Okapi
    run: TrainingRun
    parts: dict[str, CorpusPart]
    names: list[str]  # URLs of the test set
    report: dict[str, Any]
    okapi_validation: dict[str, float]


def count_terms(store: Store, strategy: Strategy = COUNTING) -> tuple[CorpusCounts, Strings]:
    bags, terms, _ = bags_of_pages(BagSource.of(store), strategy)
    return CorpusCounts(bags.offsets, bags.term, bags.content), terms.name


def links_between_pages(links: StoredLinks) -> CorpusLinks:
    inside = links.has_page[links.citing] & links.has_page[links.cited]
    return CorpusLinks(links.citing[inside], links.cited[inside])


@report_damage
def learn(
    indexed: IndexedStore, options: LearnOptions, checkpoint: Checkpoint | None = None, progress: Log = lambda _: None
) -> LearnResult:
    """Learn a weighting from the links of a collection, and compare it with OKAPI on held-out pages."""
    progress("counting words")
    counts, _ = count_terms(indexed)
    links = stored_links(indexed, indexed.index.strategy)
    parts = split(counts, links_between_pages(links), options.seed)
    urls = indexed.reading.pages.url
    names = [urls[int(indexed.nodes[node])] for node in parts["test"].pages.tolist()]
    result = learn_from(parts, links, names, options, checkpoint or Checkpoint(), progress)
    return _add_projection(indexed, result, links, options.seed, progress) if options.projection else result


def learn_from(
    parts: dict[str, CorpusPart],
    links: StoredLinks,
    names: list[str],
    options: LearnOptions,
    checkpoint: Checkpoint,
    progress: Log,
) -> LearnResult:
    """Tune and train on the training and validation sets; the test set is used only after that."""
    train, valid, test = (parts[name] for name in PARTS)
    queries = sample_queries(valid, MAX_VALIDATION_QUERIES, options.seed)
    require_examples(train, queries)
    okapi, okapi_validation = tune_okapi(valid, queries, progress)
    trainer = Trainer(train, valid, queries, okapi)
    grid = Grid.of(options)
    state = checkpoint.load(grid.fingerprint(train, valid))

    def on_validation(state: SearchState) -> None:
        checkpoint.save(state)
        progress(_describe(state, okapi_validation))

    run = grid.search(trainer, state, on_validation)
    weighting = trainer.learned(run, _provenance(parts, options, run, okapi))
    progress("blending text and links")
    tuner = link_share_tuner(valid, test, links, options.seed, weighting, MAX_VALIDATION_QUERIES)
    share, share_validation = tuner.best_share()
    weighting = replace(weighting, link_share=share)
    progress("evaluating on the test set")
    hidden_links = compare_with_links(test, valid, links, options.seed, weighting)
    report = {
        "parts": {name: part.statistics() for name, part in parts.items()},
        "okapi": {"K": okapi.k, "B": okapi.b, "valid": okapi_validation},
        "linklearn": {**_settings(run), "valid": _measures(run)},
        "tried": [{**_settings(each), "AP": each.best[AP]} for each in state.done],
        "resumed": checkpoint.resumed,
        "test": _test(test, okapi, weighting),
        "links": {"share": share, "valid": share_validation, "test": hidden_links},
    }
    return LearnResult(weighting, okapi, run, parts, names, report, okapi_validation)


def _add_projection(
    indexed: IndexedStore, result: LearnResult, links: StoredLinks, seed: int, progress: Log
) -> LearnResult:
    """Learn a projection over the terms of the index; the result has none if validation prefers none."""
    progress("learning a projection")
    names, (train, valid, test) = weighted_spaces(indexed, result, links)
    matrix, validation = learn_projection(train, valid, seed, progress)
    weighting, queries, terms = result.weighting, page_queries(test.part), train.part.terms
    report: dict[str, Any] = {"dimensions": matrix.shape[1], "terms": len(terms), "valid": validation}
    if matrix.shape[1]:
        projection = Projection(tuple(names[term] for term in terms.tolist()), matrix[terms].astype(np.float32))
        weighting = replace(weighting, projection=projection)
    before, after = (test.measure(each, queries) for each in (matrix[:, :0], matrix))
    report["test"] = {"pages": len(queries), "measures": compare_measures(before, after, ("without", "with"))}
    return replace(result, weighting=weighting, report={**result.report, "projection": report})


def weighted_spaces(
    indexed: IndexedStore, result: LearnResult, links: StoredLinks
) -> tuple[Strings, list[WeightedSpace]]:
    """The names of the terms of the index, and the three parts as vectors of learned weights over these terms."""
    own = indexed.index.strategy
    counts, names = count_terms(indexed, replace(COUNTING, stemming=own.stemming, language=own.language))
    parts = [part_of(result.parts[name].pages, counts, links_between_pages(links)) for name in PARTS]
    return names, [weighted_space(part, result.weighting, len(names)) for part in parts]


def _describe(state: SearchState, okapi: dict[str, float]) -> str:
    run = state.run
    assert run is not None
    last = run.history[-1]
    measures = "  ".join(f"{name} {last[name]:.4f} (OKAPI {okapi[name]:.4f})" for name in (AP, P10, ERROR))
    how = f"from {run.settings.start}, units {','.join(map(str, run.settings.units))}, rate {run.rate:g}"
    return f"learning {len(state.done) + 1}, {how}, step {run.steps:,}: {measures}"


def _settings(run: TrainingRun) -> dict[str, Any]:
    return {
        "start": run.settings.start,
        "units": list(run.settings.units),
        "rate": run.settings.rate,
        "steps": run.best["steps"],
        "all_steps": run.steps,
    }


def _measures(run: TrainingRun) -> dict[str, float]:
    return {key: value for key, value in run.best.items() if key not in ("steps", "rate", "loss")}


def _provenance(parts: dict[str, CorpusPart], options: LearnOptions, run: TrainingRun, okapi: Okapi) -> dict[str, Any]:
    from pagekin import __version__

    return {
        "pagekin": __version__,
        "pages": len(parts["train"]),
        "seed": options.seed,
        **_settings(run),
        "valid": _measures(run),
        "okapi": {"K": okapi.k, "B": okapi.b},
    }


def _test(test: CorpusPart, okapi: Okapi, weighting: Learned) -> dict[str, Any]:
    """Table 4."""
    queries = page_queries(test)
    if not len(queries):
        raise MisuseError(
            "the test set has no page with both linked and unlinked pages in its set, so the weights cannot be"
            " evaluated; learn from a collection with more pages and links"
        )
    before, after = (Ranker(test, each, queries).measure() for each in (okapi, weighting))
    paper = Ranker(test, Okapi(), queries).means()
    return {"pages": len(queries), "measures": compare_measures(before, after), "okapi_of_the_paper": paper}


def draw_training(path: Path, kind: str, history: Sequence[Mapping[str, Any]], okapi: Mapping[str, float]) -> None:
    """Figure 2: each measure on the validation set by training steps, and that of OKAPI as a line."""
    figure = new_figure(12.0, 3.4)
    steps = [validation["steps"] for validation in history]
    for k, name in enumerate((ERROR, AP, P10, BREAK_EVEN), 1):
        axes = figure.add_subplot(1, 4, k)
        axes.plot(steps, [100 * validation[name] for validation in history], **_LINKLEARN)
        axes.axhline(100 * okapi[name], **_OKAPI)
        axes.set(title=f"{name}, %", xlabel="steps")
    axes.legend(frameon=False)
    save_figure(figure, path, kind)


def weight_curves(part: CorpusPart, learned: Learned, okapi: Okapi) -> dict[str, tuple[Floats, Floats, Floats]]:
    """For tf, df and length: values, and the LinkLearn and OKAPI weights there, with the other two at their medians.

    Weights are divided by their mean, since only their ratios matter.
    """
    counts, size = part.counts, Size(len(part), part.mean_length)
    inputs = counts.count, part.frequency[counts.term], part.lengths
    medians = [int(np.median(each)) if len(each) else 1 for each in inputs]
    maxima = [_quantile(each) for each in (counts.count, part.frequency, part.lengths)]
    curves = {}
    for k, name in enumerate(("tf", "df", "length")):
        values = np.unique(np.linspace(1, max(2, maxima[k]), _POINTS).astype(np.int64))
        tf, df, length = (values if n == k else np.full(len(values), max(1, medians[n])) for n in range(3))
        ours, theirs = (each.weigh(tf, df, length, size) for each in (learned, okapi))
        curves[name] = (values.astype(np.float64), ours / ours.mean(), theirs / max(float(theirs.mean()), 1e-12))
    return curves


def _quantile(values: Array) -> int:
    return int(np.quantile(values, 0.999)) if len(values) else 1


def draw_weights(path: Path, kind: str, part: CorpusPart, learned: Learned, okapi: Okapi) -> None:
    """Figure 3: the weight of a term as a function of tf, df and length."""
    figure = new_figure(12.0, 3.6)
    for k, (name, (values, ours, theirs)) in enumerate(weight_curves(part, learned, okapi).items(), 1):
        axes = figure.add_subplot(1, 3, k)
        axes.plot(values, ours, **_LINKLEARN)
        axes.plot(values, theirs, **_OKAPI)
        axes.set(xlabel=name, ylim=(0, None))
        axes.set_title("term weight, mean 1" if k == 1 else "")
    axes.legend(frameon=False)
    save_figure(figure, path, kind)
