"""README.md: the output of its commands, from the commands themselves.

`python -m tools.readme` writes it; a test checks that it is current.
"""

from __future__ import annotations

import re
import shlex
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from pagekin import sample_web
from pagekin.cli.main import cli

PAGE = Path(__file__).parent.parent / "README.md"
_BLOCK = re.compile(r"^```console\n\$ (?P<command>.*)\n(?P<output>(?:(?!```).*\n)*)```$", re.M)


def with_outputs(text: str, folder: Path) -> str:
    """The page with the output of each command in its `console` blocks, run in this folder in their order."""

    def run(block: re.Match[str]) -> str:
        program, *arguments = shlex.split(block["command"])
        assert program == "pagekin", block["command"]
        with chdir(folder):
            done = CliRunner().invoke(cli, arguments, prog_name=program, catch_exceptions=False)
        assert done.exit_code == 0, (block["command"], done.output)
        return f"```console\n$ {block['command']}\n{done.output}```"

    (folder / "pagekin-demo").mkdir(exist_ok=True)
    sample_web.copy_to(folder / "pagekin-demo")
    return _BLOCK.sub(run, text)


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        PAGE.write_text(with_outputs(PAGE.read_text("utf-8"), Path(place)), "utf-8")
