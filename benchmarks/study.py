"""`make study`: the quality of the answers on every available collection, then the tables in the docs.

These take no time themselves, and may be run on a busy machine; together they take the better part of an hour.
"""

from __future__ import annotations

from benchmarks import (
    beyond,
    blending,
    choosing,
    findings,
    kinship,
    latent_sample,
    learning,
    lists,
    missing_links,
    navigation,
    sameness,
    short_texts,
    table,
    vectors,
)
from benchmarks.machine import QUICK


def main() -> None:
    """Run them all; with QUICK=1 on the sample web alone, and nothing is kept."""
    blending.main()
    latent_sample.main()
    choosing.main()
    findings.main()
    lists.main()
    missing_links.main()
    navigation.main()
    sameness.main()
    short_texts.main()
    kinship.main()
    learning.main()
    beyond.main()
    vectors.main()
    if not QUICK:
        table.main()


if __name__ == "__main__":
    main()
