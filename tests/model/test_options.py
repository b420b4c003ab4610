"""Descriptions of options: what is derived from a field, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, from_values, option, option_like, options_of


@dataclass(frozen=True)
class Example:
    """One option of each kind."""

    count: int = option(1, "Whole.", minimum=0)
    share: float | Literal["auto"] | None = option(None, "A share.", name="part", minimum=0, maximum=1)
    level: float = option(0.5, "A level.", minimum=0, maximum=1, above=True, below=True)
    kind: str = option("a", "A kind.", choices=("a", "b"))
    flag: bool = option(False, "A flag.")
    pattern: tuple[str, ...] = option((), "Patterns.", regex=True)
    file: bytes | None = option(None, "Contents of a file.", parse=str.encode)
    other: int = 7

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class Other:
    """An option that is described elsewhere."""

    count: int = option_like(Example, "count", default=4)


def test_kind_and_names_come_from_the_field() -> None:
    found = {each.field: (each.name, each.kind, each.many, each.optional, each.words) for each in options_of(Example)}
    assert found == {
        "count": ("count", int, False, False, ()),
        "share": ("part", float, False, True, ("auto",)),
        "level": ("level", float, False, False, ()),
        "kind": ("kind", str, False, False, ()),
        "flag": ("flag", bool, False, False, ()),
        "pattern": ("pattern", str, True, False, ()),
        "file": ("file", str, False, True, ()),
    }


def test_other_defaults_and_other_classes() -> None:
    assert options_of(Example, count=9)[0].default == 9
    assert [(each.help, each.default) for each in options_of(Other)] == [("Whole.", 4)]
    assert Other().count == 4


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"count": -1}, "count is -1; it must be at least 0"),
        ({"count": 1.5}, "count is 1.5; it must be a whole number"),
        ({"count": True}, "count is True; it must be a whole number"),
        ({"count": None}, "count is None; it must be a whole number"),
        ({"share": 2}, "share is 2; it must be from 0 to 1, or auto"),
        ({"share": float("nan")}, "share is nan; it must be from 0 to 1, or auto"),
        ({"share": "much"}, "share is 'much'; it must be a number, or auto"),
        ({"level": 0.0}, "level is 0.0; it must be more than 0 and less than 1"),
        ({"level": 1}, "level is 1; it must be more than 0 and less than 1"),
        ({"kind": "c"}, "kind is 'c'; it can be a, b"),
        ({"flag": 1}, "flag is 1; it must be true or false"),
        ({"pattern": ("(",)}, r"pattern: '\(' is not a regular expression \(missing \)"),
    ],
)
def test_a_wrong_value_is_misuse(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MisuseError, match=sentence):
        Example(**values)


def test_right_values_are_taken() -> None:
    made = from_values(
        Example, {"count": 3, "share": "auto", "level": 0.25, "pattern": ["a", "b"], "file": "x", "else": 1}
    )
    assert made == Example(3, "auto", 0.25, "a", False, ("a", "b"), b"x")
    assert Example(share=1).share == 1
    assert Example(pattern="one").pattern == ("one",)  # type: ignore[arg-type]
