"""JSON from result dataclasses, and its schema: keys, rounding and omissions are stated once, at the fields."""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Schema = dict[str, Any]
_KEY = "json"
_NOTHING = object()
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


@dataclass(frozen=True)
class JsonRule:
    """How a field appears in JSON."""

    key: str = ""  # by default the name of the field
    digits: int | None = None  # decimal places of its numbers
    omit: Any = _NOTHING  # the key is left out where the field has this value
    columns: tuple[str, ...] = ()  # each tuple of the list becomes an object with these keys
    # Keys taken from attributes of the value, in place of the value: {"text_similarity": "similarity"}.
    expand: Mapping[str, str] | None = None
    inline: bool = False  # the keys of the nested object are keys of this one


_PLAIN = JsonRule()


def json_field(*, default: Any = MISSING, default_factory: Any = MISSING, **rule: Any) -> Any:
    """A dataclass field with its JSON form; `rule` are fields of `JsonRule`.

    >>> @dataclass(frozen=True)
    ... class Hit:
    ...     url: str
    ...     score: float | None = json_field(default=None, digits=2, omit=None)
    >>> to_json([Hit("a", 0.123), Hit("b")])
    [{'url': 'a', 'score': 0.12}, {'url': 'b'}]
    >>> json_schemas(Hit)["Hit"]["required"]
    ['url']
    """
    return field(default=default, default_factory=default_factory, metadata={_KEY: JsonRule(**rule)})


def to_json(value: Any, digits: int | None = None) -> Any:
    """Lists, dicts, strings and numbers that `json.dumps` prints."""
    if isinstance(value, float):
        if math.isnan(value):
            return None  # JSON has no NaN
        return value if digits is None else round(value, digits)
    if is_dataclass(value):
        return _object(value)
    if isinstance(value, Mapping):
        return {key: to_json(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each, digits) for each in value]
    return value


def encode_json(value: Any) -> bytes:
    """Encode as JSON in ASCII, which no client decodes wrongly."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _object(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(value):
        rule: JsonRule = each.metadata.get(_KEY, _PLAIN)
        one = getattr(value, each.name)
        if rule.omit is not _NOTHING and one == rule.omit:
            continue
        if rule.expand is not None:
            found |= {key: to_json(getattr(one, name), rule.digits) for key, name in rule.expand.items()}
        elif rule.inline:
            found |= to_json(one)
        elif rule.columns:
            found[rule.key or each.name] = [
                dict(zip(rule.columns, to_json(row, rule.digits), strict=True)) for row in one
            ]
        else:
            found[rule.key or each.name] = to_json(one, rule.digits)
    return found


def json_schema(cls: Any) -> Schema:
    """A reference to the schema of a result class; `json_schemas` has the schema itself."""
    return {"$ref": f"#/components/schemas/{_name(cls)}"}


def _name(cls: Any) -> str:
    """The name of a class; that of Group[Page] is GroupOfPage."""
    return "Of".join([(get_origin(cls) or cls).__name__, *(_name(each) for each in get_args(cls))])


def json_schemas(*classes: Any) -> dict[str, Schema]:
    """The schemas of result classes, and of all result classes in them, by name."""
    found: dict[str, Schema] = {}
    for cls in classes:
        _add(cls, found)
    return found


def _add(cls: Any, found: dict[str, Schema]) -> None:
    if _name(cls) not in found:
        found[_name(cls)] = {}  # first, or a class that contains itself would never end
        found[_name(cls)] = _class_schema(cls, found)


def _class_schema(cls: Any, found: dict[str, Schema]) -> Schema:
    plain = get_origin(cls) or cls
    types = dict(zip(getattr(plain, "__parameters__", ()), get_args(cls), strict=bool(get_args(cls))))
    hints = {name: _bound(hint, types) for name, hint in get_type_hints(plain).items()}
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for each in fields(plain):
        rule: JsonRule = each.metadata.get(_KEY, _PLAIN)
        hint, optional = hints[each.name], set[str]()
        if rule.expand is not None:
            inner = get_type_hints(hint)
            some = {key: _schema(inner[name], found) for key, name in rule.expand.items()}
        elif rule.inline:
            inner = _class_schema(hint, found)
            some, optional = inner["properties"], set(inner["properties"]) - set(inner["required"])
        elif rule.columns:
            kinds = zip(rule.columns, get_args(get_args(hint)[0]), strict=True)
            row = {"type": "object", "properties": {key: _schema(kind, found) for key, kind in kinds}}
            items = {**row, "required": list(rule.columns)}
            some = {rule.key or each.name: {"type": "array", "items": items}}
        else:
            some = {rule.key or each.name: _schema(hint, found, rule.omit is None)}
        properties |= some
        required += [key for key in some if key not in {*required, *optional} and rule.omit is _NOTHING]
    return {"type": "object", "properties": properties, "required": required}


def _bound(hint: Any, types: dict[Any, Any]) -> Any:
    """A type hint with its type variables replaced."""
    if hint in types:
        return types[hint]
    variables = getattr(hint, "__parameters__", ())
    return hint[tuple(types.get(each, Any) for each in variables)] if variables else hint


def _schema(hint: Any, found: dict[str, Schema], omit: bool = False) -> Schema:
    origin, args = get_origin(hint), get_args(hint)
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        parts = [_schema(each, found) for each in args if not (omit and each is type(None))]
        if all(set(part) == {"type"} for part in parts):
            kinds = [part["type"] for part in parts]
            return {"type": kinds[0] if len(kinds) == 1 else kinds}
        return parts[0] if len(parts) == 1 else {"anyOf": parts}
    if origin in (list, tuple):
        items = tuple(each for each in args if each is not ...)
        return {"type": "array", "items": _schema(Union[items], found) if items else {}}  # noqa: UP007
    if is_dataclass(origin or hint):
        _add(hint, found)
        return json_schema(hint)
    if origin in (dict, Mapping) and args[1] is not Any:
        return {"type": "object", "additionalProperties": _schema(args[1], found)}
    return {"type": "object"} if origin in (dict, Mapping) else {}
