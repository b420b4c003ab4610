"""Capture -> the bytes to scan: of bounded size, in UTF-8, plain text, Markdown and wikitext converted to HTML.

The charset is taken from a byte order mark, the transport, the page itself, or detected.
"""

import codecs
import html
import re
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from pagekin.kernels.characters import is_utf8
from pagekin.model.capture import Capture, PageFormat, ReadingSettings, Skip
from pagekin.model.reading import DIGEST_BYTES
from pagekin.reading.markdown import LONGEST_MARKDOWN, markdown_as_html
from pagekin.reading.wikitext import wikitext_as_html

_BLANK_LINES = re.compile(r"\n[ \t]*\n")
_SAMPLE = 64 * 1024  # bytes for detection; more do not improve it
_PRESCAN = 4096
_META = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.I
)
_KEYWORDS = (b"charset", b"encoding")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.S)

# Charset names mean what browsers take them for, which is often a superset of the named charset. A name that is not in
# the table is unknown: a crawl must not choose other codecs of Python (punycode, unicode_escape).
_CODECS = {
    "windows-1252": "iso-8859-1 iso8859-1 iso_8859-1 latin1 latin-1 l1 us-ascii ascii ansi cp1252 windows-1252",
    "iso-8859-2": "iso-8859-2 iso8859-2 latin2",
    "iso-8859-3": "iso-8859-3 latin3",
    "iso-8859-4": "iso-8859-4 latin4",
    "iso-8859-5": "iso-8859-5 cyrillic",
    "iso-8859-6": "iso-8859-6 arabic",
    "iso-8859-7": "iso-8859-7 greek",
    "iso-8859-8": "iso-8859-8 iso-8859-8-i hebrew logical",
    "iso-8859-10": "iso-8859-10 latin6",
    "iso-8859-15": "iso-8859-15 latin9",
    **{name: name for name in ("iso-8859-13", "iso-8859-14", "iso-8859-16")},
    **{f"windows-{page}": f"windows-{page} cp{page}" for page in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
    "windows-1254": "windows-1254 cp1254 iso-8859-9 latin5",
    "cp874": "windows-874 tis-620 iso-8859-11 cp874",
    "koi8-r": "koi8-r koi8_r koi",
    "koi8-u": "koi8-u koi8-ru",
    "cp866": "ibm866 cp866 866",
    "mac-roman": "macintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic",
    "gb18030": "gb2312 gbk gb18030 gb_2312-80 x-gbk chinese cp936 hz-gb-2312",
    "big5hkscs": "big5 big5-hkscs x-x-big5 cn-big5",
    "cp932": "shift_jis shift-jis sjis x-sjis ms_kanji windows-31j cp932",
    "euc_jp": "euc-jp x-euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp949": "euc-kr ks_c_5601-1987 ks_c_5601-1989 korean ksc5601 windows-949 cp949",
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8",
    "utf-16-le": "utf-16 utf-16le",
    "utf-16-be": "utf-16be",
}
_NAMES = {name: codec for codec, names in _CODECS.items() for name in names.split()}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class Body:
    """A page that is ready to be scanned."""

    capture: Capture
    html: bytes
    charset: str
    size: int
    digest: bytes


def load_body(capture: Capture, settings: ReadingSettings) -> Body | Skip:
    """The body of a capture, or the reason why it cannot be read."""
    data = capture.body
    if data is None:
        try:
            with open(capture.path, "rb") as file:  # noqa: PTH123, creating a Path takes longer than opening the file
                # Python reserves as much memory as it is told to read.
                data = file.read(min(capture.origin.size, settings.max_page_bytes) + 1)
                if len(data) > capture.origin.size:  # the file has grown
                    data += file.read(settings.max_page_bytes + 1 - len(data))
        except OSError as error:
            return _skip(capture, f"unreadable file ({error.strerror or type(error).__name__})")
    if len(data) > settings.max_page_bytes:
        return _skip(capture, "page too large")
    if not data or data.isspace():
        return _skip(capture, "empty page")
    digest = sha256(data).digest()[:DIGEST_BYTES]
    encoded, charset = to_utf8(data, capture.charset)
    if capture.format is not PageFormat.HTML:
        if capture.format is PageFormat.MARKDOWN and len(encoded) > LONGEST_MARKDOWN:
            return _skip(capture, f"Markdown of more than {LONGEST_MARKDOWN >> 20} MiB")
        encoded = _as_html(encoded.decode("utf-8", "replace"), capture).encode("utf-8", "replace")
    return Body(capture, encoded, charset, len(data), digest)


def text_as_html(text: str, title: str = "") -> str:
    r"""Plain text as HTML, with paragraphs separated by blank lines.

    >>> text_as_html("a < b\n\nc", "T")
    '<title>T</title><p>a &lt; b<p>c'
    """
    paragraphs = _BLANK_LINES.split(text.replace("\r\n", "\n"))
    head = f"<title>{html.escape(title)}</title>" if title else ""
    return head + "".join("<p>" + html.escape(part.strip(), quote=False) for part in paragraphs if part.strip())


def _as_html(text: str, capture: Capture) -> str:
    if capture.format is PageFormat.WIKITEXT:
        assert capture.wiki is not None
        return wikitext_as_html(text, capture.title, capture.wiki)
    convert = markdown_as_html if capture.format is PageFormat.MARKDOWN else text_as_html
    return convert(text, capture.title)


def _skip(capture: Capture, reason: str) -> Skip:
    return Skip(capture.origin.source, reason, capture.url)


def codec_of(name: str) -> str | None:
    """The codec that browsers use for a charset name; None if it is unknown.

    >>> codec_of("ISO-8859-1"), codec_of("punycode")
    ('windows-1252', None)
    """
    return _NAMES.get(name.strip().strip("\"'").lower())


def to_utf8(data: bytes, transport: str = "") -> tuple[bytes, str]:
    r"""The page in UTF-8, and the charset that it was in.

    >>> to_utf8(b"caf\xe9", "iso-8859-1")
    (b'caf\xc3\xa9', 'windows-1252')
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return _recoded(data[len(mark) :], codec)
    named = codec_of(transport) or _codec_in_page(data)
    if named is not None:
        return _recoded(data, named)
    if _is_utf8(data):
        return data, "utf-8"
    return _recoded(data, _guess(data))


def _recoded(data: bytes, codec: str) -> tuple[bytes, str]:
    if codec == "utf-8" and _is_utf8(data):
        return data, codec
    # UTF-16 may contain lone surrogates, which UTF-8 cannot encode.
    return data.decode(codec, "replace").encode("utf-8", "replace"), codec


def _is_utf8(data: bytes) -> bool:
    return data.isascii() or is_utf8(np.frombuffer(data, np.uint8), np.frombuffer(data, np.uint64, len(data) // 8))


def _codec_in_page(data: bytes) -> str | None:
    """The charset that the page declares near its start, in a <meta> or an XML declaration."""
    head = data[:_PRESCAN]
    comment = head.find(b"<!--")
    if comment < 0:
        return _declared_codec(head)
    before = head[: head.rfind(b">", 0, comment) + 1]  # most pages declare it there
    return _declared_codec(before) or _declared_codec(_COMMENT.sub(b"", head))


def _declared_codec(head: bytes) -> str | None:
    lowered = head.lower()
    keywords = [place for place in map(lowered.find, _KEYWORDS) if place >= 0]
    if not keywords:
        return None
    # A tag with one of them begins after the last `>` before the first: most of the head need not be searched.
    for match in _META.finditer(head, head.rfind(b">", 0, min(keywords)) + 1):
        codec = codec_of(match[1].decode("ascii"))
        if codec is not None:
            # A page in which an ASCII <meta> was found is not in UTF-16.
            return "utf-8" if codec.startswith("utf-16") else codec
    return None


def _guess(data: bytes) -> str:
    from resiliparse.parse.encoding import detect_encoding

    text = re.sub(rb"<[^>]{0,1000}>", b" ", data[:_SAMPLE])
    return (
        codec_of((detect_encoding(text) or "").replace("iso8859", "iso-8859").replace("euc_", "euc-")) or "windows-1252"
    )
