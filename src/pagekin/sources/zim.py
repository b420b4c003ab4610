"""ZIM files, as Kiwix reads them, through libzim (extra `zim`).

A ZIM file packs pages into compressed clusters. Pages are read in the order of their clusters, so that each cluster is
decompressed once; in the order of their paths it would be done many times.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.errors import MisuseError, SourceError, need
from pagekin.model.arrays import Int64s
from pagekin.model.capture import (
    NOT_HTML,
    Capture,
    Origin,
    ReadingSettings,
    Redirect,
    Skip,
    SourceItem,
)
from pagekin.sources.single_file import FileSource, with_counted_skips
from pagekin.urls import file_url

ZIM_NAME = re.compile(r"\.zim(?:[a-z]{2})?\Z", re.I)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_HEADER = struct.Struct("<IHH16sIIQ")  # magic, version (2), uuid, entries, clusters, place of the pointers to entries
_MAGIC = 72173914
_ENTRY = struct.Struct("<HxxxxxxI")  # the beginning of an entry: its type and its cluster
_REDIRECT = 0xFFFF  # as a type: an entry without a cluster
_CACHE = 64 << 20  # bytes of clusters that libzim keeps
# ISO 639-3, which ZIM files use, to 639-1, which web pages and strategies use.
_LANGUAGES = dict(
    pair.split("=")
    for pair in "ara=ar cat=ca ces=cs dan=da deu=de ell=el eng=en eus=eu fin=fi fra=fr gle=ga hin=hi hun=hu hye=hy"
    " ind=id ita=it jpn=ja kor=ko lit=lt nld=nl nor=no pol=pl por=pt ron=ro rus=ru spa=es srp=sr swe=sv tam=ta tur=tr"
    " ukr=uk zho=zh".split()
)


class ZimSource(FileSource):
    """The pages of a ZIM file; a split one is named by its first part, `.zimaa`."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        need("libzim", what=f"{path.name}, a ZIM file,", extra="zim")
        super().__init__(path, settings)
        self._is_split = not path.name.lower().endswith(".zim")
        if self._is_split and not path.name.lower().endswith(".zimaa"):
            raise MisuseError(f"{path} is a part of a split ZIM file; name the first part, which ends in .zimaa")
        parts = path.parent.glob(path.name[:-2] + "??") if self._is_split else [path]
        self.size = sum(part.stat().st_size for part in parts)
        self.whole = replace(self.whole, size=self.size)
        host = re.sub(r"[^a-z0-9-]+", "-", path.name.lower().partition(".zim")[0]).strip("-")
        self.base = f"http://{host or 'zim'}.localhost/"

    def read(self) -> Iterator[SourceItem]:
        archive = self._open()
        language = self._language(archive)
        order = self._order(archive.all_entry_count)
        return with_counted_skips(self._item(archive, number, language) for number in order)

    def _open(self) -> Any:
        from libzim.reader import Archive, set_cluster_cache_max_size

        set_cluster_cache_max_size(_CACHE)
        try:
            return Archive(self.path.with_name(self.path.name[:-2]) if self._is_split else self.path)
        except (RuntimeError, ValueError) as error:
            raise SourceError(
                f"{self.path} is no ZIM file that libzim can read ({str(error)[:200]}); if its download broke off, or"
                " parts of it are missing, fetch it again"
            ) from error

    def _order(self, count: int) -> list[int]:
        """The numbers of all entries, by their clusters if these can be told."""
        clusters = None if self._is_split else _clusters(self.path, count)
        return list(range(count)) if clusters is None else np.argsort(clusters, kind="stable").tolist()

    def _language(self, archive: Any) -> str:
        try:
            language = bytes(archive.get_metadata("Language")).decode("utf-8", "replace").partition(",")[0].strip()
        except (RuntimeError, KeyError):
            return ""
        return _LANGUAGES.get(language, language)

    def _item(self, archive: Any, number: int, language: str) -> SourceItem:
        where = f"entry {number}"
        try:
            entry = archive._get_entry_by_id(number)
            where = str(entry.path)
            url = self._url(where)
            if url is None or len(url) > self.settings.max_url_bytes:
                return Skip(self.name, "no URL can be made of its path", where[:200])
            origin = Origin(self.name, number, self.size, self.whole.modified)
            if entry.is_redirect:
                target = self._url(str(entry.get_redirect_entry().path))
                return Redirect(url, target or url, origin)
            item = entry.get_item()
            if not item.mimetype.startswith(_HTML_TYPES):
                return Skip(self.name, NOT_HTML, where)
            if item.size > self.settings.max_page_bytes:
                return Skip(self.name, "page too large", where)
            body, title = bytes(item.content), str(entry.title)
        except (RuntimeError, KeyError, ValueError, IndexError):  # of libzim
            return Skip(self.name, "damaged entry", where)
        return Capture(url, origin, body=body, title=title, language=language)

    def _url(self, path: str) -> str | None:
        return file_url(self.base, path.encode("utf-8", "replace"))


def _clusters(path: Path, count: int) -> Int64s | None:
    """The cluster of each entry, -1 for a redirect; None if the file does not have the expected structure."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        if len(mapped) < _HEADER.size:
            return None
        magic, _, _, _, entries, _, place = _HEADER.unpack_from(mapped)
        if magic != _MAGIC or entries != count or place + 8 * count > len(mapped):
            return None
        starts = struct.unpack_from(f"<{count}Q", mapped, place)
        if max(starts, default=0) > len(mapped) - _ENTRY.size:
            return None
        found = np.empty(count, np.int64)
        for k, start in enumerate(starts):
            kind, cluster = _ENTRY.unpack_from(mapped, start)
            found[k] = -1 if kind == _REDIRECT else cluster
        return found
