"""ZIM files, written by libzim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from libzim.writer import Creator, Hint, Item, StringProvider


class Page(Item):  # type: ignore[misc]
    """A page of a ZIM file."""

    def __init__(self, path: str, title: str, body: str, kind: str = "text/html") -> None:
        super().__init__()
        self._facts = path, title, body, kind

    def get_path(self) -> str:
        return self._facts[0]

    def get_title(self) -> str:
        return self._facts[1]

    def get_mimetype(self) -> str:
        return self._facts[3]

    def get_contentprovider(self) -> Any:
        return StringProvider(self._facts[2])

    def get_hints(self) -> Mapping[Any, int]:
        return {Hint.FRONT_ARTICLE: 1}


def write_zim(path: Path, pages: Iterator[Page], cluster_size: int = 2) -> Path:
    with Creator(path).config_clustersize(cluster_size) as creator:
        creator.set_mainpath("Oak")
        for page in pages:
            creator.add_item(page)
        creator.add_redirection("Quercus", "Quercus", "Oak", {})
        creator.add_metadata("Language", "deu")
        creator.add_metadata("Title", "Trees")
    return path
