"""Command-line options derived from option dataclasses."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from pagekin.model.options import Option, options_of

Command = Callable[..., Any]
json_option = click.option("--json", is_flag=True, help="Print JSON, for programs.")
store_argument = click.argument("store", type=click.Path(), metavar="STORE")


def _number_or_word(option: Option) -> Callable[[str], float | str]:
    def parse(value: str) -> float | str:
        if value in option.words:
            return value
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if option.problem(number):
            words = ", ".join(option.words)
            raise click.BadParameter(f"{value!r} is given; it can be a number {option.range()}, or {words}")
        return number

    return parse


def click_option(option: Option) -> Callable[[Command], Command]:
    flag, shared = "--" + option.name.replace("_", "-"), {"default": option.default, "help": option.help}
    if option.kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}" if option.default else flag, option.field, is_flag=True, **shared)
    names = [option.short] if option.short else []
    kind = _type(option)
    return click.option(*names, flag, option.field, type=kind, metavar=option.metavar, multiple=option.many, **shared)


def _type(option: Option) -> Any:
    if option.words:
        return _number_or_word(option)
    if option.choices:
        return click.Choice(option.choices)
    low, high = option.minimum, option.maximum
    if option.kind in (int, float) and low is None and high is None:
        return option.kind
    if option.kind is int:
        return click.IntRange(None if low is None else int(low), None if high is None else int(high))
    if option.kind is float:
        return click.FloatRange(low, high, option.above, option.below)
    return click.Path(dir_okay=False) if option.file else str


def options_from(cls: type, *, leave_out: tuple[str, ...] = (), **defaults: Any) -> Callable[[Command], Command]:
    """Add the options of a dataclass, with other `defaults`, to a command, which gets the dataclass as `options`."""
    found = [each for each in options_of(cls, **defaults) if each.cli and each.field not in leave_out]

    def add(command: Command) -> Command:
        @wraps(command)
        def run(**values: Any) -> Any:
            given = {each.field: values.pop(each.field) for each in found}
            return command(options=cls(**given), **values)

        decorated: Command = run
        for each in reversed(found):
            decorated = click_option(each)(decorated)
        return decorated

    return add
