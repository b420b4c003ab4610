"""`pagekin`: the door for people. Errors become a sentence and an exit code here, and only here."""

from __future__ import annotations

import os
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pagekin import __version__
from pagekin.errors import MisuseError, PagekinError

COMMANDS = ("build", "check", "completion", "demo", "info", "show")
CONFIG = "pagekin.toml"


class Commands(click.Group):
    """Commands that are imported when they are called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pagekin.cli.{name}").command
        return command


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "PAGEKIN", "max_content_width": 100},
)
@click.version_option(__version__, prog_name="pagekin")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Find the pages that are kin to a page, in any hyperlinked collection.

    A setting is taken from the command line, else from the environment (PAGEKIN_BUILD_PROCESSES), else from
    pagekin.toml in this folder ([build] processes = 2).
    """
    ctx.default_map = _config(Path(CONFIG))


def _config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise MisuseError(f"{path} cannot be read: {error}") from error
    for name, table in config.items():
        if name not in COMMANDS or not isinstance(table, dict):
            raise MisuseError(f"{path}: [{name}] is no command; there are {', '.join(COMMANDS)}")
        known = {parameter.name for parameter in import_module(f"pagekin.cli.{name}").command.params}
        for key in table:
            if key.replace("-", "_") not in known:
                raise MisuseError(f"{path}: [{name}] has no setting {key!r}; see `pagekin {name} --help`")
    return {name: {key.replace("-", "_"): value for key, value in table.items()} for name, table in config.items()}


def main() -> None:
    """Run, and leave with 0, 1 for a failure, 2 for misuse."""
    try:
        cli()
    except PagekinError as error:
        click.echo(f"pagekin: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # `pagekin ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
