"""LinkLearn: quality compared with OKAPI on the same and on other collections, and the cost of a step.

`python -m benchmarks.learning` prints the figures and writes `results/learning.json`. PAGEKIN_BENCH_DATA names the
folder of pages to learn from; without it, and in a quick run, the sample web serves. OKAPI is tuned on valid; figures
are of test, which neither has seen.

Transfer: what was learned there orders the pages of Debian's manuals for queries. These are derived: of pages drawn by
lot the title is the query, and right are the page itself and the pages that it is linked with outside of templates.
Titles and judgements go through files as TREC has them. And whole pages of the manuals ask, as in learning, for the
pages that they are linked with.

Speed: a step of descent beside scipy's product of the vector of the same page with the vectors of all pages, on
generated pages; both as sparse matrices, the second already transposed, and with the vector of the page dense.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.agreement import collections
from benchmarks.generated import Web, write
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show, timed
from pagekin import sample_web
from pagekin.kernels.linklearn import descend
from pagekin.learning.corpus import CorpusPart, part_of
from pagekin.learning.learn import LearnResult, count_terms, learn, links_between_pages
from pagekin.learning.networks import initial_parameters, layout_of, scales_of
from pagekin.learning.options import LearnOptions
from pagekin.learning.ranking import ERROR, Ranker, compare_measures, sample_queries
from pagekin.learning.transfer import evaluate_transfer, open_task
from pagekin.links.link_graph import stored_links
from pagekin.model.weighting import Okapi
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore

PAGES = 3000 if QUICK else 50_000
STEPS, ROUNDS = 40, 9
UNITS = (5, 10, 10)
QUERIES = 200
PAGES_ASKED = 1000
SEED = 2005
PAPER = {"error": -22, "P@10": 18, "break-even": 15, "AP": 17}  # per cent


@contextmanager
def collection() -> Iterator[Path]:
    """The collection to learn from, built."""
    given = os.environ.get("PAGEKIN_BENCH_DATA")
    with TemporaryDirectory() as place:
        folder = Path(os.environ.get("PAGEKIN_BENCH_KEEP") or place)
        folder.mkdir(parents=True, exist_ok=True)
        source = Path(given) if given and not QUICK else sample_web.copy_to(folder)
        store = folder / f"{source.name.partition('.')[0]}.kin"
        build([source], store)
        yield store


def manuals() -> dict[str, Path]:
    """Debian's manuals that are here."""
    given = Path(os.environ.get("PAGEKIN_BENCH_DATA", "")).name
    return {name: each for name, each in collections().items() if name != given and each.is_dir() and not QUICK}


def main() -> None:
    """Learn, transfer, and measure steps."""
    with collection() as store:
        options = LearnOptions(SEED, "flat", 0.1, UNITS, 1000) if QUICK else LearnOptions(SEED)
        outcome = learn(IndexedStore.open(store), options)
    figures = list(quality(outcome))
    show(figures)
    manual = {name: elsewhere(folder, outcome) for name, folder in manuals().items()}
    abroad = {name: rows for name, (rows, _) in manual.items()}
    home = {name: report for name, (_, report) in manual.items()}
    found = [each for name, rows in abroad.items() for each in told(name, rows)]
    for name, report in home.items():
        row = {"asking": "own links", "okapi": "tuned", **report["okapi"], "measures": report["test"]["measures"]}
        found += told(name, [row])
    found += speed()
    show(found)
    result = {"machine": facts("scipy"), "report": outcome.report, "abroad": abroad, "home": home}
    keep("learning", {**result, "figures": kept([*figures, *found])})


def quality(outcome: LearnResult) -> Iterator[Figure]:
    """Table 4, with the bar: better on all four measures."""
    report = outcome.report
    yield Figure("pages of train", report["parts"]["train"]["pages"])
    yield Figure("pages of test that ask", report["test"]["pages"])
    for name, of in report["test"]["measures"].items():
        yield Figure(f"test, {name}: OKAPI, tuned", round(100 * of["okapi"], 2), "%")
        yield Figure(
            f"test, {name}: OKAPI, K 1.5, B 0.6", round(100 * report["test"]["okapi_of_the_paper"][name], 2), "%"
        )
        yield Figure(f"test, {name}: LinkLearn", round(100 * of["linklearn"], 2), "%")
        what = f"test, {name}: change by LinkLearn (the paper saw {PAPER[name]:+} %)"
        bar: dict[str, Any] = {"at_most": 0.0} if name == ERROR else {"at_least": 0.0}
        yield Figure(what, round(100 * of["change"], 1), "%", **bar)
        yield Figure(f"test, {name}: p of the Wilcoxon test", float(f"{of['p']:.2g}"), at_most=0.05)


def title_queries(indexed: IndexedStore, folder: Path, count: int = QUERIES) -> tuple[Path, Path]:
    """Files of topics and judgements: titles of pages, right are the pages themselves and those linked with them."""
    links, pages = links_between_pages(stored_links(indexed, indexed.index.strategy)), indexed.reading.pages
    near: dict[int, set[int]] = {}
    for a, b in zip(links.citing.tolist(), links.cited.tolist(), strict=True):
        if a != b:
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
    drawn = np.random.default_rng(SEED).permutation(np.array(sorted(near)))[:count].tolist()
    topics, qrels = folder / "topics.tsv", folder / "qrels.txt"
    row = {node: int(indexed.nodes[node]) for node in {*drawn, *(each for node in drawn for each in near[node])}}
    titles = [" ".join(pages.title[row[node]].split()) for node in drawn]
    topics.write_text("".join(f"{k}\t{title}\n" for k, title in enumerate(titles)), "utf-8")
    with qrels.open("w", encoding="utf-8") as file:
        for k, node in enumerate(drawn):
            file.writelines(f"{k} 0 {pages.url[row[each]]} 1\n" for each in sorted({node, *near[node]}))
    return topics, qrels


def elsewhere(source: Path, outcome: LearnResult) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """On a manual: what was learned from others, and what is learned from its own links."""
    with TemporaryDirectory() as place:
        indexed = IndexedStore.open(build([source], Path(place) / "manual.kin").store.root)
        return transfer(indexed, outcome), learn(indexed, LearnOptions(SEED)).report


def transfer(indexed: IndexedStore, outcome: LearnResult) -> list[dict[str, Any]]:
    """Table 5, on a manual; and its pages as queries."""
    with TemporaryDirectory() as place:
        topics, qrels = title_queries(indexed, Path(place))
        report = evaluate_transfer(open_task(str(indexed.root), str(topics), str(qrels)), outcome.weighting)
    counts, _ = count_terms(indexed)
    part = part_of(np.arange(len(counts)), counts, links_between_pages(stored_links(indexed, indexed.index.strategy)))
    queries = report["collection"]["queries"]
    rows = [{"asking": f"{queries} titles", "okapi": name, **of} for name, of in report["okapi"].items()]
    asked = sample_queries(part, PAGES_ASKED, SEED)
    ours = Ranker(part, outcome.weighting, asked).measure()
    for name, okapi in (("paper", Okapi()), ("tuned", outcome.okapi)):
        measures = compare_measures(Ranker(part, okapi, asked).measure(), ours)
        row = {"asking": f"{len(asked)} pages", "okapi": name, "K": okapi.k, "B": okapi.b, "measures": measures}
        rows.append(row)
    return rows


def told(manual: str, rows: list[dict[str, Any]]) -> Iterator[Figure]:
    """A table as figures."""
    for row in rows:
        what = f"{manual}, {row['asking']}, OKAPI {row['okapi']} (K {row['K']:g}, B {row['B']:g})"
        for name, of in row["measures"].items():
            yield Figure(f"{what}: {name} of OKAPI", round(100 * of["okapi"], 2), "%")
            yield Figure(f"{what}: {name} of LinkLearn", round(100 * of["linklearn"], 2), "%")
            yield Figure(f"{what}: {name}, p", float(f"{of['p']:.2g}"))


def quality_table(result: dict[str, Any]) -> str:
    """Table 4 for the docs."""
    test = result["report"]["test"]
    lines = ["| | OKAPI 1.5, 0.6 | OKAPI, tuned | LinkLearn | change | in the paper | p |", "|---" + "|---:" * 6 + "|"]
    for name in PAPER:
        of = test["measures"][name]
        values = (test["okapi_of_the_paper"][name], of["okapi"], of["linklearn"])
        cells = [f"{100 * value:.1f} %" for value in values]
        cells += [f"{100 * of['change']:+.1f} %", f"{PAPER[name]:+} %", f"{of['p']:.1g}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def home_table(result: dict[str, Any]) -> str:
    """Table 4 for the manuals, learned from their own links."""
    lines = ["| manual | training pages | " + " | ".join(PAPER) + " |", "|---|---:" + "|---:" * len(PAPER) + "|"]
    for manual, report in result["home"].items():
        shown = [report["test"]["measures"][name] for name in PAPER]
        cells = [f"{100 * of['okapi']:.1f} / {100 * of['linklearn']:.1f} (p {of['p']:.1g})" for of in shown]
        lines.append(f"| {manual} | {report['parts']['train']['pages']:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def transfer_table(result: dict[str, Any]) -> str:
    """Table 5 for the docs."""
    lines = ["| manual | queries | OKAPI | P@10 | break-even | AP |", "|---|---|---|---:|---:|---:|"]
    for manual, rows in result["abroad"].items():
        for row in rows:
            shown = [row["measures"][name] for name in ("P@10", "break-even", "AP")]
            cells = [f"{100 * of['okapi']:.1f} / {100 * of['linklearn']:.1f} (p {of['p']:.1g})" for of in shown]
            named = f"{row['okapi']}: {row['K']:g}, {row['B']:g}"
            lines.append(f"| {manual} | {row['asking']} | {named} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def generated(pages: int) -> CorpusPart:
    """A generated web as one part."""
    with TemporaryDirectory() as place:
        write(Path(place) / "web.jsonl", Web(pages))
        build([Path(place) / "web.jsonl"], Path(place) / "web.kin")
        indexed = IndexedStore.open(Path(place) / "web.kin")
        counts, _ = count_terms(indexed)
        return part_of(
            np.arange(len(counts)), counts, links_between_pages(stored_links(indexed, indexed.index.strategy))
        )


def speed() -> Iterator[Figure]:
    """A step of descent beside scipy's products, in turns."""
    part = generated(PAGES)
    scales, layout = scales_of(part), layout_of(part)
    networks = layout.networks(scales, UNITS)
    theta, scorer = initial_parameters(part, scales, UNITS, SEED), layout.workspace(networks)
    shape = (len(part), len(part.terms))
    weight = np.random.default_rng(SEED).random(len(part.counts.term))
    matrix = csr_matrix((weight, part.counts.term.astype(np.int32), part.counts.offsets.astype(np.int32)), shape=shape)
    transposed = matrix.T.tocsr()
    random, pages = np.random.default_rng(SEED), part.linked()
    times = []
    for _ in range(ROUNDS + 1):
        drawn = random.choice(pages, STEPS)
        rows = [matrix[page] for page in drawn.tolist()]
        dense = [np.asarray(row.todense()).ravel() for row in rows]
        times.append(
            (
                timed(partial(descend, drawn, 0.01, layout.corpus, networks, theta, scorer)),
                timed(partial(list, map(transposed.__rmatmul__, rows))),
                timed(partial(list, map(matrix.__matmul__, dense))),
            )
        )
    ours, sparse, full = (min(each) / STEPS for each in zip(*times[1:], strict=True))
    what = f"{PAGES:,} generated pages"
    yield Figure(f"{what}: a step of descent", round(1e6 * ours), "us")
    yield Figure(f"{what}: scipy, sparse vector times sparse matrix", round(1e6 * sparse), "us")
    yield Figure(f"{what}: scipy, sparse matrix times dense vector", round(1e6 * full), "us")
    yield Figure(f"{what}: a step / the product of sparse ones", round(ours / sparse, 2), "x", at_most=3.0)
    yield Figure(f"{what}: a step / the product with a dense one", round(ours / full, 2), "x", at_most=3.0)
    yield Figure(f"{what}: the paper's 54,000 steps would take", round(54_000 * ours), "s")


if __name__ == "__main__":
    main()
