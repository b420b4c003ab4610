"""`pagekin completion`."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print what makes SHELL complete pagekin's commands and options.

    Bash: `eval "$(pagekin completion bash)"` in ~/.bashrc. Zsh: the same with zsh in ~/.zshrc.
    Fish: `pagekin completion fish > ~/.config/fish/completions/pagekin.fish`.
    """
    from click.shell_completion import get_completion_class

    from pagekin.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "pagekin", "_PAGEKIN_COMPLETE").source())
