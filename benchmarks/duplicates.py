"""Near-duplicates: the speed of chunks, filters and groups compared with fastcdc, SHA-1, faiss and json.

`python -m benchmarks.duplicates` prints the figures and writes `results/duplicates.json`. All use one thread, in turns,
and the best round of each counts. fastcdc cuts the same texts at the same expected and greatest size; its own least
size stays, which spares it a look at some bytes. faiss looks up the ten nearest of the same filters. A result list
is grouped from the chunks of its pages, which an index would keep; JSON is the list with its texts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha1
from itertools import pairwise
from pathlib import Path

import faiss
import numpy as np
from fastcdc.fastcdc_cy import fastcdc_cy
from numba import njit
from numpy.typing import NDArray

from benchmarks.agreement import collections
from benchmarks.building import html_files
from benchmarks.false_matches import RATIOS, best_hashes, draw_false_matches, expected_ratio, simulated_ratio
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show, timed
from pagekin.duplicates.chunks import BATCH_BYTES, canonical, chunk_ends, chunks_of, pad
from pagekin.duplicates.filters import BloomFilters, Chunks, bits_for
from pagekin.duplicates.groups import DuplicateGroup, Grouper
from pagekin.duplicates.result_list import files, html_texts
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.bits import popcount
from pagekin.kernels.chunks import WINDOW
from pagekin.model.arrays import UInt64s, together

ROUNDS = 3 if QUICK else 9
PAGES = 300 if QUICK else 1000
ASKED = 32  # filters that are matched with all others
FILTERS = 20_000 if QUICK else 200_000
BITS = 2048
LARGE = 1 << 27 if QUICK else 1 << 30  # bytes of a text
PICTURE = Path(__file__).parents[1] / "docs" / "false-matches.svg"
SETTINGS = GroupSettings()


def main() -> None:
    """Measure every collection at hand, filters of any pages, and a large text."""
    faiss.omp_set_num_threads(1)
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            print(f"finding near-duplicates of {name}")
            found = [*chunking(name, texts := texts_under(folder, PAGES)), *grouping(name, texts)]
            show(found)
            figures += found
    print("matching filters, and a large text")
    found = [*matching(), *streaming(), *false_matches()]
    show(found)
    keep("duplicates", {"machine": facts("faiss-cpu", "fastcdc"), "figures": kept([*figures, *found])})
    if not QUICK:
        draw_false_matches(PICTURE)


def texts_under(folder: Path, most: int) -> list[bytes]:
    """The visible texts of pages, spread over a folder."""
    paths = html_files(folder)
    paths = paths[:: max(1, len(paths) // most)][:most]
    texts: list[bytes] = []
    for start in range(0, len(paths), 100):
        found = html_texts(files(paths[start : start + 100]))
        texts += [text for _, text in sorted(found.items()) if isinstance(text, bytes)]
    return texts


def in_turns(*contestants: Callable[[], object]) -> list[float]:
    """The seconds of the best round of each, after one that does not count."""
    rounds = [[timed(each) for each in contestants] for _ in range(1 + ROUNDS)][1:]
    return [min(times) for times in zip(*rounds, strict=True)]


def chunking(name: str, raw: list[bytes]) -> Iterator[Figure]:
    """Of canonical texts: cutting, and the whole way to a filter."""
    texts = [text for text in map(canonical, raw) if text]
    bounds = [[0, *(chunk_ends(*pad([text]), SETTINGS)[0] - WINDOW).tolist()] for text in texts]
    ours, theirs, filters, hashes, folding = in_turns(
        lambda: [chunk_ends(*pad(some), SETTINGS) for some in together(texts, BATCH_BYTES)],
        lambda: [list(fastcdc_cy(text, avg_size=256, max_size=65536)) for text in texts],
        lambda: filters_of(texts),
        lambda: [digests_of(text, ends) for text, ends in zip(texts, bounds, strict=True)],
        lambda: [canonical(text) for text in raw],
    )
    size = sum(map(len, texts))
    yield Figure(f"{name}: pages", len(texts))
    yield Figure(f"{name}: canonical text of a page", round(size / len(texts) / 1000, 1), "KB")
    yield Figure(f"{name}: text to canonical text", round(sum(map(len, raw)) / folding / 1e6), "MB/s")
    yield Figure(
        f"{name}: cut into chunks of 256 bytes by Rabin fingerprints", round(size / ours / 1e6), "MB/s", at_least=300
    )
    yield Figure(f"{name}: cut by fastcdc", round(size / theirs / 1e6), "MB/s")
    yield Figure(f"{name}: time to cut / fastcdc's", round(ours / theirs, 2), "x", at_most=1.3)
    yield Figure(f"{name}: canonical text to filter", round(size / filters / 1e6), "MB/s")
    yield Figure(f"{name}: SHA-1 of the same chunks, one by one", round(size / hashes / 1e6), "MB/s")
    yield Figure(f"{name}: time to the filter / that of SHA-1", round(filters / hashes, 2), "x", at_most=2)


def filters_of(texts: list[bytes]) -> list[BloomFilters]:
    """One array for all pages that need filters of one size."""
    chunks = chunks_of(texts, SETTINGS)
    bits = bits_for(chunks.lengths(), SETTINGS)
    return [
        BloomFilters.of(chunks.rows(np.flatnonzero(bits == each)), int(each), SETTINGS.hashes)
        for each in np.unique(bits)
    ]


def digests_of(text: bytes, bounds: list[int]) -> list[bytes]:
    view = memoryview(text)
    return [sha1(view[a:b]).digest() for a, b in pairwise(bounds)]


@njit(nogil=True)  # type: ignore[untyped-decorator]
def common_bits(some: UInt64s, others: UInt64s) -> NDArray[np.uint32]:
    """The number of bits that every row of one array shares with every row of another."""
    shared = np.empty((len(some), len(others)), np.uint32)
    for j in range(len(others)):
        for i in range(len(some)):
            count = np.uint64(0)
            for w in range(some.shape[1]):
                count += popcount(some[i, w] & others[j, w])
            shared[i, j] = count
    return shared


def matching() -> Iterator[Figure]:
    """AND and popcount of some filters with many."""
    random = np.random.default_rng(2005)
    elements = random.integers(0, 2**64, 60 * FILTERS, np.uint64)
    pages = Chunks(60 * np.arange(FILTERS + 1), elements, elements[: 2 * FILTERS].reshape(-1, 2))
    filters = BloomFilters.of(pages, BITS, SETTINGS.hashes).words
    index = faiss.IndexBinaryFlat(BITS)
    index.add(filters.view(np.uint8))
    for asked in (1, ASKED):
        some = filters[:asked].copy()
        ours, theirs = in_turns(partial(common_bits, some, filters), partial(index.search, some.view(np.uint8), 10))
        pairs = asked * FILTERS
        many = f"{asked} x {FILTERS:,} filters of {BITS:,} bits"
        yield Figure(f"{many}: pagekin", round(ours / pairs * 1e9, 1), "ns a pair")
        yield Figure(f"{many}: faiss IndexBinaryFlat", round(theirs / pairs * 1e9, 1), "ns a pair")
        yield Figure(f"{many}: read by pagekin", round(filters.nbytes * asked / ours / 1e9, 1), "GB/s")
        yield Figure(f"{many}: pagekin's time / faiss's", round(ours / theirs, 2), "x", at_most=1)


def grouping(name: str, raw: list[bytes]) -> Iterator[Figure]:
    """Result lists of pages, each fourth of them twice."""
    texts = [text.decode("utf-8", "replace") for text in raw]
    for count in (320, 1000):
        listed = [texts[k % len(texts)] for k in range(count * 4 // 5)]
        listed += listed[: count - len(listed)]
        chunks = chunks_of([canonical(text.encode()) for text in listed], SETTINGS)
        body = json.dumps([{"id": k, "rank": k + 1, "text": text} for k, text in enumerate(listed)])
        ours, parsing = in_turns(partial(grouped, chunks), partial(json.loads, body))
        yield Figure(
            f"{name}: {count:,} results grouped", round(ours * 1000, 1), "ms", at_most=1233 if count == 320 else None
        )
        yield Figure(f"{name}: {count:,} results parsed as JSON", round(parsing * 1000, 1), "ms")
        yield Figure(f"{name}: {count:,} results, grouped / parsed", round(ours / parsing, 2), "x", at_most=1)


def grouped(chunks: Chunks) -> list[DuplicateGroup[int]]:
    grouper = Grouper(SETTINGS)
    grouper.add(chunks)
    return grouper.groups()


def false_matches() -> Iterator[Figure]:
    """The share of set bits with false matches, for two unrelated sets."""
    for ratio in RATIOS:
        hashes = best_hashes(ratio)
        expected, trials = expected_ratio(ratio, hashes), simulated_ratio(1000, 1000 * ratio, hashes, 0.0, 50, seed=1)
        yield Figure(f"false matches at m = {ratio} n, k = {hashes}: expected", round(expected, 4))
        yield Figure(f"false matches at m = {ratio} n, k = {hashes}: trials", round(trials, 4))


_STREAMED = """
import sys
from benchmarks.machine import peak_megabytes, timed
from pagekin.duplicates.result_list import files, group
group(files([sys.argv[1]]))
before = peak_megabytes()
seconds = timed(lambda: group(files([sys.argv[2]])))
print(seconds, peak_megabytes() - before)
"""


def streaming() -> Iterator[Figure]:
    """A large text out of a file, in a process of its own."""
    random = np.random.default_rng(1)
    words = np.array([f"{a}{b} " for a in "wren oak bread clay star moss kiln loom".split() for b in range(100)])
    with tempfile.TemporaryDirectory() as place:
        small, large = Path(place) / "small.txt", Path(place) / "large.txt"
        small.write_text("a wren", "utf-8")
        with large.open("wb") as file:
            while file.tell() < LARGE:
                file.write("".join(random.choice(words, 1_000_000).tolist()).encode())
        command = [sys.executable, "-c", _STREAMED, str(small), str(large)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    yield Figure(f"a text of {LARGE >> 20:,} MiB out of a file", round(LARGE / seconds / 1e6), "MB/s")
    yield Figure(f"a text of {LARGE >> 20:,} MiB: memory that it takes", round(megabytes), "MB", at_most=256)


if __name__ == "__main__":
    main()
