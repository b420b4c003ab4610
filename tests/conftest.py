"""Settings for all tests."""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes depends on what else the machine does.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

LONGEST = "test_kernel_modes.py"
BROWSER = Path(__file__).parent / "serving" / "browser"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser; begin with what takes longest, so that no worker waits for it in the end."""
    for item in items:
        if item.path.is_relative_to(BROWSER):
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.path.name != LONGEST)


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start, even if the shell that runs the tests ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
