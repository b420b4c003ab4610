"""Killed at any moment, in every stage: the old index answers, and the next build makes what it would have made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.campaign

ROOT = Path(__file__).parents[2]
KILLS = 40
STAGES = (
    "reading",
    "choosing pages",
    "uniting vocabularies",
    "writing pages",
    "sorting links",
    "writing texts and the catalogue",
    "making bags",
    "weighing and signing",
    "latent dimensions",
    "inverting",
    "checksums",
    "putting the manifest in place",
    "removing the old generation",
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_every_kill_is_survived_in_every_stage() -> None:
    """`python -m benchmarks.kills --kills 300` does more of it."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kills", "--kills", str(KILLS)],
        cwd=ROOT,
        env=os.environ | {"QUICK": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tried = [stage for stage in STAGES if f"survived in the stage '{stage}'" in done.stdout]
    assert len(tried) > 9, done.stdout  # a kill by the clock may come a stage too late
    assert all(f"survived in the stage '{output}'" in done.stdout for output in ("export", "learn")), done.stdout
