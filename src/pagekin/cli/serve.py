"""`pagekin serve`."""

from __future__ import annotations

import click

from pagekin.cli.speaking import store_argument
from pagekin.errors import MisuseError


@click.command("serve")
@store_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 is everywhere.")
@click.option("--port", default=8017, show_default=True, type=click.IntRange(0, 65535), help="0 is any free one.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="So many processes.")
@click.option("--replay", default="", metavar="BASE", help="Link to captures: BASE and the URL of the page.")
def command(store: str, host: str, port: int, workers: int, replay: str) -> None:
    """Serve STORE: a page to explore it, and an API for programs."""
    need_serve()
    from pagekin.kin import Kin
    from pagekin.serving.running import address_of, listening, run
    from pagekin.serving.settings import Settings

    settings = Settings(replay=replay)
    Kin.open(store)
    with listening(host, port) as listener:
        click.echo(f"Serving {store} at {address_of(listener)} (stop with Ctrl-C)")
        run(store, settings, listener, workers)


def need_serve() -> None:
    """Say what to install if the server is missing."""
    try:
        import jinja2
        import starlette
        import uvicorn
    except ImportError as error:
        raise MisuseError(f"serving needs {error.name}: pip install 'pagekin[serve]'") from error
    del jinja2, starlette, uvicorn
