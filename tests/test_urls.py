"""One spelling for one page; what links mean; where servers serve the same page."""

from __future__ import annotations

from hashlib import blake2b
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pagekin.urls import canonical_url, file_url, host_of, page_id, path_url, resolve_url, variant_key, variants

# --- canonical_url -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "expected"),
    {
        "HTTP://Example.ORG/Path": "http://example.org/Path",
        "https://EXAMPLE.org": "https://example.org/",
        "http://example.org:80/": "http://example.org/",
        "https://example.org:443/": "https://example.org/",
        "http://example.org:443/": "http://example.org:443/",
        "https://example.org:80/": "https://example.org:80/",
        "http://example.org:/": "http://example.org/",
        "http://example.org:0080/": "http://example.org/",
        "http://example.org:08080/": "http://example.org:8080/",
        "http://example.org./": "http://example.org/",
        "http://user:secret@example.org/": "http://example.org/",
        "http://example.org/a/./b/../c": "http://example.org/a/c",
        "http://example.org/../../a": "http://example.org/a",
        "http://example.org/a/b/..": "http://example.org/a/",
        "http://example.org/a/b/.": "http://example.org/a/b/",
        "http://example.org/a/..": "http://example.org/",
        "http://example.org/a..b/...": "http://example.org/a..b/...",
        "http://example.org/a//b": "http://example.org/a//b",
        "http://example.org/%7Ejo/%41%2e%2E/": "http://example.org/~jo/A../",
        "http://example.org/a/%2e%2E/b": "http://example.org/b",
        "http://example.org/a%2fb%3f": "http://example.org/a%2Fb%3F",
        "http://example.org/caf\u00e9 1": "http://example.org/caf%C3%A9%201",
        "http://example.org/caf%c3%a9": "http://example.org/caf%C3%A9",
        "http://example.org/50%": "http://example.org/50%25",
        "http://example.org/%zz": "http://example.org/%25zz",
        "http://example.org/a|b<c>": "http://example.org/a%7Cb%3Cc%3E",
        "http://example.org/a#top": "http://example.org/a",
        "http://example.org/a?#top": "http://example.org/a",
        "http://example.org/a?b=2&a=1": "http://example.org/a?a=1&b=2",
        "http://example.org?b&a": "http://example.org/?a&b",
        "http://example.org/a?&&a=1&": "http://example.org/a?a=1",
        "http://example.org/a?a=2&a=1": "http://example.org/a?a=1&a=2",
        "http://example.org/a?q=%c3%a9%20x+y": "http://example.org/a?q=%C3%A9%20x+y",
        "http://example.org/a?utm_source=x&UTM_Medium=y&id=3&fbclid=z&gclid": "http://example.org/a?id=3",
        "http://example.org/a?utm_source=x": "http://example.org/a",
        "http://example.org/a?xutm_source=x": "http://example.org/a?xutm_source=x",
        "http://example.org/a?gclids=1": "http://example.org/a?gclids=1",
        "http://example.org\\a\\b": "http://example.org/a/b",
        " \n http://exa\tmple.org/a\r\n": "http://example.org/a",
        "http://B\u00dccher.example/": "http://xn--bcher-kva.example/",
        "http://b%C3%BCcher.example/": "http://xn--bcher-kva.example/",
        "http://[::1]:8080/a": "http://[::1]:8080/a",
        "http://[2001:DB8::1]:80/": "http://[2001:db8::1]/",
        "http://127.0.0.1/": "http://127.0.0.1/",
    }.items(),
)
def test_a_page_has_one_spelling(url: str, expected: str) -> None:
    assert canonical_url(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "page.html",
        "/a",
        "//example.org/a",
        "mailto:jo@example.org",
        "javascript:alert(1)",
        "ftp://example.org/",
        "file:///etc/passwd",
        "data:text/html,<p>a",
        "http:page.html",
        "http://",
        "http:///a",
        "http://.../",
        "http://a b/",
        "http://a<b/",
        "http://a%2Fb/",
        "http://example.org:x/",
        "http://example.org:65536/",
        "http://example.org:-1/",
        "http://[::1/",
        "http://[::1]x/",
        "http://" + "a" * 254 + "/",
        "http://" + "\u00e4" * 70 + ".example/",
    ],
)
def test_what_is_no_page_of_the_web_has_no_canonical_url(url: str) -> None:
    assert canonical_url(url) is None


def test_an_escaped_tracking_parameter_is_a_tracking_parameter() -> None:
    assert canonical_url("http://example.org/?%75tm_source=x&a=1") == "http://example.org/?a=1"


def test_a_backslash_is_a_slash_in_a_path_but_not_in_a_query() -> None:
    # The URL standard: `\` is `/` in the authority and path of http URLs; a query has no such rule.
    assert canonical_url("http://example.org/a\\b?c\\d") == "http://example.org/a/b?c%5Cd"
    assert resolve_url("http://example.org/", "/a\\b?c\\d") == "http://example.org/a/b?c%5Cd"


SIGNS = "aZ09-._~!$&'()*+,;=:@[]/?#%\\ <>\"|\t\n\0\u00e9\u6728\U0001f600\ud800\u3002"
RUNS = "%41 %2e %2F %7E %c3%a9 %zz .. ./ /../ utm_source=x %75tm_source=y gclid xn--".split()
PARTS = st.sampled_from([*SIGNS, *RUNS])
TAILS = st.lists(PARTS, max_size=12).map("".join)
HOSTS = st.sampled_from(
    ["example.org", "EXAMPLE.Org:80", "a.b:8080", "user@x", "x:0443", "[::1]", "b\u00fccher.example", "x%41y", "a_b-c."]
)
WHOLE = st.builds("{}://{}/{}".format, st.sampled_from(["http", "HTTPS"]), HOSTS, TAILS)


@given(WHOLE | TAILS.map("http://".__add__) | st.text(max_size=30).map("http://a/".__add__) | st.text(max_size=20))
@example("http://x/?%75tm_source=1")
@example("http://x//..//.")
def test_canonical_url_is_idempotent(url: str) -> None:
    once = canonical_url(url)
    assert once is None or canonical_url(once) == once


@given(WHOLE)
def test_a_canonical_url_is_plain_ascii_without_fragment(url: str) -> None:
    canonical = canonical_url(url)
    if canonical is not None:
        parts = urlsplit(canonical)
        assert canonical.isascii() and canonical.isprintable() and " " not in canonical and "#" not in canonical
        assert parts.scheme in ("http", "https")
        assert parts.path.startswith("/")
        assert not {".", ".."} & set(parts.path.split("/"))


@given(WHOLE, WHOLE)
def test_a_canonical_url_means_itself_on_every_page(base: str, url: str) -> None:
    here, there = canonical_url(base), canonical_url(url)
    if here is not None and there is not None:
        assert resolve_url(here, there) == there


# --- resolve_url ---------------------------------------------------------------------------------

BASE = "http://example.org/dir/page.html?q=a/b"


@pytest.mark.parametrize(
    ("href", "expected"),
    {
        "other.html": "http://example.org/dir/other.html",
        "sub/other.html": "http://example.org/dir/sub/other.html",
        "./other.html": "http://example.org/dir/other.html",
        "../other.html": "http://example.org/other.html",
        "../../../other.html": "http://example.org/other.html",
        ".": "http://example.org/dir/",
        "..": "http://example.org/",
        "/": "http://example.org/",
        "/a/b/": "http://example.org/a/b/",
        "//other.example/a": "http://other.example/a",
        "https://other.example": "https://other.example/",
        "": BASE,
        "#top": BASE,
        "?b=1": "http://example.org/dir/page.html?b=1",
        "?": "http://example.org/dir/page.html",
        "?#x": "http://example.org/dir/page.html",
        "a?b=2&a=1#c": "http://example.org/dir/a?a=1&b=2",
        "a#b?c": "http://example.org/dir/a",
        " a.html\n": "http://example.org/dir/a.html",
        "a b.html": "http://example.org/dir/a%20b.html",
        "A%28b%29.htm": "http://example.org/dir/A(b).htm",
        "A%2528b%2529.htm": "http://example.org/dir/A%2528b%2529.htm",
        "caf\u00e9": "http://example.org/dir/caf%C3%A9",
        "\\a\\b": "http://example.org/a/b",
        "http:other.html": "http://example.org/dir/other.html",
        "HTTP:other.html": "http://example.org/dir/other.html",
        "a:b": None,
        "mailto:jo@example.org": None,
        "JavaScript:void(0)": None,
        "https:other.html": None,
        "http://:80/": None,
        "//": None,
    }.items(),
)
def test_what_a_link_means(href: str, expected: str | None) -> None:
    assert resolve_url(BASE, href) == expected


def test_a_link_with_its_scheme_and_one_slash_stays_on_its_host() -> None:
    # web-platform-tests, url/resources/urltestdata.json: "http:/example.com/" on http://example.org/foo/bar
    assert resolve_url("http://example.org/foo/bar", "http:/example.com/") == "http://example.org/example.com/"


SEGMENTS = st.text("abcXYZ019_~-", min_size=1, max_size=4) | st.sampled_from([".", "..", "a.html", "...", "b.c.d"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=5).map("/".join)
NAMES = st.lists(st.sampled_from(["a", "b.html", "C"]), max_size=3).map("/".join)  # urljoin keeps dots beside a host
QUERIES = st.sampled_from(["", "?", "?a=1", "?a=1&b=2", "?q=a/b/../c", "?a"])
PLAIN = st.one_of(
    st.builds("{}{}{}".format, st.sampled_from(["", "/", "./", "../"]), PATHS, st.sampled_from(["", "/"])),
    st.just(""),
    st.builds("//{}/{}".format, st.sampled_from(["a.example", "b.example:8080"]), NAMES),
    st.builds("http://a.example/{}".format, NAMES),
)
BASES = st.builds("http://example.org/{}{}".format, st.sampled_from(["", "a", "a/", "a/b/c.html", "a/b/"]), QUERIES)


@given(BASES.filter(lambda base: not base.endswith("?")), PLAIN, QUERIES)
@example("http://example.org/a/b/c.html", "../..", "")
def test_plain_links_mean_what_the_standard_library_says(base: str, path: str, query: str) -> None:
    expected = urljoin(base, path + query)
    if path + query == "?":  # to urljoin, an empty query is none at all; to browsers it is an empty one
        expected = base.partition("?")[0]
    assert resolve_url(base, path + query) == expected.removesuffix("?")


# --- the rest ------------------------------------------------------------------------------------


FILE_PARTS = [b"a", b".", b"/", b"-", b"~", b"B%", b"1", b"%41", b" ", b"\xc3"]
FILES = st.lists(st.sampled_from(FILE_PARTS), max_size=8).map(b"".join)


@given(st.sampled_from(["http://", "https://", "http://a.example/", "https://a.example/b/"]), FILES)
def test_a_plain_path_makes_the_same_url_as_any_other(base: str, path: bytes) -> None:
    assert file_url(base, path) == canonical_url(path_url(base, path))


@given(st.binary(min_size=1, max_size=12).filter(lambda path: not {b"", b".", b".."} & set(path.split(b"/"))))
def test_the_url_of_a_file_is_canonical_and_names_that_file_only(path: bytes) -> None:
    url = canonical_url(path_url("http://example.org/", path))
    assert url is not None
    assert unquote_to_bytes(url.removeprefix("http://example.org/")) == path


def test_the_host_of_a_url_has_its_port() -> None:
    assert host_of("https://example.org/a/b") == "example.org"
    assert host_of("http://[::1]:8080/") == "[::1]:8080"


def test_the_id_of_a_page_is_made_of_its_url_alone() -> None:
    url = "http://example.org/caf%C3%A9"
    assert page_id(url) == blake2b(url.encode(), digest_size=8).hexdigest()
    assert len(page_id(url)) == 16


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h.example/dir", "http://h.example/dir/"),
        ("http://h.example/dir", "http://h.example/dir/index.html"),
        ("http://h.example/dir", "http://h.example/dir.html"),
        ("http://h.example/dir/", "http://h.example/dir"),
        ("http://h.example/dir/", "http://h.example/dir/index.html"),
        ("http://h.example/dir/", "http://h.example/dir/index.htm"),
        ("http://h.example/dir/", "http://h.example/dir.html"),
        ("http://h.example/dir/index.html", "http://h.example/dir/"),
        ("http://h.example/dir.html", "http://h.example/dir"),
        ("http://h.example/", "http://h.example/index.html"),
        ("http://h.example/index.html", "http://h.example/"),
        ("http://h.example/a", "https://h.example/a"),
        ("https://h.example/a", "http://h.example/a"),
        ("http://h.example/dir/", "https://h.example/dir/index.html"),
        ("http://h.example/dir?a=1", "https://h.example/dir/?a=1"),
    ],
)
def test_servers_commonly_serve_the_same_page_at(one: str, other: str) -> None:
    assert other in list(variants(one))


@given(WHOLE)
def test_variants_are_canonical_and_others(url: str) -> None:
    canonical = canonical_url(url)
    if canonical is not None and not host_of(canonical).endswith((":80", ":443")):
        found = list(variants(canonical))
        assert canonical not in found
        assert [canonical_url(each) for each in found] == found


ENDS = st.lists(st.sampled_from(["/", "a", "b", ".html", ".htm", "index", "index.html", "?q"]), max_size=6)


@given(ENDS, st.sampled_from(["http", "https"]))
def test_variants_of_a_url_have_its_key(ends: list[str], scheme: str) -> None:
    url = f"{scheme}://h.example/{''.join(ends)}"
    assert {variant_key(each) for each in variants(url)} == {variant_key(url)}


def test_other_pages_of_a_folder_have_other_keys() -> None:
    urls = [
        "http://h.example/",
        "http://h.example/a",
        "http://h.example/b",
        "http://h.example/a/b",
        "http://h.example/a?b",
    ]
    assert len({variant_key(url) for url in urls}) == len(urls)


def test_a_page_of_the_same_scheme_is_the_likelier_one() -> None:
    found = list(variants("http://h.example/dir/"))
    assert found.index("http://h.example/dir/index.html") < found.index("https://h.example/dir/")


PIECES = st.sampled_from(
    ["http://", "https://", "HTTP://", "a.b", "A.b", "a-b.example.org", "x", "/", ".", "..", "/.a", "a.html", "//",
     "#f", "?q", "%41", "_~", "-", ":80", "é", " ", "a" * 70]
)  # fmt: skip


@given(st.lists(PIECES, min_size=1, max_size=7).map("".join))
@example("http://a.b")
@example("https://a.b/c/d.html#e")
def test_the_quick_way_for_whole_urls_leads_where_the_long_way_does(rest: str) -> None:
    assert resolve_url("http://b.example/c/d.html", f"http://{rest}") == canonical_url(f"http://{rest}")
