"""`pagekin`: the command line. Errors become a message and an exit code here, and only here."""

import mmap
import os
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pagekin import __version__
from pagekin.errors import MisuseError, PagekinError, is_want_of_memory
from pagekin.kernels import hooks

_MODULES = {
    "build": "build",
    "crawl": "crawl",
    "cluster": "cluster graph",
    "demo": "demo",
    "duplicates": "duplicates",
    "evaluate": "evaluate sweep",
    "gaps": "gaps",
    "info": "check info search show",
    "learn": "learn",
    "main": "completion",
    "mcp": "mcp",
    "related": "answers export related",
    "serve": "serve",
    "site": "site",
    "tune": "tune",
}
COMMANDS = {name: module for module, names in _MODULES.items() for name in names.split()}
CONFIG = "pagekin.toml"
_LEAST_MEMORY = 128 << 20  # bytes of addresses that numpy takes
_ARGUMENTS = "pagekin.arguments"
_COMPLETE = "_PAGEKIN_COMPLETE"  # the variable in which a shell asks for completions


class Commands(click.Group):
    """Commands that are imported on use."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember the arguments: --help must work whatever is in the configuration."""
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return command_named(name) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; a misspelt one is an error that names the most similar."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            similar = get_close_matches(args[0], COMMANDS, 1)
            ctx.fail(f"No such command {args[0]!r}." + "".join(f" Did you mean {name!r}?" for name in similar))
        return super().resolve_command(ctx, args)


def compile_before(command: str) -> None:
    """Compile the kernels of a command in parallel, where there is no machine code, and say so."""
    from pagekin.kernels.precompile import prepare

    prepare(command, lambda line: click.echo(line, err=True))


def command_named(name: str) -> click.Command:
    command: click.Command = getattr(import_module(f"pagekin.cli.{COMMANDS[name]}"), name)
    return command


@click.group(
    cls=Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "PAGEKIN",
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(__version__, prog_name="pagekin")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Find related pages in any hyperlinked collection.

    An option is taken from the command line, else from the environment (PAGEKIN_BUILD_PROCESSES), else from
    pagekin.toml in the current directory ([build] processes = 2).
    """
    hooks.before_numba = partial(compile_before, ctx.invoked_subcommand or "")
    if not {"-h", "--help"} & set(ctx.meta.get(_ARGUMENTS, ())):
        ctx.default_map = _config(Path(CONFIG))


def _config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    import tomllib

    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise MisuseError(f"{path} cannot be read: {error}") from error
    for name, table in config.items():
        if name not in COMMANDS or not isinstance(table, dict):
            raise MisuseError(f"{path}: [{name}] is not a command; there are {', '.join(sorted(COMMANDS))}")
    return {name: _settings(path, name, table) for name, table in config.items()}


def _settings(path: Path, name: str, table: dict[str, Any]) -> dict[str, Any]:
    """A table of the configuration, its keys (options without their dashes) as click names them."""
    parameters = command_named(name).params
    known = {option.lstrip("-").replace("-", "_"): each for each in parameters for option in each.opts}
    settings = {}
    for key, value in table.items():
        parameter = known.get(key.replace("-", "_"))
        if parameter is None:
            raise MisuseError(f"{path}: [{name}] has no setting {key!r}; see `pagekin {name} --help`")
        every = value if isinstance(value, list) else [value]
        if isinstance(parameter.type, click.Path) and not all(isinstance(each, str) for each in every):
            raise MisuseError(f"{path}: [{name}] {key} should be the name of a file or folder")
        settings[str(parameter.name)] = value
    return settings


@click.command(short_help="Print the shell completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete pagekin's commands and options.

    Bash: `eval "$(pagekin completion bash)"` in ~/.bashrc. Zsh: the same with zsh in ~/.zshrc.
    Fish: `pagekin completion fish > ~/.config/fish/completions/pagekin.fish`.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "pagekin", _COMPLETE).source())


def main() -> None:
    """Run the command line; exit with 0, 1 for a failure, 2 for misuse."""
    from pagekin.cli.output import clean

    if _COMPLETE in os.environ:
        cli()
    try:
        mmap.mmap(-1, _LEAST_MEMORY).close()  # numpy's libraries end the process if they get none
        # Not cli(), which treats a closed pipe as a failure.
        with cli.make_context("pagekin", sys.argv[1:]) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except PagekinError as error:
        click.echo(f"pagekin: {clean(str(error))}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("pagekin: stopped", err=True)
        sys.exit(1)
    except BrokenPipeError:  # `pagekin ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if not is_want_of_memory(error):
            raise
        os.write(2, b"pagekin: there is not enough memory; raise the limit, or end other programs\n")
        sys.exit(1)
    sys.exit(0)
