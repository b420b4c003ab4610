"""`pagekin`: the command line. Errors become a message and an exit code here, and only here."""

import hashlib  # noqa: F401, loaded first: it prints a traceback for all that it cannot load with little memory
import mmap
import os
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pagekin import __version__
from pagekin.errors import MisuseError, PagekinError, is_want_of_memory, refused_by_system
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
_STACK = 16 << 20  # bytes of addresses of a thread
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
    if _COMPLETE in os.environ:
        cli()
    try:
        from pagekin.cli.output import clean

        _prepare_for_little_memory()
        # Not cli(), which treats a closed pipe as a failure.
        with cli.make_context("pagekin", sys.argv[1:]) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except PagekinError as error:
        _say(clean(str(error)))
        sys.exit(error.exit_code)
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(1)
    except BrokenPipeError:  # `pagekin ... | head`
        _drop_output()
    except Exception as error:
        _report(error)
        sys.exit(1)
    sys.exit(0)


def _prepare_for_little_memory() -> None:
    """Raise an error if there is too little memory: numpy's libraries would end the process, or interrupt it.

    One of them starts a thread for each processor when it is loaded, and needs none of them.
    """
    try:
        mmap.mmap(-1, _LEAST_MEMORY + (os.cpu_count() or 1) * _STACK).close()
    except OSError:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        mmap.mmap(-1, _LEAST_MEMORY).close()


def _say(sentence: str) -> None:
    with suppress(OSError):  # the exit code says enough
        click.echo(f"pagekin: {sentence}", err=True)


def _report(error: Exception) -> None:
    """Say that the system has refused something; raise the error again if it is another."""
    from pagekin.cli.output import clean

    if is_want_of_memory(error):
        os.write(2, b"pagekin: there is not enough memory; raise the limit, or end other programs\n")
    elif refused := refused_by_system(error):
        what = clean(str(refused.filename)) if refused.filename else "a file or the output"
        _say(f"{what} cannot be read or written: {refused.strerror or refused}")
    else:
        raise error
    _drop_output()


def _drop_output() -> None:
    """Write nothing more to an output that cannot be written: Python would try again at its end, and fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
