"""Questions while a build is at work on the same store: they get the old answer until they get the new one."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from pagekin.errors import StoreError
from pagekin.model.progress import Progress
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from robustness.conftest import TwoStores
from robustness.test_failing_disk import answers

pytestmark = pytest.mark.slow

LATEST = "checksums"  # the last stage of which a build tells


@pytest.fixture
def root(two_stores: TwoStores, tmp_path: Path) -> Path:
    return Path(shutil.copytree(two_stores.old, tmp_path / "test.kin"))


def test_in_every_stage_of_a_build_the_old_index_answers(two_stores: TwoStores, root: Path) -> None:
    old = answers(two_stores.old)
    seen: dict[str, list[tuple[str, float]]] = {}

    def ask(progress: Progress) -> None:
        seen[progress.stage] = answers(root)

    build([two_stores.old_source, two_stores.new_source], root, processes=1, progress=ask)
    assert LATEST in seen
    assert len(seen) > 8
    assert all(answer == old for answer in seen.values())
    assert answers(root) == answers(two_stores.new) != old


@pytest.mark.skipif(sys.platform == "win32", reason="there, files that are open cannot be removed")
def test_who_has_an_index_open_goes_on_with_it_after_a_build(two_stores: TwoStores, root: Path) -> None:
    indexed = IndexedStore.open(root)
    before = indexed.related("http://host1.example/page1.html")
    two_stores.grow(root)
    assert indexed.related("http://host1.example/page1.html") == before
    indexed.close()


def test_who_asks_again_and_again_during_builds_gets_the_old_or_the_new_answer(
    two_stores: TwoStores, root: Path
) -> None:
    right = [answers(two_stores.old), answers(two_stores.new)]
    got: list[list[tuple[str, float]]] = []
    refused: list[str] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            try:
                got.append(answers(root))
            except StoreError as error:  # the generation that its manifest named is gone
                refused.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(4):
            two_stores.grow(root)
            build([two_stores.old_source], root, processes=1)
    finally:
        done.set()
        asking.join()
    assert got
    assert all(answer in right for answer in got)
    assert set(refused) <= {f"{root} has been built again; open it again"}
    assert answers(root) == right[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_of_two_builds_that_begin_together_one_is_done_and_one_is_told(two_stores: TwoStores, root: Path) -> None:
    """Or both are done, one after the other, if one is through before the other begins."""
    from robustness.forking import begin_fork, end_fork
    from store.builders import assert_same_store, assert_sound

    builds = [begin_fork(lambda: two_stores.grow(root)) for _ in range(2)]
    results = [end_fork(*each) for each in builds]
    refusal = (1, f"another build is writing {root}; wait until it ends")
    assert (0, "") in results
    assert all(result in ((0, ""), refusal) for result in results)
    assert_same_store(assert_sound(root), two_stores.new)
