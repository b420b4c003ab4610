"""Executors write the store of the local engine, however pages, strings and links are divided among them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines.serial_pool import SerialPool, use_serial_pool
from latent.builders import write_npy
from pagekin.errors import SourceError
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.pipeline import build
from pagekin.store.collect import Spool
from store.builders import (
    Record,
    assert_same_store,
    canonical,
    generated,
    page,
    refresh,
    urls_of,
    write_jsonl,
    write_warc,
)

NOINDEX, NOFOLLOW = '<meta name="robots" content="noindex">', '<meta name="robots" content="nofollow">'
COPIED = "a long text about the robins of the garden that sing in winter and in spring"


@pytest.fixture
def collection(tmp_path: Path) -> list[Path]:
    """Pages in four files: other captures of pages, redirects, refreshes, copies, and requests to robots."""
    rows = generated(150)
    again = [page(row["url"], f"<p>newer words {row['url']}", row["captured"] + 1) for row in rows[::9]]
    older = [page(row["url"], "<p>older words", row["captured"] - 1) for row in rows[::13]]
    special = [
        page("http://host1.example/copy.html", canonical("http://host2.example/original.html", COPIED)),
        page("http://host2.example/original.html", f"<p>{COPIED} again"),
        page("http://host2.example/other.html", canonical("http://host3.example/missing.html", COPIED)),
        page("http://host3.example/wrong.html", canonical("http://host2.example/original.html", "no word is shared")),
        page("http://host3.example/first.html", canonical("http://host4.example/second.html", COPIED)),
        page("http://host4.example/second.html", canonical("http://host3.example/first.html", COPIED)),
        page("http://host4.example/moved.html", refresh("http://host5.example/page5.html")),
        page("http://host4.example/away.html", refresh("http://nowhere.example/")),
        page("http://host5.example/hidden.html", f"{NOINDEX}<p>nobody may see <a href=page5.html>this</a>"),
        page("http://host5.example/quiet.html", f"{NOFOLLOW}<p>links of <a href=page5.html>no weight</a>"),
        page("http://host6.example/empty.html", ""),
        page(
            "http://host6.example/links.html",
            "<a href='old.html'>old</a> <a href='http://host4.example/moved.html'>m"
            "</a> <a rel=nofollow href='/page6'>x</a> <a href='mailto:x@y.example'>mail</a> <a href='links.html'>me",
        ),
    ]
    records = [
        Record("http://host6.example/old.html", "2021-01-01T00:00:00Z", location="http://host6.example/newer.html"),
        Record("http://host6.example/newer.html", "2021-01-01T00:00:00Z", location="http://host6.example/page6.html"),
        Record("http://host0.example/page7.html", "2022-01-01T00:00:00Z", location="http://host1.example/page8"),
        Record("http://host6.example/loop.html", "2021-01-01T00:00:00Z", location="http://host6.example/loop.html"),
        Record("http://host6.example/page13.html", "2023-01-01T00:00:00Z", body="<p>the newest words"),
        Record("http://host2.example/again.html", "2023-01-01T00:00:00Z", body=COPIED),
        Record("http://host2.example/again.html", "2024-01-01T00:00:00Z", body=COPIED, again=True),
    ]  # fmt: skip
    return [
        write_jsonl(tmp_path / "one.jsonl", rows[::2] + special),
        write_jsonl(tmp_path / "two.jsonl", rows[1::2]),
        write_jsonl(tmp_path / "three.jsonl", again + older),
        write_warc(tmp_path / "redirects.warc.gz", records),
    ]


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small batches, groups of one batch, and many small ranges. No power is lost while these tests run."""
    monkeypatch.setattr("os.fsync", lambda _: None)
    use_serial_pool(monkeypatch)
    monkeypatch.setattr("pagekin.store.splits._PAGES", 37)
    monkeypatch.setattr("pagekin.store.choose._GROUP_BYTES", 1)
    monkeypatch.setattr("pagekin.store.executors._RANGE_BYTES", 10_000)
    monkeypatch.setattr("pagekin.store.string_ranges._RANGE_BYTES", 2_000)
    monkeypatch.setattr("pagekin.store.link_ranges._MOST_NODES", 23)
    monkeypatch.setattr("pagekin.bags.shuffle._MOST_NODES", 23)
    monkeypatch.setattr("pagekin.bags.shuffle._LINKS", 100)
    monkeypatch.setattr("pagekin.store.stage_files._HASHED_BYTES", 50_000)
    monkeypatch.setattr("pagekin.store.stage_columns._ROWS", 41)
    for name in ("bags.source._AT_ONCE", "bags.build._LINKS", "links.statistics._PIECE", "links.statistics._AT_ONCE"):
        monkeypatch.setattr(f"pagekin.{name}", 100)
    for name in ("bags.source._PAGES", "bags.build._PAGES", "bags.stemming._WORDS", "bags.stemming._FORMS"):
        monkeypatch.setattr(f"pagekin.{name}", 29)
    for name in ("index.titles._TITLES", "index.signing._NODES", "index.signing.KEYS"):
        monkeypatch.setattr(f"pagekin.{name}", 31)


def assert_same_builds(sources: list[Path], folder: Path, **options: Any) -> None:
    local, spark = (
        build(sources, folder / f"{engine}.kin", engine=engine, processes=1, **options).store
        for engine in ("local", "spark")
    )
    assert_same_store(spark, local)


@pytest.mark.parametrize("shards", [1, 3, 12])
@pytest.mark.usefixtures("divided")
def test_pages_are_divided_in_any_way(
    collection: list[Path], tmp_path: Path, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Spool, "remove", lambda self: None)
    assert_same_builds(collection, tmp_path, shards=shards)
    stages = Counter(path.name.partition("-")[0] for path in (tmp_path / "spark.kin" / "unfinished").glob("*.npz"))
    divided = (
        *("newest", "chosen", "places", "uses", "strings", "lower", "words", "numbers", "ranked", "tables"),
        *("pages", "found", "reached", "links", "degrees"),
    )
    assert all(stages[name] >= 5 for name in divided), stages


@pytest.mark.parametrize(
    "settings",
    [
        {"chop_host": True},
        {"chop_host": True, "obey_noindex": True},
        {"obey_noindex": True, "obey_nofollow": True},
        {"capture": "first"},
        {"capture": "nearest:2020-09-14"},
        {"exclude": ("host[24]",)},
    ],
)
@pytest.mark.usefixtures("divided")
def test_settings_of_reading_apply(collection: list[Path], tmp_path: Path, settings: dict[str, Any]) -> None:
    assert_same_builds(collection, tmp_path, settings=ReadingSettings(**settings), shards=4)


@pytest.mark.parametrize(
    "strategy",
    [
        {"templates": True},
        {"template_links": False, "silent": ("page1", "page2")},
        {"navigation": False, "voters": "other-hosts"},
        {"sequences": False, "stemming": "stem"},
        {"frequency_weight": "okapi", "min_in_links": 2, "outside": True},
        {"distance_weight": False},
    ],
)
@pytest.mark.usefixtures("divided")
def test_strategies_apply(collection: list[Path], tmp_path: Path, strategy: dict[str, Any]) -> None:
    assert_same_builds(collection, tmp_path, strategy=Strategy(**strategy))


@pytest.mark.parametrize("strategy", list(PRESETS))
@pytest.mark.usefixtures("divided")
def test_vectors_shards_and_answers_are_those_of_the_local_engine(
    tmp_path: Path, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are in lists, as in a large collection; every seventh page has none."""
    monkeypatch.setattr("pagekin.latent.lists.FEWEST_PAGES", 10)
    rows = generated(80)
    urls = [row["url"] for k, row in enumerate(rows) if k % 7]
    vectors = write_npy(tmp_path / "vectors.npy", np.random.default_rng(7).normal(size=(len(urls), 8)), urls)
    options: dict[str, Any] = {"strategy": PRESETS[strategy], "vectors": vectors, "shards": 3, "answers": 4}
    settings = ReadingSettings(chop_host=strategy == "paper")
    assert_same_builds([write_jsonl(tmp_path / "pages.jsonl", rows)], tmp_path, settings=settings, **options)


@pytest.mark.usefixtures("divided")
def test_a_stage_is_made_again_only_if_one_of_its_files_is_damaged(
    collection: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, shuffle, made = tmp_path / "spark.kin", SerialPool.shuffle, list[str]()

    def noted(self: SerialPool, cut: Any, *others: Any) -> Any:
        made.append(getattr(cut, "func", cut).__name__)
        return shuffle(self, cut, *others)

    def fail(*_: Any) -> None:
        raise SourceError("the driver was stopped")

    monkeypatch.setattr(SerialPool, "shuffle", noted)
    with monkeypatch.context() as patched:
        patched.setattr("pagekin.store.executors.finish_store", fail)
        for stage, repeated in STAGES.items():
            if stage:
                damaged = min((output / "unfinished").glob(f"{stage}-*.npz"))
                damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
            made.clear()
            with pytest.raises(SourceError, match="the driver was stopped"):
                build(collection, output, engine="spark", shards=3)
            assert made == repeated
    spark = build(collection, output, engine="spark", shards=3).store
    assert_same_store(spark, build(collection, tmp_path / "local.kin", processes=1, shards=3).store)


# Which values travel again if a file of a stage is damaged. The others depend on the same bytes as before.
STAGES = {
    "": [
        "_cut_captures",
        "_cut_ranges",
        "_cut_places",
        "_cut",
        "_cut",
        "_cut_numbers",
        "_cut_ranks",
        "_cut_numbers",
        "_cut_pages",
        "_cut_urls",
        "_cut_found",
        "_cut",
        "_cut_degrees",
    ],
    "older": ["_cut_captures"],
    "chosen": ["_cut_ranges"],
    "places": ["_cut_places"],
    "uses": [],
    "strings": ["_cut"],
    "lower": [],
    "words": ["_cut"],
    "numbers": ["_cut_numbers"],
    "ranked": ["_cut_ranks"],
    "tables": ["_cut_numbers"],
    "pages": ["_cut_pages"],
    "found": ["_cut_urls"],
    "reached": ["_cut_found"],
    "links": ["_cut"],
    "degrees": ["_cut_degrees"],
}


def test_a_page_that_vanishes_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_serial_pool(monkeypatch)
    run = SerialPool.run

    def remove_and_run(self: SerialPool, *arguments: Any) -> Any:
        (tmp_path / "web" / "two.html").unlink(missing_ok=True)
        return run(self, *arguments)

    monkeypatch.setattr(SerialPool, "run", remove_and_run)
    (tmp_path / "web").mkdir()
    for name in ("one", "two"):
        (tmp_path / "web" / f"{name}.html").write_text(f"<p>page {name} <a href=two.html>two</a>")
    store = build([tmp_path / "web"], tmp_path / "my.kin", engine="spark", base_urls=["http://a.example/"]).store
    assert urls_of(store) == ["http://a.example/one.html"]
    assert sum(store.manifest.skipped.values()) == 1


def test_a_collection_without_a_page_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_serial_pool(monkeypatch)
    rows = [page("http://a.example/", f"{NOINDEX}<p>nobody may see this")]
    source, settings = write_jsonl(tmp_path / "hidden.jsonl", rows), ReadingSettings(obey_noindex=True)
    with pytest.raises(SourceError, match=r"skipped: 1 noindex \(such as http://a.example/\)"):
        build([source], tmp_path / "my.kin", engine="spark", settings=settings)


def test_pages_without_words_have_no_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_serial_pool(monkeypatch)
    rows = [page("http://a.example/", "<a href=/b>1</a>"), page("http://a.example/b", "")]
    assert_same_builds([write_jsonl(tmp_path / "pages.jsonl", rows)], tmp_path)


def test_pages_without_links_have_no_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_serial_pool(monkeypatch)
    rows = [page(f"http://a.example/{k}", f"<p>page {k}") for k in range(3)]
    assert_same_builds([write_jsonl(tmp_path / "pages.jsonl", rows)], tmp_path)
