"""Edits: how a copy differs from its original, so that no prose is stored twice.

~ old words -> new words     replaces words that occur exactly once
- first words of a block     drops the one block that begins with them
^ a paragraph                adds a paragraph before the text
+ a paragraph                adds a paragraph after the text
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tools.sample_web.prose import Block, reread
from tools.sample_web.sections import Line, Place

Act = Literal["~", "-", "^", "+"]
_ACTS: tuple[Act, ...] = ("~", "-", "^", "+")


@dataclass(frozen=True)
class Edit:
    """One change of a text."""

    act: Act
    old: str
    new: str
    place: Place


def read_edits(lines: Sequence[Line]) -> tuple[Edit, ...]:
    """Read one edit per line; empty lines are ignored."""
    return tuple(_edit(line) for line in lines if line.text)


def edited(blocks: Sequence[Block], edits: Sequence[Edit]) -> tuple[Block, ...]:
    """Apply all edits in order. Only the final text must be valid, so that a table can be narrowed row by row."""
    if not edits:
        return tuple(blocks)
    texts = [Line(block.source, edits[0].place) for block in blocks]
    for edit in edits:
        texts = _apply(texts, edit)
    return tuple(reread(text.text, text.place) for text in texts)


def moved(blocks: Sequence[Block], host: str, place: Place) -> tuple[Block, ...]:
    """Return the blocks for a page of another host: links and images keep their targets."""
    return tuple(reread(re.sub(r"\]\(/", f"](http://{host}/", block.source), place) for block in blocks)


def _edit(line: Line) -> Edit:
    act = next((act for act in _ACTS if line.text.startswith(act + " ")), None)
    if act is None:
        raise line.place.error("an edit begins with ~, -, ^ or + and a space")
    text = line.text[2:].strip()
    if act == "~":
        old, arrow, new = text.partition(" -> ")
        if not arrow:
            raise line.place.error("a replacement reads: ~ old words -> new words")
        return Edit(act, old, new, line.place)
    return Edit(act, text, "", line.place) if act == "-" else Edit(act, "", text, line.place)


def _apply(texts: list[Line], edit: Edit) -> list[Line]:
    if edit.act == "~":
        i = _only([i for i, text in enumerate(texts) for _ in range(text.text.count(edit.old))], edit)
        return [*texts[:i], Line(texts[i].text.replace(edit.old, edit.new), edit.place), *texts[i + 1 :]]
    if edit.act == "-":
        i = _only([i for i, text in enumerate(texts) if text.text.startswith(edit.old)], edit)
        return [*texts[:i], *texts[i + 1 :]]
    new = Line(edit.new, edit.place)
    return [new, *texts] if edit.act == "^" else [*texts, new]


def _only(places: Sequence[int], edit: Edit) -> int:
    if len(places) != 1:
        raise edit.place.error(f"{edit.old!r} must occur once in the original; it occurs {len(places)} times")
    return places[0]
