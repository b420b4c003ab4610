"""Latent vectors are computed and written: a truncated singular value decomposition of the matrix of pages and terms.

The weight of a term in a page is log(1 + 20 lead) * ln(pages / frequency), where `lead` is the sum over its occurrences
of the weight of their positions (`lead` of the strategy), and `frequency` is the number of pages with the term.
"""

from pathlib import Path

import numpy as np

from pagekin.bags.weigh import FoldedBags
from pagekin.latent.lists import write_page_vectors
from pagekin.latent.matrix import PageTerms, Piece, SparseRows, page_pieces, page_terms, rows_in_file
from pagekin.latent.svd import right_singular_vectors
from pagekin.latent.vectors import DIMENSIONS, TermVectors, Vectors, quantised
from pagekin.model.arrays import Array, Bools, Float32s
from pagekin.store.columns import write_columns
from pagekin.store.stage_files import Stages

_FEWEST_PAGES = 3
SAMPLE = 200_000  # pages at most that determine the dimensions
_TERMS = 10_000  # terms that get a vector in any case; in larger collections, as many as there are pages


def write_latent(folder: Path, folded: FoldedBags, stages: Stages) -> None:
    """Write the vectors of all pages and of the terms that weigh most, and the lists of pages.

    With more than 200,000 pages, an evenly spaced sample of that size determines the dimensions; the vectors of all
    pages are their projections. Collections of fewer than three pages have no dimensions.
    """
    terms = page_terms(folded, stages)
    axes = _dimensions(folder, terms, folded, stages)
    pieces = stages.map("projecting", _project, (terms, axes), page_pieces(folded))
    write_page_vectors(folder, "latent", (terms.pages, axes.shape[1]), (Vectors(**piece) for piece in pieces))
    heaviest = np.sort(np.argsort(-terms.squares, kind="stable")[: max(_TERMS, terms.pages)])
    kept = TermVectors.of(terms.term[heaviest], axes[heaviest])
    write_columns(folder, {"latent.terms": kept})


def _project(axes: tuple[PageTerms, Float32s], numbered: Piece) -> dict[str, Array]:
    """The vectors of the pages of a piece."""
    terms, dense = axes
    return vars(quantised(terms.rows(numbered).times(dense)))


def _sampled(sample: tuple[PageTerms, Bools], numbered: Piece) -> dict[str, Array]:
    terms, wanted = sample
    return vars(terms.rows(numbered, wanted))


def _dimensions(folder: Path, terms: PageTerms, folded: FoldedBags, stages: Stages) -> Float32s:
    """The vector of each term that is a column of A."""
    pages, columns = terms.pages, len(terms.term)
    most = min(DIMENSIONS, pages - 1, columns - 1)
    if pages < _FEWEST_PAGES or most < 1:
        return np.zeros((columns, 0), np.float32)
    count, sample = min(pages, SAMPLE), np.zeros(pages, bool)
    sample[np.arange(count) * pages // count] = True
    pieces = stages.map("sampling", _sampled, (terms, sample), page_pieces(folded))
    with rows_in_file(folder, (SparseRows(**piece) for piece in pieces)) as rows:
        return right_singular_vectors(rows, columns, most, folded.strategy.seed, stages.pool.map)
