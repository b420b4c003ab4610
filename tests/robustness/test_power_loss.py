"""A power failure at any moment of a build or an export leaves the old result or the new one; in the end the new."""

from __future__ import annotations

import sys

import pytest

from benchmarks import power_loss

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc"),
]


def test_every_state_of_the_disk_is_the_old_or_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more states for each moment: `python -m benchmarks.power_loss`."""
    monkeypatch.setattr(power_loss, "_STATES", 0)
    monkeypatch.setattr(power_loss, "_ON_DISK", 1)
    monkeypatch.setattr(power_loss, "QUICK", True)
    tally = power_loss.campaign()
    assert tally.bad == []
    assert tally.states.total() > 1000
