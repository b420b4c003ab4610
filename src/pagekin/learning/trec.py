"""Topics, qrels and documents in the formats of TREC.

Topics: `<top> <num> Number: 401 <title> words ... </top>`, or lines of a number, a tab and words.
Qrels: lines of `topic 0 document relevance`. Documents: `<DOC> <DOCNO> id </DOCNO> ... </DOC>`.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pagekin.errors import MisuseError
from pagekin.model.files import open_unpacked

MAX_BYTES = 1 << 26  # of a file of topics or qrels, and of one document
_TOPIC = re.compile(r"<top>(.*?)</top>", re.S | re.I)
_NUMBER = re.compile(r"<num>\s*(?:number:)?\s*([^<\s]+)", re.I)
_TITLE = re.compile(r"<title>\s*(?:topic:)?\s*([^<]*)", re.I)
_DOCNO = re.compile(r"<docno>\s*([^<\s]+)\s*</docno>", re.I)
_HEAD = re.compile(r"<(docno|dochdr|docid|fileid)>.*?</\1>", re.S | re.I)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")

Qrels = dict[str, dict[str, int]]  # topic -> document -> relevance


def read_topics(file: Path) -> dict[str, str]:
    """The title of each topic, which is closest to what people type."""
    text = _read_text(file)
    found = _TOPIC.findall(text)
    topics: dict[str, str] = {}
    for number, body in enumerate(found, 1):
        name, title = _NUMBER.search(body), _TITLE.search(body)
        if name is None or title is None:
            raise MisuseError(f"{file}: topic {number} has no <num> or no <title>")
        topics[name[1]] = " ".join(html.unescape(title[1]).split())
    for number, line in enumerate([] if found else text.splitlines(), 1):
        topic, tab, words = line.partition("\t")
        if line.strip() and not (tab and topic.strip()):
            raise MisuseError(f"{file}, line {number} is no topic: a number, a tab and words; or <top> ... </top>")
        if line.strip():
            topics[topic.strip()] = words.strip()
    if not topics:
        raise MisuseError(f"{file} has no topics")
    return topics


def read_qrels(file: Path) -> Qrels:
    """The relevance of documents to topics."""
    qrels: Qrels = {}
    for number, line in enumerate(_read_text(file).splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            topic, _, document, relevance = fields
            qrels.setdefault(topic, {})[document] = int(relevance)
        except ValueError as error:
            raise MisuseError(f"{file}, line {number} is no judgement: topic, 0, document and relevance") from error
    if not qrels:
        raise MisuseError(f"{file} has no judgements")
    return qrels


def read_documents(path: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of each document of a file, or of all files of a folder in the order of their names."""
    for file in sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]:
        with open_unpacked(file) as stream:
            yield from _documents(stream, file)


def _documents(stream: IO[bytes], file: Path) -> Iterator[tuple[str, str]]:
    lines: list[bytes] = []
    size = 0
    inside = False
    for line in iter(lambda: stream.readline(MAX_BYTES), b""):
        lower = line.lower()
        if b"<doc>" in lower:
            lines, size, inside = [], 0, True
        if inside:
            lines.append(line)
            size += len(line)
            if size > MAX_BYTES:
                raise MisuseError(f"{file}: a document has more than {MAX_BYTES:,} bytes")
        if inside and b"</doc>" in lower:
            inside = False
            text = b"".join(lines).decode("utf-8", "replace")
            name = _DOCNO.search(text)
            if name is None:
                raise MisuseError(f"{file}: a document has no <DOCNO>")
            yield name[1], html.unescape(_TAG.sub(" ", _HEAD.sub(" ", text)))


def _read_text(file: Path) -> str:
    with open_unpacked(file) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise MisuseError(f"{file} has more than {MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MisuseError(f"{file} is not UTF-8 ({error})") from error
