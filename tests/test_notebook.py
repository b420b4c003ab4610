"""The notebook of the docs, executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.notebook import executed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_cell_of_the_notebook_works(sample_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pagekin-demo").symlink_to(sample_folder)
    outputs = [output for cell in executed(tmp_path).cells for output in cell.get("outputs", [])]
    shown = [output.get("data", {}) for output in outputs]
    assert sum("image/png" in data for data in shown) == 3
    assert sum("<table" in data.get("text/html", "") for data in shown) >= 4
    assert not [output for output in outputs if output["output_type"] == "stream"]  # no warnings
