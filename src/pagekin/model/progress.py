"""How far long work is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The stage of a build; `done` and `total` are bytes of the sources."""

    stage: str
    done: int = 0
    total: int = 0
