"""What all steps of a build share: its workers, its progress, and the store that it replaces."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pagekin.duplicates.settings import GroupSettings
from pagekin.engines.local import WorkerPool
from pagekin.engines.spark import spark_pool
from pagekin.errors import MisuseError
from pagekin.model.arrays import Int64s
from pagekin.model.progress import Progress
from pagekin.store import manifest as manifests
from pagekin.store.manifest import Manifest
from pagekin.store.stage_files import Stages
from pagekin.store.store import Store

ENGINES = ("local", "spark")
DIVIDING = "dividing into shards"
GROUPS = GroupSettings()  # one setting for all pages of a collection, so that they can be compared


@dataclass(frozen=True)
class Built:
    """The result of a build."""

    store: Store
    read: int  # pages read by this build
    reused: int  # pages that an earlier build read
    changed: bool  # whether there is a new generation


@dataclass(frozen=True)
class BuildContext:
    """The workers of a build, its progress callback, and whether it may shrink; the result does not depend on them."""

    pool: WorkerPool
    progress: Callable[[Progress], None]
    allow_shrink: bool = False

    def enter(self, stage: str) -> None:
        self.progress(Progress(stage))

    def stages(self, root: Path) -> Stages:
        return Stages(self.pool, root / manifests.SPOOL)


class Replaced(NamedTuple):
    """The store that a build replaces, and for each page the row that its reading has there; -1 for none."""

    manifest: Manifest
    row: Int64s


def engine_pool(engine: str, master: str | None, pool: WorkerPool) -> AbstractContextManager[WorkerPool]:
    """The workers of an engine; raise MisuseError if there is no such engine."""
    if engine not in ENGINES:
        raise MisuseError(f"there is no engine {engine!r}; name one of {', '.join(ENGINES)}")
    if engine == "local":
        if master is not None:
            raise MisuseError("--master names a Spark cluster; add --engine spark")
        return nullcontext(pool)
    return spark_pool(master, pool.workers)
