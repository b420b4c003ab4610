"""Latent vectors are computed and written: a truncated singular value decomposition of the matrix of pages and terms.

The weight of a term in a page is log(1 + 20 lead) * ln(pages / frequency), where `lead` is the sum over its occurrences
of the weight of their positions (`lead` of the strategy), and `frequency` is the number of pages with the term.
"""

from pathlib import Path

import numpy as np

from pagekin.bags.weigh import FoldedBags
from pagekin.engines.spark import SparkPool
from pagekin.latent.lists import Unordered, write_ordered
from pagekin.latent.matrix import (
    PageTerms,
    Piece,
    SparseRows,
    page_pieces,
    page_terms,
    rows_in_file,
    transposed_in_file,
)
from pagekin.latent.svd import right_singular_vectors
from pagekin.latent.vectors import DIMENSIONS, TermVectors, quantised
from pagekin.model.arrays import Array, Float32s, Int64s
from pagekin.store.columns import Mapper, flat_columns
from pagekin.store.pieces import append_pieces, write_pieces
from pagekin.store.stage_files import Stages

_FEWEST_PAGES = 3
SAMPLE = 32_768  # pages at most that determine the dimensions
_AT_ONCE = 4096  # vectors of terms
_TERMS = 10_000  # terms that get a vector in any case; in larger collections, as many as there are pages


def write_latent(folder: Path, folded: FoldedBags, stages: Stages) -> None:
    """Write the vectors of all pages and of the terms that weigh most, and the lists of pages.

    With more than 32,768 pages, an evenly spaced sample of that size determines the dimensions; the vectors of all
    pages are their projections. Collections of fewer than three pages have no dimensions.
    """
    terms = page_terms(folded, stages)
    count = min(terms.pages, SAMPLE)
    sample = np.arange(count) * terms.pages // max(1, count)
    pieces = stages.map("sampling", _sampled, (terms, sample), page_pieces(folded))
    unordered = Unordered(folder.absolute(), "latent")
    with rows_in_file(folder, (SparseRows(**piece) for piece in pieces)) as rows:
        axes = _dimensions(folder, terms, rows, folded.strategy.seed, stages.pool.map)
        if len(rows) == terms.pages and not isinstance(stages.pool, SparkPool):
            append_pieces(folder, map(unordered.columns, map(quantised, rows.products(axes, stages.pool.map))))
        else:
            write_pieces(stages, folder, "projecting", _project, (unordered, terms, axes), page_pieces(folded))
    write_ordered(unordered, stages)
    heaviest = np.sort(np.argsort(-terms.squares, kind="stable")[: max(_TERMS, terms.pages)])
    ranges = (heaviest[begin : begin + _AT_ONCE] for begin in range(0, max(1, len(heaviest)), _AT_ONCE))
    kept = (TermVectors.of(terms.term[some], axes[some]) for some in ranges)
    append_pieces(folder, (dict(flat_columns("latent.terms", part)) for part in kept))


def _project(axes: tuple[Unordered, PageTerms, Float32s], numbered: Piece) -> dict[str, Array]:
    """The vectors of the pages of a piece."""
    unordered, terms, dense = axes
    return unordered.columns(quantised(terms.rows(numbered).times(dense)))


def _sampled(sample: tuple[PageTerms, Int64s], numbered: Piece) -> dict[str, Array]:
    terms, wanted = sample
    return vars(terms.rows(numbered, wanted))


def _dimensions(folder: Path, terms: PageTerms, rows: SparseRows, seed: int, mapper: Mapper) -> Float32s:
    """The vector of each term that is a column of A, from some rows of A."""
    columns = len(terms.term)
    most = min(DIMENSIONS, terms.pages - 1, columns - 1)
    if terms.pages < _FEWEST_PAGES or most < 1:
        return np.zeros((columns, 0), np.float32)
    with transposed_in_file(folder, rows, columns, mapper) as transposed:
        return right_singular_vectors(rows, transposed, most, seed, mapper)
