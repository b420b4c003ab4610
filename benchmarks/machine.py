"""What a figure was measured on, and where it is kept."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
QUICK = bool(os.environ.get("QUICK"))


def facts(*packages: str) -> dict[str, Any]:
    """Versions and the machine."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "versions": {name: version(name) for name in ("pagekin", "numba", "numpy", *packages)},
    }


def keep(name: str, result: dict[str, Any]) -> None:
    """Write a result where the docs take it from; a quick run is not worth keeping."""
    if not QUICK:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", "utf-8")
