"""WACZ files written by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping


def wacz(files: Mapping[str, bytes], way: int = zipfile.ZIP_STORED) -> bytes:
    """A zip of these files, the same bytes every time."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, way)
    return target.getvalue()
