"""Plain reference of `kernels/hrefs.py`."""

from __future__ import annotations

_AROUND = bytes(range(33))


def without_fragment(href: bytes) -> bytes:
    """What resolves to the same: the href up to its fragment, but for one that would then end in white space.

    >>> without_fragment(b"a.html#b"), without_fragment(b"a #b")
    (b'a.html', b'a #b')
    """
    before = href.partition(b"#")[0]
    return before if before == before.rstrip(_AROUND) else href


def list_hrefs(hrefs: list[bytes]) -> list[bytes]:
    """Each href as it is kept."""
    return [href.strip(_AROUND).translate(None, b"\t\n\r") for href in hrefs]
