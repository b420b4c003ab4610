"""Options described once: a dataclass field carries help, range and choices.

Command-line options, HTTP parameters, the OpenAPI document and the reference page are derived from these descriptions.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from dataclasses import field as dataclass_field
from functools import cache
from typing import Any, TypeVar

from pagekin.errors import MisuseError

T = TypeVar("T")
_KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}
_NOUNS = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
_KEY = "option"
SHARE: dict[str, Any] = {"minimum": 0, "maximum": 1}  # facts of an option from 0 to 1


@dataclass(frozen=True)
class Option:
    """The description of one option.

    `option` makes it from what the author of a dataclass states; `options_of` adds the names and the type.
    """

    default: Any
    help: str
    field: str = ""  # the name of the dataclass field
    name: str = ""  # the public name; by default that of the field
    kind: type = str  # of one value: int, float, bool or str
    many: bool = False  # a tuple of values
    optional: bool = False  # None is allowed
    words: tuple[str, ...] = ()  # words that may stand in place of a number, such as "auto"
    minimum: float | None = None
    maximum: float | None = None
    above: bool = False  # the minimum itself is excluded
    below: bool = False  # the maximum itself is excluded
    choices: tuple[str, ...] = ()
    regex: bool = False  # each value is a regular expression
    file: bool = False  # the name of a file
    metavar: str | None = None
    short: str = ""  # a one-letter option of the command line
    parse: Callable[[str], Any] | None = None  # makes the value from a string, such as the name of a file
    cli: bool = True
    http: bool = True

    def range(self) -> str:
        """The range in words.

        >>> Option(1, "", minimum=0, maximum=1).range(), Option(1, "", minimum=0, maximum=1, above=True).range()
        ('from 0 to 1', 'more than 0 and at most 1')
        """
        low = "" if self.minimum is None else f"{'more than' if self.above else 'at least'} {self.minimum:g}"
        high = "" if self.maximum is None else f"{'less than' if self.below else 'at most'} {self.maximum:g}"
        if low and high and not (self.above or self.below):
            return f"from {self.minimum:g} to {self.maximum:g}"
        return " and ".join(part for part in (low, high) if part)

    def problem(self, value: Any) -> str:
        """What is wrong with one value, or ""."""
        return "" if value is None and self.optional else self.problem_if_given(value)

    def problem_if_given(self, value: Any) -> str:
        """The same where None is wrong, too."""
        if value in self.words:
            return ""
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (isinstance(value, self.kind) or (self.kind is float and whole)) or (self.kind is int and not whole):
            return f"it must be {_NOUNS[self.kind]}" + "".join(f", or {word}" for word in self.words)
        if self.choices and value not in self.choices:
            return f"it can be {', '.join(self.choices)}"
        if self.kind in (int, float) and not self._in_range(value):
            return f"it must be {self.range()}" + "".join(f", or {word}" for word in self.words)
        return ""

    def _in_range(self, value: float) -> bool:
        low = self.minimum is None or (value > self.minimum if self.above else value >= self.minimum)
        return low and (self.maximum is None or (value < self.maximum if self.below else value <= self.maximum))


def option(default: Any, help: str, **facts: Any) -> Any:
    """A dataclass field with the description of an option; `facts` are fields of `Option`.

    >>> @dataclass(frozen=True)
    ... class Paging:
    ...     limit: int = option(10, "Return at most this number of pages.", minimum=1)
    ...     def __post_init__(self) -> None:
    ...         check_options(self)
    >>> Paging(limit=0)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: limit is 0; it must be at least 1
    """
    return dataclass_field(default=default, metadata={_KEY: Option(default, help, **facts)})


def option_like(cls: type, field: str, **changes: Any) -> Any:
    """A dataclass field with the description of an option of another dataclass, with some changes."""
    [found] = [each for each in options_of(cls) if each.field == field]
    described = replace(found, field="", **changes)
    return dataclass_field(default=described.default, metadata={_KEY: described})


def options_of(cls: type, **defaults: Any) -> list[Option]:
    """The options of a dataclass in the order of its fields; `defaults` replace those of the class."""
    found = _options(cls)
    return [replace(each, default=defaults[each.field]) if each.field in defaults else each for each in found]


@cache
def _options(cls: type) -> tuple[Option, ...]:
    found = []
    for each in fields(cls):
        described: Option | None = each.metadata.get(_KEY)
        if described is None:
            continue
        annotation = each.type.__name__ if isinstance(each.type, type) else str(each.type)
        kinds = annotation.split(" | ")
        one = kinds[0].removeprefix("tuple[").partition(",")[0]
        found.append(
            replace(
                described,
                field=each.name,
                name=described.name or each.name,
                kind=str if described.parse else _KINDS.get(one, str),
                many=kinds[0].endswith("...]"),
                optional="None" in kinds,
                words=tuple(re.findall(r"Literal\[['\"](\w+)['\"]\]", annotation)),
            )
        )
    return tuple(found)


def check_options(options: Any) -> None:
    """Raise MisuseError for a value outside its range or choices; call it from `__post_init__`.

    A string is replaced by the value that `parse` makes from it, and a list by a tuple.
    """
    cls: type = type(options)
    for each in _options(cls):
        value = getattr(options, each.field)
        if value is each.default:
            continue
        if each.many:
            value = (value,) if isinstance(value, str) else tuple(value)
            object.__setattr__(options, each.field, value)
        elif each.parse is not None:
            if isinstance(value, str):
                object.__setattr__(options, each.field, each.parse(value))
            continue
        for one in value if each.many else (value,):
            if problem := each.problem(one):
                raise MisuseError(f"{each.field} is {one!r}; {problem}")
            if each.regex:
                check_regex(each.field, one)


def check_regex(name: str, pattern: str) -> None:
    """Raise MisuseError if the pattern of an option is not a regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise MisuseError(f"{name}: {pattern!r} is not a regular expression ({error})") from error


def from_values(cls: type[T], values: Mapping[str, Any]) -> T:
    """An instance of an option dataclass from values by field name; other values are ignored."""
    return cls(**{each.field: values[each.field] for each in options_of(cls) if each.field in values})
