"""Formats of result lists."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.duplicates import result_formats as results
from pagekin.duplicates.result_formats import Fields, Result, read_results, results_in
from pagekin.errors import MisuseError

# Response bodies as the engines document them.
ELASTICSEARCH = {
    "took": 5,
    "timed_out": False,
    "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
    "hits": {
        "total": {"value": 2, "relation": "eq"},
        "max_score": 1.38,
        "hits": [
            {"_index": "birds", "_id": "w", "_score": 1.38, "_source": {"title": "Wren", "content": "Small.", "id": 7}},
            {"_index": "birds", "_id": "r", "_score": 1.1, "fields": {"content": ["Red", "breast."], "url": ["/r"]}},
        ],
    },
}
SOLR = {
    "responseHeader": {"status": 0, "QTime": 1},
    "response": {
        "numFound": 2,
        "start": 0,
        "docs": [{"id": "w", "title": ["Wren"], "content": "Small."}, {"id": "r", "content": ["Red", "breast."]}],
    },
}
MEILISEARCH = {
    "hits": [
        {"id": "w", "title": "Wren", "content": "Small.", "_formatted": {"content": "<em>Small</em>."}},
        {"id": "r", "content": "Red\nbreast."},
    ],
    "query": "bird",
    "processingTimeMs": 1,
    "limit": 20,
    "offset": 0,
    "estimatedTotalHits": 2,
}
TYPESENSE = {
    "found": 2,
    "out_of": 2,
    "page": 1,
    "search_time_ms": 1,
    "hits": [
        {"document": {"id": "w", "title": "Wren", "content": "Small."}, "highlights": [], "text_match": 130916},
        {"document": {"id": "r", "content": "Red\nbreast."}, "highlights": [], "text_match": 120000},
    ],
}
TYPESENSE_GROUPED = {
    "found": 2,
    "grouped_hits": [{"group_key": ["a"], "hits": [hit]} for hit in TYPESENSE["hits"]],  # type: ignore[attr-defined]
}
SOLR_DOCS: Any = SOLR["response"]
SOLR_GROUPED = {
    "responseHeader": {"status": 0},
    "grouped": {"host": {"matches": 2, "groups": [{"doclist": {"docs": [doc]}} for doc in SOLR_DOCS["docs"]]}},
}
SOLR_SIMPLE = {"grouped": {"host": {"matches": 2, "doclist": SOLR["response"]}}}
PLAIN = [{"id": "w", "title": "Wren", "text": "Small."}, {"id": "r", "text": "Red\nbreast."}]


@pytest.mark.parametrize(
    "body", [ELASTICSEARCH, SOLR, SOLR_GROUPED, SOLR_SIMPLE, MEILISEARCH, TYPESENSE, TYPESENSE_GROUPED, PLAIN]
)
def test_every_engine_gives_the_same_results(body: Any) -> None:
    wren, robin = results_in(body)
    assert (wren.id, wren.title, wren.text) == ("w", "Wren", "Small.")
    assert (robin.id, robin.title, robin.text) == ("r", "", "Red\nbreast.")


@pytest.mark.parametrize(
    ("key", "body"), [("responses", ELASTICSEARCH), ("results", MEILISEARCH), ("results", TYPESENSE)]
)
def test_several_responses_are_one_list_ranked_by_positions_in_each(key: str, body: Any) -> None:
    found = results_in({key: [body, body]})
    assert [(each.id, each.rank) for each in found] == [("w", 1), ("r", 2), ("w", 1), ("r", 2)]


def test_an_error_in_one_of_several_responses_is_reported() -> None:
    with pytest.raises(MisuseError, match="no such index"):
        results_in({"responses": [ELASTICSEARCH, {"error": {"reason": "no such index"}, "status": 404}]})


def test_results_may_have_their_text_under_another_name() -> None:
    body = [{"id": 1, "abstract": "Wrens.", "page": "<p>Wrens", "text": "no"}]
    (found,) = results_in(body, Fields(text=("abstract",), html=("page",)))
    assert (found.text, found.html) == ("Wrens.", "<p>Wrens")


def test_a_result_without_an_id_is_named_by_its_url_or_position() -> None:
    assert [each.id for each in results_in([{"url": "http://a.example/", "text": ""}, {"text": ""}])] == [
        "http://a.example/",
        2,
    ]


def test_an_empty_list_is_a_list() -> None:
    bodies: list[Any] = [[], {"hits": []}, {"hits": {"hits": []}}, {"response": {"docs": []}}, {"results": []}]
    for body in bodies:
        assert results_in(body) == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (7, "not a list of results"),
        ({"a": 1}, "not a list of results"),
        ({"error": {"type": "parsing_exception", "reason": "no [query]"}, "status": 400}, "no .query."),
        ({"error": "no such index", "status": 404}, "no such index"),
        ({"responseHeader": {"status": 400}, "error": {"msg": "undefined field x", "code": 400}}, "undefined field x"),
        (
            {"message": "Index `x` not found.", "code": "index_not_found", "type": "invalid_request", "link": ""},
            "`x` not",
        ),
        ({"message": "Could not find a field named `x`"}, "Could not find"),
        ({"hits": {"total": 3}}, "no list of hits"),
        ([3], "result 1 is not an object"),
        ([{"id": [1]}], "its id is"),
        ([{"id": True}], "its id is"),
        ([{"id": 1}, {"id": 2, "rank": "first"}], "result 2: its rank is"),
        ([{"id": 1, "rank": float("nan")}], "its rank is NaN"),
    ],
)
def test_other_json_is_refused_with_a_reason(body: Any, told: str) -> None:
    with pytest.raises(MisuseError, match=told):
        results_in(body)


KEYS = st.sampled_from(
    "id _id url title text html rank hits grouped_hits response docs results error document grouped responses".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS | st.sampled_from(["_source", "fields", "_index"]), inner, max_size=4)
    ),
    max_leaves=20,
)


HITS = st.lists(st.dictionaries(KEYS | st.sampled_from(["_source", "fields", "_index"]), JSON, max_size=6), max_size=3)
BODIES = st.builds(lambda key, hits: {key: hits}, KEYS, HITS | HITS.map(lambda hits: {"hits": hits, "docs": hits}))


@pytest.mark.slow
@given(JSON | BODIES)
def test_any_json_is_a_result_list_or_is_refused_with_a_sentence(body: Any) -> None:
    with suppress(MisuseError):
        assert all(isinstance(each, Result) for each in results_in(body))


# --- files ---------------------------------------------------------------------------------------


def read(data: bytes) -> list[Result]:
    return list(read_results(io.BytesIO(data), "birds.json"))


def as_lines(rows: Any) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(PLAIN).encode(),
        json.dumps(PLAIN, indent=2).encode(),
        json.dumps(MEILISEARCH).encode(),
        json.dumps(SOLR, indent=1).encode(),
        as_lines(PLAIN),
        b"\n\n" + as_lines(PLAIN) + b"\n\n",
        as_lines(PLAIN).replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + json.dumps(PLAIN).encode(),
        json.dumps(PLAIN).encode("utf-16"),
    ],
)
def test_json_and_json_lines_are_told_apart(data: bytes) -> None:
    assert [(each.id, each.text) for each in read(data)] == [("w", "Small."), ("r", "Red\nbreast.")]


def test_lines_are_read_as_they_come() -> None:
    class Pipe(io.BytesIO):
        read_so_far = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            self.read_so_far += 1
            return super().readline(size)

    pipe = Pipe(as_lines([{"id": k, "text": "x"} for k in range(50)]))
    first = next(read_results(pipe, "pipe"))
    assert (first.id, pipe.read_so_far) == (0, 1)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "birds.json is empty"),
        (b" \n\t ", "birds.json is empty"),
        (b"x", "line 1, column 1"),
        (b'[\n {"id": 1},\n {"id": 2,,}\n]', "line 3, column 11"),
        (b'{"id": 1}\n{"id": 2}\n{"id" 3}\n', "line 3, column 7"),
        (b'[{"id": 1}', "line 1, column 11"),
        (b'[\n {"id": "caf\xe9"}]', "not in UTF-8, line 2, byte 13"),
        (b'{"id": 1}\n{"id": "caf\xe9"}\n', "not in UTF-8, line 2, byte 12"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "birds.json is"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_malformed_json_is_reported_with_line_and_column(data: bytes, told: str) -> None:
    with pytest.raises(MisuseError, match=told):
        read(data)


def test_too_much_json_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MAX_JSON", 50)
    for data in (json.dumps(PLAIN).encode(), as_lines([{"id": 1}, {"id": 2, "text": "x" * 60}])):
        with pytest.raises(MisuseError, match=r"too large.*JSON lines"):
            read(data)
    monkeypatch.setattr(results, "_MAX_STRUCTURE", 20)
    with pytest.raises(MisuseError, match="too large"):
        read(b"[" + b"[]," * 10 + b"[]]")


# --- parts of responses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hit",
    [
        {"_id": "w", "_source": {"content": "Small wren."}},
        {"_id": "w", "_score": 1.0, "fields": {"content": ["Small wren."]}},
        {"_id": "w", "highlight": {"content": ["Small <em>wren</em>."]}},
        {"_id": "w", "_index": "b", "highlight": {"content": ['<span class="hit">Small</span> wren.']}},
        {"_id": "w", "_source": {"content": "Small wren."}, "highlight": {"content": ["<em>wren</em>."]}},
    ],
)
def test_a_hit_of_elasticsearch_may_lack_any_key(hit: dict[str, Any]) -> None:
    """As filter_path or `_source: false` leave it; the whole text counts more than its highlights."""
    (found,) = results_in({"hits": {"hits": [hit]}})
    assert (found.id, found.text) == ("w", "Small wren.")


def test_without_an_id_a_hit_has_that_of_its_document_or_its_position() -> None:
    hits = [{"_source": {"id": 7, "text": "a"}}, {"_source": {"url": "/b", "text": "b"}}, {"_source": {"text": "c"}}]
    assert [each.id for each in results_in({"hits": {"hits": hits}})] == [7, "/b", 3]


def test_a_filtered_response_without_hits_is_empty() -> None:
    assert results_in({"hits": {}}) == []


def test_highlights_that_are_no_lists_of_strings_are_ignored() -> None:
    hits = [{"_id": "w", "highlight": {"text": "wren"}}, {"_id": "r", "highlight": {"text": [1, {"a": 2}]}}]
    assert [each.text for each in results_in({"hits": {"hits": hits}})] == [None, None]


def test_a_field_may_be_inside_of_an_object() -> None:
    hit = {"_id": "w", "_source": {"doc": {"body": "Small wren."}, "text": "other"}, "highlight": {"x": ["<b>y</b>"]}}
    body = {"hits": {"hits": [hit]}}
    assert results_in(body, Fields.named("doc.body", None))[0].text == "Small wren."
    assert results_in(body, Fields.named("highlight.x", None))[0].text == "<b>y</b>"
    assert results_in([{"doc.body": "flat"}], Fields.named("doc.body", None))[0].text == "flat"
    assert results_in([{"doc": "no object"}], Fields.named("doc.body", None))[0].text is None


def test_a_text_that_is_named_counts_although_there_is_html() -> None:
    rows = [{"summary": "Small wren.", "html": "<p>menu"}]
    (named,) = results_in(rows, Fields.named("summary", None))
    assert (named.text, named.html) == ("Small wren.", None)
    (both,) = results_in(rows, Fields.named("summary", "html"))
    assert (both.text, both.html) == ("Small wren.", "<p>menu")
    assert Fields.named(None, None) == Fields()
