"""Plain twin of `kernels/hrefs.py`."""

from __future__ import annotations

_AROUND = bytes(range(33))


def list_hrefs(hrefs: list[bytes]) -> list[bytes]:
    """Each href as it is kept."""
    return [href.strip(_AROUND).translate(None, b"\t\n\r") for href in hrefs]
