"""What all sources have in common that are one file with many pages."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pagekin.model.capture import Origin, ReadingSettings, Skip, SourceItem, Unchanged


class FileSource(ABC):
    """One file with many pages. It is read as a whole, or not at all if it has not changed."""

    def __init__(self, path: Path, settings: ReadingSettings, name: str = "") -> None:
        self.path = path
        self.name = name or path.name
        self.size = path.stat().st_size
        self.settings = settings
        self.whole = Origin(self.name, 0, self.size, path.stat().st_mtime_ns)

    def facts(self) -> Iterator[tuple[str, int, int]]:
        yield self.name, self.size, self.whole.modified

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        if is_unchanged(self.whole):
            yield Unchanged(self.whole)
        else:
            yield from self.read()

    @abstractmethod
    def read(self) -> Iterator[SourceItem]:
        """All that the file has."""


def with_counted_skips(items: Iterable[SourceItem]) -> Iterator[SourceItem]:
    """The items, and at the end one skip for each reason, with the first example: there may be millions of skips."""
    skipped: dict[tuple[str, str], tuple[int, str]] = {}
    for item in items:
        if isinstance(item, Skip):
            count, first = skipped.get((item.source, item.reason), (0, item.where))
            skipped[item.source, item.reason] = count + item.count, first
        else:
            yield item
    for (source, reason), (count, first) in skipped.items():
        yield Skip(source, reason, first, count)
