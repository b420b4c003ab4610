"""Columns from a disk: a number that leads nowhere is refused before anything uses it as an index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.errors import StoreError
from pagekin.model.arrays import Array, Strings, offsets_of
from pagekin.model.capture import Capture, Origin, ReadingSettings
from pagekin.model.reading import Links, Reading
from pagekin.reading.batch import read_captures
from pagekin.store.checks import check_below, check_finite, check_links, check_reading, check_urls, rules_of
from pagekin.store.collect import Spool, write_batch
from pagekin.store.columns import columns_of, open_array, write_columns

HTML = b"<title>A b</title><p>One <a href=x>two</a> three. Four <a href='mailto:y'>five</a><p>Six seven. Eight"
# Columns whose numbers index nothing: facts of pages, hashes, flags, bytes, and the places of words in a text, by which
# Python slices it.
PLAIN = {
    *(f"pages.{name}" for name in "offset captured flags html_bytes digest".split()),
    *(f"pages.{name}_dropped" for name in ("links", "urls", "words")),
    *("sources.size", "sources.modified", "sources.whole"),
    *("blocks.kinds", "blocks.hash", "anchors.flags", "text.data", "hrefs.data"),
}


def sample() -> Reading:
    captures = [Capture(f"http://a.example/{k}", Origin("a", k, 9, 1), body=HTML) for k in range(3)]
    return read_captures(captures, ReadingSettings())


def numbers(reading: Reading) -> Iterator[str]:
    """The names of the columns, without strings and offsets."""
    for name, _ in columns_of(reading):
        if not name.endswith("offsets") and not name.endswith(("url.data", "title.data", "name.data")):
            yield name


def changed(reading: Any, name: str, column: Array) -> Any:
    """The reading with another column."""
    first, _, rest = name.partition(".")
    return replace(reading, **{first: changed(getattr(reading, first), rest, column) if rest else column})


def column_of(reading: Reading, name: str) -> Array:
    return dict(columns_of(reading))[name].copy()


def test_what_was_just_read_is_sound() -> None:
    assert check_reading(sample()) is not None


NAMES = [name for name in numbers(sample()) if name.count(".") == 1 and not name.startswith(("forms", "targets"))]


@pytest.mark.parametrize("name", sorted(set(NAMES) - PLAIN))
def test_every_column_of_indices_is_declared_and_checked(name: str) -> None:
    """A new column of numbers must be declared with `IndexOf` or `PlaceIn`, or be listed here as plain."""
    reading = sample()
    column = column_of(reading, name)
    assert len(column)
    column[len(column) // 2] = np.iinfo(column.dtype).max - 1
    with pytest.raises(StoreError, match=rf"{name}\.npy is damaged .*; build the store again"):
        check_reading(changed(reading, name, column))


def test_plain_columns_exist() -> None:
    assert set(NAMES) >= PLAIN


@pytest.mark.parametrize("name", ["blocks.token", "blocks.place"])
def test_blocks_that_do_not_ascend_are_refused(name: str) -> None:
    """Kernels would read the words between two blocks again and again, and write more than there is room for."""
    reading = sample()
    column, offsets = column_of(reading, name), reading.blocks.offsets
    first = slice(*offsets[:2].tolist())
    column[first] = column[first][::-1]
    with pytest.raises(StoreError, match=rf"{name}\.npy is damaged \(its numbers do not ascend\)"):
        check_reading(changed(reading, name, column))


ROWS = st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(0, 5), max_size=4)), max_size=6)


@given(ROWS)
def test_places_are_checked_as_a_loop_checks_them(rows: list[tuple[int, list[int]]]) -> None:
    """`rows` has the number of tokens of each page, and the first tokens of its blocks."""
    captures = [Capture(f"http://a.example/{k}", Origin("a", k, 9, 1), body=b"<p>x") for k in range(len(rows))]
    reading = read_captures(captures, ReadingSettings())
    tokens = offsets_of(np.array([count for count, _ in rows], np.int64))
    blocks = offsets_of(np.array([len(some) for _, some in rows], np.int64))
    flat = np.array([token for _, some in rows for token in some], np.uint32)
    form, nothing = np.zeros(tokens[-1], np.uint32), np.zeros(len(flat), np.uint32)
    reading = replace(
        reading,
        tokens=replace(reading.tokens, offsets=tokens, form=form),
        blocks=replace(reading.blocks, offsets=blocks, token=flat, place=nothing),
        sentences=replace(reading.sentences, offsets=np.zeros(len(rows) + 1, np.int64), token=flat[:0]),
    )
    sound = all(some == sorted(some) and all(token <= count for token in some) for count, some in rows)
    try:
        check_reading(reading)
        assert sound
    except StoreError:
        assert not sound


def test_links_lead_to_anchors_of_their_page() -> None:
    reading = sample()
    count = int(reading.anchors.lengths()[0])
    page, anchor = np.array([0, 2], np.uint32), np.array([0, count - 1], np.uint32)
    check_links(Links(np.array([0, 2]), page, anchor), reading)
    for wrong in ((np.array([0, 3], np.uint32), anchor), (page, np.array([0, count], np.uint32))):
        with pytest.raises(StoreError, match=r"links\.(page|anchor)\.npy is damaged"):
            check_links(Links(np.array([0, 2]), *wrong), reading)


def test_urls_have_a_scheme_and_are_text() -> None:
    check_urls(Strings.of(["http://a.example/", "https://b.example/x"]), "x")
    for wrong in (b"", b"/elpmaxe.a//:ptth", b"http:/a.example", b"http://a.example/\xff"):
        with pytest.raises(StoreError, match="something else than URLs"):
            check_urls(Strings.of([b"http://a.example/", wrong]), "x")


def test_bounds_hold_at_their_ends() -> None:
    check_below(np.array([0, 4]), 5, "x")
    check_below(np.array([0, 9], np.uint32), 5, "x", none=9)
    check_below(np.empty(0, np.uint32), 0, "x")
    check_finite(np.array([0.0, 1.0]), "x", most=1.0)
    for numbers in ([5], [-1]):
        with pytest.raises(StoreError, match="a number is not below 5"):
            check_below(np.array(numbers), 5, "x")
    for value in (np.nan, np.inf, -np.inf, -0.5, 1.5):
        with pytest.raises(StoreError, match="out of range"):
            check_finite(np.array([0.5, value]), "x", most=1.0)


def test_numbers_of_a_column_are_checked_in_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.store.checks._BLOCK", 4)
    for place in range(10):
        column = np.zeros((10, 2), np.uint32)
        column[place, 1] = 7
        with pytest.raises(StoreError):
            check_below(column, 7, "x")


def test_a_column_of_another_type_is_refused(tmp_path: Path) -> None:
    write_columns(tmp_path, {"column": np.arange(4, dtype=np.int32)})
    for kind, dimensions in ((np.uint32, 1), (np.int32, 2)):
        with pytest.raises(StoreError, match=r"column\.npy is damaged \(it h(olds int32|as 1 dimensions)\)"):
            open_array(tmp_path, "column", kind, dimensions, below=None)
    with pytest.raises(StoreError, match=r"a number is not below 3"):
        open_array(tmp_path, "column", np.int32, below=3)


# --- batches of an unfinished build --------------------------------------------------------------

WAY = {"reader": 1}


def with_header(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A batch with another header and the right checksum. Columns stay where they are, if there is room."""
    line, _, rest = data.partition(b"\n")
    header = json.loads(line)
    change(header["columns"])
    changed = json.dumps(header, separators=(",", ":")).encode()
    assert len(changed) <= len(line)
    whole = changed.ljust(len(line)) + b"\n" + rest[:-32]
    return whole + sha256(whole).digest()


def typed(name: str, dtype: str) -> Callable[[dict[str, Any]], None]:
    return lambda columns: columns.update({name: [dtype, columns[name][1]]})


def shaped(name: str, *shape: Any) -> Callable[[dict[str, Any]], None]:
    return lambda columns: columns.update({name: [columns[name][0], list(shape)]})


HEADERS = {
    "objects": typed("tokens.form", "|O"),
    "pointers of pages": typed("pages.captured", "|O"),
    "signed": typed("tokens.form", "<i4"),
    "of other bytes": typed("tokens.form", ">u4"),
    "negative": shaped("tokens.form", -3),
    "of a broken number": shaped("tokens.form", 1.5),
    "true": shaped("tokens.form", True),
    "huge": shaped("text.data", 1 << 62),
    "overflowing": shaped("pages.digest", 1 << 33, 1 << 33),
    "of more dimensions": shaped("pages.digest", 3, 4, 4),
    "narrow": shaped("pages.digest", 3, 15),
}


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS)
def test_the_types_and_places_of_a_batch_are_not_believed(
    tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    place = tmp_path / "batch-000000"
    write_batch(place, check_reading(sample()), WAY)
    assert Spool(tmp_path, WAY).open() == [place]
    place.write_bytes(with_header(place.read_bytes(), change))
    assert Spool(tmp_path, WAY).open() == []


def test_the_numbers_of_a_batch_are_not_believed(tmp_path: Path) -> None:
    reading, place = sample(), tmp_path / "batch-000000"
    parts = {name: getattr(reading, name) for name in ("tokens", "titles", "blocks", "anchors", "pages", "sentences")}
    for name, part in parts.items():
        for column in rules_of(type(part)):
            if (full := f"{name}.{column}") not in PLAIN:
                wrong = column_of(reading, full)
                wrong[-1] = np.iinfo(wrong.dtype).max - 1
                write_batch(place, changed(reading, full, wrong), WAY)
                assert Spool(tmp_path, WAY).open() == [], full
