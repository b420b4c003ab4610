"""Plain hrefs, in folders."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.kernels.hrefs import join_plain, levels_of_plain
from pagekin.model.arrays import Strings
from pagekin.urls import resolve_url
from reference import hrefs as reference

SEGMENTS = st.sampled_from(
    ["..", ".", "", "a", "B-1", "oak.html", ".b", "c..", "~d_", "%41", "e?f", "g#h", "é", "i:", "j\\"]
)
HREFS = st.lists(SEGMENTS, max_size=6).map("/".join)
FOLDERS = st.lists(st.sampled_from(["a", "b.c", "%2F"]), max_size=4).map(
    lambda path: "/".join(["http://site.example", *path, ""])
)


def levels(hrefs: list[str]) -> list[int]:
    packed = Strings.of(hrefs)
    return levels_of_plain(packed.data, packed.offsets[:-1], packed.offsets[1:]).tolist()  # type: ignore[no-any-return]


def joined(folders: list[str], pairs: list[tuple[int, str]]) -> list[str]:
    packed, hrefs = Strings.of(folders), Strings.of(href for _, href in pairs)
    spans = hrefs.data, hrefs.offsets[:-1], hrefs.offsets[1:]
    which = np.array([folder for folder, _ in pairs], np.int64)
    data, offsets = join_plain(packed.data, packed.offsets, which, *spans, levels_of_plain(*spans))
    return list(Strings(offsets, data))


def test_a_plain_href_has_neither_escapes_nor_dots_before_a_name() -> None:
    assert levels(["oak.html", "../../trees/oak/", "../", "", "/oak", "./oak", "a//b", "a%20b", "a/../b"]) == [
        *(0, 2),
        *[-1] * 7,
    ]


def test_no_level_is_above_that_of_the_host() -> None:
    folders = ["http://a.example/", "http://a.example/b/c/"]
    assert joined(folders, [(1, "../d"), (1, "../../../d"), (0, "../d"), (0, "d")]) == [
        "http://a.example/b/d",
        *["http://a.example/d"] * 3,
    ]


@given(st.lists(HREFS))
def test_plain_hrefs_are_those_of_the_reference(hrefs: list[str]) -> None:
    assert levels(hrefs) == list(map(reference.levels_of_plain, hrefs))


@given(st.lists(FOLDERS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), HREFS)))
def test_plain_hrefs_mean_what_the_resolver_says(folders: list[str], drawn: list[tuple[int, str]]) -> None:
    pairs = [(k % len(folders), href) for k, href in drawn if reference.levels_of_plain(href) >= 0]
    assert joined(folders, pairs) == [resolve_url(folders[k] + "page.html", href) for k, href in pairs]
