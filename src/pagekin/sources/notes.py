"""Notes: the Markdown files of a folder, with front matter, names and aliases.

A wiki link names a note, not its file. Each name is a redirect from `note_href` of the name to the note, so a note that
is moved or renamed changes its redirects, and the notes that link to it need not be read again.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pagekin.model.capture import Capture, Origin, PageFormat, Redirect, Skip, SourceItem
from pagekin.model.files import MARKDOWN_SUFFIXES
from pagekin.model.notes import LONGEST, FrontMatter, note_href, split_front_matter
from pagekin.sources.jsonl import captured_time

_DRAFTS = "_drafts"  # a folder, as Jekyll and others name it
_HEADING = re.compile(r"\s*#[ \t]+(.{1,300}?)[ \t#]*(?:\n|\Z)")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`", re.M | re.S)
_TAG = re.compile(r"(?<!\S)#([\w-]*[^\W\d][\w/-]*)")
_LONGEST_NAME = 500  # characters; the same as for a wiki link


class NoteNames:
    """The names of all notes of a folder: their paths, file names and aliases."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._files: dict[str, list[tuple[int, str, Redirect]]] = {}
        self._aliases: dict[str, list[tuple[int, str, Redirect]]] = {}

    def add(self, capture: Capture, relative: str, aliases: tuple[str, ...]) -> None:
        origin = replace(capture.origin, offset=0)
        stem = relative[: -len(_suffix(relative))]
        for name in {stem, stem.rpartition("/")[2]}:
            self._add(self._files, name, relative, capture.url, origin)
        for alias in aliases:
            self._add(self._aliases, alias, relative, capture.url, origin)

    def _add(
        self, names: dict[str, list[tuple[int, str, Redirect]]], name: str, relative: str, url: str, origin: Origin
    ) -> None:
        if len(name) <= _LONGEST_NAME:
            href = "/".join(url.split("/", 3)[:3]) + note_href(name)
            names.setdefault(href, []).append((relative.count("/"), relative, Redirect(href, url, origin)))

    def items(self) -> Iterator[SourceItem]:
        """A redirect for every name. Of several notes with one name, that with the shortest path is meant."""
        several: list[str] = []
        for notes in (self._aliases | self._files).values():
            _, _, chosen = min(notes, key=lambda note: note[:2])
            yield chosen
            if len(notes) > 1:
                several.append(max(notes, key=lambda note: note[:2])[1])
        if several:
            reason = "note with the name of another (kept; links by that name lead to the other)"
            yield Skip(self._source, reason, min(several), len(several))


def note_capture(capture: Capture, relative: str, names: NoteNames) -> Capture | Skip:
    """The capture of a note with what its front matter says; its names are added to `names`."""
    if any(part == _DRAFTS for part in relative.split("/")[:-1]):
        return Skip(capture.origin.source, "draft", relative)
    matter, body = read_note(Path(capture.path), LONGEST)
    if matter.draft:
        return Skip(capture.origin.source, "draft", relative)
    heading = _HEADING.match(body)
    stem = relative.rpartition("/")[2]
    title = matter.title or (heading[1] if heading else stem[: -len(_suffix(stem))])
    captured = captured_time(matter.date) or capture.captured
    names.add(capture, relative, matter.aliases)
    return replace(capture, title=title, language=matter.language, captured=captured, format=PageFormat.MARKDOWN)


def read_note(path: Path, most: int) -> tuple[FrontMatter, str]:
    """The front matter of a file and the beginning of its text; nothing if it cannot be read, which reading tells."""
    try:
        with path.open("rb") as file:
            return split_front_matter(file.read(most).decode("utf-8", "replace").replace("\r\n", "\n"))
    except OSError:
        return FrontMatter(), ""


def note_tags(path: Path, most: int) -> tuple[str, ...]:
    """The tags of a note, from its front matter and its text."""
    matter, body = read_note(path, most)
    found = (tag.strip("/") for tag in (*matter.tags, *_TAG.findall(_FENCED.sub(" ", body))))
    return tuple(dict.fromkeys(found))


def _suffix(name: str) -> str:
    return next(suffix for suffix in MARKDOWN_SUFFIXES if name.lower().endswith(suffix))
