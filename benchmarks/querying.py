"""Queries: the ten most related pages of a page, latency and recall compared with tantivy.

`python -m benchmarks.querying` prints the figures and writes `results/querying.json`. tantivy is asked for
more-like-this with its defaults (25 terms). The same pages are asked of both, in turns, in one process and thread,
after a round that does not count; of three more rounds the best time of each question does, since the machine may be
busy with other things. Recall is against an exact comparison of the page with every other page. An answer with titles,
reasons and groups is compared with the search alone, by the same index: the whole blend, and text alone (the preset
`text-only`), which was all that a search compared when the target was set.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import tantivy
from numpy.typing import NDArray

from benchmarks import generated
from benchmarks.agreement import collections
from benchmarks.building import extracted, html_files, tantivy_index, text_of
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.model.strategy import PRESETS
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import query_of_nodes

QUESTIONS = 50 if QUICK else 400
LIMIT = 10
ROUNDS = 4
_GENERATED = 3_000 if QUICK else 100_000
_OPTIONS = RelatedOptions()
_CHECKED = 200  # questions whose answers are compared with exact ones


def ask(indexed: IndexedStore, node: int) -> list[int]:
    """The ten nodes most similar to a node."""
    query = replace(query_of_nodes(indexed.index, [node]), min_similarity=_OPTIONS.min_similarity)
    return [found for _, found in indexed.blend(_OPTIONS).nearest(query, LIMIT)]


def main() -> None:
    """Measure every collection at hand, and a generated one."""
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            figures += _measured(name, folder, extracted(html_files(folder), 1))
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "generated.jsonl"
        generated.write(file, generated.Web(_GENERATED))
        figures += _measured(f"{_GENERATED:,} generated pages", file, lines(file))
    keep("querying", {"machine": facts("selectolax", "tantivy"), "figures": kept(figures)})


def _measured(name: str, source: Path, pages: Iterator[tuple[str, str, str]]) -> list[Figure]:
    print(f"querying {name}")
    with tempfile.TemporaryDirectory() as place:
        text, blended = (_indexed(source, Path(place), strategy) for strategy in ("text-only", "default"))
        (Path(place) / "tantivy").mkdir()
        theirs = tantivy_index(Path(place) / "tantivy", pages, 1)
        figures = list(measure(name, source, text, blended, theirs))
    show(figures)
    return figures


def _indexed(source: Path, folder: Path, strategy: str) -> IndexedStore:
    build([source], folder / f"{strategy}.kin", strategy=PRESETS[strategy])
    return IndexedStore.open(folder / f"{strategy}.kin")


def lines(file: Path) -> Iterator[tuple[str, str, str]]:
    with file.open("rb") as lines:
        for line in lines:
            page = json.loads(line)
            yield (page["url"], *text_of(page["html"].encode()))


def measure(
    name: str, source: Path, indexed: IndexedStore, blended: IndexedStore, theirs: tantivy.Index
) -> Iterator[Figure]:
    """The figures of one collection, with the index of text alone and that of the blend."""
    nodes = np.unique(np.linspace(0, len(indexed) - 1, QUESTIONS).astype(np.int64)).tolist()
    addresses = [address(theirs, source, indexed, node) for node in nodes]
    urls = [indexed.reading.pages.url[node] for node in nodes]
    searcher = theirs.searcher()
    _check(indexed, nodes[::10])
    _check(blended, nodes[::10])
    ours, blend, more_like_this, whole, whole_text = in_turns(
        [
            lambda k: ask(indexed, nodes[k]),
            lambda k: ask(blended, nodes[k]),
            lambda k: searcher.search(tantivy.Query.more_like_this_query(addresses[k]), LIMIT, count=False),
            lambda k: blended.related(urls[k]),
            lambda k: indexed.related(urls[k]),
        ],
        len(nodes),
    )
    recall = np.mean([_recall(indexed, node) for node in nodes[:: max(1, len(nodes) // _CHECKED)]])
    yield Figure(f"{name}: recall@{LIMIT} against exact search", round(float(recall), 3), at_least=0.95)
    ways = {"text": ours, "the blend": blend, "tantivy": more_like_this, "the blend with titles and reasons": whole}
    for what, times in ways.items():
        for share in (50, 90):
            yield Figure(f"{name}: {what}, p{share}", round(float(np.percentile(times, share)) * 1e6), "µs")
    compared = {
        "with titles and reasons / the bare blend": (whole, blend),
        "of text with titles and reasons / the bare text": (whole_text, ours),
    }
    for what, (answers, bare) in compared.items():
        for share, most in ((50, 3.0), (90, 5.0)):
            ratio = float(np.percentile(answers, share) / np.percentile(bare, share))
            yield Figure(f"{name}: p{share} {what}", round(ratio, 3), at_most=most)
    for what, times, most in (("text", ours, 0.5), ("the blend", blend, 1.0)):
        ratio = float(np.median(times) / np.median(more_like_this))
        yield Figure(f"{name}: p50 of {what} / tantivy's", round(ratio, 3), at_most=most)


def address(theirs: tantivy.Index, source: Path, indexed: IndexedStore, row: int) -> tantivy.DocAddress:
    """Where tantivy has a page: under the name of its file or, out of a file of many, under its URL."""
    page = indexed.page(row)
    below = page["source"].partition("/")[2]  # the folder may be given under another name than it has
    name = str(source / below) if source.is_dir() else page["url"]
    hits = theirs.searcher().search(tantivy.Query.term_query(theirs.schema, "name", name), 1).hits
    address: tantivy.DocAddress = hits[0][1]
    return address


def _check(indexed: IndexedStore, nodes: list[int]) -> None:
    """What is timed must be what users get."""
    for node in nodes:
        given = [
            neighbor.url
            for neighbor in indexed.related(indexed.reading.pages.url[node], RelatedOptions(group_duplicates=False))
        ]
        found = [row["url"] for row in indexed.catalog.named_nodes(ask(indexed, node))]
        if given != found:
            raise AssertionError(f"node {node}: `ask` finds {found}, `related` gives {given}")


def in_turns(queries: list[Callable[[int], object]], count: int) -> NDArray[np.float64]:
    """The seconds of every question, for each way to ask it: the best of the rounds after the first."""
    times = np.empty((ROUNDS, len(queries), count))
    for each in times:
        for k in range(count):
            for way, query in enumerate(queries):
                begin = time.perf_counter()
                query(k)
                each[way, k] = time.perf_counter() - begin
    return np.asarray(times[1:].min(axis=0))


def _recall(indexed: IndexedStore, node: int) -> float:
    """The share of the ten most similar nodes that are found; of several with the same similarity any will do."""
    truth = exhaustive(indexed, node)
    truth[truth < RelatedOptions().min_similarity] = 0.0
    best = np.sort(truth)[::-1][:LIMIT]
    wanted = int(np.count_nonzero(best))
    found = truth[ask(indexed, node)]
    return float(np.count_nonzero(found >= best[wanted - 1])) / wanted if wanted else 1.0


def exhaustive(indexed: IndexedStore, node: int) -> NDArray[np.float64]:
    """The bag Jaccard of a node with every page: weights in common over all weights.

    Its own counts as none; so does that of what is known only from links, which no answer shows unless asked to.
    """
    bags = indexed.index.bags
    asked = np.zeros(int(bags.term.max(initial=0)) + 1)
    asked[bags.term[bags.row(node)]] = bags.weight[bags.row(node)]
    row = np.repeat(np.arange(len(bags)), np.diff(bags.offsets))
    end = int(bags.offsets[-1])
    both = np.bincount(row, np.minimum(asked[bags.term[:end]], bags.weight[:end]), len(bags))
    sizes = np.bincount(row, bags.weight[:end], len(bags))
    similarity = both / np.maximum(asked.sum() + sizes - both, 1e-30)
    similarity[node] = 0.0
    similarity[len(indexed.nodes) - 1 :] = 0.0
    return np.asarray(similarity.round(9))


if __name__ == "__main__":
    main()
