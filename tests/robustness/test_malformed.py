"""Every malformed input becomes a valid store with the expected pages and reasons for skips."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pagekin.errors import SourceError
from pagekin.pipeline import build
from pagekin.shapes.info import describe
from pagekin.store.manifest import damaged_files
from pagekin.store.store import Store
from robustness.malformed import MALFORMED, WACZS, WARCS, Malformed
from sources.measure import within
from sources.walk import file
from sources.warcs import page

BESIDE = "http://beside.localhost/good.html"


def sources(broken: Malformed, folder: Path) -> list[Path]:
    """The broken source, and a good one beside it."""
    for name, data in broken.files().items():
        file(folder / name, data)
    file(folder / "beside/good.html", page("good"))
    return [folder / Path(broken.file).parts[0], folder / "beside"]


def check_soundness(store: Store) -> None:
    assert damaged_files(store.root, store.manifest) == []
    assert store.text(store.find(BESIDE)) == "good"
    told: dict[str, int] = {}
    for skip in describe(store)["skipped"]:
        told[skip["reason"]] = told.get(skip["reason"], 0) + skip["count"]
    assert told == store.manifest.skipped
    # Three bytes for one that is encoded, in the URL of the page and in the link.
    longest = 6 * store.settings.max_url_bytes
    reading = store.reading
    for urls in (reading.pages.url, reading.pages.canonical, reading.pages.refresh, reading.targets):
        assert max(map(len, urls), default=0) <= longest


@pytest.mark.parametrize("name", [name for name, broken in MALFORMED.items() if not broken.refused])
def test_broken_input_costs_only_itself(name: str, tmp_path: Path) -> None:
    broken = MALFORMED[name]
    paths = sources(broken, tmp_path)
    with within():
        store = build(paths, tmp_path / "built.kin", processes=1).store
    assert set(store.reading.pages.url) == {BESIDE, *broken.kept}
    assert store.manifest.skipped in broken.reasons
    assert store.manifest.counts["aliases"] == broken.aliases
    assert {url: store.text(store.find(url)) for url in broken.text} == broken.text
    check_soundness(store)


@pytest.mark.parametrize("name", [name for name, broken in MALFORMED.items() if broken.refused])
def test_input_that_is_no_source_is_told_and_leaves_the_store_as_it_was(name: str, tmp_path: Path) -> None:
    paths = sources(MALFORMED[name], tmp_path)
    build(paths[1:], tmp_path / "built.kin", processes=1)
    before = (tmp_path / "built.kin/manifest.json").read_bytes()
    with within(), pytest.raises(SourceError, match=MALFORMED[name].refused):
        build(paths, tmp_path / "built.kin", processes=1)
    assert (tmp_path / "built.kin/manifest.json").read_bytes() == before
    check_soundness(Store.open(tmp_path / "built.kin"))


def test_all_broken_inputs_together_make_one_sound_store(tmp_path: Path) -> None:
    paths = []
    for name, broken in MALFORMED.items():
        if not broken.refused and not re.search("bomb|huge|mega|million|giga", name):  # quick ones
            for path, data in broken.files().items():
                top, _, rest = path.partition("/")
                file(tmp_path / (f"{name}/{rest}" if rest else f"{name}-{top}"), data)
            top = Path(broken.file).parts[0]
            paths.append(tmp_path / (name if "/" in broken.file else f"{name}-{top}"))
    file(tmp_path / "beside/good.html", page("good"))
    with within():
        store = build([*paths, tmp_path / "beside"], tmp_path / "built.kin", processes=1).store
    check_soundness(store)


def test_malformed_inputs_are_the_same_every_time() -> None:
    for name, broken in (WARCS | WACZS).items():
        if "bomb" not in name:
            assert broken.files() == broken.files(), name
