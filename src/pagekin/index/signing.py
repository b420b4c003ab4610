"""Bags are weighed and signed, piece by piece, and written with their heads and signatures; these are inverted."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.bags.weigh import AnyPiece, FoldedBags, Weighing
from pagekin.index.index import (
    invert_coordinates,
    make_signatures,
    members_of,
    open_signatures,
    seeded,
    term_keys,
    truncate,
    value_type,
)
from pagekin.model.arrays import Array, Int64s, UInt64s
from pagekin.model.bags import HEAD
from pagekin.store.columns import open_array, write_columns
from pagekin.store.pieces import write_pieces
from pagekin.store.stage_files import Stages

_COORDINATES = 4  # inverted in one job


class Signing(NamedTuple):
    """What weights and signatures depend on, besides the counts of a bag."""

    weighing: Weighing
    keys: UInt64s  # of all terms, seeded
    length: int  # of a signature
    nodes: int  # the first ones, which get signatures
    measured: bool  # whether the lengths of pages are written already


def sign_piece(signing: Signing, numbered: tuple[slice, AnyPiece]) -> dict[str, Array]:
    """The bags of a piece with weights, the lengths of pages, and the heads and signatures of nodes that get them."""
    bags, length = signing.weighing.weighted(numbered)
    signed = bags.first(signing.nodes - numbered[0].start)
    signatures = truncate(make_signatures(signed, signing.keys, signing.length), value_type(signing.nodes))
    heads = signed.heads(HEAD)
    of_pages = {} if signing.measured else {"contents.length": length}
    columns = {
        f"{name}.{column}": array
        for name, part in (("bags", bags), ("heads", heads))
        for column, array in vars(part).items()
    }
    return columns | of_pages | {"signatures": signatures}


def _lengths(weighing: Weighing, numbered: tuple[slice, AnyPiece]) -> dict[str, Array]:
    return {"contents.length": weighing.lengths(numbered)}


def write_signed_bags(folder: Path, folded: FoldedBags, signed: int, stages: Stages) -> None:
    """Write the terms, and all bags with weights, with the heads and signatures of the first `signed` nodes."""
    strategy, pieces, weighing = folded.strategy, folded.spill.pieces, folded.weighing
    write_columns(folder, {"terms": folded.terms, "contents.frequency": folded.contents.frequency})
    if folded.needs_lengths:
        write_pieces(stages, folder, "lengths", _lengths, weighing, pieces())
        length = open_array(folder, "contents.length", np.int64, below=None)
        weighing = replace(weighing, contents=replace(folded.contents, length=length))
    keys = seeded(term_keys(folded.terms.name, len(folded.evidence)), strategy.seed)
    signing = Signing(weighing, keys, strategy.signature_length, signed, folded.needs_lengths)
    write_pieces(stages, folder, "signing", sign_piece, signing, pieces())


class Signed(NamedTuple):
    """The folder of a column of signatures, and the nodes that are inverted."""

    folder: Path
    members: Int64s


def _invert(signed: Signed, coordinates: range) -> dict[str, Array]:
    return vars(invert_coordinates(open_signatures(signed.folder), signed.members, coordinates))


def write_inverted(folder: Path, nodes: Int64s, stages: Stages) -> None:
    """Write the inverted index over the signatures of some nodes, for one group of coordinates after the other."""
    signatures = open_signatures(folder)
    length, signed = signatures.shape[1], Signed(folder.absolute(), members_of(signatures, nodes))
    groups = [range(first, min(first + _COORDINATES, length)) for first in range(0, length, _COORDINATES)]
    write_pieces(stages, folder, "inverting", _invert, signed, groups, [folder / "signatures.npy"])
