"""Too little memory is one sentence. All limits: `python -m benchmarks.memory`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import memory
from pagekin import sample_web

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of addresses"),
]


@pytest.mark.parametrize("megabytes", [40, 100, 148, 2000])
@pytest.mark.parametrize("command", memory.COMMANDS)
def test_a_command_ends_with_its_result_or_one_sentence(
    sample_index: Path, tmp_path: Path, command: str, megabytes: int
) -> None:
    sample_web.copy_to(tmp_path)
    shutil.copytree(sample_index, tmp_path / "x.kin")
    assert memory.run(command, tmp_path, megabytes) == (megabytes == 2000, "")
