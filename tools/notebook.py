"""The notebook of the docs with its outputs: `python -m tools.notebook` executes it and writes it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from pagekin import sample_web
from pagekin.pipeline import build

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
_SECONDS = 300  # that a cell may take


def executed(folder: Path) -> Any:
    """The notebook, executed in a folder that has `pagekin-demo`; raise CellExecutionError if a cell fails."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=_SECONDS, resources={"metadata": {"path": str(folder)}})
    client.execute()
    for cell in notebook.cells:
        cell.metadata = {}  # the times of the execution
    return notebook


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "pagekin-demo")
        folder.mkdir()
        build([sample_web.copy_to(folder)], folder / "sample_web.kin", processes=1)
        notebook = executed(Path(place))
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
