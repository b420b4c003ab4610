"""Latent vectors of small collections, against the definition in numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pagekin.engines.local import WorkerPool
from pagekin.errors import MisuseError
from pagekin.latent import build as building
from pagekin.latent import matrix
from pagekin.model.arrays import Floats
from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.stage_files import Stages
from store.builders import page, write_jsonl

TEXTS = [
    "oak elm fir oak",
    "oak elm ash",
    "elm fir yew oak",
    "snow rain hail",
    "rain hail fog snow rain",
    "fog snow wind rain yew",
    "",
]
STRATEGY = Strategy(stemming="none", lead=2.0, templates=True)


def built(folder: Path, texts: list[str], strategy: Strategy = STRATEGY) -> IndexedStore:
    rows = [page(f"http://w.example/{k:04}", f"<p>{text}") for k, text in enumerate(texts)]
    write_jsonl(folder / "w.jsonl", rows)
    build([folder / "w.jsonl"], folder / "w.kin", strategy=strategy, processes=1)
    return IndexedStore.open(folder / "w.kin")


def weights(texts: list[str], lead: float) -> Floats:
    """A by its definition: a row for each page, a column for each word of at least two pages but not of all."""
    pages = [text.split() for text in texts]
    words = sorted({word for page in pages for word in page})
    rows = np.zeros((len(pages), len(words)))
    for row, text in zip(rows, pages, strict=True):
        for place, word in enumerate(text):
            row[words.index(word)] += lead / (lead + place)
    frequency = np.count_nonzero(rows, axis=0)
    weighted: Floats = np.log(1.0 + 20.0 * rows) * np.log(len(pages) / frequency)
    return weighted[:, (frequency > 1) & (frequency < len(pages))]


def cosines(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 1e-9, lengths, 1.0)
    found: Floats = np.where(lengths > 1e-9, unit @ unit.T, 0.0)
    return found


def stored(store: IndexedStore) -> Floats:
    pages = store.latent
    every = np.arange(len(pages.rows.row))
    return pages.cosines(pages.take(every), every)


def test_cosines_are_those_of_the_truncated_decomposition(tmp_path: Path) -> None:
    """Of seven pages and eight words, one dimension is dropped."""
    store = built(tmp_path, TEXTS)
    exact = weights(TEXTS, 2.0)
    assert exact.shape == (7, 8)
    left, values, _ = np.linalg.svd(exact)
    assert store.latent.rows.row.shape == (7, 6)
    assert stored(store) == pytest.approx(cosines((left[:, :7] * values)[:, :6]), abs=0.02)


def test_a_page_without_words_is_similar_to_none(tmp_path: Path) -> None:
    store = built(tmp_path, TEXTS)
    assert stored(store)[6].tolist() == [0.0] * 7


def test_the_vector_of_a_page_is_the_weighted_sum_of_those_of_its_words(tmp_path: Path) -> None:
    store = built(tmp_path, TEXTS)
    names = list(store.index.terms.name)
    words = sorted({word for text in TEXTS for word in text.split()} - {"ash", "wind"})
    vectors = store.latent.of_terms(np.array([names.index(word) for word in words], np.uint32))
    folded = weights(TEXTS, 2.0) @ vectors
    assert cosines(folded) == pytest.approx(stored(store), abs=0.06)  # components of words have four bits


@pytest.mark.parametrize("texts", [["oak elm", "oak fir"], ["oak", "oak", "oak"], ["oak", "elm", "fir"], [""] * 4])
def test_without_pages_or_words_enough_there_are_no_dimensions(tmp_path: Path, texts: list[str]) -> None:
    store = built(tmp_path, texts)
    assert store.latent.rows.row.shape == (len(texts), 0)
    assert not stored(store).any()


def test_a_strategy_without_contents_has_no_dimensions(tmp_path: Path) -> None:
    store = built(tmp_path, TEXTS, Strategy(content=False))
    with pytest.raises(MisuseError, match="has no latent vectors; build it with a strategy whose blend names latent"):
        _ = store.latent


def test_of_too_many_words_those_that_weigh_most_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "COLUMNS", 3)
    store = built(tmp_path, TEXTS)
    squares = np.square(weights(TEXTS, 2.0)).sum(axis=0)
    words = sorted({word for text in TEXTS for word in text.split()} - {"ash", "wind"})
    heaviest = {words[k] for k in np.argsort(-squares)[:3].tolist()}
    assert {store.index.terms.name[int(term)] for term in store.latent.terms.term} == heaviest


def test_of_too_many_pages_a_sample_determines_the_dimensions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages 0, 2 and 4 of six; the vectors of all are their projections."""
    monkeypatch.setattr(building, "SAMPLE", 3)
    store = built(tmp_path, TEXTS[:6])
    exact = weights(TEXTS[:6], 2.0)
    axes = np.linalg.svd(exact[[0, 2, 4]])[2][:3]
    assert stored(store) == pytest.approx(cosines(exact @ axes.T), abs=0.02)


def test_the_files_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    dice = np.random.default_rng(2)
    texts = [" ".join(f"w{word}" for word in dice.zipf(1.3, 40) if word < 3000) for _ in range(400)]
    store = built(tmp_path, texts)
    folder = store.root / store.manifest.index_folder
    other = tmp_path / "other"
    other.mkdir()
    _write(store, other, 3)
    files = sorted(path.name for path in other.iterdir())
    assert len(files) == 8
    assert [name for name in files if (folder / name).read_bytes() != (other / name).read_bytes()] == []


def _write(store: IndexedStore, folder: Path, workers: int) -> None:
    from tempfile import TemporaryFile

    from pagekin.bags.build import fold_bags
    from pagekin.bags.source import BagSource

    with TemporaryFile() as file:
        folded = fold_bags(BagSource.of(store), store.index.strategy, file)
        building.write_latent(folder, folded, Stages(WorkerPool(workers), folder))
