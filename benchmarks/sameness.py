"""Near-duplicate quality: filters compared with exact sets of chunks, exact shingles and datasketch.

`python -m benchmarks.sameness` prints the figures and writes `results/sameness.json`. Real pages are edited with graded
strength: words changed, blocks moved, inserted and deleted, the page wrapped in another template or put inside
another page. All pairs of all versions of all pages are judged at 0.7. The truth of filters is what the exact sets of
chunks say; that of datasketch's MinHashLSH (128 permutations, candidates checked by their estimated Jaccard) is the
exact Jaccard of shingles of eight words. libboost1.74-doc and libboost1.81-doc are two versions of one manual;
`sh benchmarks/manuals.sh` fetches them.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from random import Random

import numpy as np
from datasketch import MinHash, MinHashLSH
from numpy.typing import NDArray

from benchmarks.agreement import collections
from benchmarks.building import html_files
from benchmarks.duplicates import texts_under
from benchmarks.labelled import MANUALS
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.duplicates.chunks import canonical, chunks_of
from pagekin.duplicates.filters import MIN_CHUNKS
from pagekin.duplicates.groups import Grouper
from pagekin.duplicates.result_list import files, html_texts
from pagekin.duplicates.settings import GroupSettings
from pagekin.model.arrays import Int64s, UInt64s, spans

BOOST = [MANUALS / f"libboost1.{k}-doc" for k in (74, 81)]
PAGES = 20 if QUICK else 60
VERSIONED = 200 if QUICK else 1000  # pages of each version of the manual
SHINGLE = 8  # words
PERMUTATIONS = 128
THRESHOLD = GroupSettings().threshold
_LEAST = 2000  # bytes of a page that is worth editing
_MOST = 100_000

Pairs = set[tuple[int, int]]


def main() -> None:
    """Measure edited pages of every collection at hand, and two versions of a manual."""
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            print(f"editing pages of {name}")
            found = list(edited(name, folder))
            show(found)
            figures += found
    if all(root.is_dir() for root in BOOST):
        print("two versions of a manual")
        found = list(versions())
        show(found)
        figures += found
    keep("sameness", {"machine": facts("datasketch"), "figures": kept(figures)})


# --- documents -----------------------------------------------------------------------------------


def edited(name: str, folder: Path) -> Iterator[Figure]:
    """The figures of edited pages."""
    raw = [text.decode() for text in texts_under(folder, 40 * PAGES) if _LEAST < len(text) < _MOST]
    pages = raw[:: max(1, len(raw) // PAGES)][:PAGES]
    random = Random(2005)
    kinds, texts = [], []
    for k, page in enumerate(pages):
        for kind, text in edits(page, pages[k - 1], random):
            kinds.append(kind)
            texts.append(text)
    judged = Judged([canonical(text.encode()) for text in texts])
    yield from judged.figures(name)
    versions = len(texts) // len(pages)
    for kind in kinds[1:versions]:
        asked = [(k + kinds[:versions].index(kind), k) for k in range(0, len(texts), versions)]
        for who, pairs in (("pagekin", judged.ours), ("MinHashLSH", judged.theirs)):
            yield Figure(f"{name}: {kind}: found by {who}", round(sum(pair in pairs for pair in asked) / len(asked), 3))
    inside = np.array([(k, k + versions - 1) for k in range(0, len(texts), versions)])
    told = [each.a_in_b and not each.b_in_a for each in judged.grouper.fingerprints.overlaps(inside)]
    yield Figure(
        f"{name}: pages inside others that are called contained", round(float(np.mean(told)), 3), at_least=0.95
    )


def edits(page: str, other: str, random: Random) -> Iterator[tuple[str, str]]:
    """A page, and versions of it, each with what was done to it; the last one is inside another page."""
    yield "as it is", page
    for percent in (0.1, 0.5, 1, 2, 5):
        words = page.split(" ")
        for k in random.sample(range(len(words)), max(1, round(len(words) * percent / 100))):
            words[k] = "edited"
        yield f"{percent:g} % of the words changed", " ".join(words)
    lines, others = page.split("\n"), other.split("\n")
    for percent in (10, 30):
        some = max(1, len(lines) * percent // 100)
        at = random.randrange(max(1, len(lines) - some))
        rest = lines[:at] + lines[at + some :]
        to = random.randrange(len(rest) + 1)
        yield f"a block of {percent} % moved", "\n".join(rest[:to] + lines[at : at + some] + rest[to:])
        yield f"a block of {percent} % deleted", "\n".join(rest)
        yield (
            f"a block of {percent} % inserted",
            "\n".join(lines[:at] + cut_to(others, len(page) * percent // 100) + lines[at:]),
        )
    yield "in another template", "\n".join([*cut_to(others, 500), page, *cut_to(others[::-1], 500)])
    half = len(others) // 2
    yield "inside another page", "\n".join([*others[:half], page, *others[half:]])


def cut_to(lines: list[str], size: int) -> list[str]:
    """Lines of so many characters."""
    return ["\n".join(lines)[:size]]


def versions() -> Iterator[Figure]:
    """The figures of two versions of a manual."""
    name = "libboost 1.74 and 1.81"
    old, new = (
        {path.relative_to(root).as_posix().replace(root.name, ""): path for path in html_files(root)} for root in BOOST
    )
    both = sorted(set(old) & set(new))
    both = both[:: max(1, len(both) // VERSIONED)][:VERSIONED]
    texts: list[bytes] = []
    for path in [*(old[each] for each in both), *(new[each] for each in both)]:
        found = html_texts(files([path]))[0]
        texts.append(canonical(found) if isinstance(found, bytes) else b"")
    judged = Judged(texts)
    yield Figure(f"{name}: pages that are in both", len(both))
    yield from judged.figures(name)
    across = [(len(both) + k, k) for k in range(len(both))]
    for who, pairs in (("pagekin", judged.ours), ("MinHashLSH", judged.theirs), ("exact chunks", judged.chunk_truth)):
        yield Figure(
            f"{name}: page found in the other version by {who}", round(sum(p in pairs for p in across) / len(across), 3)
        )


# --- judging -------------------------------------------------------------------------------------


class Judged:
    """Texts, the pairs that are similar in truth, and the pairs that are found; the first of a pair comes later."""

    def __init__(self, texts: list[bytes]) -> None:
        self.texts = texts
        chunks = chunks_of(texts, GroupSettings())
        self.grouper = Grouper()
        self.ours: Pairs = {(max(a, b), min(a, b)) for a, b in self.grouper.add(chunks).tolist()}
        sets = [chunks.elements[a:b] for a, b in zip(chunks.offsets[:-1], chunks.offsets[1:], strict=True)]
        self.chunk_truth = similar_chunks(sets)
        words = [shingles(text) for text in texts]
        self.shingle_truth = similar_shingles(words)
        self.theirs = by_datasketch(words)

    def figures(self, name: str) -> Iterator[Figure]:
        """How good what was found is."""
        ours, theirs = f1(self.ours, self.chunk_truth), f1(self.theirs, self.shingle_truth)
        yield Figure(f"{name}: texts", len(self.texts))
        yield Figure(f"{name}: pairs of similar sets of chunks", len(self.chunk_truth))
        yield Figure(f"{name}: pairs of similar sets of shingles", len(self.shingle_truth))
        yield Figure(f"{name}: F1 of filters on exact chunks", round(ours, 4), at_least=0.98)
        yield Figure(f"{name}: F1 of MinHashLSH on exact shingles", round(theirs, 4))
        yield Figure(f"{name}: F1 of filters - F1 of MinHashLSH", round(ours - theirs, 4), at_least=-0.02)
        yield Figure(f"{name}: F1 of filters on exact shingles", round(f1(self.ours, self.shingle_truth), 4))
        yield Figure(
            f"{name}: F1 of exact chunks on exact shingles", round(f1(self.chunk_truth, self.shingle_truth), 4)
        )


def f1(found: Pairs, truth: Pairs) -> float:
    return 2 * len(found & truth) / max(1, len(found) + len(truth))


def shingles(text: bytes) -> UInt64s:
    """The hashes of the distinct runs of words of a text; of the whole, if it has fewer words."""
    words = text.split()
    runs = {tuple(words[k : k + SHINGLE]) for k in range(max(1, len(words) - SHINGLE + 1))} if words else set()
    return np.frombuffer(b"".join(sorted(blake2b(b" ".join(run), digest_size=8).digest() for run in runs)), np.uint64)


def similar_chunks(sets: list[UInt64s]) -> Pairs:
    """The greater share of common chunks, or the lesser for pages of hardly any: what filters estimate."""
    common, sizes = common_counts(sets)
    least, most = np.minimum.outer(sizes, sizes), np.maximum.outer(sizes, sizes)
    return pairs_where(common >= THRESHOLD * np.where(least < MIN_CHUNKS, most, least), sizes)


def similar_shingles(sets: list[UInt64s]) -> Pairs:
    common, sizes = common_counts(sets)
    return pairs_where(common >= THRESHOLD * (np.add.outer(sizes, sizes) - common), sizes)


def pairs_where(similar: NDArray[np.bool_], sizes: Int64s) -> Pairs:
    similar &= np.logical_and.outer(sizes > 0, sizes > 0)
    return {(a, b) for a, b in np.argwhere(np.tril(similar, -1)).tolist()}


def common_counts(sets: list[UInt64s]) -> tuple[Int64s, Int64s]:
    """How many elements each two sets have in common, and how many each has."""
    sizes = np.array([len(each) for each in sets])
    _, element = np.unique(np.concatenate(sets), return_inverse=True)
    owner = np.repeat(np.arange(len(sets)), sizes)
    order = np.argsort(element, kind="stable")
    counts = np.bincount(element)
    first, ends = np.cumsum(counts) - counts, np.cumsum(sizes)
    common = np.empty((len(sets), len(sets)), np.int64)
    for k in range(len(sets)):
        mine = element[ends[k] - sizes[k] : ends[k]]
        common[k] = np.bincount(owner[order[spans(first[mine], counts[mine])]], minlength=len(sets))
    return common, sizes


def by_datasketch(sets: list[UInt64s]) -> Pairs:
    """The pairs that MinHashLSH proposes and whose estimated Jaccard reaches the threshold."""
    signed = MinHash.bulk([each.tolist() for each in sets], num_perm=PERMUTATIONS, hashfunc=lambda x: x & 0xFFFFFFFF)
    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    found: Pairs = set()
    for k, each in enumerate(signed):
        if len(sets[k]):
            found |= {(k, other) for other in index.query(each) if each.jaccard(signed[other]) >= THRESHOLD}
            index.insert(k, each)
    return found


if __name__ == "__main__":
    main()
