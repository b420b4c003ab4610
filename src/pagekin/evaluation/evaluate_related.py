"""Evaluation of a collection, or of a run file, by related pairs of pages, and the files that it writes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError
from pagekin.evaluation.evaluate import (
    Comparison,
    EvaluatedSystem,
    comparable_measures,
    compare_systems,
    per_source_lines,
)
from pagekin.evaluation.judge import System
from pagekin.evaluation.labelled import ComparedCollection, urls_of
from pagekin.evaluation.labels import LeftOut, LeftOutReason
from pagekin.evaluation.measures import NDCG, Estimate, estimates
from pagekin.evaluation.options import RelatedEvaluationOptions
from pagekin.evaluation.population import ComparedPages
from pagekin.evaluation.related_pairs import (
    AP,
    MISSING,
    MRR,
    RECALL,
    RELATED_MEASURES,
    RelatedJudgement,
    RelatedPairs,
    judge_related,
    pair_keys,
    read_pairs,
    related_pairs,
)
from pagekin.evaluation.run_lines import run_lines
from pagekin.evaluation.runs import qrel_lines, rankings_of, read_lines, untie
from pagekin.evaluation.see_also import HEADINGS, hide_sections
from pagekin.links.link_graph import stored_links
from pagekin.model.arrays import Int64s
from pagekin.model.files import write_lines
from pagekin.model.jsons import json_field
from pagekin.model.progress import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.catalog import NewPageNames, PageNames
from pagekin.store.store import report_damage

SEE_ALSO = "See also sections"


@dataclass(frozen=True)
class RelatedMeasures(EvaluatedSystem):
    """How early a system has the related pages; means over the sources."""

    recall: Estimate = json_field(key=RECALL)  # the share of the related pages among the first ten
    mrr: Estimate = json_field(key=MRR)  # 1 / the rank of the first related page
    average_precision: Estimate = json_field(key=AP)
    ndcg: Estimate = json_field(key=NDCG)


@dataclass(frozen=True)
class RelatedEvaluation:
    """One system or two, evaluated by related pairs of pages."""

    related: str  # the file of pairs, or the sections
    pages: int  # that are ranked
    pairs: int
    unlinked: bool  # whether pairs of linked pages were left out
    headings: dict[str, int] = json_field()  # how many sections have each heading
    systems: list[RelatedMeasures] = json_field()
    comparison: Comparison | None = json_field()
    left_out: list[LeftOutReason] = json_field()


@dataclass(frozen=True)
class RelatedCollection:
    """A collection, its related pairs, and the headings of the sections that they are from."""

    compared: ComparedCollection
    related: RelatedPairs
    headings: dict[str, int]


@report_damage
def evaluate_related(
    indexed: IndexedStore | None,
    pairs: str | None,
    options: RelatedEvaluationOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> RelatedEvaluation:
    """Evaluate the ranking of an index, another strategy or a run file, and write the files that the options name.

    `pairs` is a file with lines of `page<TAB>page`; None for the "See also" sections of the collection, which are then
    hidden from the ranking. Without a store, the pages that are ranked are all that the file and the runs name.
    """
    if indexed is None and (options.run is None or pairs is None):
        raise MisuseError("name a STORE to evaluate, or a run file with --run and pairs with --related")
    with open_related(indexed, pairs, options, progress) as truth:
        compared, related = truth.compared, truth.related
        pages, threads = compared.population, options.threads or cpu_count()
        sources = np.intersect1d(compared.sources(options.queries), np.flatnonzero(related.lengths()))

        def judged(system: System) -> RelatedJudgement:
            def tell(done: int) -> None:
                progress(Progress(f"judging {system.name}", done, len(sources)))

            return judge_related(system, pages, related, sources, threads, tell)

        systems = compared.systems(options)
        judgements = [judged(system) for system in systems]
        drawn = options.resamples, options.seed
        evaluated = [_measures(*each, *drawn) for each in zip(systems, judgements, strict=True)]
        tables = [each.table for each in judgements]
        if options.per_source:
            urls, counts = [pages.urls[source] for source in sources], map(str, related.lengths()[sources].tolist())
            columns = {"url": urls, "related": list(counts)}
            write_lines(Path(options.per_source), per_source_lines(tables[0], columns))
        if options.write_qrels:
            write_lines(Path(options.write_qrels), qrel_lines(_qrels(pages, related, sources)))
        if options.write_run:
            rankings = rankings_of(systems[0], pages, sources, options.run_depth)
            write_lines(Path(options.write_run), run_lines(untie(rankings)))
        return RelatedEvaluation(
            SEE_ALSO if pairs is None else pairs,
            len(pages),
            related.count,
            options.unlinked,
            truth.headings,
            evaluated,
            compare_systems(evaluated, tables, *drawn),
            compared.notes.reasons(),
        )


def _measures(system: System, judgement: RelatedJudgement, resamples: int, seed: int) -> RelatedMeasures:
    measured = estimates(judgement.table, resamples, seed)
    comparable = comparable_measures(system, RELATED_MEASURES, (RECALL, NDCG))
    unanswered = int((~judgement.answered).sum())
    facts = (system.name, len(judgement.answered), unanswered, system.longest, comparable)
    return RelatedMeasures(*facts, *(measured[name] for name in RELATED_MEASURES))


def _qrels(pages: ComparedPages, related: RelatedPairs, sources: Int64s) -> Iterator[tuple[str, str, int]]:
    for source in sources.tolist():
        for page in related.page[related.row(source)].tolist():
            yield pages.urls[source], pages.urls[page], 1


@contextmanager
def open_related(
    indexed: IndexedStore | None,
    file: str | None,
    options: RelatedEvaluationOptions,
    progress: Callable[[Progress], None],
) -> Iterator[RelatedCollection]:
    """The pages and pairs of a file or, without one, of "See also" sections, hidden in a temporary copy."""
    notes, headings, copy_of = LeftOut(), dict[str, int](), None
    with ExitStack() as stack:
        if indexed is None:
            assert file is not None
            addresses: PageNames = (names := NewPageNames())
            found = list(read_pairs(Path(file), names.take, notes))
            _add_runs(names, options)
            urls = list(names.urls)
        else:
            addresses, urls = indexed.catalog.page_names(), urls_of(indexed)
            if file is None:
                copy_of = indexed.root
                hidden = stack.enter_context(hide_sections(indexed, notes, options.threads or cpu_count(), progress))
                indexed, found, headings = hidden.indexed, hidden.pairs, hidden.headings
            else:
                found = list(read_pairs(Path(file), addresses.find, notes))
        related = related_pairs(found, len(urls), notes, urls)
        if not related.count:
            raise MisuseError(_no_pairs(file, copy_of or (None if indexed is None else indexed.root), urls, notes))
        compared = ComparedCollection(indexed, ComparedPages(np.arange(len(urls)), urls), addresses, notes, copy_of)
        yield RelatedCollection(compared, _unlinked(compared, related) if options.unlinked else related, headings)


def _add_runs(names: NewPageNames, options: RelatedEvaluationOptions) -> None:
    """Add the pages of the run files."""
    for run in (options.run, options.against):
        if run is not None and Path(run).is_file():
            for line in read_lines(Path(run), LeftOut()):
                names.take(line.query), names.take(line.result)


def _unlinked(compared: ComparedCollection, related: RelatedPairs) -> RelatedPairs:
    """The related pairs in which neither page has a link that counts to the other."""
    if compared.indexed is None:
        raise MisuseError("--unlinked needs the links of a collection; name a STORE, or leave out --unlinked")
    links, urls = stored_links(compared.indexed, compared.indexed.index.strategy), compared.population.urls
    inside = (links.citing < len(urls)) & (links.cited < len(urls))
    linked = np.unique(pair_keys(links.citing[inside], links.cited[inside], len(urls)))
    found = related.without(linked, compared.notes, urls)
    if not found.count:
        raise MisuseError(f"in all {related.count:,} related pairs a page links to the other; leave out --unlinked")
    return found


def _no_pairs(file: str | None, root: Path | None, urls: list[str], notes: LeftOut) -> str:
    if file is None:
        return (
            f"no page of {root} has a section such as {HEADINGS[0]!r} with links to other pages of the collection;"
            " give a file of related pairs with --related"
        )
    if root is None:
        return f"{file} has only pairs of a page with itself; a line is a page, a tab and another page"
    return (
        f"{file} has no pair of two of the {len(urls):,} pages of {root} (it names pages such as"
        f" {notes.example(MISSING)!r}, pages are such as {next(iter(urls), '')!r}); a page is named by its URL or by"
        " its path in the folder that was read"
    )
