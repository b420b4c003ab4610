"""The index of a store: bags, signatures, latent vectors, near-duplicates, calibration and neighbours."""

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from pagekin.bags.build import fold_bags
from pagekin.bags.shuffle import folded_on_executors
from pagekin.bags.source import BagSource, ignored_parts
from pagekin.bags.stemming import KnownTerms, language_of, stop_words
from pagekin.duplicates.chunks import EarlierChunks
from pagekin.duplicates.fingerprints import ChunkSource, earlier_chunks, write_fingerprints
from pagekin.engines.local import WorkerPool
from pagekin.engines.spark import SparkPool
from pagekin.errors import MisuseError, StoreError
from pagekin.index.index import INDEX_VERSION
from pagekin.index.shards import INDEX_CUTS
from pagekin.index.signing import write_inverted, write_signed_bags
from pagekin.index.titles import write_titles
from pagekin.latent.build import write_latent
from pagekin.latent.given import VectorFile, write_given_vectors
from pagekin.links.statistics import write_link_statistics
from pagekin.model.arrays import Bytes, Strings
from pagekin.model.progress import Progress
from pagekin.model.strategy import NEIGHBOURS, Strategy
from pagekin.pipeline.context import DIVIDING, GROUPS, BuildContext, Replaced
from pagekin.search.calibration import calibrate
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.neighbours import write_neighbours
from pagekin.store import manifest as manifests
from pagekin.store.columns import each_string, open_part
from pagekin.store.manifest import Manifest
from pagekin.store.shards import divide, open_shards
from pagekin.store.stage_files import Stages
from pagekin.store.store import Store


def index_store(
    root: Path, manifest: Manifest, strategy: Strategy, threads: int, progress: Callable[[Progress], None]
) -> Manifest:
    """Index a store without an index, and without a written manifest; its manifest with the index.

    Vectors that were given to a build are left out.
    """
    context = BuildContext(WorkerPool(threads), progress)
    (root / f"index-{next_index(root, manifest)}").mkdir()
    return replace(manifest, index=write_index(root, manifest, strategy.without_vectors(), None, context))


def is_indexed(manifest: Manifest, strategy: Strategy, given: VectorFile | None) -> bool:
    facts, wanted = manifest.index, (INDEX_VERSION, strategy.as_dict(), GROUPS.as_dict())
    if facts is None or (facts["version"], facts["strategy"], facts["duplicates"]["settings"]) != wanted:
        return False
    return given is None or facts["vectors"]["sha256"] == given.digest


def next_index(root: Path, manifest: Manifest) -> int:
    """The number of the next index of a store: another than that of the present index, which answers until then."""
    try:
        present = int((manifests.read_manifest(root).index or {}).get("generation", 0))
    except (StoreError, MisuseError):  # then none of them answers
        present = 0
    return max(manifest.generation, present + 1)


def write_index(
    root: Path,
    manifest: Manifest,
    strategy: Strategy,
    given: VectorFile | None,
    context: BuildContext,
    replaced: Replaced | None = None,
) -> dict[str, Any]:
    """Write bags, signatures, inverted index and fingerprints of the store; return their entry in the manifest."""
    generation, stages = next_index(root, manifest), context.stages(root)
    folder = root / f"index-{generation}"
    with closing(Store(root, manifest)) as store:
        written = _write_bags(folder, store, strategy, given, context, replaced)
        first, nodes = open_shards(store.folder, len(store)), store.nodes
    divide_index = partial(divide, folder, first, nodes, INDEX_CUTS, stages.each)
    if manifest.shards > 1:
        context.enter(DIVIDING)
    divide_index()
    facts: dict[str, Any] = {
        "generation": generation,
        "version": INDEX_VERSION,
        "strategy": strategy.as_dict(),
        "blend": {"scales": {}, "chance": 0.0},
        **written,
        "files": stages.checksums(folder),
    }
    context.enter("calibrating")
    with closing(IndexedStore(root, replace(manifest, index=facts))) as indexed:
        facts["blend"] = calibrate(indexed, stages.each)
        if NEIGHBOURS in strategy.weights_of_evidences():
            context.enter("neighbours")
            write_neighbours(folder, indexed, indexed.blend_for_neighbours, stages)
    divide_index()
    context.enter("checksums")
    facts["files"] |= stages.checksums(folder, facts["files"])
    return facts


def _write_bags(
    folder: Path,
    store: Store,
    strategy: Strategy,
    given: VectorFile | None,
    context: BuildContext,
    replaced: Replaced | None,
) -> dict[str, Any]:
    """Write what needs no calibration; return the entries of near-duplicates and of vectors in the manifest."""
    context.enter("making bags")
    pool, stages = context.pool, context.stages(store.root)
    source = BagSource.of(store, replaced and _known_terms(store.root, replaced.manifest))
    ignored = ignored_parts(source, strategy, stages)
    write_chunks = partial(_write_chunks, store, folder, ignored.words, replaced, stages)
    # Kernels cut chunks while Python code works on the rest.
    beside = WorkerPool(1) if isinstance(pool, SparkPool) else pool
    with beside.beside(write_chunks) as fingerprints, TemporaryFile(dir=folder) as file:
        elsewhere = partial(folded_on_executors, stages, store) if isinstance(pool, SparkPool) else None
        folded = fold_bags(source, strategy, file, stages, elsewhere, ignored)
        context.enter("weighing and signing")
        write_signed_bags(folder, folded, len(folded.evidence) if strategy.outside else len(store.nodes) - 1, stages)
        if "latent" in strategy.weights_of_evidences():
            context.enter("latent dimensions")
            write_latent(folder, folded, stages)
        context.enter("inverting")
        write_inverted(folder, store, strategy.min_in_links, stages)
        write_link_statistics(folder, store, folded.counting_links, folded.node_of_page, stages)
        stopped = stop_words(strategy.language) if strategy.stemming == "stopstem" else ()
        write_titles(folder, store.node_titles(), stopped, stages)
        vectors = {}
        if given is not None:
            context.enter("vectors")
            find = store.catalog.page_names().find
            vectors = {"vectors": write_given_vectors(folder, given, find, len(store.nodes) - 1, stages)}
        context.enter("near-duplicates")
        return {"duplicates": fingerprints(), **vectors}


def _write_chunks(
    store: Store,
    folder: Path,
    ignored: Bytes,
    replaced: Replaced | None,
    stages: Stages,
    wanted: Callable[[], bool],
) -> dict[str, Any]:
    """Write the fingerprints of all pages, as long as they are wanted; return their entry in the manifest."""
    source = ChunkSource(store, ignored, GROUPS)
    earlier = replaced and _earlier_chunks(replaced, source)
    return write_fingerprints(folder, source._replace(earlier=earlier), stages, wanted)


def _known_terms(root: Path, manifest: Manifest) -> KnownTerms | None:
    """The terms of an index, if its pages are in one language."""
    if manifest.index is None or manifest.index["version"] != INDEX_VERSION:
        return None
    strategy = manifest.index["strategy"]
    with suppress(StoreError):
        tags = set(each_string(open_part(root / manifest.folder, "pages.language", Strings)))
        languages = {language_of(tag, strategy["language"]) for tag in tags}
        terms = open_part(root / manifest.index_folder, "terms.name", Strings)
        return KnownTerms(terms, languages.pop(), strategy["stemming"]) if len(languages) == 1 else None
    return None


def _earlier_chunks(replaced: Replaced, source: ChunkSource) -> EarlierChunks | None:
    """The chunks of pages that are as they were; None if the index has none that were cut in the same way."""
    manifest, index = replaced.manifest, replaced.manifest.index
    if index is None or (index["version"], index["duplicates"]["settings"]) != (INDEX_VERSION, GROUPS.as_dict()):
        return None
    with suppress(StoreError):
        folder = source.store.root / manifest.index_folder
        return earlier_chunks(folder, manifest.counts["pages"], replaced.row, source)
    return None
