"""`make bench`: all measurements of speed and size, one after the other, then the tables in the docs."""

from __future__ import annotations

from benchmarks import (
    agreement,
    answers,
    blend_cost,
    building,
    check_cost,
    compiling,
    duplicates,
    exporting,
    first_run,
    formats,
    fuzz,
    growth,
    hostile,
    injected,
    judging,
    kills,
    links,
    load,
    memory,
    painting,
    power_loss,
    querying,
    reading,
    searching,
    serving,
    shards,
    signatures,
    sites,
    slow_clients,
    spark,
    sweeping,
    table,
    twins,
    visiting,
)
from benchmarks.machine import QUICK

LOOK = (
    first_run,
    reading,
    formats,
    signatures,
    building,
    check_cost,
    compiling,
    blend_cost,
    querying,
    answers,
    exporting,
    judging,
    duplicates,
    links,
    painting,
    serving,
    shards,
    visiting,
    searching,
    sites,
    growth,
    spark,
)
LONG = (twins, sweeping, fuzz, kills, power_loss, injected, memory, hostile, slow_clients, load, agreement, table)


def main() -> None:
    """Run them all; with QUICK=1 only those that a look can do with, and nothing is kept."""
    for each in LOOK if QUICK else (*LOOK, *LONG):
        each.main()


if __name__ == "__main__":
    main()
