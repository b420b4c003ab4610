"""Stores of the sample web, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekin.pipeline import build
from pagekin.village import write_warc


@pytest.fixture(scope="session")
def village_warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_warc(tmp_path_factory.mktemp("village") / "village.warc.gz")


@pytest.fixture(scope="session")
def village_store(village_warc: Path) -> Path:
    """A store of the sample web; whoever wants to change it makes a copy."""
    target = village_warc.parent / "village.kin"
    build([village_warc], target, processes=1)
    return target
