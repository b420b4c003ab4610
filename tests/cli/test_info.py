"""`pagekin info`."""

from __future__ import annotations

import json
from pathlib import Path

from cli.conftest import Pagekin
from pagekin.duplicates.settings import GroupSettings
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import PRESETS
from pagekin.store.store import Store


def test_json_has_the_documented_keys(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("info", library, "--json")
    assert (answer.code, answer.err) == (0, "")
    facts = json.loads(answer.out)
    counts = facts.pop("counts")
    assert facts.pop("bytes") == sum(path.stat().st_size for path in library.glob("*-1/*"))
    assert facts.pop("strategy") == PRESETS["default"].as_dict()
    assert facts.pop("duplicates")["settings"] == GroupSettings().as_dict()
    assert facts == {
        "store": str(library),
        "format": 3,
        "generation": 1,
        "settings": ReadingSettings().as_dict(),
        "hosts": [{"host": "lib.example", "pages": 3}],
        "languages": {"en": 3},
        "skipped": [
            {"reason": "not HTML", "count": 1, "example": "picture.png", "source": "web"},
            {
                "reason": "redirects to another page",
                "count": 1,
                "example": "http://lib.example/birds/old.html",
                "source": "web/birds/old.html",
            },
        ],
    }
    assert counts == Store.open(library).manifest.counts


def test_people_are_told_the_same(pagekin: Pagekin, library: Path) -> None:
    out = pagekin("info", library).out
    assert out.startswith(f"{library}: format 3, generation 1, ")
    lines = [line.split() for line in out.splitlines()]
    for line in (
        "3 pages",
        "1 hosts",
        "1 pages known only from links",
        "5 links to pages, known or not",
        "3 lib.example",
    ):
        assert line.split() in lines
    assert "Languages:  en 3" in out
    assert "Strategy: default\n" in out
    assert ["1", "not", "HTML", "e.g.", "picture.png"] in lines
