"""Bags are weighed and signed, piece by piece, and written with their heads and signatures; these are inverted."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.bags.weigh import AnyPiece, FoldedBags, Weighing
from pagekin.index.index import (
    KEYS,
    invert_coordinates,
    keys_of,
    make_signatures,
    members_of,
    open_signatures,
    seeded,
    truncate,
    value_type,
)
from pagekin.model.arrays import Array, Int64s, Strings, UInt64s
from pagekin.model.bags import HEAD
from pagekin.store.columns import write_columns
from pagekin.store.pieces import write_pieces
from pagekin.store.stage_columns import gathered, ranges_of
from pagekin.store.stage_files import Stages
from pagekin.store.store import Store

_COORDINATES = 4  # inverted in one job
_NODES = 1 << 20  # the same, where it is decided which are inverted


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


def _keys(named: tuple[Strings, int], terms: range) -> dict[str, Array]:
    """The seeded keys of some terms."""
    names, seed = named
    return {"key": seeded(keys_of(names, np.arange(terms.start, terms.stop)), seed)}


def write_signed_bags(folder: Path, folded: FoldedBags, signed: int, stages: Stages) -> None:
    """Write the terms, and all bags with weights, with the heads and signatures of the first `signed` nodes."""
    strategy, pieces, weighing = folded.strategy, folded.spill.pieces, folded.weighing
    write_columns(folder, {"terms": folded.terms, "contents.frequency": folded.contents.frequency})
    if folded.needs_lengths:
        lengths = gathered(stages, "lengths", _lengths, weighing, pieces())
        write_columns(folder, lengths)
        weighing = replace(weighing, contents=replace(folded.contents, length=lengths["contents.length"]))
    ranges = ranges_of(len(folded.terms.frequency), KEYS)
    keys = gathered(stages, "keys", _keys, (folded.terms.name, strategy.seed), ranges)["key"]
    signing = Signing(weighing, keys, strategy.signature_length, signed, folded.needs_lengths)
    write_pieces(stages, folder, "signing", sign_piece, signing, pieces())


class Linked(NamedTuple):
    """The folder of a column of signatures, a store, and the least in-degree of a node that is inverted."""

    folder: Path
    store: Store
    least: int


class Signed(NamedTuple):
    """The folder of a column of signatures, and the nodes that are inverted."""

    folder: Path
    members: Int64s


def _members(linked: Linked, nodes: range) -> dict[str, Array]:
    """The nodes of a range that are inverted."""
    numbers = np.arange(nodes.start, nodes.stop)
    if linked.least > 0:
        numbers = numbers[linked.store.in_degrees(nodes) >= linked.least]
    return {"node": members_of(open_signatures(linked.folder), numbers)}


def _invert(signed: Signed, coordinates: range) -> dict[str, Array]:
    return vars(invert_coordinates(open_signatures(signed.folder), signed.members, coordinates))


def write_inverted(folder: Path, store: Store, min_in_links: int, stages: Stages) -> None:
    """Write the inverted index over the signatures of nodes with at least `min_in_links`, by groups of coordinates."""
    signatures, files = open_signatures(folder), [folder / "signatures.npy"]
    count, length = signatures.shape
    linked = Linked(folder.absolute(), store, min_in_links)
    members = gathered(stages, "members", _members, linked, ranges_of(count, _NODES), files=files)["node"]
    signed = Signed(folder.absolute(), members)
    groups = [range(first, min(first + _COORDINATES, length)) for first in range(0, length, _COORDINATES)]
    write_pieces(stages, folder, "inverting", _invert, signed, groups, files)
