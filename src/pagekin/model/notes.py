r"""Notes: the front matter of a Markdown file, a block of YAML or TOML at its beginning, and links by name.

>>> matter, body = split_front_matter("---\ntitle: Oak\ntags: [trees, forest/broadleaf]\n---\nAn oak is a tree.")
>>> matter.title, matter.tags, body
('Oak', ('trees', 'forest/broadleaf'), 'An oak is a tree.')

Of YAML, only what front matter is made of is read: keys with a text, a list in brackets, or a list of lines. YAML's own
anchors and aliases have no meaning here, so that no file can expand.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from pagekin.model.files import MARKDOWN_SUFFIXES

LONGEST = 1 << 16  # characters; a longer block is text
_MOST_VALUES = 100  # of one key
_LONGEST_VALUE = 256  # characters of a tag or alias
_BLOCK = re.compile(
    r"\ufeff?(?:---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?)^\+\+\+)[ \t]*(?:\n|\Z)", re.S | re.M
)
_KEY = re.compile(r"([\w-]{1,64})[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_PIECE = re.compile(r""""(?:[^"\\]|\\.)*+"|'[^']*+'|[^,\[\]"']++""")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*")
_DATES = ("updated", "modified", "lastmod", "last_modified", "date", "created")


@dataclass(frozen=True)
class FrontMatter:
    """What a note declares about itself."""

    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    date: str = ""
    language: str = ""
    draft: bool = False

    @classmethod
    def of(cls, values: dict[str, list[str]]) -> "FrontMatter":
        def first(*keys: str) -> str:
            return next((values[key][0] for key in keys if values.get(key)), "")

        def several(*keys: str) -> tuple[str, ...]:
            found = [value[:_LONGEST_VALUE] for key in keys for value in values.get(key, ())]
            return tuple(dict.fromkeys(found))[:_MOST_VALUES]

        tags = (tag for text in several("tags", "tag") for tag in re.split(r"[,\s]+", text))
        return cls(
            title=first("title"),
            tags=tuple(dict.fromkeys(tag.strip("#/") for tag in tags if tag.strip("#/"))),
            aliases=several("aliases", "alias"),
            date=first(*_DATES),
            language=first("lang", "language"),
            draft=first("draft").lower() == "true",
        )


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """The front matter, and the text after it; empty front matter if there is none or it cannot be read."""
    block = _BLOCK.match(text, 0, LONGEST)
    if block is None:
        return FrontMatter(), text.removeprefix("\ufeff")
    values = _yaml(block["yaml"]) if block["toml"] is None else _toml(block["toml"])
    return FrontMatter.of(values), text[block.end() :]


def _yaml(block: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    current: list[str] = []  # of the last key, for the lines of its list
    for line in block.splitlines():
        key, item = _KEY.fullmatch(line), _ITEM.fullmatch(line)
        if key is not None:
            current = values.setdefault(key[1].lower(), [])
            current += _values(key[2] or "")
        elif item is not None:
            current += _values(item[1])
    return values


def _values(text: str) -> list[str]:
    """The values of a text: those of a list in brackets, or itself.

    >>> _values('[a, "b, c"]  # both'), _values("'d' # one"), _values("| ")
    (['a', 'b, c'], ['d'], [])
    """
    text = text.strip()
    if text.startswith("["):
        pieces: Iterable[str] = _PIECE.findall(text[1:].rpartition("]")[0])
    elif text[:1] in ("'", '"'):
        found = _PIECE.match(text)
        pieces = [found[0]] if found else [text]
    else:
        pieces = [_COMMENT.sub("", text)]
    plain = (_unquoted(piece.strip()) for piece in pieces)
    return [each for each in plain if each not in ("", "|", ">", "|-", ">-", "null", "~")]


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1].replace('\\"', '"').strip() if is_quoted else text


def _toml(block: str) -> dict[str, list[str]]:
    try:
        table = tomllib.loads(block)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return {}
    return {key.lower(): _texts(value) for key, value in table.items()}


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(each) for each in values if not isinstance(each, list | dict) and str(each).strip()]


@lru_cache(1 << 14)
def note_href(name: str) -> str:
    """An href, in its canonical form, that names a note, whatever its folder, its suffix, and the case of its letters.

    >>> note_href("Forests/Old  Oak.md")
    '/?note=forests/old%20oak'
    """
    name = " ".join(unicodedata.normalize("NFC", name).lower().split())
    for suffix in MARKDOWN_SUFFIXES:
        name = name.removesuffix(suffix)
    return "/?note=" + quote(name.strip("/ "), safe="!'()*:@$,/", errors="replace")
