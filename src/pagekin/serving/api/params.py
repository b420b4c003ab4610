"""Parameters of a request, derived from option dataclasses: parsing, checking and JSON schema."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from pagekin.model.options import Option, options_of
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import RequestLimits

_BOOLEANS = {"true": True, "1": True, "yes": True, "": True, "false": False, "0": False, "no": False}
_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}


@dataclass(frozen=True)
class Param:
    """An option as a parameter in a query string or a JSON body, with the limits of the server."""

    option: Option
    required: bool = False
    min_length: int = 1  # of a string
    max_length: int = 0
    max_items: int = 0  # of a list

    def schema(self) -> dict[str, Any]:
        option = self.option
        if option.choices:
            one: dict[str, Any] = {"type": "string", "enum": list(option.choices)}
        elif option.kind is str:
            one = {"type": "string", "minLength": self.min_length, "maxLength": self.max_length}
        else:
            bounds = {"exclusiveMinimum" if option.above else "minimum": option.minimum, "maximum": option.maximum}
            one = {"type": _TYPES[option.kind], **{key: bound for key, bound in bounds.items() if bound is not None}}
        if option.words:
            one = {"oneOf": [one, *({"const": word} for word in option.words)]}
        if option.many:
            one = {"type": "array", "items": one, "minItems": int(self.required), "maxItems": self.max_items}
        if option.default in (None, ()):
            return one
        return {**one, "default": list(option.default) if option.many else option.default}

    def parse(self, text: str) -> Any:
        """Convert a value of a query string; text that cannot be converted is left to `check`."""
        kind = self.option.kind
        if kind is bool:
            return _BOOLEANS.get(text.lower(), text)
        if kind in (int, float):
            with suppress(ValueError):
                return kind(text)
        return text

    def check(self, value: Any) -> Any:
        if not self.option.many:
            return self._check_one(value)
        if not isinstance(value, list):
            raise self.error("must be a list")
        if len(value) > self.max_items:
            raise self.error(f"has {len(value)} values; at most {self.max_items} are allowed")
        return [self._check_one(each) for each in value]

    def _check_one(self, value: Any) -> Any:
        kind = self.option.kind
        if kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON does not distinguish 3.0 from 3
        if problem := replace(self.option, optional=False).problem(value):
            raise self.error(problem.removeprefix("it "))
        if kind is str and not self.option.choices:
            if len(value) < self.min_length:
                raise self.error("is empty")
            if len(value) > self.max_length:
                raise self.error(f"has {len(value):,} characters; at most {self.max_length:,} are allowed")
        return float(value) if kind is float and value not in self.option.words else value

    def error(self, problem: str) -> RequestError:
        return RequestError(422, f"{self.option.name} {problem}.", kind="invalid-parameter")


def params_of(cls: type, limits: RequestLimits, **defaults: Any) -> list[Param]:
    """Return the parameters of an option dataclass; integers without a maximum get that of `limit`.

    >>> from pagekin.search.options import RelatedOptions
    >>> limit = params_of(RelatedOptions, RequestLimits(limit=50))[0]
    >>> limit.option.name, limit.schema()
    ('limit', {'type': 'integer', 'minimum': 1, 'maximum': 50, 'default': 10})
    """
    params = []
    for option in options_of(cls, **defaults):
        if option.http:
            if option.kind is int and option.maximum is None:
                option = replace(option, maximum=limits.limit)
            params.append(Param(option, max_length=limits.name_length, max_items=limits.query_pages))
    return params


def param(
    name: str, help: str, max_length: int, *, many: int = 0, required: bool = False, min_length: int = 1
) -> Param:
    """Return a string parameter, or with `many` a list of at most as many strings."""
    option = Option(() if many else None, help, field=name, name=name, many=bool(many))
    return Param(option, required, min_length, max_length, many)


def read_query(params: Sequence[Param], query: bytes, max_bytes: int) -> dict[str, Any]:
    """Return the values of a query string by field name, checked, with defaults for missing ones."""
    if len(query) > max_bytes:
        raise RequestError(414, f"The query string has {len(query):,} bytes; at most {max_bytes:,} are allowed.")
    values: dict[str, Any] = {}
    for name, text in split_query(query):
        param = _find(params, name)
        value = param.parse(text)
        if param.option.many:
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
    """Return values by field name, checked, with defaults for missing ones."""
    for param in params:
        if param.required and param.option.name not in values:
            raise param.error(f"is missing: {param.option.help.removesuffix('.')}")
    defaults = {param.option.field: param.option.default for param in params}
    found = ((_find(params, name), value) for name, value in values.items())
    return defaults | {param.option.field: param.check(value) for param, value in found}


def _find(params: Sequence[Param], name: str) -> Param:
    for param in params:
        if param.option.name == name:
            return param
    known = ", ".join(param.option.name for param in params)
    raise RequestError(422, f"There is no parameter {name[:100]!r}; there are {known}.", kind="invalid-parameter")
