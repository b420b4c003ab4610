"""The lists of the web page as files: CSV, JSON and Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pagekin.model.files import csv_line, plain_cell
from pagekin.model.jsons import encode_json
from pagekin.serving.views.collection import BridgeRow, GroupRow, LinkRow
from pagekin.serving.views.page import RelatedRow

MEDIA_TYPES = {"csv": "text/csv", "json": "application/json", "md": "text/markdown"}
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#|~!])")
_ENDS, _PARTS = ("one", "other"), ("title", "url")  # of a bridge: the pages that it connects
Row = Mapping[str, Any]  # a `title`, its `url`, and other columns


def related_list(rows: Iterable[RelatedRow]) -> list[Row]:
    return [
        {
            "title": row.page.title,
            "url": row.page.url,
            "similarity": round(row.result.similarity, 6),
            "why": "; ".join(row.result.why.reasons),
        }
        for row in rows
    ]


def bridge_list(rows: Iterable[BridgeRow]) -> list[Row]:
    return [
        {
            "title": page.title,
            "url": page.url,
            "strength": round(strength, 6),
            **{f"{name}_{part}": getattr(end, part) for name, end in zip(_ENDS, ends, strict=True) for part in _PARTS},
        }
        for strength, page, ends in ((strength, page, [end for end, _ in ends]) for strength, page, ends in rows)
    ]


def gap_list(rows: Iterable[LinkRow]) -> list[Row]:
    return [
        {
            "title": one.title,
            "url": one.url,
            "target_title": other.title,
            "target_url": other.url,
            "similarity": round(gap.similarity, 6),
            "words": words,
        }
        for gap, (one, other), (_, words, _) in rows
    ]


def duplicate_list(rows: Iterable[GroupRow]) -> list[Row]:
    """A row for every near-duplicate that is listed."""
    return [
        {
            "title": page.title,
            "url": page.url,
            "similarity": round(similarity, 6),
            "group_title": anchor.title,
            "group_url": anchor.url,
        }
        for anchor, members, _ in rows
        for page, similarity in members
    ]


def write_list(rows: Sequence[Row], kind: str) -> bytes:
    r"""Return a list in one of the formats.

    >>> row = {"title": "=1+1 [a]", "url": "http://a.example/", "similarity": 0.5}
    >>> write_list([row], "csv").decode().splitlines()
    ['title,url,similarity', "'=1+1 [a],http://a.example/,0.5"]
    >>> print(write_list([row], "md").decode())
    1. [=1+1 \[a\]](<http://a.example/>) (0.5)
    <BLANKLINE>
    """
    if kind == "json":
        return encode_json(rows)
    if kind == "csv":
        lines = [csv_line(rows[0]), *(csv_line(map(plain_cell, row.values())) for row in rows)] if rows else []
    else:
        lines = [_line(place, row) for place, row in enumerate(rows, 1)]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _line(place: int, row: Row) -> str:
    title, url, *others = (_MARKUP.sub(r"\\\1", str(value)) if name != "url" else value for name, value in row.items())
    address = re.sub(r"[\s<>]", lambda sign: f"%{ord(sign[0]):02X}", url)
    return f"{place}. [{title}](<{address}>)" + "".join(f" ({each})" for each in others if each)
