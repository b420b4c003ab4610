"""Missing links: real links are hidden, and `pagekin gaps` looks for them, compared with tf-idf and with chance.

`python -m benchmarks.missing_links` prints the figures and writes `results/missing_links.json`. Of the pairs of pages
that link to each other in their texts, 10 % are drawn, and all links between both pages are removed from the HTML: the
words stay, the `<a>` goes. An index is built from the changed pages alone. Every page that lost links of its text is
asked for ten missing links. The anchors that were removed are the truth for the words to link. The score of a link was
chosen by such links of cppreference-doc-en-html, mdn-see-also and schools-wikipedia, so their figures are those of the
development; the other collections had no part in it.

PAGEKIN_BENCH_DATA may name a folder of collections, each with a folder of HTML. PAGEKIN_BENCH_KEEP may name a
folder in which stores stay for the next time.
"""

from __future__ import annotations

import html
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urljoin

import numpy as np

import pagekin
from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.bags.build import bags_of_pages
from pagekin.bags.source import BagSource
from pagekin.evaluation.baselines import CONTENTS, count_matrix, tf_idf
from pagekin.gaps.mentions import linked_words
from pagekin.model.arrays import Int64s
from pagekin.search.indexed_store import IndexedStore
from pagekin.urls import canonical_url

SHARE, SEED, DEPTH = 0.1, 2026, 10
MOST_SOURCES = 100 if QUICK else 1000  # of a collection, drawn at random
TIMES_TF_IDF = 2.0  # the bar
_ANCHOR = re.compile(rb"<a\b([^>]*)>(.*?)</a\s*>", re.I | re.S)
_COLUMNS = {
    "hidden links with words that another link to the target has": "known words",
    "recall@10 that is possible": "possible",
    "recall@10 of gaps": "gaps",
    "recall@10 of related pages without a link": "related pages",
    "recall@10 of tf-idf": "tf-idf",
    "recall@10 expected by chance": "chance",
    "proposed words that are the hidden anchor": "same words",
    "proposed words that share a word with it": "shared word",
}
_HREF = re.compile(rb"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.I)
Truth = dict[tuple[str, str], list[str]]  # the anchors that were removed, by the URLs of source and target


class Found(NamedTuple):
    """What one system finds of the hidden links of some sources."""

    hits: int
    hidden: int

    @property
    def recall(self) -> float:
        return self.hits / self.hidden


def sources() -> dict[str, Path]:
    """The folders of HTML at hand."""
    given = Path(os.environ.get("PAGEKIN_BENCH_DATA") or "/none")
    more = {
        each.name: each for each in (sorted(given.iterdir()) if given.is_dir() and not QUICK else ()) if each.is_dir()
    }
    pages = {name: each / "pages" if (each / "pages").is_dir() else each for name, each in more.items()}
    manuals = {name: path for name, path in collections().items() if path != given}
    return manuals | {"postgresql-doc-15": Path("/usr/share/doc/postgresql-doc-15/html")} | pages


def main() -> None:
    """Measure every collection at hand."""
    figures: list[Figure] = []
    with TemporaryDirectory() as place:
        folder = Path(os.environ.get("PAGEKIN_BENCH_KEEP") or place)
        for name, source in sources().items():
            if source.is_dir():
                print(name, flush=True)
                measured = list(measure(name, source, folder / "missing-links" / name))
                show(measured)
                figures += measured
    keep("missing_links", {"machine": facts(), "figures": kept(figures)})


def table(result: dict[str, Any]) -> str:
    """The table of docs/gaps.md."""
    figures: dict[str, dict[str, float]] = {}
    for each in result["figures"]:
        name, _, what = each["what"].partition(": ")
        figures.setdefault(name, {})[what] = each["measured"]
    lines = [
        "| collection | hidden links | " + " | ".join(_COLUMNS.values()) + " |",
        "|---" + "|---:" * (len(_COLUMNS) + 1) + "|",
    ]
    for name, measured in figures.items():
        cells = (f"{measured[what]:.3f}" for what in _COLUMNS)
        lines.append(f"| {name} | {measured['hidden links']:,.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def measure(name: str, source: Path, folder: Path) -> Iterator[Figure]:
    """The recall of three systems and of chance, and the precision of the words."""
    collection, truth = hidden(source, folder)
    indexed = collection.indexed
    asked = sorted({one for one, _ in truth})
    chosen = np.random.default_rng(SEED).permutation(len(asked))[:MOST_SOURCES]
    asked = [asked[k] for k in sorted(chosen.tolist())]
    wanted = {pair: anchors for pair, anchors in truth.items() if pair[0] in set(asked)}
    yield Figure(f"{name}: hidden links", len(wanted))
    gaps = collection.gaps(pages=asked, per_page=DEPTH, limit=DEPTH * len(asked))
    found = [gap for gap in gaps if (gap.source.url, gap.target.url) in wanted]
    recall = len(found) / len(wanted)
    baseline = tf_idf_recall(indexed, wanted).recall
    yield Figure(f"{name}: recall@10 that is possible", possible(wanted))
    yield Figure(f"{name}: hidden links with words that another link to the target has", known_words(indexed, wanted))
    yield Figure(f"{name}: recall@10 of gaps", recall)
    yield Figure(f"{name}: recall@10 of related pages without a link", related_recall(collection, wanted).recall)
    yield Figure(f"{name}: recall@10 of tf-idf", baseline)
    yield Figure(f"{name}: recall@10 expected by chance", chance(indexed, wanted))
    yield Figure(f"{name}: recall@10 of gaps, divided by tf-idf", recall / baseline, at_least=TIMES_TF_IDF)
    words = [(plain(gap.words), wanted[gap.source.url, gap.target.url]) for gap in found]
    same = sum(word in map(plain, anchors) for word, anchors in words)
    sharing = sum(any(set(word.split()) & set(plain(each).split()) for each in anchors) for word, anchors in words)
    yield Figure(f"{name}: proposed words that are the hidden anchor", same / max(1, len(words)))
    yield Figure(f"{name}: proposed words that share a word with it", sharing / max(1, len(words)))
    collection.close()
    again = pagekin.open(collection.path)
    begin = time.process_time()
    again.gaps()
    seconds = 10_000 * (time.process_time() - begin) / len(again)
    yield Figure(f"{name}: processor time of gaps for 10,000 pages", seconds, "s", at_most=60)


def hidden(source: Path, folder: Path) -> tuple[pagekin.Collection, Truth]:
    """A collection without the hidden links, and these."""
    file, store = folder / "truth.json", folder / "hidden.kin"
    if not file.exists():
        base = ["http://pages.localhost/"]
        whole = pagekin.build(source, folder / "whole.kin", base_urls=base)
        truth = hide(whole.indexed, source, folder / "pages")
        pagekin.build(folder / "pages", store, base_urls=base)
        file.write_text(json.dumps([[*pair, anchors] for pair, anchors in truth.items()]), "utf-8")
    rows = json.loads(file.read_text("utf-8"))
    return pagekin.open(store), {(one, other): anchors for one, other, anchors in rows}


def text_links(indexed: IndexedStore) -> Int64s:
    """The pairs (citing, cited) of pages by links in texts."""
    links = linked_words(indexed)
    node = np.repeat(np.arange(len(indexed.nodes) - 1), np.diff(indexed.nodes))
    return np.unique(np.column_stack([node[links.row], links.node]), axis=0)


def hide(indexed: IndexedStore, source: Path, target: Path) -> Truth:
    """Copy pages without the links between the pages of some pairs."""
    directed = text_links(indexed)
    in_text, pairs = {(one, other) for one, other in directed.tolist()}, np.unique(np.sort(directed, axis=1), axis=0)
    drawn = pairs[np.random.default_rng(SEED).random(len(pairs)) < SHARE].tolist()
    chosen = {(one, other) for one, other in drawn} | {(other, one) for one, other in drawn}
    find, truth = indexed.catalog.page_names().find, Truth()

    def kept_or_words(anchor: re.Match[bytes], url: str, node: int) -> bytes:
        href = _HREF.search(anchor[1])
        text = (href[1] or href[2] or href[3] or b"").decode("utf-8", "replace") if href else ""
        try:
            address = canonical_url(urljoin(url, html.unescape(text)))
        except ValueError:
            address = None
        cited = find(address) if text and address else None
        if cited is None or (node, cited) not in chosen:
            return anchor[0]
        words = html.unescape(re.sub(r"<[^>]*>", " ", anchor[2].decode("utf-8", "replace")))
        if (node, cited) in in_text:  # not a link of a menu back to the page
            truth.setdefault((url, indexed.node_url(cited)), []).append(" ".join(words.split()))
        return anchor[2]

    for url, file, node in indexed.catalog.each("SELECT url, source, node FROM pages ORDER BY row"):
        path = Path(file.partition("/")[2])
        changed = _ANCHOR.sub(partial(kept_or_words, url=url, node=node), (source / path).read_bytes())
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(changed)
    return truth


def linked_pairs(indexed: IndexedStore) -> set[tuple[int, int]]:
    found = text_links(indexed).tolist()
    return {(one, other) for one, other in found} | {(other, one) for one, other in found}


def by_source(indexed: IndexedStore, wanted: Truth) -> dict[int, set[int]]:
    nodes: dict[int, set[int]] = {}
    for one, other in wanted:
        nodes.setdefault(indexed.find_node(one), set()).add(indexed.find_node(other))
    return nodes


def tf_idf_recall(indexed: IndexedStore, wanted: Truth) -> Found:
    """The hidden links among the ten most similar unlinked pages by the cosine of tf-idf vectors."""
    bags, _, _ = bags_of_pages(BagSource.of(indexed), CONTENTS)
    system, linked = tf_idf(count_matrix(bags, np.arange(len(indexed.nodes) - 1))), linked_pairs(indexed)
    hits = 0
    for node, targets in by_source(indexed, wanted).items():
        (scores,) = system.scores(np.array([node]))
        order = np.argsort(-scores, kind="stable").tolist()
        top = islice((page for page in order if page != node and (node, page) not in linked), DEPTH)
        hits += len(targets & set(top))
    return Found(hits, len(wanted))


def related_recall(collection: pagekin.Collection, wanted: Truth) -> Found:
    """The hidden links among the ten most similar unlinked pages by the default ranking."""
    indexed = collection.indexed
    linked, hits = linked_pairs(indexed), 0
    for node, targets in by_source(indexed, wanted).items():
        options = pagekin.RelatedOptions(limit=100, min_similarity=0.0, group_duplicates=False, explain=False)
        found = [indexed.find_node(each.url) for each in indexed.related(indexed.node_url(node), options)]
        hits += len(targets & set([page for page in found if (node, page) not in linked][:DEPTH]))
    return Found(hits, len(wanted))


def possible(wanted: Truth) -> float:
    """The recall if all ten links of every page were hidden ones, as far as it has ten."""
    counts = Counter(one for one, _ in wanted)
    return sum(min(DEPTH, count) for count in counts.values()) / len(wanted)


def known_words(indexed: IndexedStore, wanted: Truth) -> float:
    """The share of the hidden links one of whose anchors is also that of a link that was not hidden."""
    targets = {other for _, other in wanted}
    kept_anchors = {
        url: {plain(text) for text, _ in indexed.anchor_texts(indexed.find_node(url), 10_000)} for url in targets
    }
    return sum(any(plain(each) in kept_anchors[pair[1]] for each in words) for pair, words in wanted.items()) / len(
        wanted
    )


def chance(indexed: IndexedStore, wanted: Truth) -> float:
    """The expected recall of ten unlinked pages that are drawn at random."""
    degree = np.bincount([one for one, _ in linked_pairs(indexed)], minlength=len(indexed))
    others = [len(indexed) - 1 - int(degree[indexed.find_node(one)]) for one, _ in wanted]
    return float(np.mean([min(1.0, DEPTH / max(1, count)) for count in others]))


def plain(words: str) -> str:
    """Words without case and punctuation."""
    return " ".join(re.findall(r"\w+", words.lower()))


if __name__ == "__main__":
    main()
