"""A file that a user names, and that may be anything."""

from __future__ import annotations

from pathlib import Path

from pagekin.errors import MisuseError


def read_bounded(path: Path, most: int, what: str) -> bytes:
    """The bytes of a file that should hold `what`; one that has more than `most` does not."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise MisuseError(f"{path} cannot be read: {error.strerror or error}; it should hold {what}") from error
    if len(data) > most:
        raise MisuseError(f"{path} does not hold {what}: it has more than {most:,} bytes")
    return data
