"""`pagekin mcp`: a collection for assistants."""

import click

from pagekin.cli.options import store_argument
from pagekin.errors import need


@click.command(short_help="Serve a store to assistants (MCP).")
@store_argument
def mcp(store: str) -> None:
    """Serve STORE to an assistant by the Model Context Protocol, on standard input and output.

    The tools find, related, show, gaps and duplicates only read. Needs pagekin[mcp].
    """
    need("mcp.server.mcpserver", what="the Model Context Protocol", extra="mcp")
    from pagekin.cli.main import compile_before
    from pagekin.integrations.mcp import make_server

    server = make_server(store)
    compile_before("mcp")
    server.run()
