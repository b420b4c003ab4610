from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.hrefs import list_hrefs
from twins import hrefs as twin

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


@settings(deadline=None)
@given(st.lists(NASTY, min_size=1, max_size=8))
def test_kernel_and_twin_list_the_same(hrefs: list[bytes]) -> None:
    assert listed(hrefs) == [line + b"\n" for line in twin.list_hrefs(hrefs)]
