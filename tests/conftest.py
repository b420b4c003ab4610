"""What holds for all tests."""

from __future__ import annotations

import signal

import pytest

LONG = "test_kernel_modes.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that nobody waits for them in the end."""
    items.sort(key=lambda item: item.path.name != LONG)


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start, also where a shell that runs them aside has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
