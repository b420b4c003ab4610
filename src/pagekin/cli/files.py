"""Files that commands write: whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pagekin.errors import FailureError


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """A place to write to, which becomes `target` when all is written and vanishes when that fails."""
    temporary = target.with_name(target.name + ".new")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        raise FailureError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_lines(target: Path, lines: Iterable[str]) -> int:
    """Write lines; how many."""
    count = 0
    with written_whole(target) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count
