"""Bring related links into a built site, and take them out again."""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pagekin.errors import FailureError, MisuseError
from pagekin.model.jsons import json_field
from pagekin.model.progress import Progress
from pagekin.site.answers import SiteAnswers, answer_site
from pagekin.site.markup import page_text, with_list, without_list
from pagekin.site.options import SiteOptions
from pagekin.site.pages import CHANGED, SiteFolder, SitePage, digest_of
from pagekin.site.render import FOLDER, FORMAT, data_file, list_html, site_files, uses_folders
from pagekin.site.state import SiteState, check_same_site, fingerprint, load_state, save_state
from pagekin.site.write import check_inside, check_writable, replace_file
from pagekin.store.manifest import check_folder as check_store_folder

_TWICE = "more than once"  # in the reason for a page with two markers


@dataclass(frozen=True)
class SiteChange:
    """A file of a site that was changed, or would be: insert, update or remove a list, write or delete a file."""

    action: str
    path: str


@dataclass
class SiteReport:
    """What was done with a site, or what would be done."""

    folder: str
    index: str
    done: bool  # False if it was only looked at
    pages: int = 0
    lists: int = 0  # pages with related pages
    links: int = 0  # in these lists
    changes: list[SiteChange] = field(default_factory=list)
    # Pages without a list, and other files that were left alone: the reason, their number, and an example.
    left_out: list[tuple[str, int, str]] = json_field(default_factory=list, columns=("reason", "count", "example"))
    problems: list[tuple[str, str]] = json_field(default_factory=list, columns=("path", "problem"))

    def leave_out(self, found: Iterable[tuple[str, str]]) -> None:
        """Count pairs of a path and a reason."""
        counted: dict[str, list[str]] = {}
        for path, reason in found:
            counted.setdefault(reason, []).append(path)
        self.left_out += [(reason, len(paths), min(paths)) for reason, paths in sorted(counted.items())]


def update_site(
    folder: str | Path,
    options: SiteOptions | None = None,
    *,
    index: str | Path | None = None,
    data: str | Path | None = None,
    inject: bool = False,
    dry_run: bool = False,
    processes: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    **fields: Any,
) -> SiteReport:
    """Write the related pages of all pages of a site into its folder `pagekin` and, with `inject`, into its pages.

    `index` is a folder that is kept for the next run; by default it is beside the site. `data` is a data file for the
    templates of a generator. With `dry_run` the site stays as it is. Keywords are fields of `SiteOptions`.

    >>> pagekin.update_site("pages", index="pages.kin", dry_run=True).lists  # all pages but the home page
    8
    """
    root, chosen = _folder(folder), replace(options or SiteOptions(), **fields)
    kept = Path(index) if index is not None else default_index(root)
    check_store_folder(kept)
    if data is not None:
        _check_data(Path(data))
    state = load_state(kept)
    site = SiteFolder(root, chosen, state.pages, state.places_at(chosen.at))
    check_same_site(state, site, kept, chosen.allow_shrink)
    made = fingerprint(site, chosen)
    answers = state.answers
    if state.fingerprint != made or not answers.is_of({each.path for each in site.pages}):
        save_state(kept, SiteState(state.pages))  # marks the index as that of a site
        answers = answer_site(site, kept, chosen, processes, progress)
        save_state(kept, SiteState(site.pages, answers, made, site.places, chosen.at))
    report = SiteReport(str(folder), str(kept), done=not dry_run, pages=len(site.pages))
    report.lists = sum(map(bool, answers.lists.values()))
    report.links = sum(map(len, answers.lists.values()))
    writer = _Writer(root, site, report, dry_run)
    files = {root / name: content for name, content in site_files(answers.lists, answers.titles, chosen).items()}
    if data is not None:
        files[Path(data)] = data_file(answers.lists)
    _check_folder(root)
    pages = site.pages
    if inject:
        progress(Progress("inserting"))
        pages = _inject(site, answers, chosen, writer)
    writer.write_files(files)
    writer.delete(_stale(root, files))
    report.leave_out(site.left_out)
    if (after := SiteState(pages, answers, made, site.places, chosen.at)) != state:
        save_state(kept, after)
    return report


def revert_site(folder: str | Path, *, dry_run: bool = False) -> SiteReport:
    """Take all lists out of the pages of a site, which restores their bytes, and remove its folder `pagekin`.

    >>> pagekin.revert_site("pages").changes
    []
    """
    root = _folder(folder)
    report = SiteReport(str(folder), "", done=not dry_run)
    site = SiteFolder(root, SiteOptions())
    report.pages = len(site.pages)
    writer = _Writer(root, site, report, dry_run)
    with_block = [each for each in site.pages if each.block]
    check_inside(root, (each.path for each in with_block))
    writer.check(each.path for each in with_block)
    for page in with_block:
        writer.rewrite(page, "")
    report.leave_out(site.left_out)
    if _is_ours(root / FOLDER):
        check_inside(root, [f"{FOLDER}/related.json"])
        writer.delete(_stale(root, ()))
    return report


def default_index(folder: Path) -> Path:
    """The folder beside a site in which its index is kept.

    >>> default_index(Path("/srv/public")).name
    'public.kin'
    """
    resolved = folder.resolve()
    return resolved.with_name(resolved.name + ".kin")


def _folder(folder: str | Path) -> Path:
    root = Path(folder)
    if not root.is_dir():
        raise MisuseError(f"{root} is no folder; name the folder into which the generator has written the site")
    return root


def _is_ours(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / "related.json").read_bytes())["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _check_folder(root: Path) -> None:
    """Raise MisuseError if the file that says whose folder it is belongs to something else."""
    if (root / FOLDER / "related.json").exists() and not _is_ours(root / FOLDER):
        raise MisuseError(f"{root / FOLDER / 'related.json'} was not written by pagekin; rename it first")


def _check_data(file: Path) -> None:
    """Raise MisuseError if the data file would replace a file that is none: nothing else is lists by addresses."""
    if file.suffix.lower() != ".json":
        raise MisuseError(f"{file} should end in .json, as templates read lists from a JSON file")
    before = _content(file)
    if before is None and not file.exists():
        return
    try:
        lists = json.loads(before or b"[]")
        is_ours = isinstance(lists, dict) and all(key[:1] == "/" and type(lists[key]) is list for key in lists)
    except (ValueError, RecursionError):
        is_ours = False
    if not is_ours:
        raise MisuseError(f"{file} exists, and is no data file of pagekin; name another file, or remove it")


def _stale(root: Path, files: Iterable[Path]) -> list[Path]:
    """The files that pagekin has written in the site, but for those that it writes now."""
    keep, folder = set(files), root / FOLDER
    found = [folder / name for name in ("related.css", "embed.js", "related.json")]
    for parent, _, names in os.walk(folder / "pages"):
        found += [Path(parent, name) for name in names if name.endswith(".json")]
    return [each for each in sorted(found) if each not in keep and each.is_file() and not each.is_symlink()]


def _inject(site: SiteFolder, answers: SiteAnswers, options: SiteOptions, writer: "_Writer") -> list[SitePage]:
    """Bring the lists of all pages up to date; the pages as they are then."""
    folders = uses_folders([each.path for each in site.pages])
    html = {each.path: list_html(each.path, answers.lists.get(each.path, ()), options, folders) for each in site.pages}
    digests = {path: digest_of(text.encode()) if text else "" for path, text in html.items()}
    due = {each.path for each in site.pages if each.block != digests[each.path]}
    check_inside(site.path, due)
    writer.check(due)
    pages, placeless = [], []
    for page in site.pages:
        after: SitePage | str = page
        if page.path in due:
            after = writer.rewrite(page, html[page.path])
        if isinstance(after, str):
            placeless.append((page.path, after))
            after = page
        pages.append(after)
    writer.report.leave_out(placeless)
    if placeless and not any(each.block for each in pages) and not writer.report.changes:
        path, reason = placeless[0]
        raise FailureError(
            f"no page has a place for a list: {path} {reason}; name a place with --at, such as 'body' or '#content'"
        )
    return pages


@dataclass(frozen=True)
class _Writer:
    """Makes changes of a site, or only lists them, in a report."""

    root: Path
    site: SiteFolder
    report: SiteReport
    dry_run: bool

    def _note(self, action: str, path: Path | str) -> bool:
        """List a change; whether it is to be made."""
        self.report.changes.append(SiteChange(action, str(path)))
        return not self.dry_run

    def check(self, paths: Iterable[str]) -> None:
        if not self.dry_run:
            check_writable(self.root, paths)

    def rewrite(self, page: SitePage, html: str) -> SitePage | str:
        """Give a page this list, or none: the page as it is then, or the reason why there is no place for a list."""
        path = self.root / page.path
        try:
            before, data = path.lstat(), path.read_bytes()
        except OSError:
            return self._changed(page)
        original = without_list(page_text(data))
        if digest_of(original.data) != page.digest or not stat.S_ISREG(before.st_mode):
            return self._changed(page)
        new, reason = original.data, ""
        if html:
            place = self.site.place(page, original)
            if isinstance(place, int):
                new = with_list(original, place, html)
                if without_list(page_text(new)).data != original.data:
                    place = "has a damaged list; build the site again"
            if isinstance(place, str):
                new, reason, html = original.data, place, ""
                if _TWICE in reason:
                    self.report.problems.append((page.path, reason))
        after = replace(page, block=digest_of(html.encode()) if html else "")
        if new != data:
            action = "insert" if not page.block else "update" if html else "remove"
            if not self._note(action, page.path):
                return reason or page
            if not replace_file(path, new, before):
                self.report.changes.pop()
                return self._changed(page)
            status = path.lstat()
            after = replace(after, size=status.st_size, modified=status.st_mtime_ns)
        return reason or after

    def _changed(self, page: SitePage) -> SitePage:
        self.report.problems.append((page.path, CHANGED))
        return replace(page, size=-1)  # it is read again by the next run

    def write_files(self, files: dict[Path, bytes]) -> None:
        due = {path: content for path, content in files.items() if _content(path) != content}
        inside = [str(path.relative_to(self.root)) for path in due if path.is_relative_to(self.root)]
        check_inside(self.root, inside)
        self.check(inside)
        for path, content in due.items():
            if self._note("write", path.relative_to(self.root) if path.is_relative_to(self.root) else path):
                _make_folder(path.parent)
                replace_file(path, content, None)

    def delete(self, paths: list[Path]) -> None:
        for path in paths:
            if self._note("delete", path.relative_to(self.root)):
                path.unlink()
        if not self.dry_run:
            for folder in sorted({parent for path in paths for parent in _parents(path, self.root)}, reverse=True):
                if not any(folder.iterdir()):
                    folder.rmdir()


def _parents(path: Path, root: Path) -> Iterator[Path]:
    while (path := path.parent) != root:
        yield path


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the folder {folder} cannot be created: {error.strerror or error}"
        raise FailureError(f"{problem}; make its parent folder writable, or name another place") from error
