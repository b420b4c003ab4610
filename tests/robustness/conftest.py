"""A store of a few pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekin.pipeline import build
from store.builders import generated, write_jsonl


class TwoStores:
    """A few pages, then a few more: the store of the first, and of all, each built without disturbance."""

    def __init__(self, folder: Path) -> None:
        self.old_source = write_jsonl(folder / "old.jsonl", generated(30))
        self.new_source = write_jsonl(folder / "new.jsonl", generated(30, start=100))
        self.old, self.new = folder / "old.kin", folder / "new.kin"
        build([self.old_source], self.old, processes=1)
        build([self.old_source], self.new, processes=1)
        self.grow(self.new)

    def grow(self, root: Path) -> None:
        """Build again, with more pages."""
        build([self.old_source, self.new_source], root, processes=1)


@pytest.fixture(scope="session")
def two_stores(tmp_path_factory: pytest.TempPathFactory) -> TwoStores:
    return TwoStores(tmp_path_factory.mktemp("two_stores"))
