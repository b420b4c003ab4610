"""Threshold graphs as GraphML and GEXF (Gephi); pairs of pages as CSV and Parquet."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from pagekin.links.measures import SimilarPairs

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # invalid in XML 1.0
_BATCH = 1 << 16  # pairs


@dataclass(frozen=True)
class Vertex:
    """A page of a graph that represents `pages` near-identical pages."""

    node: int
    url: str
    title: str
    subgraph: int
    pages: int


def write_graphml(path: Path, vertices: Sequence[Vertex], edges: SimilarPairs) -> None:
    """Write a graph as GraphML: nodes with url, label, subgraph and pages; edges with their similarity as weight."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for name, kind in (("url", "string"), ("label", "string"), ("subgraph", "int"), ("pages", "int")):
            file.write(f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n')
        file.write('<graph edgedefault="undirected">\n')
        for each in vertices:
            values = {"url": each.url, "label": each.title, "subgraph": each.subgraph, "pages": each.pages}
            data = "".join(f'<data key="{name}">{escape(_valid(value))}</data>' for name, value in values.items())
            file.write(f'<node id="{each.node}">{data}</node>\n')
        for first, second, value in _rows(edges):
            file.write(f'<edge source="{first}" target="{second}"><data key="weight">{value:.6f}</data></edge>\n')
        file.write("</graph>\n</graphml>\n")


def write_gexf(path: Path, vertices: Sequence[Vertex], edges: SimilarPairs) -> None:
    """Write a graph as GEXF, the format of Gephi."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n')
        file.write('<graph defaultedgetype="undirected">\n<attributes class="node">\n')
        for name, kind in (("url", "string"), ("subgraph", "integer"), ("pages", "integer")):
            file.write(f'<attribute id="{name}" title="{name}" type="{kind}"/>\n')
        file.write("</attributes>\n<nodes>\n")
        for each in vertices:
            values = {"url": each.url, "subgraph": each.subgraph, "pages": each.pages}
            data = "".join(f'<attvalue for="{name}" value={quoteattr(_valid(v))}/>' for name, v in values.items())
            label = quoteattr(_valid(each.title or each.url))
            file.write(f'<node id="{each.node}" label={label}><attvalues>{data}</attvalues></node>\n')
        file.write("</nodes>\n<edges>\n")
        for k, (first, second, value) in enumerate(_rows(edges)):
            file.write(f'<edge id="{k}" source="{first}" target="{second}" weight="{value:.6f}"/>\n')
        file.write("</edges>\n</graph>\n</gexf>\n")


def write_csv(path: Path, urls: Mapping[int, str], pairs: SimilarPairs) -> None:
    """Write pairs as CSV: two URLs and their similarity."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["first", "second", "similarity"])
        for first, second, value in _rows(pairs):
            writer.writerow([urls[first], urls[second], f"{value:.6f}"])


def write_parquet(path: Path, urls: Mapping[int, str], pairs: SimilarPairs) -> None:
    """Write pairs as Parquet with the columns of the CSV file."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    names = ("first", "second", "similarity")
    schema = pyarrow.schema(zip(names, (pyarrow.string(), pyarrow.string(), pyarrow.float64()), strict=True))
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        for begin in range(0, len(pairs), _BATCH):
            part = slice(begin, begin + _BATCH)
            ends = [[urls[node] for node in each[part].tolist()] for each in (pairs.first, pairs.second)]
            writer.write_table(pyarrow.table([*ends, pairs.value[part]], schema=schema))


GRAPH_WRITERS: dict[str, Callable[[Path, Sequence[Vertex], SimilarPairs], None]] = {
    "graphml": write_graphml,
    "gexf": write_gexf,
}
PAIR_WRITERS: dict[str, Callable[[Path, Mapping[int, str], SimilarPairs], None]] = {
    "csv": write_csv,
    "parquet": write_parquet,
}


def _rows(pairs: SimilarPairs) -> Iterator[tuple[int, int, float]]:
    for begin in range(0, len(pairs), _BATCH):
        part = slice(begin, begin + _BATCH)
        columns = (each[part].tolist() for each in (pairs.first, pairs.second, pairs.value))
        yield from zip(*columns, strict=True)


def _valid(value: object) -> str:
    return _NOT_XML.sub("\ufffd", str(value))
