"""MediaWiki dumps, made as `dumpBackup.php` makes them."""

from __future__ import annotations

import bz2
import html
from collections.abc import Iterable, Sequence

BASE = "https://wiki.example/wiki/"
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo>
    <sitename>Test</sitename>
    <base>https://wiki.example/wiki/Hauptseite</base>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-1" case="first-letter">Spezial</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">Datei</namespace>
      <namespace key="14" case="first-letter">Kategorie</namespace>
    </namespaces>
  </siteinfo>
"""
END = "</mediawiki>\n"


def wiki_page(
    title: str, text: str, number: int = 1, namespace: int = 0, redirect: str = "", model: str = "wikitext"
) -> str:
    """One page of a dump."""
    to = f'\n    <redirect title="{html.escape(redirect)}" />' if redirect else ""
    return f"""  <page>
    <title>{html.escape(title, quote=False)}</title>
    <ns>{namespace}</ns>
    <id>{number}</id>{to}
    <revision>
      <id>{number + 1000}</id>
      <timestamp>2024-05-01T00:00:00Z</timestamp>
      <contributor><username>A</username><id>7</id></contributor>
      <model>{model}</model>
      <format>text/x-wiki</format>
      <text bytes="{len(text)}" xml:space="preserve">{html.escape(text)}</text>
    </revision>
  </page>
"""


def dump(pages: Iterable[str]) -> bytes:
    return (HEAD + "".join(pages) + END).encode()


def multistream(pages: Sequence[str], size: int = 2) -> list[bytes]:
    """The streams of a multistream dump: head, pages in groups, end."""
    groups = ["".join(pages[k : k + size]) for k in range(0, len(pages), size)]
    return [bz2.compress(part.encode()) for part in (HEAD, *groups, END)]
