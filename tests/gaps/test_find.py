"""Missing links of a small site, whose texts state what should be found."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import pagekin

SITE = "http://park.example/"


def found(gaps: pagekin.Gaps) -> dict[tuple[str, str], pagekin.MissingLink]:
    return {(name(gap.source.url), name(gap.target.url)): gap for gap in gaps}


def name(url: str) -> str:
    return url.removeprefix(SITE).removesuffix(".html")


def names(pages: list[pagekin.LinkedPage]) -> list[str]:
    return [name(page.url) for page in pages]


@pytest.fixture(scope="module")
def gaps(park: pagekin.Collection) -> pagekin.Gaps:
    return park.gaps(per_page=10, limit=100)


def test_words_that_others_link_with_are_proposed_with_their_sentence(gaps: pagekin.Gaps) -> None:
    gap = found(gaps)["oak", "jay"]
    assert (gap.words, gap.words_from) == ("The Eurasian jay", "anchor")
    assert gap.sentence == "The Eurasian jay buries acorns in autumn, and the birds forget some acorns."
    assert gap.in_links == 1
    # One page links these words, two pages have them, and two more are added for caution.
    assert gap.likelihood == pytest.approx(1 / (2 + 2))


def test_a_related_page_that_the_text_does_not_name_comes_with_a_shared_term(park: pagekin.Collection) -> None:
    gap = found(park.gaps(pages=["birch"], per_page=10))["birch", "elm"]
    assert (gap.words, gap.words_from, gap.likelihood) == ("bark", "term", 0.0)
    assert gap.sentence == "Birches grow fast on poor soil, and their bark is white."


def test_linked_pages_are_no_gaps_in_either_direction(gaps: pagekin.Gaps) -> None:
    linked = {
        ("index", "oak"),
        ("index", "birch"),
        ("jay", "birch"),
        ("birch", "ash"),
        ("ash", "oak"),
        ("index", "jay"),
    }
    assert not found(gaps).keys() & (linked | {(target, source) for source, target in linked})


def test_one_way_also_proposes_links_back(park: pagekin.Collection) -> None:
    back = found(park.gaps(pages=["oak"], per_page=10, one_way=True))
    assert ("oak", "index") in back


def test_words_that_are_linked_elsewhere_are_flagged(park: pagekin.Collection) -> None:
    gap = found(park.gaps(pages=["jay.html"], per_page=10))["jay", "oak"]
    assert (gap.words, gap.words_from) == ("oak", "title")  # without what is in brackets
    # Of three pages with the word one links it to the page, and it is the title; two pages are added for caution.
    assert gap.likelihood == pytest.approx((1 + 1) / (3 + 2))
    assert gap.sentence == "Many an English oak grew from acorns that the birds forgot."
    assert gap.linked_elsewhere == SITE + "birch.html"


def test_a_link_in_a_menu_is_mentioned_but_is_no_link_of_the_text(gaps: pagekin.Gaps) -> None:
    to_elm = [gap for (_, target), gap in found(gaps).items() if target == "elm"]
    assert to_elm
    assert all(gap.in_template for gap in to_elm)
    assert not found(gaps)["oak", "jay"].in_template


def test_orphans_dead_ends_and_pages_of_menus_are_told_apart(gaps: pagekin.Gaps) -> None:
    assert names(gaps.orphans) == ["secret"]
    assert names(gaps.only_from_templates) == ["about", "elm", "index"]
    assert names(gaps.dead_ends) == ["about", "elm", "oak", "secret"]


def test_thresholds_of_orphans_and_dead_ends_are_options(park: pagekin.Collection) -> None:
    gaps = park.gaps(limit=1, orphan_links=1, dead_end_links=1)
    assert names(gaps.orphans) == ["jay", "secret"]
    assert names(gaps.dead_ends) == ["about", "ash", "birch", "elm", "jay", "oak", "secret"]


def test_limits_and_filters_hold(park: pagekin.Collection) -> None:
    assert len(park.gaps(limit=2)) == 2
    assert all(gap.similarity >= 0.2 for gap in park.gaps(min_similarity=0.2))
    assert all(gap.likelihood >= 0.2 for gap in park.gaps(min_likelihood=0.2))
    assert {gap.in_links for gap in park.gaps(max_in_links=0)} == {0}
    one_each = [gap.source.url for gap in park.gaps(per_page=1)]
    assert len(one_each) == len(set(one_each))
    only = park.gaps(include=("oak|jay",), exclude=("about",))
    assert {name(page.url) for gap in only for page in (gap.source, gap.target)} == {"oak", "jay"}
    assert only.orphans == []


def test_the_best_of_a_page_do_not_depend_on_how_many_are_asked_for(park: pagekin.Collection) -> None:
    many, few = park.gaps(pages=["oak"], per_page=100, limit=100), park.gaps(pages=["oak"], per_page=2, limit=100)
    assert [gap.target.url for gap in few] == [gap.target.url for gap in many][:2]


def test_near_duplicates_are_not_linked_to_each_other(example_gaps: pagekin.Gaps) -> None:
    pairs = {(gap.source.title, gap.target.title) for gap in example_gaps}
    assert ("The finch", "Redbreast") in pairs
    assert ("The robin", "Redbreast") not in pairs


@pytest.fixture
def example_gaps(example_folder: Path) -> pagekin.Gaps:
    return pagekin.open(example_folder / "site.kin").gaps(per_page=10)


def test_decisions_are_honoured(park: pagekin.Collection, tmp_path: Path) -> None:
    file = tmp_path / "gaps.csv"
    park.gaps(output=file, limit=100)
    rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    for row in rows:
        if row["target"].endswith("jay.html"):
            row["decision"] = "done"
        elif row["kind"] == "orphan":
            row["decision"] = "Dismissed"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    again = park.gaps(limit=100, decisions=str(file))
    assert not any(target == "jay" for _, target in found(again))
    assert again.orphans == []
    assert again.dismissed == 1
    assert again.done == len(again.not_done) > 0
    assert (SITE + "oak.html", SITE + "jay.html") in again.not_done


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("source,target\na,b\n", "has no column 'decision'"),
        ("source,target,decision\na,b,perhaps\n", "line 2: the decision 'perhaps' is not known"),
        ("source,target,decision\n,b,done\n", "line 2: a decision without a source"),
        ("", "has no column 'source'"),
        ("source,target,decision\n\"a,b,done\n", "cannot be read as decisions"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_decisions_is_refused(
    park: pagekin.Collection, tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "decisions.csv").write_text(text, "utf-8")
    with pytest.raises(pagekin.MisuseError, match=problem):
        park.gaps(decisions=str(tmp_path / "decisions.csv"))


def test_bytes_that_are_no_text_are_no_decisions(park: pagekin.Collection, tmp_path: Path) -> None:
    (tmp_path / "decisions.csv").write_bytes(b"source,target,decision\n\xff\xfe,b,done\n")
    with pytest.raises(pagekin.MisuseError, match="cannot be read as decisions"):
        park.gaps(decisions=str(tmp_path / "decisions.csv"))
    with pytest.raises(pagekin.MisuseError, match="cannot be read: No such file"):
        park.gaps(decisions=str(tmp_path / "none.csv"))


def test_json_and_html_have_every_gap(park: pagekin.Collection, tmp_path: Path) -> None:
    gaps = park.gaps(output=tmp_path / "gaps.json", limit=5)
    assert len(json.loads((tmp_path / "gaps.json").read_text("utf-8"))["missing"]) == 5
    park.gaps(output=tmp_path / "gaps.html", limit=5)
    html = (tmp_path / "gaps.html").read_text("utf-8")
    assert html.count("<article>") == 5
    assert all(gap.target.url in html for gap in gaps)


def test_an_unknown_format_is_refused_before_the_search(park: pagekin.Collection, tmp_path: Path) -> None:
    with pytest.raises(pagekin.MisuseError, match="csv, json, html"):
        park.gaps(output=tmp_path / "gaps.xlsx")
    assert not list(tmp_path.iterdir())


def test_texts_of_pages_are_escaped_in_html_and_csv(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    words = "Acorns feed the birds of the park in autumn and in winter."
    pages = {
        "a": f"<title>=cmd {evil.replace('<', '&lt;')}</title><p>{words} The <code>&lt;b&gt;mark</code> of a jay.",
        "b": f"<title>&lt;b&gt;mark</title><p>{words} Jays bury them.",
    }
    for page, html in pages.items():
        (tmp_path / f"{page}.html").write_text(f"<html lang=en>{html}", "utf-8")
    collection = pagekin.build(tmp_path, tmp_path / "x.kin", base_urls=["http://x.example/"], processes=1)
    assert len(collection.gaps(output=tmp_path / "gaps.html")) == 2
    html = (tmp_path / "gaps.html").read_text("utf-8")
    assert evil not in html
    assert "<b>mark" not in html
    collection.gaps(output=tmp_path / "gaps.csv")
    cells = [cell for row in csv.reader((tmp_path / "gaps.csv").read_text("utf-8").splitlines()) for cell in row]
    assert not any(cell.startswith("=") for cell in cells)


def test_a_collection_of_one_page_has_no_gaps(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<title>One</title><p>One page alone.", "utf-8")
    gaps = pagekin.build(tmp_path, tmp_path / "x.kin", base_urls=["http://x.example/"], processes=1).gaps()
    assert (len(gaps), names(gaps.orphans), len(gaps.dead_ends)) == (0, ["http://x.example/a"], 1)


def test_a_url_that_is_known_only_from_links_has_no_gaps(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<title>One</title><p>See <a href=http://y.example/>why</a>.", "utf-8")
    collection = pagekin.build(tmp_path, tmp_path / "x.kin", base_urls=["http://x.example/"], processes=1)
    for call in (collection.gaps, collection.kneighbors):
        with pytest.raises(pagekin.NoPageError, match="known only from links"):
            call(pages=["http://y.example/"])


def test_words_that_are_the_title_of_a_third_page_are_not_to_be_linked(tmp_path: Path) -> None:
    """The jay buries acorns of the oak, and so does the squirrel; "oak" would be expected to lead to the oak."""
    texts = {"Oak": "A tree.", "Jay": "The jay eats of the oak: oak, oak.", "Squirrel": "A squirrel eats of the oak."}
    for name, text in texts.items():
        (tmp_path / f"{name}.html").write_text(f"<title>{name}</title><p>{text}", "utf-8")
    found = pagekin.build(tmp_path, tmp_path / "a.kin", processes=1).gaps()
    words = {(gap.source.title, gap.target.title): gap.words for gap in found}
    assert words["Jay", "Oak"] == words["Squirrel", "Oak"] == "oak"
    assert words["Jay", "Squirrel"] == words["Squirrel", "Jay"] == "eats"
