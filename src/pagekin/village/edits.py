"""How a copy differs from its original: a few edits, so that no prose is stored twice.

~ old words -> new words     replaces words that occur exactly once
- first words of a block     drops the one block that begins so
^ a paragraph                puts a paragraph before the text
+ a paragraph                puts a paragraph after the text
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pagekin.village.prose import Block, reread
from pagekin.village.sections import Line, Place

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
    """One edit a line; empty lines part them for the eye."""
    return tuple(_edit(line) for line in lines if line.text)


def edited(blocks: Sequence[Block], edits: Sequence[Edit]) -> tuple[Block, ...]:
    """The blocks after all edits, in their order; in between a text may be broken, such as a half-narrowed table."""
    if not edits:
        return tuple(blocks)
    texts = [Line(block.source, edits[0].place) for block in blocks]
    for edit in edits:
        texts = _apply(texts, edit)
    return tuple(reread(text.text, text.place) for text in texts)


def moved(blocks: Sequence[Block], host: str, place: Place) -> tuple[Block, ...]:
    """The blocks as they stand on another host: links and images lead back to where they led at home."""
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
        raise edit.place.error(f"{edit.old!r} should stand once in the original, but does so {len(places)} times")
    return places[0]
