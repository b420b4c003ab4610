"""What a request may say: one table for checking it and for the schema."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from pagekin.search.options import AUTO
from pagekin.serving.problems import RequestError

_WORDS = {"true": True, "1": True, "yes": True, "": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True)
class Param:
    """A value that a request may give, by its name in a query or in JSON."""

    name: str
    kind: str  # string, integer, number, boolean, or share: a number from 0 to 1, or auto
    about: str
    default: Any = None
    least: float | None = None  # of a number, or of the characters of a string
    most: float | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    many: int = 0  # so many values at most, as a list; 0: one value

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        one = self._one()
        if self.many:
            one = {"type": "array", "items": one, "minItems": 1 if self.required else 0, "maxItems": self.many}
        return one if self.default is None else {**one, "default": self.default}

    def _one(self) -> dict[str, Any]:
        if self.kind == "share":
            return {"oneOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"const": AUTO}]}
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        names = ("minLength", "maxLength") if self.kind == "string" else ("minimum", "maximum")
        bounds = zip(names, (self.least, self.most), strict=True)
        return {"type": self.kind, **{name: bound for name, bound in bounds if bound is not None}}

    def of_text(self, text: str) -> Any:
        """A value of a query."""
        if self.kind == "boolean":
            return _WORDS.get(text.lower(), text)
        if self.kind in ("integer", "number") or (self.kind == "share" and text != AUTO):
            try:
                return int(text) if self.kind == "integer" else float(text)
            except ValueError:
                return text
        return text

    def checked(self, value: Any) -> Any:
        """A value, or for several a list of them, if it is one that may be given."""
        if not self.many:
            return self._checked(value)
        if not isinstance(value, list):
            raise self._wrong("must be a list")
        if not len(value) <= self.many:
            raise self._wrong(f"has {len(value)} values; there may be {self.many}")
        return [self._checked(each) for each in value]

    def _checked(self, value: Any) -> Any:
        if self.kind == "share" and value == AUTO:
            return value
        if self.kind == "boolean":
            if not isinstance(value, bool):
                raise self._wrong("must be true or false")
            return value
        if self.kind == "string":
            return self._text(value)
        return self._number(value)

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._wrong("must be a string")
        if self.choices and value not in self.choices:
            raise self._wrong(f"can be {', '.join(self.choices)}")
        if self.least is not None and len(value) < self.least:
            raise self._wrong("is empty")
        if self.most is not None and len(value) > self.most:
            raise self._wrong(f"has {len(value):,} characters; there may be {self.most:,.0f}")
        return value

    def _number(self, value: Any) -> int | float:
        """A number; 3.0 is a whole one, too."""
        low, high = (0.0, 1.0) if self.kind == "share" else (self.least, self.most)
        whole = self.kind == "integer"
        if isinstance(value, bool) or not isinstance(value, int | float) or (whole and value % 1 != 0):
            raise self._wrong("must be a whole number" if whole else "must be a number")
        below, above = low is not None and not value >= low, high is not None and not value <= high
        if below or above or not -math.inf < value < math.inf:
            raise self._wrong(f"must be from {low:g} to {high:g}" if None not in (low, high) else "is out of bounds")
        return int(value) if whole else float(value)

    def _wrong(self, told: str) -> RequestError:
        return RequestError(422, f"{self.name} {told}.", kind="invalid-parameter")


def read_query(params: Sequence[Param], query: bytes, most: int) -> dict[str, Any]:
    """What a query says, with defaults for the rest."""
    if len(query) > most:
        raise RequestError(414, f"The query has {len(query):,} bytes; there may be {most:,}.")
    given: dict[str, Any] = {}
    for name, text in pairs(query):
        param = _named(params, name)
        value = param.of_text(text)
        if param.many:
            given.setdefault(name, []).append(value)
        elif name in given:
            raise RequestError(422, f"{name} is given twice.", kind="invalid-parameter")
        else:
            given[name] = value
    return complete(params, given)


def pairs(query: bytes) -> list[tuple[str, str]]:
    """The names and values of a query."""
    try:
        return parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise RequestError(422, "The query has more than 100 parameters.") from None


def complete(params: Sequence[Param], given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given, checked, with defaults for the rest."""
    for param in params:
        if param.required and param.name not in given:
            raise RequestError(422, f"{param.name} is missing: {param.about}", kind="invalid-parameter")
    checked = {name: _named(params, name).checked(value) for name, value in given.items()}
    return {**{param.name: [] if param.many else param.default for param in params}, **checked}


def _named(params: Iterable[Param], name: str) -> Param:
    for param in params:
        if param.name == name:
            return param
    known = ", ".join(param.name for param in params)
    raise RequestError(422, f"There is no parameter {name[:100]!r}; there are {known}.", kind="invalid-parameter")


def parse_json(body: bytes) -> Any:
    """A body of JSON; not what Python takes for JSON besides."""
    try:
        return json.loads(body, parse_constant=_refuse)
    except RecursionError:
        raise RequestError(422, "The body is no JSON: it is nested too deeply.") from None
    except ValueError as error:
        raise RequestError(422, f"The body is no JSON: {str(error)[:200]}.") from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no number")
