"""The related pages of all pages, found in advance and kept in an index."""

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from pagekin.engines.local import WorkerPool, cpu_count
from pagekin.errors import MisuseError, PagekinError, StoreError
from pagekin.index.answers import answers_name, is_answers
from pagekin.index.shards import answers_cuts
from pagekin.model.progress import Progress
from pagekin.pipeline.context import BuildContext, engine_pool
from pagekin.search.all_pages import write_answers
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import MOST_ANSWERS, RelatedOptions
from pagekin.store import manifest as manifests
from pagekin.store.columns import reporting_errors
from pagekin.store.manifest import Manifest
from pagekin.store.shards import divide, open_shards


def keep_answers(
    output: str | Path,
    limit: int,
    progress: Callable[[Progress], None] = lambda _: None,
    *,
    engine: str = "local",
    master: str | None = None,
) -> Manifest:
    """Find the nearest `limit` pages of every page in advance, and keep them in the index; 0 removes them."""
    root, local = Path(output), WorkerPool(cpu_count())
    checked_answers(limit)
    manifests.read_manifest(root)  # raises an error if there is no store
    with reporting_errors(root), manifests.locked_folder(root), engine_pool(engine, master, local) as pool:
        context = BuildContext(pool, progress)
        kept = update_answers(root, manifests.read_manifest(root), limit, context)
        if pool is not local:
            context.stages(root).remove("answers")
        return kept


def checked_answers(limit: int) -> int:
    if not 0 <= limit <= MOST_ANSWERS:
        raise MisuseError(f"{limit} answers of each page; keep from 0 to {MOST_ANSWERS:,}")
    return limit


def answers_before(root: Path) -> int:
    """The number of answers of each page that the present index keeps."""
    try:
        return int((manifests.read_manifest(root).index or {}).get("answers", 0))
    except (StoreError, MisuseError):
        return 0


def update_answers(root: Path, manifest: Manifest, limit: int, context: BuildContext) -> Manifest:
    """The manifest of an index that keeps this number of answers, which is written if it is another."""
    if (manifest.index or {}).get("answers", 0) == limit:
        return manifest
    try:
        manifest = with_answers(root, manifest, limit, context)
        manifests.write_manifest(root, manifest)
    finally:
        _remove_other_answers(root)
    return manifest


def with_answers(root: Path, manifest: Manifest, limit: int, context: BuildContext) -> Manifest:
    """Write answers into the folder of an index; return its manifest with them, which is not written."""
    index, folder, stages = manifest.index or {}, root / manifest.index_folder, context.stages(root)
    files = {name: facts for name, facts in index["files"].items() if not is_answers(name)}
    if limit:
        context.enter("answers")
        with closing(IndexedStore(root, manifest)) as store:
            write_answers(folder, store, partial(store.blend, RelatedOptions()), limit, stages)
            divide(folder, open_shards(folder, len(store)), store.nodes, answers_cuts(limit), stages.each)
        described, name = stages.checksums(folder, files), f"{answers_name(limit)}."
        files |= {file: facts for file, facts in described.items() if Path(file).name.startswith(name)}
    return replace(manifest, index={**index, "answers": limit, "files": files})


def _remove_other_answers(root: Path) -> None:
    """Remove the answers that the manifest does not name: older ones, or those of a build that failed."""
    with suppress(PagekinError, OSError):  # they do no harm
        manifest = manifests.read_manifest(root)
        folder = root / manifest.index_folder
        for name in filter(is_answers, manifests.files_of(folder)):
            if name not in (manifest.index or {"files": ()})["files"]:
                (folder / name).unlink()
