"""Capture -> the bytes to scan: of bounded size, in UTF-8, plain text converted to HTML."""

import html
import re
from dataclasses import dataclass
from hashlib import sha256

from pagekin.model.capture import Capture, Skip
from pagekin.model.settings import ReadingSettings
from pagekin.reading.charset import to_utf8

DIGEST_BYTES = 16
_BLANK_LINES = re.compile(r"\n[ \t]*\n")


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
                data = file.read(settings.max_page_bytes + 1)
        except OSError as error:
            return _skip(capture, f"unreadable file ({error.strerror or type(error).__name__})")
    if len(data) > settings.max_page_bytes:
        return _skip(capture, "page too large")
    if not data or data.isspace():
        return _skip(capture, "empty page")
    digest = sha256(data).digest()[:DIGEST_BYTES]
    encoded, charset = to_utf8(data, capture.charset)
    if capture.plain:
        encoded = text_as_html(encoded.decode("utf-8", "replace"), capture.title).encode("utf-8", "replace")
    return Body(capture, encoded, charset, len(data), digest)


def text_as_html(text: str, title: str = "") -> str:
    r"""Plain text as HTML, with paragraphs separated by blank lines.

    >>> text_as_html("a < b\n\nc", "T")
    '<title>T</title><p>a &lt; b<p>c'
    """
    paragraphs = _BLANK_LINES.split(text.replace("\r\n", "\n"))
    head = f"<title>{html.escape(title)}</title>" if title else ""
    return head + "".join("<p>" + html.escape(part.strip(), quote=False) for part in paragraphs if part.strip())


def _skip(capture: Capture, reason: str) -> Skip:
    return Skip(capture.origin.source, reason, capture.url)
