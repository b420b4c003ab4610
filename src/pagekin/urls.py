"""Canonical URLs: one spelling per page.

>>> canonical_url("HTTP://Example.ORG:80/a/./b/../c%7Ed?b=2&utm_source=x&a=1#top")
'http://example.org/a/c~d?a=1&b=2'
>>> resolve_url("http://example.org/a/b.html", "../c.html")
'http://example.org/c.html'
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote_from_bytes, unquote

import idna

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_PLAIN_HREF = re.compile(r"((?:\.\./)*)((?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/)*[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/?)(?:#.*)?")
_PLAIN_FILE = re.compile(rb"(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/)*[A-Za-z0-9_~-][A-Za-z0-9_~.-]*")
_PLAIN_URL = re.compile(
    r"(https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,3})"
    r"(/(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*)?)?(?:\?([^#\x00-\x20]*))?(?:#.*)?"
)
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|%|[^A-Za-z0-9._~:/?@!$&'()*+,;=\[\]-]")
# Characters that are never percent-encoded: the unreserved ones, and those that are not delimiters in a path or query.
# Some writers escape the latter and some do not, and servers do not distinguish the two.
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PLAIN_IN_PATH = _UNRESERVED | frozenset("!'()*:@$,+;=&")
_PLAIN_IN_QUERY = _UNRESERVED | frozenset("!'()*:@$,/")
_TRACKING = re.compile(
    r"(?:utm_[a-z_]+|hsa_[a-z_]+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid|mc_cid|mc_eid"
    r"|_ga|_gl|_hsenc|_hsmi|wt_mc|oly_anon_id|oly_enc_id|vero_id)(?:=|$)",
    re.IGNORECASE,
)
_REMOVED = str.maketrans("", "", "\t\n\r")
_CONTROLS_AND_SPACE = "".join(map(chr, range(33)))
_ODD = re.compile(r"[\x00-\x20]")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_LONGEST_AUTHORITY = 1024  # before decoding; a host name has at most 253 characters
_INDEX_NAMES = ("index.html", "index.htm")
_OPTIONAL_ENDS = ("/", ".html", "/index.htm", "/index")  # of the path, in variants


def canonical_url(url: str) -> str | None:
    """The canonical form of an absolute http(s) URL, or None for anything else.

    Scheme and host in lower case (IDNA), no user, no default port, dot segments resolved, percent-encoding normalised,
    the query sorted and without tracking parameters, no fragment.
    """
    url = _trimmed(url)
    scheme = _SCHEME.match(url)
    if scheme is None or scheme[1].lower() not in _DEFAULT_PORTS:
        return None
    address, question, query = url[scheme.end() :].partition("#")[0].partition("?")
    address = address.replace("\\", "/")
    return _assemble(scheme[1].lower(), address + question + query) if address.startswith("//") else None


def resolve_url(base: str, href: str) -> str | None:
    """The canonical URL that `href` means on the page whose canonical URL (or <base>) is `base`.

    None if it cannot be a page: mailto:, javascript:, an invalid host.
    """
    plain = _PLAIN_HREF.fullmatch(href)
    if plain is not None:  # the fast path, for most links
        return _folder(base, len(plain[1]) // len("../")) + plain[2]
    whole = _PLAIN_URL.fullmatch(href)
    if whole is not None:
        return whole[1] + (whole[2] or "/") + (_canonical_query(whole[3]) if whole[3] else "")
    href = _trimmed(href)
    scheme = _SCHEME.match(href)
    if scheme is not None:
        rest = href[scheme.end() :]
        if base.startswith(scheme[0].lower() + "//") and not rest[:2].replace("\\", "/").startswith("//"):
            href = rest  # "http:page.html" is a legacy form of "page.html"
        else:
            return canonical_url(href)
    href = href.partition("#")[0]
    path, question, query = href.partition("?")
    path = path.replace("\\", "/")
    own_scheme, _, own = base.partition(":")
    if path.startswith("//"):
        return _assemble(own_scheme, path + question + query)
    own_path = own.partition("?")[0]
    if not path:
        return _assemble(own_scheme, own_path + question + query) if question else base
    start = own_path.index("/", 2) if path.startswith("/") else own_path.rindex("/") + 1
    return _assemble(own_scheme, own_path[:start] + path + question + query)


def _trimmed(url: str) -> str:
    """The URL without surrounding white space and controls, and without tabs and line breaks inside it."""
    return url if _ODD.search(url) is None else url.strip(_CONTROLS_AND_SPACE).translate(_REMOVED)


@lru_cache(maxsize=1 << 12)
def _folder(base: str, up: int) -> str:
    """The folder `up` levels above the folder of a page, at most the root of the host.

    >>> _folder("http://example.org/a/b/c.html?d=/e", 1)
    'http://example.org/a/'
    """
    parts = base.partition("?")[0].split("/")
    return "/".join(parts[: max(3, len(parts) - 1 - up)]) + "/"


def _assemble(scheme: str, rest: str) -> str | None:
    """Canonical form of `scheme:rest`, where rest is //authority/path?query."""
    address, _, query = rest.partition("?")
    authority, _, path = address[2:].partition("/")
    place = _canonical_authority(scheme, authority)
    if place is None:
        return None
    tail = _canonical_query(query) if query else ""
    return f"{scheme}://{place}/{_without_dots(_escaped(path, _PLAIN_IN_PATH))}{tail}"


def _canonical_query(query: str) -> str:
    """The canonical query with its question mark, or "" if no parameter is left."""
    escaped = [part for part in query.split("&") if part]
    if _ESCAPE.search(query) is not None:
        escaped = [_escaped(part, _PLAIN_IN_QUERY) for part in escaped]
    parameters = sorted([part for part in escaped if not _TRACKING.match(part)])
    return "?" + "&".join(parameters) if parameters else ""


@lru_cache(maxsize=1 << 14)  # there are few distinct hosts
def _canonical_authority(scheme: str, authority: str) -> str | None:
    authority = authority.rpartition("@")[2]
    if len(authority) > _LONGEST_AUTHORITY:
        return None
    host, _, port = authority.partition(":")
    if authority.startswith("["):
        host, bracket, port = authority.partition("]")
        host, port = host + bracket, port.lstrip(":")
    host = unquote(host).lower().rstrip(".")
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    if len(host) > 253 or not _HOST.fullmatch(host):
        return None
    port = port.lstrip("0")
    if port == _DEFAULT_PORTS[scheme] or not port:
        return host
    return f"{host}:{port}" if port.isascii() and port.isdigit() and int(port[:6]) < 65536 else None


def _escaped(text: str, plain: frozenset[str]) -> str:
    """Normalised percent-encoding: escapes in upper case, and none for the characters in `plain`."""
    if _ESCAPE.search(text) is None:
        return text

    def escape(match: re.Match[str]) -> str:
        found = match[0]
        if len(found) == 3:
            character = chr(int(found[1:], 16))
            return character if character in plain else found.upper()
        return quote_from_bytes(found.encode("utf-8", "replace"), safe="")

    return _ESCAPE.sub(escape, text)


def _without_dots(path: str) -> str:
    """Resolve `.` and `..` in a path without its leading slash."""
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", "..") and kept:
        kept.append("")
    return "/".join(kept)


def path_url(base: str, path: bytes) -> str:
    """The URL of the file `path` (relative, with slashes) below `base`; every byte is encoded once.

    >>> path_url("http://example.org/", b"A%28b%29.htm")
    'http://example.org/A%2528b%2529.htm'
    """
    return base + quote_from_bytes(path, safe="/~!$&'()*+,;=:@")


def file_url(base: str, path: bytes) -> str | None:
    """The canonical URL of the file `path` below `base`, which is canonical, or has no host ("http://").

    >>> file_url("http://example.org/", b"a/b.html"), file_url("http://", b"Example.org/b.html")
    ('http://example.org/a/b.html', 'http://example.org/b.html')
    """
    if len(base) > len("https://") and _PLAIN_FILE.fullmatch(path):  # most are
        return base + path.decode("ascii")
    return canonical_url(path_url(base, path))


def host_of(url: str) -> str:
    """Host and port of a canonical URL.

    >>> host_of("http://example.org:8080/a")
    'example.org:8080'
    """
    return url.split("/", 3)[2]


def page_id(url: str) -> str:
    """The id of a page: sixteen hexadecimal digits, a hash of its canonical URL, the same in every build."""
    return blake2b(url.encode("utf-8"), digest_size=8).hexdigest()


def variants(url: str) -> Iterator[str]:
    """Other URLs at which servers commonly serve the same page, the most likely first.

    >>> list(variants("http://example.org/a"))[:3]
    ['http://example.org/a/', 'http://example.org/a.html', 'http://example.org/a/index.html']
    """
    scheme, _, rest = url.partition(":")
    other = {"http": "https", "https": "http"}[scheme]
    address, question, query = rest.partition("?")
    addresses = [address]
    name = address.rpartition("/")[2]
    if not name:
        addresses += [address + index for index in _INDEX_NAMES]
        if address.count("/") > 3:
            addresses += [address[:-1], address[:-1] + ".html"]
    elif name in _INDEX_NAMES:
        addresses.append(address[: -len(name)])
        if address.count("/") > 3:
            addresses.append(address[: -len(name) - 1])
    else:
        addresses += [address + "/", address + ".html", address + "/index.html"]
        if name.endswith(".html"):
            addresses.append(address[: -len(".html")])
    candidates = (f"{each}:{address}{question}{query}" for each in (scheme, other) for address in addresses)
    yield from (candidate for candidate in candidates if candidate != url)


def variant_key(url: str) -> str:
    """A key that a URL shares with all its variants, and with few other URLs.

    >>> variant_key("http://example.org/a/index.html?b"), variant_key("https://example.org/a?b")
    ('//example.org/a?b', '//example.org/a?b')
    """
    address, question, query = url.partition(":")[2].partition("?")
    while address.endswith(_OPTIONAL_ENDS):
        address = address.rstrip("/").removesuffix(".html").removesuffix("/index.htm").removesuffix("/index")
    return address + question + query
