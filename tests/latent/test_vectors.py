"""Latent vectors as integers: cosines, lists and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.errors import StoreError
from pagekin.latent.lists import FEWEST_PAGES, page_lists
from pagekin.latent.vectors import PageLists, TermVectors, Vectors, open_latent, quantised
from pagekin.model.arrays import Floats
from pagekin.store.columns import write_columns

NUMBERS = st.floats(-1, 1).filter(lambda number: abs(number) < 1e-31 or abs(number) > 1e-27)
COMPONENTS = st.lists(NUMBERS, min_size=3, max_size=3)


def clustered(pages: int, dimensions: int = 8) -> Vectors:
    """Vectors around thirty directions."""
    dice = np.random.default_rng(1)
    centres = dice.standard_normal((30, dimensions))
    return quantised(centres[np.arange(pages) % 30] + 0.3 * dice.standard_normal((pages, dimensions)))


@given(st.lists(COMPONENTS, min_size=1, max_size=5))
def test_integers_keep_the_direction_of_vectors(rows: list[list[float]]) -> None:
    vectors = np.array(rows)
    made = quantised(vectors)
    for vector, row, norm in zip(vectors, made.row, made.norm.tolist(), strict=True):
        largest = np.abs(vector).max()
        expected = vector / largest * 127 if largest > 1e-27 else np.zeros(3)
        assert np.abs(row - expected).max() <= 0.5 + 1e-9
        assert norm == pytest.approx(np.linalg.norm(row.astype(np.float64)))


def test_cosines_by_hand() -> None:
    vectors = Vectors(np.array([[3, 4], [4, 3], [0, 0]], np.int8), np.array([5, 5, 0], np.float32))
    found = vectors.cosines(vectors.take(np.array([0])), np.array([0, 1, 2, 7, -1]))
    assert found[:, 0].tolist() == [1.0, 0.96, 0.0, 0.0, 0.0]


def test_terms_without_a_vector_have_one_of_zeros() -> None:
    terms = TermVectors.of(np.array([2, 5], np.uint32), np.array([[1.27, 0.0], [0.0, -2.54]], np.float32))
    taken = terms.take(np.array([5, 3, 2, 9], np.uint32), 2)
    expected: Floats = np.array([[0.0, -2.54], [0.0, 0.0], [1.27, 0.0], [0.0, 0.0]])
    assert taken == pytest.approx(expected, rel=1e-6)


@given(st.lists(COMPONENTS, min_size=1, max_size=5), st.integers(1, 3))
def test_components_of_terms_are_rounded_to_a_seventh_of_the_largest(rows: list[list[float]], dimensions: int) -> None:
    vectors = np.array(rows)[:, :dimensions].astype(np.float32)
    terms = np.arange(len(rows), dtype=np.uint32)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    error = np.abs(TermVectors.of(terms, vectors).take(terms, dimensions) - vectors)
    assert (error <= largest / 14 * 1.0001 + 1e-29).all()


def test_every_page_is_in_one_list() -> None:
    lists = page_lists(clustered(FEWEST_PAGES))
    assert np.sort(lists.page).tolist() == list(range(FEWEST_PAGES))
    assert len(lists.centroid) == len(lists.offsets) - 1 == 63  # the root of 4,000


def test_what_all_pages_share_does_not_gather_them_in_few_lists() -> None:
    dice = np.random.default_rng(1)
    topics = dice.standard_normal((1000, 64))
    vectors = topics[np.arange(FEWEST_PAGES) % 1000] + 0.1 * dice.standard_normal((FEWEST_PAGES, 64))
    vectors[:, 0] += 20.0
    lists = page_lists(quantised(vectors))
    assert np.diff(lists.offsets).max() < 3 * FEWEST_PAGES / len(lists.centroid)


def test_a_small_collection_has_no_lists() -> None:
    assert len(page_lists(clustered(FEWEST_PAGES - 1)).centroid) == 0


def test_the_nearest_lists_have_nearly_all_of_the_nearest_pages() -> None:
    pages = clustered(5000, 32)
    lists, found = page_lists(pages), 0
    for page in range(0, 5000, 100):
        query = pages.take(np.array([page]))
        nearest = np.argsort(-pages.cosines(query, np.arange(5000))[:, 0], kind="stable")[:50]
        found += len(np.intersect1d(nearest, lists.probe(query)))
    assert found / (50 * 50) > 0.97
    assert len(lists.probe(pages.take(np.array([0])))) < 5000


def test_files_are_read_as_they_were_written_and_refused_if_numbers_are_out_of_range(tmp_path: Path) -> None:
    pages = clustered(FEWEST_PAGES)
    terms = TermVectors.of(np.array([2, 5], np.uint32), np.ones((2, 8), np.float32))
    parts = {"latent.pages": pages, "latent.terms": terms, "latent.lists": page_lists(pages)}
    write_columns(tmp_path, parts)
    opened = open_latent(tmp_path, FEWEST_PAGES, 6)
    for name, part in parts.items():
        same = opened.rows if name == "latent.pages" else getattr(opened, name.removeprefix("latent."))
        assert all(getattr(same, key).tobytes() == value.tobytes() for key, value in vars(part).items())
    with pytest.raises(StoreError, match=r"latent.pages.row.npy is damaged \(it belongs to other pages\)"):
        open_latent(tmp_path, FEWEST_PAGES + 1, 6)
    wrong = {
        "latent.lists.page": np.full(FEWEST_PAGES, FEWEST_PAGES, np.uint32),
        "latent.pages.norm": np.full(FEWEST_PAGES, np.nan, np.float32),
        "latent.terms.term": np.array([5, 2], np.uint32),
        "latent.terms.scale": np.ones(3, np.float32),
        "latent.terms.row": np.ones((2, 3), np.uint8),
        "latent.lists.centroid": np.ones((3, 8), np.int8),
        "latent.lists.offsets": np.array([0, 4001]),
    }
    for name, array in wrong.items():
        before = (tmp_path / f"{name}.npy").read_bytes()
        write_columns(tmp_path, {name: array})
        with pytest.raises(StoreError, match=name):
            open_latent(tmp_path, FEWEST_PAGES, 6)
        (tmp_path / f"{name}.npy").write_bytes(before)


@pytest.mark.parametrize("listed", [FEWEST_PAGES - 1, FEWEST_PAGES + 1])
def test_lists_of_more_or_fewer_pages_than_vectors_are_refused(tmp_path: Path, listed: int) -> None:
    pages = clustered(FEWEST_PAGES)
    terms = TermVectors.of(np.array([2], np.uint32), np.ones((1, 8), np.float32))
    write_columns(tmp_path, {"latent.pages": pages, "latent.terms": terms, "latent.lists": page_lists(pages)})
    centroid = np.ones((1, 8), np.int8)
    wrong = PageLists(centroid, np.array([0, listed]), (np.arange(listed) % FEWEST_PAGES).astype(np.uint32))
    write_columns(tmp_path, {"latent.lists": wrong})
    with pytest.raises(StoreError, match=r"latent.lists.page.npy is damaged"):
        open_latent(tmp_path, FEWEST_PAGES, 6)
