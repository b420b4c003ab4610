"""`make bench`: every benchmark, one after the other."""

from __future__ import annotations

from benchmarks import agreement, reading
from benchmarks.machine import QUICK


def main() -> None:
    """Run them all; with QUICK=1, only what takes seconds."""
    reading.main()
    if not QUICK:
        agreement.main()


if __name__ == "__main__":
    main()
