"""Near-duplicates in collections: recall and cost, and the effect of templates, links and queries.

`python -m benchmarks.twins` prints the figures and writes `results/twins.json`. The near-duplicates of real collections
are looked for by rare chunks and by comparing the filters of all pairs. Of a million generated sets of chunks, a third
of which are common ones, each tenth of the second half repeats 50 to 100 % of another; some sets are compared with all
others to see what is missed. Pages between different texts of their own length are looked for as a whole, and around
the word that tells them best from others. Answers with and without groups are asked for in turns.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.agreement import collections
from benchmarks.building import index_bytes, observe
from benchmarks.duplicates import texts_under
from benchmarks.machine import QUICK, Figure, facts, keep, kept, peak_megabytes, show, timed
from benchmarks.querying import in_turns
from pagekin.duplicates.collection import FoundPairs, PageSets, find_pairs
from pagekin.duplicates.filters import MIN_CHUNKS, BloomFilters, Chunks
from pagekin.duplicates.fingerprints import Fingerprints, filters_of
from pagekin.duplicates.groups import Grouper, single_linkage
from pagekin.duplicates.result_list import group
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.shared_elements import FilterRows, make_filter_rows, near
from pagekin.model.arrays import Int64s, offsets_of
from pagekin.pipeline import build
from pagekin.search.duplicates import find_duplicates
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions

SETTINGS = GroupSettings()
SETS = 100_000 if QUICK else 1_000_000
SAMPLE = 200 if QUICK else 1000  # sets that are compared with all others
ROUNDS = 1 if QUICK else 3
QUESTIONS = 20 if QUICK else 200
WRAPPED = 20 if QUICK else 100  # pages that are put between other texts
_COMMON = 100_000  # chunks that many sets have
_LEAST = 2000  # bytes of a page that is worth wrapping


def main() -> None:
    """Measure every collection at hand, and a million generated sets."""
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            print(f"near-duplicates in {name}")
            found = [*of_collection(name, folder), *around_words(name, folder)]
            show(found)
            figures += found
    print(f"near-duplicates among {SETS:,} sets")
    done = subprocess.run([sys.executable, "-m", "benchmarks.twins", "sets"], check=True, stdout=subprocess.PIPE)
    found = [Figure(*row) for row in json.loads(done.stdout)]
    show(found)
    keep("twins", {"machine": facts(), "figures": kept([*figures, *found])})


def of_collection(name: str, folder: Path) -> Iterator[Figure]:
    """What is found, and how many pairs that takes."""
    with tempfile.TemporaryDirectory() as place:
        store = Path(place) / "bench.kin"
        build([folder], store)  # kernels are compiled
        yield from building(name, folder, store)
        indexed = IndexedStore.open(store)
        evidence, count = PageSets(indexed.fingerprints), len(indexed)
        find_pairs(evidence, SETTINGS)  # kernels are compiled
        grouper, every = Grouper(SETTINGS), find_pairs(evidence, SETTINGS, every=True)
        truth = {(max(pair), min(pair)) for pair in grouper.add(indexed.fingerprints.chunks).tolist()}
        found = set(map(tuple, every.pairs.tolist()))
        yield Figure(f"{name}: pairs of near-duplicates, all filters compared", len(truth))
        recall = len(found & truth) / max(1, len(truth))
        yield Figure(f"{name}: recall by rare chunks", round(recall, 4), at_least=0.99)
        share = every.compared / (count * (count - 1) / 2)
        yield Figure(f"{name}: share of all pairs that is compared", round(share, 5), at_most=0.05)
        for what, settings, whole in (
            ("main texts", SETTINGS, False),
            ("whole texts", SETTINGS, True),
            ("main texts and links, 0.7 to 0.3", GroupSettings(link_weight=0.3), False),
        ):
            twins = find_duplicates(indexed, settings, whole_text=whole)
            grouped = sum(len(each.members) for each in twins.groups)
            yield Figure(f"{name}: pages under others, by {what}", round(grouped / count, 4))
        yield from answers(name, indexed)


def building(name: str, folder: Path, store: Path) -> Iterator[Figure]:
    """What chunks and filters cost a build; the best of some."""
    shares = []
    for _ in range(ROUNDS):
        shutil.rmtree(store)
        seen = observe(folder, store, 1)
        shares.append(seen["seconds"]["near-duplicates"] / sum(seen["seconds"].values()))
    size = index_bytes(store, ("chunks", "filters")) / seen["pages"]
    yield Figure(f"{name}: chunks and filters in the index", round(size, 1), "bytes a page")
    yield Figure(f"{name}: H and I beside them", round(index_bytes(store) / seen["pages"], 1), "bytes a page")
    yield Figure(f"{name}: share of the build's time, 1 process", round(min(shares), 3), at_most=0.12)


def answers(name: str, indexed: IndexedStore) -> Iterator[Figure]:
    """The time of answers."""
    urls = [indexed.reading.pages.url[row] for row in np.linspace(0, len(indexed) - 1, QUESTIONS).astype(int).tolist()]
    plain, grouped = in_turns(
        [
            lambda k: indexed.related(urls[k], RelatedOptions(group_duplicates=False)),
            lambda k: indexed.related(urls[k]),
        ],
        len(urls),
    )
    for what, times in (("without groups", plain), ("with groups", grouped)):
        for share in (50, 90):
            yield Figure(f"{name}: an answer {what}, p{share}", round(float(np.percentile(times, share)) * 1e6), "µs")


# --- the fragment of interest --------------------------------------------------------------------


def around_words(name: str, folder: Path) -> Iterator[Figure]:
    """Pages that stand between other texts, each twice."""
    texts = [text.decode("utf-8", "replace") for text in texts_under(folder, 8 * WRAPPED)]
    texts = [text for text in texts if _LEAST < len(text) < 50_000]
    pages, others = texts[:WRAPPED], texts[WRAPPED:]
    known = Counter(word for text in texts for word in set(text.lower().split()))
    whole = around = mistaken = 0
    for k, page in enumerate(pages):
        before, after = (cut_to(others, 2 * k + side, len(page)) for side in (0, 1))
        versions = [{"id": 1, "text": f"{before}\n{page}"}, {"id": 2, "text": f"{page}\n{after}"}]
        counts = Counter(word for word in page.lower().split() if word.isalpha() and len(word) > 3)
        word = max(counts, key=lambda each: counts[each] / known[each])
        whole += len(group(versions).groups()) == 1
        around += len(group(versions, query=word).groups()) == 1
        mistaken += len(group([versions[0], {"id": 3, "text": f"{before}\n{after}"}], query=word).groups()) == 1
    for what, count in (
        ("between other texts, found as a whole", whole),
        ("between other texts, found around a word", around),
        ("and pages of the same surroundings, taken for one around a word", mistaken),
    ):
        yield Figure(f"{name}: pages {what}", round(count / max(1, len(pages)), 3))


def cut_to(texts: list[str], first: int, size: int) -> str:
    """So many characters of texts."""
    joined = ""
    while len(joined) < size:
        joined += texts[first % len(texts)] + "\n"
        first += 7
    return joined[:size]


# --- many sets -----------------------------------------------------------------------------------


def sets_of_chunks() -> Chunks:
    """Sets of log-normal sizes, with common chunks of a long tail and near-duplicates."""
    random = np.random.default_rng(2005)
    counts = np.clip(np.exp(random.normal(3.2, 0.8, SETS)), 1, 400).astype(np.int64)
    offsets = offsets_of(counts)
    elements = random.integers(0, 2**64, int(offsets[-1]), np.uint64)
    common, is_common = random.integers(0, 2**64, _COMMON, np.uint64), random.random(len(elements)) < 0.33
    elements[is_common] = common[(_COMMON * random.random(int(is_common.sum())) ** 4).astype(np.int64)]
    copies = np.arange(SETS // 2 + 1, SETS, 10)
    for copy, source in zip(copies.tolist(), random.integers(0, SETS // 2, len(copies)).tolist(), strict=True):
        size = int(np.ceil(min(counts[copy], counts[source]) * random.uniform(0.5, 1.0)))
        elements[offsets[copy] : offsets[copy] + size] = elements[offsets[source] : offsets[source] + size]
    order = np.lexsort((elements, np.repeat(np.arange(SETS), counts)))
    again = order[1:][elements[order[1:]] == elements[order[:-1]]]  # a set has nothing twice
    elements[again] = random.integers(0, 2**64, len(again), np.uint64)
    return Chunks(offsets, elements, np.zeros((SETS, 2), np.uint64))


def of_sets() -> Iterator[Figure]:
    """The time and memory that it takes, and what is missed."""
    chunks = sets_of_chunks()
    fingerprints = Fingerprints(SETTINGS, chunks, filters_of(chunks, SETTINGS))
    before, found = peak_megabytes(), []
    find_pairs(PageSets(fingerprints.rows(np.arange(1000))), SETTINGS)  # kernels are compiled
    seconds = timed(lambda: found.append(find_pairs(PageSets(fingerprints), SETTINGS)))
    yield Figure(f"{SETS:,} sets: chunks", len(chunks.elements))
    yield Figure(f"{SETS:,} sets: near-duplicates found in", round(seconds, 1), "s", 120)
    yield Figure(f"{SETS:,} sets: memory beside chunks and filters", round(peak_megabytes() - before), "MB", 4000)
    yield Figure(f"{SETS:,} sets: pairs compared, a set", round(found[0].compared / SETS, 2))
    yield Figure(f"{SETS:,} sets: sets with a rare chunk that too many have", found[0].cut)
    missed, pairs, false = missing(fingerprints, found[0])
    yield Figure(f"{SETS:,} sets: near-duplicates of {SAMPLE:,} of them, compared with all", pairs)
    yield Figure(f"{SETS:,} sets: recall on those", round(1 - missed / max(1, pairs), 4), "", None, 0.99)
    yield Figure(f"{SETS:,} sets: pairs that are near by all filters, not by exact sets", false)


def missing(fingerprints: Fingerprints, found: FoundPairs) -> tuple[int, int, int]:
    """How many near-duplicates of some sets are not in their groups, how many there are, how many pairs are not such.

    Of sets that have a filter of the common size. The filters of all pairs are compared, then the exact sets.
    """
    words, counts = fingerprints.words, fingerprints.chunks.lengths()
    assert words is not None
    small = np.flatnonzero(words[:, 0] != np.iinfo(np.uint64).max)
    sample = small[small > SETS // 2][:: max(1, len(small) // 2 // SAMPLE)][:SAMPLE]

    def rows(which: Int64s) -> FilterRows:
        made = BloomFilters(words[which], counts[which], fingerprints.chunks.ends[which], SETTINGS.hashes)
        return make_filter_rows(made.words, made.zeros(), made.powers(SETTINGS.threshold), made.sizes < MIN_CHUNKS)

    pairs = near(rows(sample), rows(small), False)
    pairs = np.column_stack([sample[pairs[:, 0]], small[pairs[:, 1]]])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    near_by_sets = np.array([is_near(fingerprints.chunks, *pair) for pair in pairs.tolist()], bool)
    groups, true = single_linkage(len(fingerprints), found.pairs), pairs[near_by_sets]
    missed = int(np.count_nonzero(groups[true[:, 0]] != groups[true[:, 1]]))
    return missed, len(true), int(np.count_nonzero(~near_by_sets))


def is_near(chunks: Chunks, a: int, b: int) -> bool:
    """Whether two sets share as much as filters should find."""
    some, others = (chunks.elements[chunks.offsets[k] : chunks.offsets[k + 1]] for k in (a, b))
    sizes = sorted([len(some), len(others)])
    common = len(np.intersect1d(some, others))
    return common >= SETTINGS.threshold * (sizes[1] if sizes[0] < MIN_CHUNKS else sizes[0])


if __name__ == "__main__":
    if sys.argv[1:] == ["sets"]:
        print(json.dumps([(each.what, each.measured, each.unit, each.at_most, each.at_least) for each in of_sets()]))
    else:
        main()
