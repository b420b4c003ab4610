"""`make bench`: how fast and how large everything is, one after the other, then the table in the docs."""

from __future__ import annotations

from benchmarks import (
    agreement,
    building,
    duplicates,
    fuzz,
    growth,
    judging,
    kills,
    links,
    painting,
    querying,
    reading,
    serving,
    signatures,
    sweeping,
    table,
    twins,
)
from benchmarks.machine import QUICK


def main() -> None:
    """Run them all; with QUICK=1, only what takes seconds, and nothing is kept."""
    reading.main()
    signatures.main()
    building.main()
    querying.main()
    judging.main()
    sweeping.main()
    duplicates.main()
    twins.main()
    links.main()
    painting.main()
    serving.main()
    growth.main()
    fuzz.main()
    if not QUICK:
        kills.main()
        agreement.main()
        table.main()


if __name__ == "__main__":
    main()
