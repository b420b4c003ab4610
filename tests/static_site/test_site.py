"""Related links in a built site, and out of it again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

import pagekin
from pagekin.errors import FailureError, MisuseError, SourceError
from pagekin.site import answers
from pagekin.site import site as module
from pagekin.site.answers import answer_site
from pagekin.site.write import replace_file
from static_site.conftest import OTHERS, TEXTS, content, html, write_site

BIRDS = {f"{name}.html" for name in TEXTS if name.startswith("birds/")}


def update(site: Path, **options: Any) -> pagekin.SiteReport:
    return pagekin.update_site(site, inject=True, processes=1, **options)


def links(page: Path) -> list[tuple[str, str | None]]:
    """Titles and addresses of the list in a page, by another parser."""
    found = LexborHTMLParser(page.read_bytes()).css("main > nav.pagekin-related li > a")
    return [(each.text(), each.attributes["href"]) for each in found]


def test_every_page_gets_a_list_of_its_kind(site: Path) -> None:
    report = update(site)
    assert report.lists == len(TEXTS) == sum(change.action == "insert" for change in report.changes)
    found = links(site / "birds" / "robin.html")
    assert {address for _, address in found[:3]} == {"wren.html", "finch.html", "tit.html"}
    titles = {title for title, _ in links(site / "trees" / "lime.html")}
    assert titles >= {"The oak & acorn", "The birch <b>", "The élm"}
    for name in OTHERS:
        assert links(site / f"{name}.html") == []
        assert not any(address in (f"../{name}.html", f"{name}.html") for _, address in found)


def test_only_the_list_is_inserted_a_second_run_changes_nothing_and_revert_restores_all(site: Path) -> None:
    before = content(site)
    update(site)
    first = content(site)
    for path in before:
        begin, _, rest = first[path].partition(b"<!-- pagekin:begin -->")
        assert begin + rest.partition(b"<!-- pagekin:end -->")[2] == before[path]
    assert update(site).changes == []
    shutil.rmtree(site.with_name("public.kin"))  # the index is not needed to know a list
    assert update(site).changes == []
    assert content(site) == first
    pagekin.revert_site(site)
    assert content(site) == before
    assert pagekin.revert_site(site).changes == []


def test_lists_do_not_feed_on_themselves(site: Path) -> None:
    """An index of the site with its lists is that of the site without them."""
    update(site)
    related = (site / "pagekin" / "related.json").read_bytes()
    fresh = pagekin.update_site(site, index=site.with_name("other.kin"), processes=1)
    assert fresh.changes == [] and (site / "pagekin" / "related.json").read_bytes() == related


def test_the_json_files_hold_the_lists_by_address(site: Path) -> None:
    data = site.with_name("data.json")
    pagekin.update_site(site, data=data, processes=1)
    everything = json.loads((site / "pagekin" / "related.json").read_bytes())
    one = json.loads((site / "pagekin" / "pages" / "birds" / "wren.html.json").read_bytes())
    assert everything["pages"] == json.loads(data.read_bytes())
    assert everything["pages"]["/birds/wren.html"] == one["related"]
    assert (one["url"], one["title"]) == ("/birds/wren.html", "The wren")
    assert set(everything["pages"]) == {f"/{name}.html" for name in TEXTS}
    assert {each["url"] for each in one["related"]} <= set(everything["pages"])
    values = [each["similarity"] for each in one["related"]]
    assert values == sorted(values, reverse=True) and 0.05 <= values[-1] <= values[0] <= 1
    assert links(site / "birds" / "wren.html") == []


def test_a_dry_run_lists_what_a_run_does(site: Path) -> None:
    before = content(site)
    planned = update(site, dry_run=True)
    assert content(site) == before and not planned.done
    assert update(site).changes == planned.changes
    back = pagekin.revert_site(site, dry_run=True)
    assert content(site) != before
    assert pagekin.revert_site(site).changes == back.changes


def test_pages_that_are_written_again_with_the_same_bytes_are_not_read_again(site: Path) -> None:
    """As generators do. The index then has the same generation."""
    update(site)
    generation = json.loads(site.with_name("public.kin").joinpath("manifest.json").read_bytes())["generation"]
    write_site(site)
    report = update(site)
    assert {change.action for change in report.changes} == {"insert"}
    assert json.loads(site.with_name("public.kin").joinpath("manifest.json").read_bytes())["generation"] == generation


def test_a_changed_page_changes_the_lists_and_others_are_not_read(site: Path) -> None:
    update(site)
    page = site / "trees" / "lime.html"
    page.write_text(html("The swift", "Swifts feed on insects in summer, and sing in flocks over gardens in winter."))
    update(site)
    assert "The swift" in {title for title, _ in links(site / "birds" / "robin.html")}
    assert pagekin.open(site.with_name("public.kin")).page("lime.html").title == "The swift"
    page.unlink()
    report = update(site)
    assert "lime.html" not in str(links(site / "trees" / "oak.html"))
    assert ("delete", "pagekin/pages/trees/lime.html.json") in {(each.action, each.path) for each in report.changes}


def test_patterns_choose_pages_and_bring_back_tag_pages(site: Path) -> None:
    update(site, include=("birds/*", "tags/*"), exclude=("*/tit.html",))
    with_lists = {name for name, data in content(site).items() if b"pagekin:begin" in data}
    assert with_lists == (BIRDS | {"tags/birds.html"}) - {"birds/tit.html"}
    assert "birds/tit.html" not in str(links(site / "tags" / "birds.html"))
    update(site, exclude=("birds/*",))
    with_lists = {name for name, data in content(site).items() if b"pagekin:begin" in data}
    assert with_lists == {f"{name}.html" for name in TEXTS} - BIRDS


def test_a_page_that_asks_not_to_be_indexed_is_left_out(site: Path) -> None:
    page = site / "birds" / "wren.html"
    page.write_text(page.read_text().replace("<title>", "<meta name=robots content=noindex><title>"))
    update(site)
    assert not links(page) and "wren.html" not in str(links(site / "birds" / "robin.html"))


def test_pinned_pages_are_first_and_never_pages_are_nowhere(site: Path) -> None:
    update(site, pin=("trees/oak.html", "birds/wren.html -> index.html"), never=("birds/tit.html",))
    assert links(site / "birds" / "robin.html")[0] == ("The oak & acorn", "../trees/oak.html")
    assert {"../index.html", "../trees/oak.html"} == {address for _, address in links(site / "birds" / "wren.html")[:2]}
    assert "oak" not in str(links(site / "trees" / "oak.html"))
    assert not any("tit.html" in str(links(site / f"{name}.html")) for name in TEXTS)
    with pytest.raises(MisuseError, match=r"'nosuch.html' is no page of the site"):
        update(site, pin=("nosuch.html",))


def test_what_a_page_links_to_can_be_hidden(site: Path) -> None:
    page = site / "birds" / "robin.html"
    page.write_text(page.read_text().replace("</main>", "<a href=wren.html>wren</a></main>"))
    update(site)
    assert "wren.html" in str(links(page))
    update(site, exclude_linked=True)
    assert links(page) and "wren.html" not in str(links(page))


@pytest.mark.parametrize("name", ["Concept-Index.html", "allclasses-index.html", "a/b/class-use/Robin.html"])
def test_indexes_of_manuals_get_no_list_and_are_not_listed(site: Path, name: str) -> None:
    page = site / name
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(html("All birds", "Robins, wrens, finches and tits sing and feed in gardens in winter."))
    update(site)
    assert b"pagekin:begin" not in page.read_bytes()
    assert "All birds" not in {title for title, _ in links(site / "birds" / "robin.html")}


def test_addresses_end_with_a_slash_where_pages_are_called_index(tmp_path: Path) -> None:
    flat = write_site(tmp_path / "flat")
    site = tmp_path / "public"
    for name in TEXTS:
        (site / name).mkdir(parents=True)
        shutil.copy(flat / f"{name}.html", site / name / "index.html")
    update(site)
    assert ("The wren", "../wren/") in links(site / "birds" / "robin" / "index.html")
    assert "/birds/robin/" in json.loads((site / "pagekin" / "related.json").read_bytes())["pages"]


def test_pages_of_other_encodings_get_the_same_list(site: Path) -> None:
    page = site / "birds" / "robin.html"
    update(site)
    expected = links(page)
    pagekin.revert_site(site)
    data = page.read_text("utf-8").replace("charset=utf-8", "charset=utf-16").encode("utf-16")
    page.write_bytes(data)
    before = content(site)
    update(site)
    text = page.read_bytes().decode("utf-16")
    assert all(
        f'<a href="{address}">{title}</a>' in text for title, address in expected if title.startswith("The wren")
    )
    pagekin.revert_site(site)
    assert content(site) == before


def test_heading_and_style_can_be_chosen(site: Path) -> None:
    update(site, heading="Siehe auch: Ähnliches", style=False)
    parsed = LexborHTMLParser((site / "birds" / "robin.html").read_bytes())
    assert [each.text() for each in parsed.css("nav.pagekin-related > h2")] == ["Siehe auch: Ähnliches"]
    assert parsed.css("link") == [] and not (site / "pagekin" / "related.css").exists()
    update(site)
    style = LexborHTMLParser((site / "birds" / "robin.html").read_bytes()).css("link[rel=stylesheet]")
    assert [each.attributes["href"] for each in style] == ["../pagekin/related.css"]


def test_a_site_of_one_page_has_no_list(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "a.html").write_text(html("A", "One page."))
    before = content(tmp_path / "public")
    report = update(tmp_path / "public")
    assert (report.pages, report.lists) == (1, 0)
    assert content(tmp_path / "public")["a.html"] == before["a.html"]


def test_a_folder_without_pages_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes")
    with pytest.raises(SourceError, match="has no HTML page"):
        update(tmp_path)
    with pytest.raises(MisuseError, match="is no folder"):
        update(tmp_path / "nosuch")


def test_a_marker_twice_is_a_problem_of_its_page_only(site: Path) -> None:
    page = site / "birds" / "robin.html"
    page.write_text(page.read_text().replace("<p>", "<!-- pagekin --><!-- pagekin --><p>"))
    before = page.read_bytes()
    report = update(site)
    assert report.problems == [("birds/robin.html", "has the marker <!-- pagekin --> more than once")]
    assert page.read_bytes() == before and links(site / "birds" / "wren.html")


def test_a_place_in_no_page_is_an_error_and_nothing_is_changed(site: Path) -> None:
    before = content(site)
    for at in ("marker", "#nosuch"):
        with pytest.raises(FailureError, match=r"no page has a place for a list: .* name a place with --at"):
            update(site, at=at)
    assert content(site) == before


def test_read_only_files_are_named_before_anything_is_changed(site: Path) -> None:
    before = content(site)
    (site / "trees" / "oak.html").chmod(0o444)
    with pytest.raises(FailureError, match=r"oak.html is read-only; nothing was changed"):
        update(site)
    assert content(site) == before


def test_a_file_keeps_its_mode(site: Path) -> None:
    page = site / "trees" / "oak.html"
    page.chmod(0o640)
    update(site)
    assert page.stat().st_mode & 0o777 == 0o640 and links(page)


def test_links_out_of_the_folder_are_neither_read_nor_written(site: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.html"
    outside.write_text(html("Outside", TEXTS["birds/robin"][1]))
    (site / "birds" / "out.html").symlink_to(outside)
    (site / "birds" / "same.html").symlink_to("robin.html")
    report = update(site)
    reasons = {example: reason for reason, _, example in report.left_out}
    assert reasons == {
        "birds/out.html": "link out of the source folder",
        "birds/same.html": "is a link to another file of the site",
    }
    assert "pagekin" not in outside.read_text() and (site / "birds" / "same.html").is_symlink()
    assert "Outside" not in str(content(site)["birds/wren.html"])


def test_the_folder_of_the_json_files_may_not_lead_out(site: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (site / "pagekin").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FailureError, match="symbolic link out of"):
        pagekin.update_site(site, processes=1)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_of_another_program_is_not_replaced(site: Path) -> None:
    (site / "pagekin").mkdir()
    (site / "pagekin" / "related.json").write_text("{}")
    with pytest.raises(MisuseError, match="was not written by pagekin"):
        update(site)
    pagekin.revert_site(site)
    assert (site / "pagekin" / "related.json").read_text() == "{}"


def test_a_file_that_changes_during_the_run_is_left_alone(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once before it is read for its list, once between reading and writing."""
    early, late = site / "birds" / "robin.html", site / "birds" / "wren.html"

    def edit(path: Path) -> None:
        path.write_bytes(path.read_bytes().replace(b"2024", b"2025 at last"))

    def answer(*given: Any) -> Any:
        edit(early)
        return answered(*given)

    def writing(path: Path, data: bytes, before: os.stat_result | None) -> bool:
        if path == late:
            edit(late)
        return replace_file(path, data, before)

    answered = answer_site
    monkeypatch.setattr(module, "answer_site", answer)
    monkeypatch.setattr(module, "replace_file", writing)
    report = update(site, limit=4)
    assert report.problems == [(f"birds/{name}.html", "has changed during the run") for name in ("robin", "wren")]
    assert b"2025 at last" in early.read_bytes() and b"2025 at last" in late.read_bytes()
    assert not links(early) and not links(late)
    monkeypatch.undo()
    assert update(site, limit=4).problems == []
    assert links(early) and links(late)


def test_a_failure_leaves_whole_files_and_the_site_restorable(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, left = content(site), [3]

    def failing(path: Path, data: bytes, status: os.stat_result | None) -> bool:
        left[0] -= 1
        if not left[0]:
            raise FailureError("the disk is full")
        return replace_file(path, data, status)

    monkeypatch.setattr(module, "replace_file", failing)
    with pytest.raises(FailureError, match="disk is full"):
        update(site)
    monkeypatch.undo()
    assert sum(b"pagekin:begin" in data for data in content(site).values()) == 2
    pagekin.revert_site(site)
    assert content(site) == before


def test_an_index_of_another_site_is_refused(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in "abc":
        (other / f"{name}.html").write_text(html(name, f"Quite other things: {name}."))
    with pytest.raises(SourceError, match=r"index of another site.*has only 0 of its 13 pages.*--index"):
        update(other, index=site.with_name("public.kin"))
    pagekin.build(other, tmp_path / "plain.kin", processes=1)
    with pytest.raises(MisuseError, match="was not made by `pagekin site`"):
        update(other, index=tmp_path / "plain.kin")
    assert update(other, index=site.with_name("public.kin"), allow_shrink=True).pages == 3


def test_outputs_that_would_overwrite_other_files_are_refused(site: Path, tmp_path: Path) -> None:
    before = content(site)
    (tmp_path / "package.json").write_text('{"name": "site"}')
    for data, problem in (
        (site / "birds" / "robin.html", "should end in .json"),
        (tmp_path / "package.json", "exists"),
    ):
        with pytest.raises(MisuseError, match=problem):
            update(site, data=data)
    with pytest.raises(MisuseError, match="holds other files"):
        update(site, index=site)
    assert content(site) == before and (tmp_path / "package.json").read_text() == '{"name": "site"}'
    for _ in range(2):
        update(site, data=tmp_path / "data.json")
    assert "/birds/robin.html" in json.loads((tmp_path / "data.json").read_bytes())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"pages": [[', '"pages": [[1], ['),
        ('"title', '"other'),
        ('"birds/robin.html": [[', '"../../birds/robin.html": [['),
        ('[["birds/', '[["../../birds/'),
        ('"The wren"', "[7]"),
        ("{", "["),
    ],
)
def test_a_damaged_or_hostile_state_is_made_anew(site: Path, old: str, new: str) -> None:
    update(site)
    first, state = content(site), site.with_name("public.kin") / "site.json"
    text = state.read_text()
    assert old in text
    state.write_text(text.replace(old, new))
    update(site)
    pages = {path: data for path, data in content(site).items() if path.endswith(".html")}
    assert pages.keys() == {path for path in first if path.endswith(".html")}
    assert not (site.parent.parent / "birds").exists()
    if old != '"The wren"':
        assert content(site) == first


@pytest.mark.parametrize(("place", "value"), [(1, float("inf")), (3, True), (3, "x"), (3, "-" + "0" * 31), (3, "")])
def test_the_facts_about_a_page_are_not_believed(site: Path, place: int, value: object) -> None:
    update(site)
    first, state = content(site), site.with_name("public.kin") / "site.json"
    kept = json.loads(state.read_text())
    for page in kept["pages"]:
        page[place] = value
    state.write_text(json.dumps(kept))
    state.with_name("manifest.json").unlink()  # so that all pages are read again
    update(site)
    assert content(site) == first


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = pagekin.update_site(site, limit=4, processes=1)
    expected = content(site)
    pagekin.revert_site(site)
    site.with_name("public.kin").joinpath("site.json").write_text("{}")
    monkeypatch.setattr(answers, "_PAGES_FOR_PROCESSES", 1)
    monkeypatch.setattr(answers, "_JOB", 3)
    monkeypatch.setattr(answers, "cpu_count", lambda: 2)
    two = pagekin.update_site(site, limit=4, processes=2)
    assert one.links == two.links and content(site) == expected
