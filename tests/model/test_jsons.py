"""JSON and its schema from dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pagekin.model.jsons import json_field, json_schema, json_schemas, to_json


@dataclass(frozen=True)
class Inner:
    """A nested result."""

    url: str
    weight: float = json_field(digits=2)


@dataclass(frozen=True)
class Outer:
    """A result with every rule."""

    name: str = json_field(key="title")
    score: float | None = json_field(digits=3, omit=None)
    page: Inner = json_field(inline=True)
    hidden: Inner = json_field(expand={})
    part: Inner = json_field(expand={"address": "url", "mass": "weight"}, digits=1)
    rows: list[tuple[str, float]] = json_field(columns=("term", "share"), digits=1)
    many: list[Inner] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    anything: dict[str, Any] | None = None
    maybe: list[int | None] = field(default_factory=list)


INNER = Inner("u", 1.2345)


def test_json_follows_the_fields() -> None:
    made = Outer("n", 0.12345, INNER, INNER, INNER, [("a", 0.25)], [INNER], {"b": 1}, {"c": [0.12345]}, [1, None])
    found = to_json(made)
    assert found == {
        "title": "n",
        "score": 0.123,
        "url": "u",
        "weight": 1.23,
        "address": "u",
        "mass": 1.2,
        "rows": [{"term": "a", "share": 0.2}],
        "many": [{"url": "u", "weight": 1.23}],
        "counts": {"b": 1},
        "anything": {"c": [0.12345]},
        "maybe": [1, None],
    }
    assert list(found)[:4] == ["title", "score", "url", "weight"]
    assert "score" not in to_json(Outer("n", None, INNER, INNER, INNER, []))


def test_the_schema_has_the_same_keys() -> None:
    schemas = json_schemas(Outer)
    outer = schemas["Outer"]
    made = to_json(Outer("n", 1.0, INNER, INNER, INNER, [("a", 0.25)]))
    assert list(outer["properties"]) == list(made)
    assert outer["required"] == [key for key in made if key != "score"]
    assert outer["properties"]["score"] == {"type": "number"}
    assert outer["properties"]["many"] == {"type": "array", "items": json_schema(Inner)}
    assert outer["properties"]["counts"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert outer["properties"]["anything"] == {"type": ["object", "null"]}
    assert outer["properties"]["maybe"] == {"type": "array", "items": {"type": ["integer", "null"]}}
    assert schemas["Inner"]["required"] == ["url", "weight"]
