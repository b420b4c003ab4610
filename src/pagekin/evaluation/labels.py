"""Which class is a page in? Labels from a TSV file, from a dump of the Open Directory, or from the paths of URLs.

A class is a path from the top down, such as ("Nature", "Birds", "Songbirds").
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote
from xml.parsers import expat

from pagekin.errors import MisuseError
from pagekin.evaluation.notes import LeftOut, lines_of
from pagekin.model.files import open_unpacked

Class = tuple[str, ...]
Label = tuple[str, Class]  # a URL or the path of a file, and a class
_CHUNK = 1 << 16
_LONGEST = 1 << 20  # bytes of one tag or text of a dump
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ROOT = "Top"  # of the Open Directory


def read_labels(file: Path, notes: LeftOut, tree: Mapping[str, Class] | None = None) -> Iterator[Label]:
    """The labels of a file, one at a time: ODP if its name says RDF, else `url<TAB>Top/Middle/Leaf`.

    With a tree a label is the name of a class in it. Soft links, whose names end in @, are ignored (paper, footnote 2).
    """
    names = _odp(file, notes) if ".rdf" in file.name.lower() else _tsv(file, notes)
    for key, name in names:
        if tree is not None:
            path = tree.get(name, ())
            if not path:
                notes.add("labels with a class that is not in the tree", name)
        else:
            path = class_of(name)
            if not path:
                notes.add("labels without a class", key)
        if any(part.endswith("@") for part in path):
            notes.add("soft links", f"{key} in {name}")
        elif path:
            yield key, path


def class_of(name: str) -> Class:
    """A class from its name.

    >>> class_of("/Nature/Birds /Songbirds/")
    ('Nature', 'Birds', 'Songbirds')
    """
    return tuple(part for part in (part.strip() for part in name.split("/")) if part)


def _tsv(file: Path, notes: LeftOut) -> Iterator[tuple[str, str]]:
    for number, line in lines_of(file, notes):
        key, tab, name = line.partition("\t")
        if tab:
            yield key.strip(), name.partition("\t")[0]
        else:
            notes.add("lines without a tab", f"line {number} of {file}")


def _odp(file: Path, notes: LeftOut) -> Iterator[tuple[str, str]]:
    """The external pages of `content.rdf.u8` and their topics, below the root; nothing else of the dump is kept.

    Dumps are known to hold bytes that no XML may have; these become U+FFFD.
    """
    reader = _OdpReader()
    parser = expat.ParserCreate("UTF-8")
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = reader.refuse_entity
    decoder = getincrementaldecoder("utf-8")("replace")
    fed = 0
    try:
        with open_unpacked(file) as stream:
            while chunk := stream.read(_CHUNK):
                text = _NO_XML.sub("\ufffd", decoder.decode(chunk))
                notes.add("characters of the dump that are none", str(file), text.count("\ufffd"))
                piece = text.encode()
                fed += len(piece)
                parser.Parse(piece, False)
                if fed - parser.CurrentByteIndex > _LONGEST:
                    raise MisuseError(f"{file} has a tag of more than {_LONGEST:,} bytes; it is no dump of a directory")
                yield from reader.taken()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise MisuseError(
            f"{file} is no well-formed XML: {expat.ErrorString(error.code)} in line {error.lineno};"
            " is the dump complete?"
        ) from error


class _OdpReader:
    """Takes note of the external pages of a dump."""

    def __init__(self) -> None:
        self._found: list[tuple[str, str]] = []
        self._page: str | None = None
        self._topic: list[str] | None = None
        self._length = 0

    def taken(self) -> list[tuple[str, str]]:
        """What was found since last time."""
        found, self._found = self._found, []
        return found

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """A tag begins."""
        if tag == "ExternalPage":
            self._page = attributes.get("about")
        elif tag == "topic" and self._page is not None:
            self._topic, self._length = [], 0

    def text(self, text: str) -> None:
        """Some text."""
        if self._topic is not None:
            self._length += len(text)
            if self._length <= _CHUNK:
                self._topic.append(text)

    def end(self, tag: str) -> None:
        """A tag ends."""
        if tag == "topic" and self._topic is not None and self._page is not None:
            path = "".join(self._topic)
            self._found.append((self._page, path.removeprefix(f"{_ROOT}/") if path != _ROOT else ""))
            self._topic = None
        elif tag == "ExternalPage":
            self._page = self._topic = None

    def refuse_entity(self, name: str, *_: object) -> None:
        """No dump needs entities of its own; they can blow up."""
        raise MisuseError(f"the dump declares an entity, {name!r}, which no directory does")


def path_labels(urls: Iterable[str], notes: LeftOut) -> Iterator[Label]:
    """The folders of URLs as classes, below what all URLs have in common.

    >>> [path for _, path in path_labels(["http://a.example/en/x/1.html", "http://a.example/en/y/z/2.html"], Notes())]
    [('x',), ('y', 'z')]
    """
    folders = {url: tuple(unquote(part) for part in url.partition("?")[0].split("/")[2:-1]) for url in urls}
    least, most = min(folders.values(), default=()), max(folders.values(), default=())
    common = 0
    while common < min(len(least), len(most)) and least[common] == most[common]:
        common += 1
    for url, path in folders.items():
        if path[common:]:
            yield url, path[common:]
        else:
            notes.add("pages outside all folders", url)


def read_tree(file: Path, notes: LeftOut) -> dict[str, Class]:
    """The path of every class of a tree that is given as `class<TAB>parent`; a class without a parent is a top."""
    parents: dict[str, str] = {}
    for number, line in lines_of(file, notes):
        name, parent = (part.strip() for part in (line + "\t").split("\t")[:2])
        if parents.setdefault(name, parent) != parent:
            raise MisuseError(f"{file}, line {number}: {name!r} has two parents, {parents[name]!r} and {parent!r}")
    return {name: path for name in {*parents, *parents.values()} - {""} if (path := _path(name, parents, file))}


def _path(name: str, parents: Mapping[str, str], file: Path) -> Class:
    path: dict[str, None] = {}
    while name:
        if name in path:
            raise MisuseError(f"{file}: the tree has a cycle: {' is below '.join([*path, name])}")
        path[name] = None
        name = parents.get(name, "")
    return tuple(reversed(path))
