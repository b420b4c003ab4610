"""Result lists in any shape -> results: plain lists, JSON lines, and what search engines answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from pagekin.errors import MisuseError

LARGEST_JSON = 256 << 20  # bytes of a list, or of a line
# A list has a few values a result, and its bulk is in strings. Brackets would take thirty times their size as objects.
_MOST_STRUCTURE = 32 << 20
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.S)
_SHAPES = (
    "a list of results, or a response of Elasticsearch, OpenSearch, Solr, Meilisearch or Typesense"
    " (docs/duplicates.md shows them)"
)


@dataclass(frozen=True)
class Result:
    """One result of a list. Its text is at hand, as such or as HTML, or in a file."""

    id: str | int | float
    url: str = ""
    title: str = ""
    text: str | None = None
    html: str | None = None
    rank: float | None = None  # the least is the best; by default its place in the list
    path: Path | None = None


@dataclass(frozen=True)
class Fields:
    """Under which names a result has what; the first that is there counts."""

    id: tuple[str, ...] = ("id", "_id", "objectID")
    url: tuple[str, ...] = ("url", "uri", "link")
    title: tuple[str, ...] = ("title", "name")
    text: tuple[str, ...] = ("text", "content", "body", "contents")
    html: tuple[str, ...] = ("html",)
    rank: tuple[str, ...] = ("rank",)


def results_in(body: Any, fields: Fields | None = None) -> list[Result]:
    """The results of a parsed list or response.

    >>> [each.id for each in results_in({"hits": {"hits": [{"_id": "7", "_source": {"text": "Wrens"}}]}})]
    ['7']
    """
    lists = _lists(body)
    if len(lists) == 1:
        return [result_of(hit, place, fields or Fields()) for place, hit in enumerate(lists[0], 1)]
    found: list[Result] = []
    for hits in lists:  # of several lists each has its own best; a result goes by its place there
        some = [result_of(hit, len(found) + place, fields or Fields()) for place, hit in enumerate(hits, 1)]
        found += [each if each.rank is not None else replace(each, rank=place) for place, each in enumerate(some, 1)]
    return found


def result_of(hit: Any, place: int, fields: Fields) -> Result:
    """A result from an object of a list; without an id its URL names it, or else its place in the list."""
    if not isinstance(hit, Mapping):
        raise MisuseError(f"result {place} is no object with an id and a text, but {json.dumps(hit)[:60]}")
    url = _text(hit, fields.url) or ""
    name = _first(hit, fields.id)
    if name is None:
        name = url or place
    if not isinstance(name, str | int | float) or isinstance(name, bool):
        raise MisuseError(f"result {place}: its id is {json.dumps(name)[:60]}; it must be a string or a number")
    rank = _first(hit, fields.rank)
    if rank is not None and not (isinstance(rank, int | float) and not isinstance(rank, bool) and abs(rank) < math.inf):
        raise MisuseError(f"result {place}: its rank is {json.dumps(rank)[:60]}; it must be a number")
    text, html = _text(hit, fields.text), _text(hit, fields.html)
    return Result(name, url, _text(hit, fields.title) or "", text, html, rank)


def _first(hit: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((hit[name] for name in names if hit.get(name) is not None), None)


def _text(hit: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The text under one of these names; Solr and Elasticsearch give a list where a field may have several values."""
    value = _first(hit, names)
    if isinstance(value, list):
        return "\n".join(each for each in value if isinstance(each, str)) or None
    return value if isinstance(value, str) else None


_LISTS = ("hits", "grouped_hits", "response", "results", "grouped", "responses")


def is_response(body: Any) -> bool:
    """Whether an object is what an engine answers, and no result itself."""
    if not isinstance(body, Mapping):
        return False
    return _error(body) is not None or any(isinstance(body.get(key), Mapping | list) for key in _LISTS)


def _error(body: Mapping[str, Any]) -> Any:
    """What an engine says has gone wrong; Solr, Elasticsearch and OpenSearch call it error, the others message."""
    if isinstance(body.get("error"), Mapping) or ("error" in body and "status" in body):
        return body["error"]
    return body["message"] if set(body) in ({"message"}, {"message", "code", "type", "link"}) else None


def _lists(body: Any) -> list[list[Any]]:
    """The objects that stand for results; several lists, where several searches are answered at once."""
    if isinstance(body, Mapping):
        many = body.get("responses", body.get("results"))  # Elasticsearch, OpenSearch; Meilisearch, Typesense
        if isinstance(many, list) and many and all(is_response(each) for each in many):
            return [_hits(each) for each in many]
    return [_hits(body)]


def _hits(body: Any) -> list[Any]:
    """The objects that stand for results in one list."""
    if isinstance(body, list):
        return body
    if not is_response(body):
        raise MisuseError(f"this is not {_SHAPES}")
    if (error := _error(body)) is not None:
        raise MisuseError(f"the search engine has answered with an error: {json.dumps(error)[:200]}")
    hits = next((body[key] for key in _LISTS if isinstance(body.get(key), Mapping | list)), None)
    if hits is body.get("grouped") and isinstance(hits, Mapping):
        return _solr_groups(hits)
    if isinstance(hits, Mapping):
        hits = hits.get("hits", hits.get("docs"))
    if not isinstance(hits, list):
        raise MisuseError(f"this response has no list of hits; it should be {_SHAPES}")
    if "hits" not in body and "grouped_hits" in body:
        groups = [group.get("hits") for group in hits if isinstance(group, Mapping)]
        hits = [hit for group in groups if isinstance(group, list) for hit in group]
    return [_document(hit) for hit in hits]


def _solr_groups(grouped: Mapping[str, Any]) -> list[Any]:
    """The documents of Solr's groups, field by field; of a query or with group.format=simple there is one list."""
    documents: list[Any] = []
    for field in grouped.values():
        groups = field.get("groups", [field]) if isinstance(field, Mapping) else []
        for group in groups if isinstance(groups, list) else []:
            found = group.get("doclist") if isinstance(group, Mapping) else None
            listed = found.get("docs") if isinstance(found, Mapping) else None
            if not isinstance(listed, list):
                raise MisuseError(f"this response has groups without a list of docs; it should be {_SHAPES}")
            documents += listed
    return documents


def _document(hit: Any) -> Any:
    """What is stored of a hit, without what the engine says of it."""
    if not isinstance(hit, Mapping):
        return hit
    if isinstance(hit.get("document"), Mapping):  # Typesense
        return hit["document"]
    if "_id" not in hit or "_index" not in hit:
        return hit
    document: dict[str, Any] = {}  # Elasticsearch, OpenSearch
    for part in (hit.get("fields"), hit.get("_source")):
        document.update(part if isinstance(part, Mapping) else {})
    return {**document, "id": hit["_id"]}


def read_results(file: IO[bytes], where: str, fields: Fields | None = None) -> Iterator[Result]:
    """The results in a file of JSON or of JSON lines; those of lines one by one, as they come."""
    fields = fields or Fields()
    first = _line(file, where)
    while first and not first.strip():
        first = _line(file, where)
    row = _tried(first)
    if isinstance(row, dict) and not is_response(row):
        yield result_of(row, 1, fields)
        yield from _lines(file, where, fields)
    else:
        whole = first + file.read(LARGEST_JSON + 1 - len(first))
        yield from results_in(parse(whole, where), fields)


def _lines(file: IO[bytes], where: str, fields: Fields) -> Iterator[Result]:
    place, number = 1, 1
    while line := _line(file, where):
        number += 1
        if line.strip():
            place += 1
            yield result_of(parse(line, where, number), place, fields)


def _line(file: IO[bytes], where: str) -> bytes:
    line = file.readline(LARGEST_JSON + 1)
    _bounded(line, where)
    return line


def _tried(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _bounded(data: bytes, where: str) -> None:
    too_long = len(data) > LARGEST_JSON
    if too_long or (len(data) > _MOST_STRUCTURE and len(_STRINGS.sub(b"", data)) > _MOST_STRUCTURE):
        raise MisuseError(f"{where} is too large to be read at one go; write JSON lines, a result a line")


def parse(data: bytes, where: str, line: int = 1) -> Any:
    """JSON, or an error that says in which line and column it is none. The data begin in this line."""
    _bounded(data, where)
    try:
        if not data.strip():
            raise MisuseError(f"{where} is empty; it should be {_SHAPES}")
        return json.loads(data)
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1}, column {error.colno}"
        raise MisuseError(f"{where} is no JSON: {error.msg}, {place}") from error
    except UnicodeDecodeError as error:
        before = data[: error.start]
        place = f"line {line + before.count(10)}, byte {len(before) - before.rfind(10)}"
        raise MisuseError(f"{where} is not in UTF-8, {place}; JSON must be") from error
    except RecursionError as error:
        raise MisuseError(f"{where} is nested too deeply to be a list of results") from error
