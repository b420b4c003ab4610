"""A plugin for pytest: properties are tried on so many examples, the same ones every time, however slow they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--examples", type=int, default=15)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        function: Any = getattr(item, "obj", None)
        function = getattr(function, "__func__", function)
        if hasattr(function, "is_hypothesis_test"):
            before = getattr(function, "_hypothesis_internal_use_settings", settings())
            function._hypothesis_internal_use_settings = settings(
                before,
                max_examples=min(before.max_examples, config.getoption("--examples")),
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
