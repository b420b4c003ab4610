"""docs/reference.md: every command with its options, from the commands themselves.

`python -m tools.reference` writes it; a test checks that it is current.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import click

from pagekin.cli.main import COMMANDS, cli, command_named

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
_HEAD = """# Commands

Made by `python -m tools.reference` from the commands. `pagekin COMMAND --help` prints the same. An option is taken from
the command line, else from the environment (`PAGEKIN_BUILD_PROCESSES`), else from a `pagekin.toml` in the current
directory (`[build]`, `processes = 2`).
"""


def reference() -> str:
    """The whole page."""
    context = click.Context(cli, info_name="pagekin", **cli.context_settings)
    sections = [_HEAD]
    for name in sorted(COMMANDS):
        command = command_named(name)
        sections.append(command_section(command, click.Context(command, context, name)))
    return "\n".join(sections)


def command_section(command: click.Command, context: click.Context) -> str:
    """A command: its usage, what it does, and a table of its options."""
    usage = " ".join(command.collect_usage_pieces(context))
    records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
    rows = "".join(f"| `{_cell(found[0]).replace(' RANGE', '')}` | {_cell(found[1])} |\n" for found in records if found)
    table = f"\n| option | meaning |\n|---|---|\n{rows}" if rows else ""
    text = inspect.cleandoc(command.help or "")
    return f"## `pagekin {command.name}`\n\n```\npagekin {command.name} {usage}\n```\n\n{text}\n{table}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    PAGE.write_text(reference(), "utf-8")
