"""Bags are weighed and signed, piece by piece, and written with their heads and signatures; these are inverted."""

from pathlib import Path
from typing import Any, NamedTuple

from pagekin.bags.weigh import AnyPiece, FoldedBags, Weighing, lengths_of
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
from pagekin.model.bags import BAG_COLUMNS, HEAD
from pagekin.store.columns import column_writer, write_columns
from pagekin.store.stage_files import Stages

_COORDINATES = 4  # inverted in one job


class Signing(NamedTuple):
    """What weights and signatures depend on, besides the counts of a bag."""

    weighing: Weighing
    keys: UInt64s  # of all terms, seeded
    length: int  # of a signature
    nodes: int  # the first ones, which get signatures


def sign_piece(signing: Signing, numbered: tuple[slice, AnyPiece]) -> dict[str, Array]:
    """The bags of a piece with weights, the lengths of pages, and the heads and signatures of nodes that get them."""
    bags, length = signing.weighing.weighted(numbered)
    signed = bags.first(signing.nodes - numbered[0].start)
    signatures = truncate(make_signatures(signed, signing.keys, signing.length), value_type(signing.nodes))
    heads = signed.heads(HEAD)
    columns = {f"bags.{name}": getattr(bags, name) for name in BAG_COLUMNS}
    return columns | {
        "length": length,
        "heads.term": heads.term,
        "heads.weight": heads.weight,
        "signatures": signatures,
    }


def write_signed_bags(folder: Path, folded: FoldedBags, signed: int, stages: Stages) -> None:
    """Weigh all bags and write them, with the heads and signatures of the first `signed` nodes."""
    strategy, pieces = folded.strategy, folded.spill.pieces
    if folded.needs_lengths:
        folded.measure(stages.map("lengths", lengths_of, folded.weighing, pieces()))
    keys = seeded(term_keys(folded.terms.name, len(folded.lengths)), strategy.seed)
    signing = Signing(folded.weighing, keys, strategy.signature_length, signed)
    write_columns(folder, {"bags.offsets": folded.offsets})
    columns: dict[str, tuple[Any, tuple[int, ...]]] = {
        f"bags.{name}": (kind, (int(folded.offsets[-1]),)) for name, kind in BAG_COLUMNS.items()
    }
    columns |= {f"heads.{name}": (BAG_COLUMNS[name], (signed, HEAD)) for name in ("term", "weight")}
    columns["signatures"] = (value_type(signed), (signed, strategy.signature_length))
    node = 0
    with column_writer(folder, columns) as append:
        for piece in stages.map("signing", sign_piece, signing, pieces()):
            append(*(piece[name] for name in columns))
            node += folded.add_lengths(node, piece["length"])


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
    kind, shape = signatures.dtype, (length, len(signed.members))
    ends = invert_coordinates(signatures, signed.members, range(0)).buckets.shape[1]
    with column_writer(folder, {"postings": (kind, shape), "buckets": (kind, (length, ends))}) as append:
        for part in stages.map("inverting", _invert, signed, groups, [folder / "signatures.npy"]):
            append(part["postings"], part["buckets"])
