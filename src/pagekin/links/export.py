"""Graphs and pairs for other programs: GraphML and GEXF (Gephi), CSV, Parquet."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from pagekin.links.measures import SimilarPairs

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 cannot hold
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_GEXF = "http://gexf.net/1.3"
_STEP = 1 << 16  # pairs that are written at a time


@dataclass(frozen=True)
class Vertex:
    """A page of a graph; it stands for `pages` pages."""

    node: int
    url: str
    title: str
    subgraph: int
    pages: int


def write_graphml(path: Path, vertices: Sequence[Vertex], edges: SimilarPairs) -> None:
    """Pages with url, title, subgraph and pages; edges with similarity."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_GRAPHML}">\n')
        for name, kind in (("url", "string"), ("label", "string"), ("subgraph", "int"), ("pages", "int")):
            file.write(f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n')
        file.write('<graph edgedefault="undirected">\n')
        for each in vertices:
            facts = {"url": each.url, "label": each.title, "subgraph": each.subgraph, "pages": each.pages}
            data = "".join(f'<data key="{name}">{_text(str(value))}</data>' for name, value in facts.items())
            file.write(f'<node id="{each.node}">{data}</node>\n')
        for first, second, value in _rows(edges):
            file.write(f'<edge source="{first}" target="{second}"><data key="weight">{value:.6f}</data></edge>\n')
        file.write("</graph>\n</graphml>\n")


def write_gexf(path: Path, vertices: Sequence[Vertex], edges: SimilarPairs) -> None:
    """The same as Gephi writes it."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="{_GEXF}" version="1.3">\n')
        file.write('<graph defaultedgetype="undirected">\n<attributes class="node">\n')
        for name, kind in (("url", "string"), ("subgraph", "integer"), ("pages", "integer")):
            file.write(f'<attribute id="{name}" title="{name}" type="{kind}"/>\n')
        file.write("</attributes>\n<nodes>\n")
        for each in vertices:
            facts = {"url": each.url, "subgraph": each.subgraph, "pages": each.pages}
            data = "".join(f'<attvalue for="{name}" value={_quoted(str(value))}/>' for name, value in facts.items())
            label = _quoted(each.title or each.url)
            file.write(f'<node id="{each.node}" label={label}><attvalues>{data}</attvalues></node>\n')
        file.write("</nodes>\n<edges>\n")
        for k, (first, second, value) in enumerate(_rows(edges)):
            file.write(f'<edge id="{k}" source="{first}" target="{second}" weight="{value:.6f}"/>\n')
        file.write("</edges>\n</graph>\n</gexf>\n")


def write_csv(path: Path, urls: Mapping[int, str], pairs: SimilarPairs) -> None:
    """A pair a line: two URLs and their similarity."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["first", "second", "similarity"])
        for first, second, value in _rows(pairs):
            writer.writerow([urls[first], urls[second], f"{value:.6f}"])


def write_parquet(path: Path, urls: Mapping[int, str], pairs: SimilarPairs) -> None:
    """The same columns for programs."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    names = ("first", "second", "similarity")
    schema = pyarrow.schema(zip(names, (pyarrow.string(), pyarrow.string(), pyarrow.float64()), strict=True))
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        for begin in range(0, len(pairs), _STEP):
            part = slice(begin, begin + _STEP)
            ends = [[urls[node] for node in each[part].tolist()] for each in (pairs.first, pairs.second)]
            writer.write_table(pyarrow.table([*ends, pairs.value[part]], schema=schema))


GRAPHS: dict[str, Callable[[Path, Sequence[Vertex], SimilarPairs], None]] = {
    "graphml": write_graphml,
    "gexf": write_gexf,
}
LISTS: dict[str, Callable[[Path, Mapping[int, str], SimilarPairs], None]] = {"csv": write_csv, "parquet": write_parquet}


def _rows(pairs: SimilarPairs) -> Iterator[tuple[int, int, float]]:
    for begin in range(0, len(pairs), _STEP):
        part = slice(begin, begin + _STEP)
        columns = (each[part].tolist() for each in (pairs.first, pairs.second, pairs.value))
        yield from zip(*columns, strict=True)


def _text(value: str) -> str:
    return _NO_XML.sub("\ufffd", value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(value: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", value))
