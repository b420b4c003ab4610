"""`make bench`: every benchmark, one after the other, then the table in the docs."""

from __future__ import annotations

from benchmarks import (
    agreement,
    building,
    choosing,
    duplicates,
    findings,
    fuzz,
    growth,
    judging,
    kills,
    kinship,
    links,
    lists,
    painting,
    querying,
    reading,
    sameness,
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
    choosing.main()
    findings.main()
    lists.main()
    duplicates.main()
    sameness.main()
    twins.main()
    links.main()
    kinship.main()
    painting.main()
    serving.main()
    growth.main()
    kills.main()
    fuzz.main()
    if not QUICK:
        agreement.main()
        table.main()


if __name__ == "__main__":
    main()
