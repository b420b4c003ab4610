"""Folders and single pages: every file is the page of its path, and nothing in a folder can stop the walk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.errors import PagekinError, SourceError
from pagekin.model.capture import Capture, ReadingSettings, Skip
from pagekin.pipeline import build
from pagekin.reading.bodies import Body, load_body
from pagekin.store.store import Store
from pagekin.urls import resolve_url
from sources.measure import within
from sources.walk import capture, captures, file, items, skipped
from sources.warcs import DAY_SECONDS, page

BASE = "http://a.example/site/"


def site(root: Path, *names: str) -> Path:
    """A folder `site` with a page in each of these files, which says the file's name."""
    for name in names:
        file(root / "site" / name, page(name))
    return root / "site"


def urls(folder: Path, base: str = BASE) -> set[str]:
    return {each.url for each in captures(folder, bases=(base,))}


def body(found: Capture) -> bytes:
    loaded = load_body(found, ReadingSettings())
    assert isinstance(loaded, Body)
    return loaded.html


def built(*sources: Path, bases: tuple[str, ...] = (BASE,)) -> Store:
    return build(sources, sources[0].parent / "built.kin", base_urls=bases, processes=1).store


def test_what_was_written_comes_out(tmp_path: Path) -> None:
    folder = site(tmp_path, "index.html", "a/b/c.htm", "a/d.xhtml", "a/e.shtml", "A/UPPER.HTML")
    found = {each.url: each for each in captures(folder, bases=(BASE,))}
    assert {url: body(each) for url, each in found.items()} == {
        BASE + name: page(name) for name in ("index.html", "a/b/c.htm", "a/d.xhtml", "a/e.shtml", "A/UPPER.HTML")
    }
    origin = found[BASE + "a/b/c.htm"].origin
    status = (folder / "a/b/c.htm").stat()
    assert (origin.source, origin.size, origin.modified) == ("site/a/b/c.htm", status.st_size, status.st_mtime_ns)


def test_time_of_a_page_is_that_of_its_file(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    os.utime(folder / "a.html", (1, DAY_SECONDS + 0.9))
    assert capture(folder, bases=(BASE,)).captured == DAY_SECONDS


def test_single_page_is_a_folder_of_one(tmp_path: Path) -> None:
    path = site(tmp_path, "A%28b%29.htm") / "A%28b%29.htm"
    found = capture(path, bases=(BASE,))
    assert (found.url, found.origin.source, body(found)) == (BASE + "A%2528b%2529.htm", path.name, page(path.name))


# --- names ---------------------------------------------------------------------------------------

NAMES = {
    "A%28b%29.htm": "A%2528b%2529.htm",
    "100%.html": "100%25.html",
    "%zz%.html": "%25zz%25.html",
    "a b.html": "a%20b.html",
    "a+b.html": "a+b.html",
    "q?x=1.html": "q%3Fx=1.html",
    "#top.html": "%23top.html",
    "a&b;c.html": "a&b;c.html",
    'quotes"and<tags>.html': "quotes%22and%3Ctags%3E.html",
    "back\\slash.html": "back%5Cslash.html",
    "line\nbreak\t.html": "line%0Abreak%09.html",
    "über/Ärger.html": "%C3%BCber/%C3%84rger.html",
    "日本語.html": "%E6%97%A5%E6%9C%AC%E8%AA%9E.html",
    "tilde~-._.html": "tilde~-._.html",
    "...html": "...html",
    ".hidden/.a.html": ".hidden/.a.html",
    " .html": "%20.html",
}


@pytest.mark.parametrize("name", NAMES)
def test_path_is_encoded_once(name: str, tmp_path: Path) -> None:
    assert urls(site(tmp_path, name)) == {BASE + NAMES[name]}


# What a file system forbids in a name, or what is too long for it.
FILE_NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), max_size=40)


@settings(deadline=None, max_examples=60)
@given(FILE_NAMES)
def test_link_meets_the_file_whose_name_it_encodes(tmp_path_factory: pytest.TempPathFactory, stem: str) -> None:
    name = stem + ".html"
    found = capture(site(tmp_path_factory.mktemp("names"), name), bases=(BASE,))
    assert unquote_to_bytes(found.url.removeprefix(BASE)) == os.fsencode(name)
    # Encoded are all characters that may not stand in a path (RFC 3986, section 3.3).
    assert resolve_url(BASE + "index.html", "./" + quote(name, safe="~!$&'()*+,;=:@")) == found.url


@pytest.mark.parametrize("href", ["C%2B%2B%20%28language%29.html", "C++%20(language).html", "C++ (language).html"])
def test_link_meets_its_file_however_much_of_it_is_encoded(href: str, tmp_path: Path) -> None:
    """`quote` of Python encodes brackets, `encodeURI` of JavaScript does not; a server finds the file for both."""
    found = capture(site(tmp_path, "C++ (language).html"), bases=(BASE,))
    assert resolve_url(BASE + "index.html", href) == found.url


def test_file_and_link_with_a_percent_sign_meet_in_the_store(tmp_path: Path) -> None:
    folder = site(tmp_path, "A%28b%29.htm")
    file(folder / "index.html", b'<a href="A%2528b%2529.htm">there</a>')
    store = built(folder)
    assert store.manifest.counts["outside"] == 0
    assert store.manifest.counts["links"] == 1


def test_name_that_is_no_utf8_is_encoded_byte_by_byte(tmp_path: Path) -> None:
    folder = site(tmp_path, "good.html")
    try:
        (folder / os.fsdecode(b"caf\xe9.html")).write_bytes(page("coffee"))
    except OSError:
        pytest.skip("this file system knows no such names")
    assert urls(folder) == {BASE + "good.html", BASE + "caf%E9.html"}
    store = built(folder)
    assert list(store.reading.pages.url) == [BASE + "caf%E9.html", BASE + "good.html"]


def test_other_file_whose_name_is_no_utf8_is_counted(tmp_path: Path) -> None:
    folder = site(tmp_path, "good.html")
    try:
        (folder / os.fsdecode(b"caf\xe9.png")).write_bytes(b"\x89PNG")
    except OSError:
        pytest.skip("this file system knows no such names")
    store = built(folder)
    assert (len(store), store.manifest.skipped) == (1, {"not HTML": 1})


def test_path_of_which_no_url_can_be_made_is_counted(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.example/x.html", "no host!/y.html", "under_score.example/z.html")
    found = items(folder, bases=("http://",))
    assert {each.url for each in found if isinstance(each, Capture)} == {
        "http://a.example/x.html",
        "http://under_score.example/z.html",
    }
    assert skipped(found) == {"no URL can be made of its path": 1}


# --- what else lies in folders -------------------------------------------------------------------


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    with pytest.raises(SourceError, match="no page was found"):
        built(tmp_path / "site")


def test_a_file_with_server_side_includes_is_a_page(tmp_path: Path) -> None:
    found = items(site(tmp_path, "a.shtml", "B.SHTML"), bases=(BASE,))
    assert skipped(found) == {}
    assert {each.url for each in found if isinstance(each, Capture)} == {BASE + "a.shtml", BASE + "B.SHTML"}


def test_other_files_are_counted(tmp_path: Path) -> None:
    found = items(site(tmp_path, "a.html", "style.css", "deep/image.png", "html", "a.html.gz"))
    assert skipped(found) == {"not HTML": 4}
    assert len(found) == 2


def test_store_in_the_folder_is_no_page(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html", "my.kin/manifest.html", "deep/your.kin/store-1/b.html")
    assert urls(folder) == {BASE + "a.html"}


def test_store_may_be_built_inside_its_own_folder(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    for _ in range(2):
        store = build([folder], folder / "site.kin", processes=1).store
        assert (len(store), store.manifest.skipped) == (1, {})


FOLLOWING = ReadingSettings(follow_links=True)


def test_link_to_a_page_of_the_folder_is_a_page(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html", "deep/b.html")
    (folder / "link.html").symlink_to(folder / "deep" / "b.html")
    (folder / "deep" / "up.html").symlink_to("../a.html")
    assert {each.url: body(each) for each in captures(folder, bases=(BASE,))} == {
        BASE + "a.html": page("a.html"),
        BASE + "deep/b.html": page("deep/b.html"),
        BASE + "link.html": page("deep/b.html"),
        BASE + "deep/up.html": page("a.html"),
    }


@pytest.mark.parametrize("name", ["elsewhere.html", "site.html", "site-of-others/x.html"])
def test_link_out_of_the_folder_is_not_read_but_counted(name: str, tmp_path: Path) -> None:
    """A site from elsewhere could name any file: passwd.html -> /etc/passwd."""
    folder = site(tmp_path, "a.html")
    file(tmp_path / name, page("secret"))
    (folder / "link.html").symlink_to(tmp_path / name)
    (folder / "detour.html").symlink_to("link.html")
    found = items(folder, bases=(BASE,))
    assert [each.url for each in found if isinstance(each, Capture)] == [BASE + "a.html"]
    assert skipped(found) == {"link out of the source folder": 2}
    followed = captures(folder, bases=(BASE,), settings=FOLLOWING)
    assert {each.url: body(each) for each in followed} == {
        BASE + "a.html": page("a.html"),
        BASE + "link.html": page("secret"),
        BASE + "detour.html": page("secret"),
    }


def test_folder_that_is_named_by_a_link_is_read(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    (folder / "b.html").symlink_to("a.html")
    (tmp_path / "current").symlink_to(folder, target_is_directory=True)
    assert len(captures(tmp_path / "current", bases=(BASE,))) == 2


def test_links_that_go_in_circles_are_not_followed(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html", "deep/b.html")
    (folder / "deep" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "self.html").symlink_to("self.html")
    with within():
        found = items(folder, bases=(BASE,))
    assert {each.url for each in found if isinstance(each, Capture)} == {BASE + "a.html", BASE + "deep/b.html"}


@pytest.mark.parametrize("target", ["nowhere.html", "self.html", "."], ids=["nowhere", "itself", "a folder"])
def test_link_that_is_not_followed_does_not_vanish(target: str, tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    (folder / "self.html").symlink_to(target)
    found = items(folder, bases=(BASE,))
    assert sum(skipped(found).values()) == 1


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    os.mkfifo(folder / "pipe.html")
    with within():
        store = built(folder)
    assert (len(store), store.manifest.skipped) == (1, {"not a regular file": 1})


@pytest.mark.parametrize("name", ["pipe.html", "pipe.warc.gz", "pipe.wacz", "pipe.jsonl"])
def test_pipe_as_a_source_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with within(), pytest.raises(PagekinError, match=name):
        [load_body(each, ReadingSettings()) for each in items(tmp_path / name) if isinstance(each, Capture)]


def test_device_is_not_read(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    (folder / "endless.html").symlink_to("/dev/zero")
    with within():
        assert skipped(items(folder)) == {"link out of the source folder": 1}
        assert skipped(items(folder, settings=FOLLOWING)) == {"not a regular file": 1}


def test_page_beyond_the_limit_is_counted(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    with (folder / "sparse.html").open("wb") as large:
        large.truncate(1 << 40)
    with within():
        store = built(folder)
    assert (len(store), store.manifest.skipped) == (1, {"page too large": 1})


def test_empty_page_is_counted(tmp_path: Path) -> None:
    folder = site(tmp_path, "a.html")
    file(folder / "empty.html", b"")
    file(folder / "blank.html", b" \r\n\t")
    store = built(folder)
    assert (len(store), store.manifest.skipped) == (1, {"empty page": 2})


def test_file_that_vanishes_meanwhile_is_counted(tmp_path: Path) -> None:
    found = captures(site(tmp_path, "a.html"), bases=(BASE,))[0]
    (tmp_path / "site/a.html").unlink()
    skip = load_body(found, ReadingSettings())
    assert isinstance(skip, Skip)
    assert (skip.source, skip.reason) == ("site/a.html", "unreadable file (No such file or directory)")


# --- without the right to read -------------------------------------------------------------------

NOBODY = 65534


@pytest.fixture
def powerless() -> Iterator[Path]:
    """A folder of somebody who is not root, as whom the test runs."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.seteuid(NOBODY)
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        for each in folder.rglob("*"):
            each.chmod(0o700)
        shutil.rmtree(folder)


def test_file_that_may_not_be_read_is_counted(powerless: Path) -> None:
    folder = site(powerless, "a.html", "secret.html")
    (folder / "secret.html").chmod(0)
    loaded = [load_body(each, ReadingSettings()) for each in captures(folder)]
    assert sorted(type(each).__name__ for each in loaded) == ["Body", "Skip"]
    assert [each.reason for each in loaded if isinstance(each, Skip)] == ["unreadable file (Permission denied)"]


def test_folder_that_may_not_be_read_is_counted(powerless: Path) -> None:
    folder = site(powerless, "a.html", "secret/b.html", "z.html")
    (folder / "secret").chmod(0)
    found = items(folder, bases=(BASE,))
    assert {each.url for each in found if isinstance(each, Capture)} == {BASE + "a.html", BASE + "z.html"}
    assert sum(skipped(found).values()) == 1


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc", "a.wacz", "a.jsonl", "a.jsonl.gz"])
def test_source_that_may_not_be_read_is_told_by_its_name(name: str, powerless: Path) -> None:
    file(powerless / name, b"").chmod(0)
    with pytest.raises(SourceError, match=f"{name} cannot be read: Permission denied"):
        build([powerless / name], powerless / "out.kin", processes=1)
