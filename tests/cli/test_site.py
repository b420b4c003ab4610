"""`pagekin site`."""

from __future__ import annotations

import json
from pathlib import Path

from cli.conftest import Pagekin
from static_site.conftest import content, write_site


def test_check_fails_until_the_site_is_up_to_date(pagekin: Pagekin, tmp_path: Path) -> None:
    site = write_site(tmp_path / "public")
    before = content(site)
    first = pagekin("site", "public", "--inject", "--check")
    assert first.code == 1 and "would insert birds/robin.html" in first.out
    assert content(site) == before
    done = json.loads(pagekin("site", "public", "--inject", "--json").out)
    assert done["lists"] == 8 and {"action": "insert", "path": "birds/robin.html"} in done["changes"]
    assert pagekin("site", "public", "--inject", "--check").code == 0
    assert pagekin("site", "public", "--revert", "--check").code == 1
    assert pagekin("site", "public", "--revert", "--quiet") == (0, "", "")
    assert content(site) == before


def test_problems_of_single_pages_are_told_and_are_a_failure(pagekin: Pagekin, tmp_path: Path) -> None:
    site = write_site(tmp_path / "public")
    (site / "trees" / "oak.html").write_text("<title>Oak</title><!-- pagekin --><!-- pagekin --><p>Oaks grow slowly.")
    done = pagekin("site", "public", "--inject", "--quiet")
    assert (done.code, done.out) == (1, "")
    told = "pagekin: trees/oak.html has the marker <!-- pagekin --> more than once; it was left as it is\n"
    assert done.err == told


def test_misuse_is_one_sentence(pagekin: Pagekin, tmp_path: Path) -> None:
    write_site(tmp_path / "public")
    (tmp_path / "empty").mkdir()
    for arguments, said, code in (
        (("nosuch",), "is no folder", 2),
        (("empty",), "has no HTML page", 1),
        (("public", "--revert", "--inject"), "cannot be used with", 2),
        (("public", "--at", "a b"), "selector of one element", 2),
        (("public", "--pin", "x.html"), "'x.html' is no page of the site", 2),
        (("public", "--heading", " "), "heading is empty", 2),
    ):
        done = pagekin("site", *arguments)
        assert (done.code, done.out) == (code, "") and said in done.err and "Traceback" not in done.err
