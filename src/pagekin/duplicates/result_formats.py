"""Result lists in several formats: plain lists, JSON lines, and responses of search engines."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Self

from pagekin.errors import MisuseError

MAX_JSON = 256 << 20  # bytes of a list, or of a line
# Most bytes of a list are in strings. Brackets and numbers would take thirty times their size as Python objects.
_MAX_STRUCTURE = 32 << 20
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.S)
_FORMATS = (
    "a list of results, or a response of Elasticsearch, OpenSearch, Solr, Meilisearch or Typesense"
    " (docs/duplicates.md shows them)"
)
_ELASTICSEARCH_KEYS = frozenset(("_index", "_id", "_score", "_type", "_version", "sort", "fields", "highlight"))
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?: [^<>]{0,100})?>")
_HIT_KEYS = ("hits", "grouped_hits", "response", "results", "grouped", "responses")


@dataclass(frozen=True)
class Result:
    """One result of a list. Its text is given directly, as HTML, or in a file."""

    id: str | int | float
    url: str = ""
    title: str = ""
    text: str | None = None
    html: str | None = None
    rank: float | None = None  # the lowest is the best; by default the position in the list
    path: Path | None = None


@dataclass(frozen=True)
class Fields:
    """The names of the fields of a result; the first that is present counts. `a.b` is the field b of the object a."""

    id: tuple[str, ...] = ("id", "_id", "objectID")
    url: tuple[str, ...] = ("url", "uri", "link")
    title: tuple[str, ...] = ("title", "name")
    text: tuple[str, ...] = ("text", "content", "body", "contents")
    html: tuple[str, ...] = ("html",)
    rank: tuple[str, ...] = ("rank",)

    @classmethod
    def named(cls, text: str | None, html: str | None) -> Self:
        """Other names for the text and the HTML; a text that is named counts even if a result has HTML.

        >>> Fields.named("summary", None).html
        ()
        """
        usual = cls()
        return cls(text=(text,) if text else usual.text, html=(html,) if html else () if text else usual.html)


def results_in(body: Any, fields: Fields | None = None) -> list[Result]:
    """The results of a parsed list or response; of several responses, ranked by their positions in each.

    >>> [each.id for each in results_in({"hits": {"hits": [{"_id": "7", "_source": {"text": "Wrens"}}]}})]
    ['7']
    """
    responses = [body]
    if isinstance(body, Mapping):
        many = body.get("responses", body.get("results"))  # Elasticsearch, OpenSearch; Meilisearch, Typesense
        if isinstance(many, list) and many and all(is_response(each) for each in many):
            responses = many
    found: list[Result] = []
    for response in responses:
        for position, hit in enumerate(_hits(response), 1):
            result = result_of(hit, len(found) + 1, fields or Fields())
            is_ranked = result.rank is not None or len(responses) == 1
            found.append(result if is_ranked else replace(result, rank=position))
    return found


def result_of(hit: Any, position: int, fields: Fields) -> Result:
    """A result from an object of a list; without an id, its URL or else its position is the id."""
    if not isinstance(hit, Mapping):
        raise MisuseError(f"result {position} is not an object with an id and a text, but {json.dumps(hit)[:60]}")
    url = _text(hit, fields.url) or ""
    name = _first(hit, fields.id)
    if name is None:
        name = url or position
    if not isinstance(name, str | int | float) or isinstance(name, bool):
        raise MisuseError(f"result {position}: its id is {json.dumps(name)[:60]}; it must be a string or a number")
    rank = _first(hit, fields.rank)
    if rank is not None and not (isinstance(rank, int | float) and not isinstance(rank, bool) and abs(rank) < math.inf):
        raise MisuseError(f"result {position}: its rank is {json.dumps(rank)[:60]}; it must be a number")
    text, html = _text(hit, fields.text), _text(hit, fields.html)
    return Result(name, url, _text(hit, fields.title) or "", text, html, rank)


def _first(hit: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value for value in (_at(hit, name) for name in names) if value is not None), None)


def _at(hit: Mapping[str, Any], name: str) -> Any:
    """The value of a field, or of a field inside of objects.

    >>> _at({"doc": {"body": "wren"}}, "doc.body"), _at({"doc.body": "robin"}, "doc.body")
    ('wren', 'robin')
    """
    value: Any = hit
    for part in [name] if name in hit else name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _text(hit: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The text of a field; Solr and Elasticsearch return lists for fields with several values."""
    value = _first(hit, names)
    if isinstance(value, list):
        return "\n".join(each for each in value if isinstance(each, str)) or None
    return value if isinstance(value, str) else None


def is_response(body: Any) -> bool:
    if not isinstance(body, Mapping):
        return False
    return _error(body) is not None or any(isinstance(body.get(key), Mapping | list) for key in _HIT_KEYS)


def _error(body: Mapping[str, Any]) -> Any:
    """The error of a response: `error` in Solr, Elasticsearch and OpenSearch, `message` in the others."""
    if isinstance(body.get("error"), Mapping) or ("error" in body and "status" in body):
        return body["error"]
    return body["message"] if set(body) in ({"message"}, {"message", "code", "type", "link"}) else None


def _hits(body: Any) -> list[Any]:
    if isinstance(body, list):
        return body
    if not is_response(body):
        raise MisuseError(f"the input is not {_FORMATS}")
    if (error := _error(body)) is not None:
        raise MisuseError(f"the search engine responded with an error: {json.dumps(error)[:200]}")
    key, hits = next((key, body[key]) for key in _HIT_KEYS if isinstance(body.get(key), Mapping | list))
    if isinstance(hits, Mapping):
        if key == "grouped":
            return _solr_groups(hits)
        hits = hits.get("hits", hits.get("docs", None if hits else []))  # {} if filter_path finds nothing
    if not isinstance(hits, list):
        raise MisuseError(f"the response has no list of hits; it should be {_FORMATS}")
    if key == "grouped_hits":  # Typesense
        groups = [group.get("hits") for group in hits if isinstance(group, Mapping)]
        hits = [hit for group in groups if isinstance(group, list) for hit in group]
    return [_document(hit) for hit in hits]


def _solr_groups(grouped: Mapping[str, Any]) -> list[Any]:
    """The documents of Solr's groups; group.query and group.format=simple return one list instead of groups."""
    documents: list[Any] = []
    for field in grouped.values():
        groups = field.get("groups", [field]) if isinstance(field, Mapping) else []
        for group in groups if isinstance(groups, list) else []:
            found = group.get("doclist") if isinstance(group, Mapping) else None
            listed = found.get("docs") if isinstance(found, Mapping) else None
            if not isinstance(listed, list):
                raise MisuseError(f"the response has groups without a list of docs; it should be {_FORMATS}")
            documents += listed
    return documents


def _document(hit: Any) -> Any:
    if isinstance(hit, Mapping) and isinstance(hit.get("document"), Mapping):  # Typesense
        return hit["document"]
    if not isinstance(hit, Mapping) or not _is_elasticsearch(hit):
        return hit
    document = dict(hit)
    for part in (_without_tags(hit.get("highlight")), hit.get("fields"), hit.get("_source")):
        document.update(part if isinstance(part, Mapping) else {})
    return {**document, "id": hit["_id"]} if "_id" in hit else document


def _is_elasticsearch(hit: Mapping[str, Any]) -> bool:
    """Whether this is a hit of Elasticsearch or OpenSearch; filter_path may have left any of its keys out."""
    parts = [key for key in ("_source", "fields", "highlight") if isinstance(hit.get(key), Mapping)]
    return "_source" in parts or ("_id" in hit and "_index" in hit) or (bool(parts) and set(hit) <= _ELASTICSEARCH_KEYS)


def _without_tags(highlight: Any) -> dict[str, Any]:
    """Highlighted fragments without the tags around the words that were found."""
    if not isinstance(highlight, Mapping):
        return {}
    lists = ((name, value) for name, value in highlight.items() if isinstance(value, list))
    return {name: [_TAG.sub("", each) for each in value if isinstance(each, str)] for name, value in lists}


def read_results(file: IO[bytes], where: str, fields: Fields | None = None) -> Iterator[Result]:
    fields = fields or Fields()
    lines = iter(lambda: file.readline(MAX_JSON + 1), b"")
    first = next((line for line in lines if line.strip()), b"")
    _check_size(first, where)
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or is_response(row):
        yield from results_in(parse(first + file.read(MAX_JSON + 1 - len(first)), where), fields)
        return
    yield result_of(row, 1, fields)
    others = ((number, line) for number, line in enumerate(lines, 2) if line.strip())
    for position, (number, line) in enumerate(others, 2):
        yield result_of(parse(line, where, number), position, fields)


def _check_size(data: bytes, where: str) -> None:
    if len(data) > MAX_JSON or (len(data) > _MAX_STRUCTURE and len(_STRINGS.sub(b"", data)) > _MAX_STRUCTURE):
        raise MisuseError(f"{where} is too large to be read as a whole; write JSON lines, one result per line")


def parse(data: bytes, where: str, line: int = 1) -> Any:
    """Parse JSON that begins in this line of a file; an error names the line and column."""
    _check_size(data, where)
    try:
        if not data.strip():
            raise MisuseError(f"{where} is empty; it should be {_FORMATS}")
        return json.loads(data)
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1}, column {error.colno}"
        raise MisuseError(f"{where} is not JSON: {error.msg}, {place}") from error
    except UnicodeDecodeError as error:
        before = data[: error.start]
        place = f"line {line + before.count(10)}, byte {len(before) - before.rfind(10)}"
        raise MisuseError(f"{where} is not in UTF-8, {place}; JSON must be") from error
    except RecursionError as error:
        raise MisuseError(f"{where} is nested too deeply for a list of results") from error
