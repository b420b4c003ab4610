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


SETTINGS = """\
[site]
inject = true
data = "data/lists.json"
index = "cache/site.kin"
limit = 2
min-similarity = 0.05
exclude = ["trees/lime*"]
pin = ["birds/wren.html -> trees/oak.html"]
never = ["birds/finch.html"]
heading = "Weiterlesen"
language = "de"
main-text = false
style = false
explain = true
at = "footer"
"""


def test_every_setting_can_be_in_the_file_of_settings(pagekin: Pagekin, tmp_path: Path) -> None:
    site = write_site(tmp_path / "public")
    for page in site.rglob("*.html"):
        page.write_text(page.read_text("utf-8").replace("<html lang=en>", "<html>") + "</footer>", "utf-8")
    (tmp_path / "pagekin.toml").write_text(SETTINGS, "utf-8")
    assert pagekin("site", "public").code == 0
    lists = json.loads((tmp_path / "data" / "lists.json").read_bytes())
    urls = {page: [each["url"] for each in found] for page, found in lists.items()}
    assert urls["/birds/wren.html"][0] == "/trees/oak.html" and max(map(len, urls.values())) == 2
    assert not {"/birds/finch.html", "/trees/lime.html"} & {url for found in urls.values() for url in found}
    assert "/trees/lime.html" not in urls and urls["/birds/finch.html"]
    assert all(each["why"] for found in lists.values() for each in found if each["url"] != "/trees/oak.html")
    robin = (site / "birds" / "robin.html").read_text("utf-8")
    assert "2024<!-- pagekin:begin --><nav" in robin and "<h2>Weiterlesen</h2>" in robin and "related.css" not in robin
    manifest = json.loads((tmp_path / "cache" / "site.kin" / "manifest.json").read_bytes())
    assert manifest["index"]["strategy"]["language"] == "de"
    again = pagekin("site", "public", "--check")
    assert (again.code, "nothing would change" in again.out) == (0, True)
    alone = pagekin("site", "public", "--min-similarity", "1", "--dry-run")  # an option comes before a setting
    assert "1 list with 1 link" in alone.out  # that which is pinned


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
