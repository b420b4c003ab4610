"""`pagekin check`."""

from __future__ import annotations

import click

from pagekin.cli.output import json_option, say_json, say_table, store_argument


@click.command("check")
@store_argument
@json_option
def command(store: str, json: bool) -> None:
    """Compare every file of a store with its checksum; exit code 1 if one is damaged."""
    from pagekin.store.manifest import damaged_files
    from pagekin.store.store import Store

    opened = Store.open(store)
    damaged = damaged_files(opened.root, opened.manifest)
    if json:
        say_json(
            {"files": len(opened.manifest.all_files()), "damaged": [{"file": f, "problem": p} for f, p in damaged]}
        )
    elif damaged:
        click.echo(f"{store} is damaged; build it again:")
        say_table(damaged)
    else:
        click.echo(f"{store}: all {len(opened.manifest.all_files())} files are as they were written.")
    if damaged:
        raise SystemExit(1)
