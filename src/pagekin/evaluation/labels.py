"""The classes of pages: labels from a TSV file, a dump of the Open Directory, tags of notes, or paths of URLs.

What is left out is counted by reason.

A class is a path from the root, such as ("Nature", "Birds", "Songbirds").
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote
from xml.parsers import expat

from pagekin.errors import MisuseError
from pagekin.evaluation.wiki_categories import category_labels
from pagekin.model.files import open_unpacked
from pagekin.sources.folders import FolderSource
from pagekin.sources.wiki_dump import DUMP_NAME
from pagekin.store.catalog import Find

Class = tuple[str, ...]
Label = tuple[str, Class]  # a URL or the path of a file, and a class
UNMET = "labels that name no page of the collection"
_CHUNK = 1 << 16
_MAX_LINE = 1 << 16  # bytes
_MAX_TAG = 1 << 20  # bytes of one tag or text of a dump
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_MAX_NOTE = 2 << 20  # bytes of a note that are searched for tags
_ROOT = "Top"  # of the Open Directory


@dataclass(frozen=True)
class LeftOutReason:
    """Why something was left out, how often, and the first example."""

    reason: str
    count: int
    example: str


class LeftOut:
    """Reasons, how often each applied, and its first example.

    >>> left_out = LeftOut()
    >>> left_out.add("lines without a tab", "line 3")
    >>> left_out.add("lines without a tab", "line 7")
    >>> left_out.reasons()
    [LeftOutReason(reason='lines without a tab', count=2, example='line 3')]
    """

    def __init__(self) -> None:
        self._reasons: dict[str, tuple[int, str]] = {}

    def add(self, reason: str, example: str = "", count: int = 1) -> None:
        if count:
            known, first = self._reasons.get(reason, (0, example))
            self._reasons[reason] = (known + count, first)

    def add_all(self, reason: str, examples: list[str]) -> None:
        self.add(reason, examples[0] if examples else "", len(examples))

    def example(self, reason: str) -> str:
        return self._reasons.get(reason, (0, ""))[1]

    def reasons(self) -> list[LeftOutReason]:
        return [LeftOutReason(reason, *facts) for reason, facts in self._reasons.items()]


def lines_of(file: Path, left_out: LeftOut) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines of a file that are not blank."""
    with open_unpacked(file) as stream:
        number = 0
        while line := stream.readline(_MAX_LINE + 1):
            number += 1
            if len(line) > _MAX_LINE:
                left_out.add(f"lines longer than {_MAX_LINE:,} bytes", f"line {number} of {file}")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_MAX_LINE)
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
            except UnicodeDecodeError:
                left_out.add("lines that are not UTF-8", f"line {number} of {file}")
                continue
            if text.strip():
                yield number, text


def read_labels(file: Path, left_out: LeftOut, tree: Mapping[str, Class] | None = None) -> Iterator[Label]:
    """The labels of a file, one at a time: an ODP dump if its name contains `.rdf`, else `url<TAB>Top/Middle/Leaf`.

    The labels of a folder are the tags of its notes; `#nature/birds` is the class ("nature", "birds"). Those of a
    MediaWiki dump are its categories. With a tree, a label is the name of a class in it. Soft links (names that end
    in @) are ignored (paper, footnote 2).
    """
    for key, name in _keys_and_names(file, left_out):
        path = parse_class(name) if tree is None else tree.get(name, ())
        if not path and tree is not None:
            left_out.add("labels with a class that is not in the tree", name)
        elif not path:
            left_out.add("labels without a class", key)
        elif any(part.endswith("@") for part in path):
            left_out.add("soft links", f"{key} in {name}")
        else:
            yield key, path


def _keys_and_names(file: Path, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    if file.is_dir():
        return FolderSource(file, "").tags(_MAX_NOTE)
    if DUMP_NAME.search(file.name):
        return category_labels(file)
    return _read_odp(file, left_out) if ".rdf" in file.name.lower() else _read_tsv(file, left_out)


def parse_class(name: str) -> Class:
    """A class from its name.

    >>> parse_class("/Nature/Birds /Songbirds/")
    ('Nature', 'Birds', 'Songbirds')
    """
    return tuple(part for part in (part.strip() for part in name.split("/")) if part)


def _read_tsv(file: Path, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    for number, line in lines_of(file, left_out):
        key, tab, name = line.partition("\t")
        if tab:
            yield key.strip(), name.partition("\t")[0]
        else:
            left_out.add("lines without a tab", f"line {number} of {file}")


def _read_odp(file: Path, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    """The external pages of `content.rdf.u8` and their topics below the root.

    Dumps are known to contain bytes that are illegal in XML; they are replaced by U+FFFD.
    """
    found: list[tuple[str, str]] = []
    parser = _odp_parser(found)
    decoder = getincrementaldecoder("utf-8")("replace")
    fed = 0
    try:
        with open_unpacked(file) as stream:
            while chunk := stream.read(_CHUNK):
                text = _NOT_XML.sub("\ufffd", decoder.decode(chunk))
                left_out.add("characters of the dump that are none", str(file), text.count("\ufffd"))
                piece = text.encode()
                fed += len(piece)
                parser.Parse(piece, False)
                if fed - parser.CurrentByteIndex > _MAX_TAG:
                    raise MisuseError(
                        f"{file} has a tag of more than {_MAX_TAG:,} bytes; it is not a dump of the Open Directory"
                    )
                yield from found
                found.clear()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise MisuseError(
            f"{file} is not well-formed XML: {expat.ErrorString(error.code)} in line {error.lineno};"
            " is the dump complete?"
        ) from error


def _odp_parser(found: list[tuple[str, str]]) -> expat.XMLParserType:
    page: str | None = None
    topic: str | None = None

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal page, topic
        if tag == "ExternalPage":
            page = attributes.get("about")
        elif tag == "topic" and page is not None:
            topic = ""

    def text(text: str) -> None:
        nonlocal topic
        if topic is not None:
            topic = (topic + text)[:_CHUNK]

    def end(tag: str) -> None:
        nonlocal page, topic
        if tag == "topic" and topic is not None and page is not None:
            found.append((page, topic.removeprefix(f"{_ROOT}/") if topic != _ROOT else ""))
            topic = None
        elif tag == "ExternalPage":
            page = topic = None

    def refuse_entity(name: str, *_: object) -> None:
        # Entities can expand exponentially.
        raise MisuseError(f"the dump declares an entity, {name!r}; a dump of the Open Directory declares none")

    parser = expat.ParserCreate("UTF-8")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = text, refuse_entity
    return parser


def path_labels(urls: Iterable[str], left_out: LeftOut) -> Iterator[Label]:
    """The folders of URLs as classes, without the prefix that all URLs have in common.

    >>> urls = ["http://a.example/en/x/1.html", "http://a.example/en/y/z/2.html"]
    >>> [path for _, path in path_labels(urls, LeftOut())]
    [('x',), ('y', 'z')]
    """
    folders = {url: tuple(unquote(part) for part in url.partition("?")[0].split("/")[2:-1]) for url in urls}
    least, most = min(folders.values(), default=()), max(folders.values(), default=())
    common = next((k for k, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), min(len(least), len(most)))
    for url, path in folders.items():
        if path[common:]:
            yield url, path[common:]
        else:
            left_out.add("pages outside all folders", url)


def read_tree(file: Path, left_out: LeftOut) -> dict[str, Class]:
    """The path of every class of a tree with lines of `class<TAB>parent`; a class without a parent is a root."""
    parents: dict[str, str] = {}
    for number, line in lines_of(file, left_out):
        name, parent = (part.strip() for part in (line + "\t").split("\t")[:2])
        if parents.setdefault(name, parent) != parent:
            raise MisuseError(
                f"{file}, line {number}: {name!r} has two parents, {parents[name]!r} and {parent!r}; keep one"
            )
    return {name: path for name in {*parents, *parents.values()} - {""} if (path := _path(name, parents, file))}


def _path(name: str, parents: Mapping[str, str], file: Path) -> Class:
    path: dict[str, None] = {}
    while name:
        if name in path:
            raise MisuseError(f"{file}: the tree has a cycle: {' is below '.join([*path, name])}")
        path[name] = None
        name = parents.get(name, "")
    return tuple(reversed(path))


def join(labels: Iterable[Label], find: Find, left_out: LeftOut) -> dict[int, set[Class]]:
    """The classes of every labelled page; labels that name no page are counted as left out."""
    classes: dict[int, set[Class]] = {}
    for key, path in labels:
        page = find(key)
        if page is None:
            left_out.add(UNMET, key)
        else:
            classes.setdefault(page, set()).add(path)
    return classes
