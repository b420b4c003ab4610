"""Executors choose the pages that the local engine selects, however the captures are divided."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from engines.serial_pool import SerialPool
from pagekin.model.capture import Capture, Origin, PageFlags, ReadingSettings, Redirect, Skip
from pagekin.reading.batch import read_captures
from pagekin.store.choose import choose_pages, places_of_groups
from pagekin.store.collect import PageCollector, write_batch
from pagekin.store.select import select_pages
from pagekin.store.stage_files import read_stage, strings_in
from store.builders import canonical, refresh

NAMES = ("a", "b", "c.html", "c", "d/", "d/index.html", "e", "gone")
URL = st.builds(
    "{}://{}.example/{}".format, st.sampled_from(("http", "https")), st.sampled_from("xy"), st.sampled_from(NAMES)
)
WORDS = st.sampled_from(("the robin sings in winter", "a wren hides in the hedge and sings", ""))
BODY = st.one_of(WORDS, st.builds(canonical, URL, WORDS), st.builds(refresh, URL))
CAPTURE = st.tuples(URL, BODY, st.integers(0, 3), st.sampled_from((PageFlags.NONE, PageFlags.NONE, PageFlags.NOINDEX)))
REDIRECT = st.tuples(URL, URL, st.integers(0, 3))


def summed(skips: list[Skip]) -> dict[tuple[str, str], tuple[int, str]]:
    """Count and first example by source and reason."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for skip in skips:
        count, example = found.get((skip.source, skip.reason), (0, skip.where))
        found[skip.source, skip.reason] = count + skip.count, min(example, skip.where)
    return found


@given(
    batches=st.lists(st.lists(CAPTURE, max_size=6), min_size=1, max_size=4),
    redirects=st.lists(REDIRECT, max_size=4),
    settings=st.builds(
        ReadingSettings, obey_noindex=st.booleans(), capture=st.sampled_from(("latest", "first", "nearest:1970-01-01"))
    ),
    group=st.sampled_from((1, 1 << 30)),
)
def test_executors_choose_the_pages_of_the_local_engine(
    batches: list[list[Any]], redirects: list[Any], settings: ReadingSettings, group: int
) -> None:
    with TemporaryDirectory() as place, patch("pagekin.store.choose._GROUP_BYTES", group):
        spool, collectors = Path(place), [PageCollector(None, ()), PageCollector(None, ())]
        paths = []
        for number, batch in enumerate(batches):
            captures = [
                Capture(url, Origin(f"source-{number % 2}", 100 * number + k, 9, 9), time, body.encode(), flags=flags)
                for k, (url, body, time, flags) in enumerate(batch)
            ]
            paths.append(spool / f"batch-{number:06}")
            write_batch(paths[-1], read_captures(captures, settings), {})
        for collector in collectors:
            for k, (url, target, time) in enumerate(redirects):
                collector.must_read(Redirect(url, target, Origin("moved", k, 9, 9), time))
        read_pages, _ = collectors[0].collected(paths)
        selected = select_pages(read_pages, settings)
        chosen = choose_pages(SerialPool(1), spool, collectors[1].collected_items(paths), settings)
        reading, row = selected.places()
        pages = [page for file in map(read_stage, chosen.files) for page in zip(*rows_of(file), strict=True)]
        assert pages == list(zip(selected.pages, reading.tolist(), row.tolist(), strict=True))
        assert list(chosen.aliases.items()) == list(selected.aliases.items())
        assert list(chosen.older()) == selected.older
        assert summed(chosen.skips) == summed(selected.skips)
        assert chosen.rows_of(SerialPool(1), selected.pages) == selected.row_of
        placed: dict[int, tuple[int, int]] = {}
        for number, file in places_of_groups(SerialPool(1), spool, chosen).items():
            columns = read_stage(file)
            readings = (columns["reading"] + chosen.groups[number].first).tolist()
            placed |= dict(
                zip(columns["place"].tolist(), zip(readings, columns["row"].tolist(), strict=True), strict=True)
            )
        assert placed == dict(enumerate(zip(reading.tolist(), row.tolist(), strict=True)))


def rows_of(file: dict[str, Any]) -> tuple[Any, ...]:
    return strings_in(file, "url"), file["reading"].tolist(), file["row"].tolist()
