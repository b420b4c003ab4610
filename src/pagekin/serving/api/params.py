"""Parameters of a request, derived from option dataclasses: parsing, checking and JSON schema."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from pagekin.model.options import Option, options_of
from pagekin.serving.middleware import RequestError
from pagekin.serving.settings import RequestLimits

_BOOLEANS = {"true": True, "1": True, "yes": True, "": True, "false": False, "0": False, "no": False}
_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}


@dataclass(frozen=True)
class Param(Option):
    """An option as a parameter in a query string or a JSON body, with the limits of the server."""

    required: bool = False
    min_length: int = 1  # of a string
    max_length: int = 0
    max_items: int = 0  # of a list

    def schema(self) -> dict[str, Any]:
        if self.choices:
            one: dict[str, Any] = {"type": "string", "enum": list(self.choices)}
        elif self.kind is str:
            one = {"type": "string", "minLength": self.min_length, "maxLength": self.max_length}
        else:
            bounds = {"exclusiveMinimum" if self.above else "minimum": self.minimum, "maximum": self.maximum}
            one = {"type": _TYPES[self.kind], **{key: bound for key, bound in bounds.items() if bound is not None}}
        if self.words:
            one = {"oneOf": [one, *({"const": word} for word in self.words)]}
        if self.many:
            one = {"type": "array", "items": one, "minItems": int(self.required), "maxItems": self.max_items}
        if self.default in (None, ()):
            return one
        return {**one, "default": list(self.default) if self.many else self.default}

    def convert(self, text: str) -> Any:
        """Convert a value of a query string; text that cannot be converted is left to `check`."""
        if self.kind is bool:
            return _BOOLEANS.get(text.lower(), text)
        with suppress(ValueError):
            return self.kind(text)
        return text

    def check(self, value: Any) -> Any:
        if not self.many:
            return self._check_one(value)
        if not isinstance(value, list):
            raise self.error("must be a list")
        if len(value) > self.max_items:
            raise self.error(f"has {len(value)} values; at most {self.max_items} are allowed")
        return [self._check_one(each) for each in value]

    def _check_one(self, value: Any) -> Any:
        if self.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON does not distinguish 3.0 from 3
        if problem := self.problem_if_given(value):
            raise self.error(problem.removeprefix("it "))
        if self.kind is str and not self.choices:
            if len(value) < self.min_length:
                raise self.error("is empty")
            if len(value) > self.max_length:
                raise self.error(f"has {len(value):,} characters; at most {self.max_length:,} are allowed")
        return float(value) if self.kind is float and value not in self.words else value

    def error(self, problem: str) -> RequestError:
        return RequestError(422, f"{self.name} {problem}.", kind="invalid-parameter")


def params_of(cls: type, limits: RequestLimits, **defaults: Any) -> list[Param]:
    """Return the parameters of an option dataclass; integers without a maximum get that of `limit`.

    >>> from pagekin.search.options import RelatedOptions
    >>> limit = params_of(RelatedOptions, RequestLimits(limit=50))[0]
    >>> limit.name, limit.schema()
    ('limit', {'type': 'integer', 'minimum': 1, 'maximum': 50, 'default': 10})
    """
    lengths: dict[str, Any] = {"max_length": limits.name_length, "max_items": limits.query_pages}
    params = [Param(**vars(option), **lengths) for option in options_of(cls, **defaults) if option.http]
    return [
        replace(each, maximum=limits.limit) if each.kind is int and each.maximum is None else each for each in params
    ]


def param(name: str, help: str, max_length: int, many: int = 0, required: bool = False, min_length: int = 1) -> Param:
    """Return a string parameter, or with `many` a list of at most as many strings."""
    lengths: dict[str, Any] = {"min_length": min_length, "max_length": max_length, "max_items": many}
    return Param(() if many else None, help, name, name, many=bool(many), required=required, **lengths)


def read_query(params: Sequence[Param], query: bytes, max_bytes: int) -> dict[str, Any]:
    """Return the values of a query string by field name, checked, with defaults for missing ones."""
    if len(query) > max_bytes:
        raise RequestError(414, f"The query string has {len(query):,} bytes; at most {max_bytes:,} are allowed.")
    values: dict[str, Any] = {}
    for name, text in split_query(query):
        param = _find(params, name)
        value = param.convert(text)
        if param.many:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise param.error("is given twice")
        else:
            values[name] = value
    return check_values(params, values)


def split_query(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise RequestError(422, "The query string has more than 100 parameters.") from None


def check_values(params: Sequence[Param], values: Mapping[str, Any]) -> dict[str, Any]:
    for param in params:
        if param.required and param.name not in values:
            raise param.error(f"is missing: {param.help.removesuffix('.')}")
    defaults = {param.field: param.default for param in params}
    found = ((_find(params, name), value) for name, value in values.items())
    return defaults | {param.field: param.check(value) for param, value in found}


def _find(params: Sequence[Param], name: str) -> Param:
    for param in params:
        if param.name == name:
            return param
    known = ", ".join(param.name for param in params)
    raise RequestError(422, f"There is no parameter {name[:100]!r}; there are {known}.", kind="invalid-parameter")
