"""`Collection`: everything that can be done with a built collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from functools import wraps
from html import escape
from inspect import Parameter, signature
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from pagekin.errors import MisuseError, NoPageError
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import Strategy
from pagekin.model.tables import Tabular, html_table, scalars
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.results import PageLink, RelatedPages, RelatedQuery
from pagekin.store.manifest import damaged_files
from pagekin.store.store import reporting_damage

# `pagekin related` should start quickly: other methods import what they need.
if TYPE_CHECKING:
    from pagekin.collection.clusters import Bridge, ClusterEvaluation, GraphStatistics, PageClusters
    from pagekin.collection.info import (
        BuildReport,
        CheckReport,
        CollectionInfo,
        KeptReport,
        Page,
        PageDetails,
        SearchResults,
    )
    from pagekin.collection.learn import LearnReport
    from pagekin.collection.matrices import TermMatrix
    from pagekin.duplicates.report import DuplicateReport
    from pagekin.duplicates.result_formats import Fields, Result
    from pagekin.duplicates.result_list import GroupedResults
    from pagekin.evaluation.evaluate import Evaluation
    from pagekin.evaluation.evaluate_related import RelatedEvaluation
    from pagekin.evaluation.export import ExportReport
    from pagekin.evaluation.options import EvaluationOptions, RelatedEvaluationOptions, TuneOptions
    from pagekin.evaluation.tune import TuneReport
    from pagekin.gaps.find import GapFinder
    from pagekin.gaps.options import GapOptions
    from pagekin.gaps.results import Gaps
    from pagekin.learning.options import LearnOptions
    from pagekin.links.settings import ClusterOptions, GraphOptions
    from pagekin.model.arrays import Floats, Int64s
    from pagekin.model.progress import Progress
    from pagekin.search.duplicates import DuplicateGroups

O = TypeVar("O")  # noqa: E741
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C")
_PAGE_NODES = "SELECT node FROM nodes WHERE first_row IS NOT NULL ORDER BY node"
_SHOWN = 5  # pages of a collection in a notebook


def _takes(cls: type) -> Callable[[F], F]:
    """Show the fields of an option dataclass in the signature of a method, for `help` and completion."""

    def show(method: F) -> F:
        own = signature(method)
        shown = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        taken = {each.name for each in shown}
        for each in fields(cls):
            if each.name not in taken and each.default is not MISSING:
                shown.append(Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type))
        method.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
        return method

    return show


class HasUrl(Protocol):
    """Anything with a URL: a `Page`, a `PageDetails`, a `PageLink` or a `RelatedPage`."""

    @property
    def url(self) -> str: ...


PageName = str | HasUrl  # a string is a URL, a file of the collection, a title, or words of a title


def _reporting_damage(kind: type[C]) -> type[C]:
    """Let every public method of a collection raise StoreError if files of its store are to blame for an error."""

    def reporting(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def checked(self: Any, *given: Any, **named: Any) -> Any:
            with reporting_damage(self.indexed):
                return method(self, *given, **named)

        return checked

    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(kind, name, reporting(method))
    return kind


@_reporting_damage
class Collection(Tabular):
    """A built collection, opened for reading. `pagekin.open` and `pagekin.build` return one.

    It has a length and can be iterated over. A page is named by its URL, its file, its title or words of its title, or
    by a `Page`.

    >>> len(collection)
    9
    >>> [page.title for page in collection][:2]
    ['Redbreast', 'The finch']
    """

    def __init__(self, indexed: IndexedStore, built: BuildReport | None = None) -> None:
        self.indexed = indexed
        self._finder: GapFinder | None = None
        self.built = built  # what the build did, if the collection comes from `pagekin.build`

    @property
    def path(self) -> Path:
        """The folder of the store.

        >>> collection.path.name
        'site.kin'
        """
        return self.indexed.root

    @property
    def strategy(self) -> Strategy:
        """The strategy that the index was built with.

        >>> collection.strategy.similarity
        'jaccard'
        """
        return self.indexed.index.strategy

    def __len__(self) -> int:
        return len(self.indexed)

    def __iter__(self) -> Iterator[Page]:
        from pagekin.collection.info import list_pages

        return list_pages(self.indexed)

    def __contains__(self, page: object) -> bool:
        """Whether a page has this name: a URL, a file, a title, or a `Page`."""
        name = page if isinstance(page, str) else getattr(page, "url", "")
        try:
            self.indexed.find(name)
        except NoPageError:
            return False
        return True

    def __repr__(self) -> str:
        return f"<Collection {self.path} of {len(self):,} pages>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files of the collection; a `with` statement does so, too.

        >>> with pagekin.open("site.kin") as opened:
        ...     len(opened)
        9
        """
        self.indexed.close()

    def page(self, name: PageName, *, text: bool = False) -> PageDetails:
        """Everything that is stored about a page; with `text`, also its visible text.

        Raises NoPageError if no page, or more than one, has this name.

        >>> collection.page("robin").title
        'The robin'
        >>> collection.page("http://site.example/birds/robin.html").in_degree
        3
        """
        from pagekin.collection.info import describe_page

        return describe_page(self.indexed, self.indexed.find(_name(name)), text)

    def search(self, words: str, limit: int = 10) -> SearchResults:
        """Pages by URL, by words of the title or by words of the text, the best match first.

        >>> [page.title for page in collection.search("oak", limit=1)]
        ['The oak']
        >>> collection.search("loud song spiders")[0].title  # words of the text
        'The wren'
        """
        from pagekin.collection.info import search_pages

        return search_pages(self.indexed, words, limit)

    @_takes(RelatedOptions)
    def related(
        self, pages: PageName | Sequence[PageName], options: RelatedOptions | None = None, **fields: Any
    ) -> RelatedPages:
        """The pages that are related to a page, or to several pages as one query, the most similar first.

        Keywords are fields of `RelatedOptions`; they override the fields of `options`.

        >>> found = collection.related("robin", limit=2, group_duplicates=False)
        >>> [page.title for page in found]
        ['Redbreast', 'The wren']
        >>> found[1].why.terms[0][0]
        'winter'
        """
        several = [pages] if isinstance(pages, str) or not isinstance(pages, Sequence) else pages
        nodes = [self.indexed.find_node(_name(each)) for each in several]
        named = self.indexed.catalog.named_nodes(nodes)
        chosen = _chosen(RelatedOptions, options, fields)
        return self._answer(named, self.indexed.related([each["url"] for each in named], chosen), chosen)

    @_takes(RelatedOptions)
    def related_to(
        self,
        *,
        html: str | bytes | None = None,
        text: str | bytes | None = None,
        options: RelatedOptions | None = None,
        **fields: Any,
    ) -> RelatedPages:
        """The pages that are related to a page that is not in the collection, given as HTML or as plain text.

        >>> collection.related_to(text="the loud song of a wren: wrens and spiders", limit=1)[0].title
        'The wren'
        """
        if (html is None) == (text is None):
            raise MisuseError("give either html or text, and not both")
        body = html or text or b""
        data = body if isinstance(body, bytes) else body.encode("utf-8", "replace")
        chosen = _chosen(RelatedOptions, options, fields)
        return self._answer([], self.indexed.related_to(data, chosen, plain=html is None), chosen)

    def _answer(self, pages: list[dict[str, str]], related: list[Any], options: RelatedOptions) -> RelatedPages:
        urls, titles = (tuple(each[key] for each in pages) for key in ("url", "title"))
        return RelatedPages(RelatedQuery(urls, titles, options.similarity or self.strategy.similarity), related)

    def duplicates(self, *, whole_text: bool = False, **settings: Any) -> DuplicateGroups:
        """The groups of near-duplicates. Keywords are fields of `GroupSettings`.

        With `whole_text`, blocks that recur on many pages of a host are compared as well.

        >>> [[group.anchor.url, *(member.page.url for member in group.members)] for group in collection.duplicates()]
        [['http://site.example/birds/robin.html', 'http://site.example/birds/copy.html']]
        """
        from pagekin.search.duplicates import find_duplicates

        return find_duplicates(self.indexed, self._groups(settings), whole_text=whole_text)

    def duplicate_report(
        self, page: PageName | None = None, *, whole_text: bool = False, **settings: Any
    ) -> DuplicateReport:
        """The share of near-duplicates by threshold, and the overlap of one page with all others.

        The default page is the one with the most near-duplicates. `pagekin.duplicates.report.draw_report` draws it.

        >>> collection.duplicate_report().curves[0].threshold
        0.5
        """
        from pagekin.search.duplicates import duplicate_report

        name = None if page is None else _name(page)
        return duplicate_report(self.indexed, self._groups(settings), name, whole_text=whole_text)

    def _groups(self, settings: Mapping[str, Any]) -> Any:
        return _chosen(type(self.indexed.fingerprints.settings), self.indexed.fingerprints.settings, settings)

    def clusters(
        self, page: PageName, options: ClusterOptions | None = None, *, output: str | Path | None = None, **fields: Any
    ) -> PageClusters:
        """The pages around a page, ordered by a clustering by link similarity. Keywords are fields of `ClusterOptions`.

        With `output`, the dendrograms are drawn into an svg, png or pdf file.

        >>> found = collection.clusters("robin", limit=2)
        >>> [page.title for page in found.related]
        ['The wren', 'Home']
        """
        from pagekin.collection.clusters import analyse_links, describe_clusters, draw_clusters, picture_format
        from pagekin.links.settings import ClusterOptions

        chosen, kind = _chosen(ClusterOptions, options, fields), picture_format(output) if output else ""
        analysis = analyse_links(self.indexed, chosen)
        clusters = analysis.clusters(_name(page), chosen.most)
        if output and len(clusters) > 1:
            draw_clusters(analysis, clusters, chosen, Path(output), kind)
        return describe_clusters(analysis, clusters, _name(page), chosen)

    def bridges(
        self,
        options: ClusterOptions | None = None,
        *,
        progress: Callable[[list[int]], Iterable[int]] = iter,
        **fields: Any,
    ) -> list[Bridge]:
        """Pages between topics, the strongest first: each is similar to two pages that are far from each other.

        Keywords are fields of `ClusterOptions`.

        >>> collection.bridges(limit=1)[0].url.startswith("http://site.example/")
        True
        """
        from pagekin.collection.clusters import analyse_links, find_bridges
        from pagekin.links.settings import ClusterOptions

        chosen = _chosen(ClusterOptions, options, fields)
        return find_bridges(analyse_links(self.indexed, chosen), chosen, progress)

    def cluster_quality(
        self, labels: str | Path, options: ClusterOptions | None = None, *, depth: int = 1, **fields: Any
    ) -> ClusterEvaluation:
        r"""Measure how well clusters match the categories of pages. Keywords are fields of `ClusterOptions`.

        `labels` is a file with lines of a page, a tab and Top/Middle/Leaf. Categories are cut at `depth`.

        >>> lines = ["birds/wren.html\tBirds", "birds/finch.html\tBirds", "trees/oak.html\tTrees"]
        >>> _ = Path("labels.tsv").write_text("\n".join(lines))
        >>> collection.cluster_quality("labels.tsv").labelled
        3
        """
        from pagekin.collection.clusters import analyse_links, evaluate_clusters
        from pagekin.links.settings import ClusterOptions

        chosen = _chosen(ClusterOptions, options, fields)
        return evaluate_clusters(analyse_links(self.indexed, chosen), str(labels), depth, chosen.alpha)

    def graph(
        self,
        options: GraphOptions | None = None,
        *,
        output: str | Path | None = None,
        labels: str | Path | None = None,
        depth: int = 1,
        **fields: Any,
    ) -> GraphStatistics:
        """The size of the graph of pages with similar links. With `output`, the graph is also written to a file.

        The suffix of `output` decides what is written: the graph (graphml, gexf), its pairs (csv, parquet) or a picture
        (svg, png, pdf). A picture is coloured by the categories in the file `labels`, cut at `depth`. Keywords are
        fields of `GraphOptions`.

        >>> collection.graph(measure="co-citation").pages
        9
        """
        from pagekin.collection.clusters import (
            GRAPH_FORMATS,
            GraphStatistics,
            analyse_links,
            picture_format,
            read_categories,
            write_graph,
        )
        from pagekin.links.settings import GraphOptions

        chosen = _chosen(GraphOptions, options, fields)
        kind = picture_format(output, GRAPH_FORMATS) if output else ""
        analysis = analyse_links(self.indexed, chosen, chosen.core, chosen.steps)
        if output:
            categories = read_categories(analysis, str(labels), depth)[0] if labels else {}
            write_graph(analysis, Path(output), kind, categories)
        return GraphStatistics(**analysis.statistics(), output=str(output) if output else None)

    def evaluate(
        self,
        hierarchy: str | Path,
        options: EvaluationOptions | None = None,
        *,
        progress: Callable[[Progress], None] = lambda _: None,
        **fields: Any,
    ) -> Evaluation:
        """Compare the ranking of the index with a hierarchy of classes: Gamma, Somers' D, P@10 and nDCG@10.

        `hierarchy` is a file of labels, or `path` for the folders of URLs. Keywords are fields of `EvaluationOptions`.

        >>> collection.evaluate("path", resamples=10).classes
        2
        """
        from pagekin.evaluation.evaluate import evaluate
        from pagekin.evaluation.options import EvaluationOptions

        return evaluate(self.indexed, str(hierarchy), _chosen(EvaluationOptions, options, fields), progress)

    def evaluate_related(
        self,
        pairs: str | Path | None = None,
        options: RelatedEvaluationOptions | None = None,
        *,
        progress: Callable[[Progress], None] = lambda _: None,
        **fields: Any,
    ) -> RelatedEvaluation:
        r"""Compare the ranking of the index with pairs of related pages: R@10, MRR, AP and nDCG@10.

        `pairs` is a file with lines of a page, a tab and a page. Without it, the links in the "See also" sections of
        the pages are the pairs, and the sections are hidden from the ranking. Keywords are fields of
        `RelatedEvaluationOptions`.

        >>> _ = Path("pairs.tsv").write_text("birds/robin.html\tbirds/copy.html\n")
        >>> found = collection.evaluate_related("pairs.tsv", resamples=10)
        >>> found.pairs, found.systems[0].mrr.value
        (1, 1.0)
        """
        from pagekin.evaluation.evaluate_related import evaluate_related
        from pagekin.evaluation.options import RelatedEvaluationOptions

        chosen = _chosen(RelatedEvaluationOptions, options, fields)
        return evaluate_related(self.indexed, None if pairs is None else str(pairs), chosen, progress)

    def tune(
        self,
        hierarchy: str | Path | None = None,
        options: TuneOptions | None = None,
        *,
        related: str | Path | None = None,
        output: str | Path | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
        **fields: Any,
    ) -> TuneReport:
        """Fit the weights of the blend to relevance judgements, and measure the gain by cross-validation.

        Judgements are a hierarchy, as in `evaluate`, or related pairs, as in `evaluate_related`. If neither is given,
        "See also" sections are used. `output` is a strategy file to write. Keywords are fields of `TuneOptions`.

        >>> collection.tune("path", folds=2, resamples=10).significant
        False
        """
        from pagekin.evaluation.options import TuneOptions
        from pagekin.evaluation.tune import tune

        if hierarchy is not None and related is not None:
            raise MisuseError("give either a hierarchy or related pairs, and not both")
        names = [None if each is None else str(each) for each in (hierarchy, related)]
        target = None if output is None else Path(output)
        return tune(self.indexed, _chosen(TuneOptions, options, fields), names[0], names[1], target, progress)

    def learn(
        self,
        output: str | Path | None = None,
        options: LearnOptions | None = None,
        *,
        figures: str | Path | None = None,
        trec: str | Path | None = None,
        progress: Callable[[str], None] = lambda _: None,
        **fields: Any,
    ) -> LearnReport:
        """Learn term weights (LinkLearn) from the links, write them to `output`, and compare them with OKAPI.

        The default output is next to the store: `my.weights.json` for `my.kin`. `figures` is a folder for figures, and
        `trec` a folder for the qrels and runs of the test set. An interrupted run continues when it is called again.
        Keywords are fields of `LearnOptions`.

        >>> collection.learn("weights.json", max_steps=20, rate=0.1)
        Traceback (most recent call last):
        pagekin.errors.MisuseError: ...
        """
        from pagekin.collection.learn import learn
        from pagekin.learning.options import LearnOptions

        chosen = _chosen(LearnOptions, options, fields)
        folders = [Path(each) if each else None for each in (figures, trec)]
        return learn(self.indexed, Path(output) if output else None, chosen, folders[0], folders[1], progress)

    @_takes(RelatedOptions)
    def export(
        self,
        output: str | Path,
        options: RelatedOptions | None = None,
        *,
        format: str | None = None,
        queries: Iterable[PageName] | None = None,
        progress: Callable[[list[str]], Iterable[str]] = iter,
        **fields: Any,
    ) -> ExportReport:
        """Write the related pages of all pages, or of `queries`, to a tsv, trec, csv, jsonl or parquet file.

        The default format is the suffix of `output`. csv, jsonl and parquet files contain titles and, with `explain`,
        explanations. Keywords are fields of `RelatedOptions`. By default there is no minimum similarity, and results
        are not explained.

        >>> collection.export("related.tsv", limit=1).answers
        9
        """
        from pagekin.engines.local import WorkerPool, cpu_count
        from pagekin.evaluation.export import ExportReport, export_answers, export_format
        from pagekin.evaluation.export_lines import LINE_FORMATS, export_lines

        kind = export_format(Path(output), format)
        defaults: dict[str, Any] = {} if options is not None else {"min_similarity": 0.0, "explain": False}
        chosen = _chosen(RelatedOptions, options, {**defaults, "group_duplicates": False, **fields})
        indexed = self.indexed
        if queries is None:  # pages with a common canonical URL once, under that URL
            nodes = [node for (node,) in indexed.catalog.each(_PAGE_NODES)]
        else:
            nodes = [indexed.find_node(_name(each)) for each in queries]
        named = indexed.catalog.names_by_node(nodes)
        pages = [PageLink(**named[node]) for node in nodes]
        mapper, watched = WorkerPool(cpu_count()).map, progress([page.url for page in pages])
        rows = indexed.nearest_of_pages(nodes, chosen, mapper) if kind in LINE_FORMATS else None
        if rows is not None:
            count = export_lines(Path(output), LINE_FORMATS[kind], pages, rows, indexed.catalog.names_by_node, watched)
        else:
            found = indexed.related_of_pages(nodes, chosen, mapper)
            answers = ((page, answer) for page, answer, _ in zip(pages, found, watched, strict=True))
            by_score = indexed.blend(chosen).single is not None
            count = export_answers(Path(output), kind, answers, by_score=by_score, explained=chosen.explain)
        return ExportReport(str(output), kind, len(nodes), count)

    def gaps(
        self,
        options: GapOptions | None = None,
        *,
        pages: Sequence[PageName] | None = None,
        output: str | Path | None = None,
        progress: Callable[[list[int]], Iterable[int]] = iter,
        **fields: Any,
    ) -> Gaps:
        """Missing links: two pages that are related, or one that names the other, without a link in either direction.

        Each has the sentence in which the link fits best, and the words to link. Orphans, dead ends and pages with
        in-links from templates only are listed as well. `pages` are the sources, by default all pages. `output` is a
        csv, json or html file. Keywords are fields of `GapOptions`.

        >>> found = collection.gaps(pages=["finch"])
        >>> found[0].target.title, found[0].words, [page.title for page in found.orphans]
        ('Redbreast', 'winter', ['Redbreast', 'Home'])
        """
        from pagekin.gaps.decisions import check_no_decisions
        from pagekin.gaps.options import GapOptions
        from pagekin.gaps.report import gap_format, write_gaps

        chosen = _chosen(GapOptions, options, fields)
        if output is not None and gap_format(Path(output)) == "csv":
            check_no_decisions(Path(output))
        nodes = None if pages is None else [self._node(each) for each in pages]
        found = self._gap_finder.find(chosen, nodes, progress)
        if output is not None:
            write_gaps(found, Path(output))
        return found

    def _node(self, page: PageName) -> int:
        """The number of a page with a text."""
        node = self.indexed.find_node(_name(page))
        if node >= len(self.indexed.nodes) - 1:
            raise NoPageError(f"{_name(page)} is known only from links to it, and has no text in {self.path}")
        return node

    @property
    def _gap_finder(self) -> GapFinder:
        """Finds missing links; kept, since it looks at all texts first."""
        from pagekin.gaps.find import GapFinder

        if self._finder is None or self._finder.indexed is not self.indexed:
            self._finder = GapFinder(self.indexed)
        return self._finder

    def keep_answers(
        self,
        limit: int = 10,
        progress: Callable[[Progress], None] = lambda _: None,
        *,
        engine: str = "local",
        master: str | None = None,
    ) -> KeptReport:
        """Compute the related pages of all pages in advance and keep them in the index; a `limit` of 0 removes them.

        Requests with the default ranking and without filters, for at most `limit` pages, then need no search. The
        `engine` "spark" finds them on the Spark cluster of `master`.

        >>> collection.keep_answers(5).pages
        9
        """
        from pagekin.collection.info import describe_answers
        from pagekin.pipeline import keep_answers

        self.indexed = IndexedStore(self.path, keep_answers(self.path, limit, progress, engine=engine, master=master))
        return describe_answers(self.indexed, limit)

    def table(self) -> list[dict[str, Any]]:
        """All pages as rows; `to_pandas` and `to_arrow` return the same table.

        >>> collection.table()[0]["title"]
        'Redbreast'
        """
        return [scalars(page) for page in self]

    def _repr_html_(self) -> str:
        counts, title = self.indexed.manifest.counts, f"<b>{escape(self.path.name)}</b>"
        facts = ", ".join(f"{counts[name]:,} {name}" for name in ("pages", "hosts", "links", "words"))
        return (
            f"<p>{title}: {facts}. The first pages:</p>{html_table([scalars(page) for page in islice(self, _SHOWN)])}"
        )

    def to_networkx(self) -> Any:
        """The links between pages as a directed networkx graph. Nodes are URLs with titles, edges have link counts.

        The edge attribute `in_text` is False if the link occurs only in menus and other templates.

        >>> graph = collection.to_networkx()
        >>> graph.has_edge("http://site.example/birds/copy.html", "http://site.example/birds/wren.html")
        True
        """
        from pagekin.collection.matrices import link_graph

        return link_graph(self.indexed)

    def bags(self) -> TermMatrix:
        """The weighted terms of all pages, as a SciPy sparse matrix with the names of its rows and columns.

        >>> bags = collection.bags()
        >>> bags.matrix.shape == (9, len(bags.terms)), "oak" in bags.terms
        (True, True)
        """
        from pagekin.collection.matrices import term_matrix

        return term_matrix(self.indexed)

    def similarity_matrix(self, pages: Sequence[PageName], options: RelatedOptions | None = None) -> Floats:
        """The similarities of some pages to each other, as a matrix.

        Row k contains the similarities of page k, as the query, to each page. The diagonal is 1.

        >>> collection.similarity_matrix(["oak", "birch", "robin"]).shape
        (3, 3)
        """
        from pagekin.collection.matrices import similarity_matrix

        nodes = [self._node(each) for each in pages]
        return similarity_matrix(self.indexed, nodes, options or RelatedOptions())

    def kneighbors(
        self, pages: Sequence[PageName] | None = None, n_neighbors: int = 5, *, return_distance: bool = True
    ) -> tuple[Floats, Int64s] | Int64s:
        """The nearest pages of the given pages, by default of all pages, in the format of scikit-learn's `kneighbors`.

        Distances are 1 - similarity. Indices are row numbers of `bags()`; its `urls` are the pages of the rows. If
        fewer than `n_neighbors` pages are similar, the rest of a row has the distance inf and the index -1.

        >>> distances, indices = collection.kneighbors(["oak"], 2)
        >>> [collection.bags().urls[k] for k in indices[0]] == [page.url for page in collection.related("oak", limit=2)]
        True
        """
        from pagekin.collection.matrices import kneighbors

        nodes = None if pages is None else [self._node(each) for each in pages]
        found = kneighbors(self.indexed, nodes, n_neighbors, RelatedOptions())
        return found if return_distance else found[1]

    def info(self) -> CollectionInfo:
        """What the collection holds, how it was read, and what was skipped and why.

        >>> collection.info().counts["pages"]
        9
        """
        from pagekin.collection.info import describe_store

        return describe_store(self.indexed)

    def check(self) -> CheckReport:
        """Compare every file with its checksum.

        >>> collection.check().damaged
        []
        """
        from pagekin.collection.info import CheckReport

        manifest = self.indexed.manifest
        return CheckReport(len(manifest.all_files()), list(damaged_files(self.indexed.root, manifest)))


def open(path: str | Path) -> Collection:
    """Open the collection in a folder that `pagekin build` has written.

    >>> pagekin.open("site.kin")
    <Collection site.kin of 9 pages>
    """
    return Collection(IndexedStore.open(path))


def build(
    sources: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    base_urls: Sequence[str] = (),
    settings: ReadingSettings | None = None,
    strategy: Strategy | None = None,
    vectors: str | Path | None = None,
    processes: int | None = None,
    memory: int | None = None,
    allow_shrink: bool = False,
    engine: str = "local",
    master: str | None = None,
    answers: int | None = None,
    shards: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Collection:
    """Read sources into the folder `output`, and open the collection.

    A source is a folder of HTML, an HTML file, a WARC or WACZ archive, or a JSON Lines file of pages. `base_urls` are
    the URLs of folders: one for all, or one for each. `vectors` is a file with vectors of the pages from any encoder,
    which become one more evidence. Pages that have not changed since the last build are not read again. The number of
    processes is limited such that they fit into `memory` bytes. SourceError is raised, and `output` is left as it is,
    if the sources have no page, or fewer than half of the pages that `output` has; `allow_shrink` allows the latter.
    The `engine` "spark" builds a new collection on the Spark cluster of `master`; the result is the same. `answers` is
    the `limit` of `Collection.keep_answers`; by default it is that of the last build, as is the number of `shards`,
    folders that the files of `output` are divided into.

    >>> pagekin.build("pages", "site.kin", base_urls=["http://site.example/"]).built.reused
    9
    """
    from pagekin.collection.info import describe_build
    from pagekin.pipeline import MEMORY
    from pagekin.pipeline import build as build_store

    several = [sources] if isinstance(sources, str | Path) else sources
    built = build_store(
        several,
        output,
        base_urls=base_urls,
        settings=settings,
        strategy=strategy,
        vectors=vectors,
        processes=processes,
        memory=MEMORY if memory is None else memory,
        allow_shrink=allow_shrink,
        engine=engine,
        master=master,
        answers=answers,
        shards=shards,
        progress=progress,
    )
    return Collection(IndexedStore(built.store.root, built.store.manifest), describe_build(built))


def group_results(
    results: Iterable[Result | Mapping[str, Any]] | Mapping[str, Any],
    *,
    field_names: Fields | None = None,
    query: str | None = None,
    **settings: Any,
) -> GroupedResults:
    """Group the near-duplicates of a result list, or of the response of a search engine, under the best-ranked.

    A result is a mapping with id, url, title, text or html, and rank; `field_names` sets other names. With a `query`,
    results are compared by the passages around its words. Keywords are fields of `GroupSettings`.

    >>> wren, robin = "The wren is small. " * 40, "The robin is red. " * 40
    >>> results = [{"id": 1, "text": wren}, {"id": 2, "text": robin}, {"id": 3, "text": wren.upper()}]
    >>> found = pagekin.group_results(results)
    >>> [[group.anchor.id, *(member.page.id for member in group.members)] for group in found.groups]
    [[1, 3], [2]]
    """
    from pagekin.duplicates.result_list import group
    from pagekin.duplicates.settings import GroupSettings

    return group(results, _chosen(GroupSettings, None, settings), field_names, query).grouped()


def evaluate_run(hierarchy: str | Path, run: str | Path, **options: Any) -> Evaluation:
    r"""Compare the ranking of any system, given as a run file, with a hierarchy of classes; no collection is needed.

    Keywords are fields of `EvaluationOptions`.

    >>> _ = Path("labels.tsv").write_text("http://a/\tA/B\nhttp://b/\tA/B\nhttp://c/\tC/D\n")
    >>> _ = Path("run.tsv").write_text("http://a/\t1\thttp://b/\t0.9\n")
    >>> pagekin.evaluate_run("labels.tsv", "run.tsv", resamples=10).pages
    3
    """
    from pagekin.evaluation.evaluate import evaluate
    from pagekin.evaluation.options import EvaluationOptions

    return evaluate(None, str(hierarchy), _chosen(EvaluationOptions, None, {**options, "run": str(run)}))


def _name(page: PageName) -> str:
    return page if isinstance(page, str) else page.url


def _chosen(cls: type[O], options: O | None, given: Mapping[str, Any]) -> O:
    """Options with some fields replaced."""
    known = [each.name for each in fields(cls)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise MisuseError(f"there is no option {name!r}; there are {', '.join(known)}")
    return replace(options or cls(), **given)  # type: ignore[type-var]
