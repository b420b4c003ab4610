"""`pagekin serve`."""

import os
import sys
import webbrowser
from pathlib import Path
from threading import Thread

import click

from pagekin.cli.options import store_argument
from pagekin.cli.output import clean
from pagekin.errors import MisuseError, need

TOKEN = "PAGEKIN_TOKEN"
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@click.command(short_help="Start a web server for a store.")
@store_argument
@click.option("--host", default="127.0.0.1", help="The address to listen on; 0.0.0.0 is every address of this machine.")
@click.option("--port", default=8017, type=click.IntRange(0, 65535), help="The port; 0 is any free one.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), help="Number of server processes.")
@click.option("--replay", metavar="BASE", help="Link every page to its archived copy: BASE followed by its URL.")
@click.option("--cors", multiple=True, metavar="ORIGIN", help="Allow requests from pages of this origin; * is any.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="Also answer to this host name, such as that of a proxy."
)
@click.option("--token-file", metavar="FILE", help=f"Require the token in this file (or in the variable {TOKEN}).")
@click.option(
    "--seconds",
    default=10.0,
    type=click.FloatRange(0.1, 600),
    help="Answer an API request that takes longer than this number of seconds with an error (503).",
)
@click.option("--open", "browse", is_flag=True, help="Open the web page in a browser.")
def serve(
    store: str,
    host: str,
    port: int,
    workers: int,
    replay: str | None,
    cors: tuple[str, ...],
    allow_host: tuple[str, ...],
    token_file: str | None,
    seconds: float,
    browse: bool,
) -> None:
    """Serve STORE over HTTP: a page to explore it, and an API for programs.

    It stops with Ctrl-C or SIGTERM, after running requests are answered. When the store is built again, the new
    generation is served as soon as it is complete.
    """
    need("jinja2", "starlette", "uvicorn", what="serving", extra="serve")
    from pagekin.cli.main import compile_before
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.serving.settings import RequestLimits, ServerSettings
    from pagekin.serving.workers import listen, run, url_of

    hosts = (*_LOOPBACK, *allow_host) if host in ("127.0.0.1", "::1", "localhost") else allow_host
    settings = ServerSettings(replay or "", token_of(token_file), cors, hosts, RequestLimits(seconds=seconds))
    _ = IndexedStore.open(store).index
    compile_before("serve")
    with listen(host, port) as listener:
        address = url_of(listener)

        def ready() -> None:
            click.echo(f"Serving {clean(store)} at {address} (Ctrl-C stops it)")
            if browse:  # in a thread: a browser in a terminal runs until it is closed
                Thread(target=_browse, args=(address,), daemon=True).start()

        run(store, settings, listener, workers, ready)
        if sys.stdout.isatty():
            click.echo()  # after the ^C that a terminal shows


def _browse(address: str) -> None:
    if not webbrowser.open(address):
        click.echo(f"No browser could be opened; go to {address}.", err=True)


def token_of(file: str | None) -> str:
    if file is None:
        return os.environ.get(TOKEN, "").strip()
    try:
        token = Path(file).read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise MisuseError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not token:
        raise MisuseError(f"{file} is empty; write a token into it")
    return token
