"""What holds for all tests."""

from __future__ import annotations

import pytest

LONG = "test_with_checks.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that nobody waits for them in the end."""
    items.sort(key=lambda item: item.path.name != LONG)
