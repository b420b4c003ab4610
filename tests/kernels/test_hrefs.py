from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.hrefs import ends_without_fragments, list_hrefs
from pagekin.urls import resolve_url
from reference import hrefs as reference

NASTY = st.binary(max_size=12) | st.sampled_from([b"", b" ", b" a b\n", b"a\tb\r\nc", b"\x00a"])


def listed(hrefs: list[bytes]) -> list[bytes]:
    data = np.frombuffer(b"".join(hrefs), np.uint8)
    ends = np.cumsum([len(href) for href in hrefs], dtype=np.int64)
    starts = ends - np.array([len(href) for href in hrefs], np.int64)
    lines, begins = list_hrefs(data, starts, ends)
    assert begins[-1] == len(lines)
    return [lines[a:b].tobytes() for a, b in itertools.pairwise(begins)]


def test_white_space_around_and_breaks_inside_an_href_are_left_out() -> None:
    assert listed([b" a.html ", b"b\n.html", b"", b"c d"]) == [b"a.html\n", b"b.html\n", b"\n", b"c d\n"]


def cut(hrefs: list[bytes]) -> list[bytes]:
    lines = b"".join(href + b"\n" for href in hrefs)
    begins = np.cumsum([0, *(len(href) + 1 for href in hrefs)], dtype=np.int64)
    ends = ends_without_fragments(np.frombuffer(lines, np.uint8), begins)
    return [lines[a:b] for a, b in zip(begins[:-1].tolist(), ends.tolist(), strict=True)]


def test_a_fragment_does_not_count() -> None:
    assert cut([b"a#b#c", b"#", b"", b"a", b"a #b"]) == [b"a", b"", b"", b"a", b"a #b"]


FRAGMENTS = st.lists(st.sampled_from([b"a", b"#", b" ", b"?", b"http:", b"//h", b"/", b":", b"\x01"]), max_size=6)


@settings(deadline=None)
@given(st.lists(FRAGMENTS.map(b"".join), min_size=1, max_size=4))
def test_kernel_and_reference_cut_the_same(hrefs: list[bytes]) -> None:
    assert cut(hrefs) == [reference.without_fragment(href) for href in hrefs]


@settings(deadline=None)
@given(FRAGMENTS.map(b"".join))
def test_an_href_means_the_same_without_its_fragment(href: bytes) -> None:
    (kept,) = reference.list_hrefs([href])
    (without,) = cut([kept])
    base = "http://a.example/b/c.html?d"
    assert resolve_url(base, without.decode()) == resolve_url(base, kept.decode())


@settings(deadline=None)
@given(st.lists(NASTY, min_size=1, max_size=8))
def test_kernel_and_reference_list_the_same(hrefs: list[bytes]) -> None:
    assert listed(hrefs) == [line + b"\n" for line in reference.list_hrefs(hrefs)]
