"""UTF-8 as Python decodes it."""

from __future__ import annotations


def is_utf8(data: bytes) -> bool:
    """Whether Python can decode it."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
