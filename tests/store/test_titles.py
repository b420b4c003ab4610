"""Titles lose what the titles of a host have in common, wherever they are shown; pages are still found by all of it."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pagekin
from pagekin.model.arrays import Strings
from pagekin.store.titles import common_parts, short_titles, without_parts
from store.builders import page, write_jsonl

NAMES = ["Oak", "Elm", "Ash", "Yew", "Fir"]


def shortened(*titles: str) -> list[str]:
    return list(short_titles(["a.example"] * len(titles), Strings.of(titles)))


@pytest.mark.parametrize(
    "form",
    [
        "{} - The wood",
        "{} | The wood",
        "{} — The wood 3.11 documentation",
        "{} (Java SE 17 & JDK 17)",
        "{} [The wood]",
        "{} (The wood (version 7.3.0))",
        "(The wood [2] and more) {}",
        "{}（木）",
        "The wood: {}",
        "The wood » {}",
        "[The wood] {}",
        "{} - Trees - The wood",
        "The wood | {} (second edition)",
    ],
)
def test_the_name_of_a_site_goes_wherever_it_stands(form: str) -> None:
    assert shortened(*(form.format(name) for name in NAMES)) == NAMES


def test_what_titles_do_not_have_in_common_stays() -> None:
    titles = ["Oak - a tree", "Elm - a disease", "Twenty-one ashes", "std::sort", "Yew (poison)", "Fir: wood"]
    assert shortened(*titles) == titles


def test_a_title_that_is_only_the_name_of_the_site_stays() -> None:
    titles = [f"{name} - The wood" for name in NAMES] + ["The wood", " - The wood"]
    assert shortened(*titles)[-2:] == ["The wood", " - The wood"]


def test_a_few_titles_prove_nothing() -> None:
    titles = [f"{name} - The wood" for name in NAMES]
    assert shortened(*titles[:3]) == titles[:3]
    others = ["Robin", "Wren"]  # five of seven titles are fewer than four of five
    assert shortened(*titles, *others) == [*titles, *others]


def test_each_host_has_its_own_name() -> None:
    hosts = ["a.example"] * 5 + ["b.example"] * 5
    titles = [f"{name} - A" for name in NAMES] + [f"{name} - B" for name in NAMES]
    assert list(short_titles(hosts, Strings.of(titles))) == [*NAMES, *NAMES]


@given(st.lists(st.sampled_from([f"{name} - {site}" for name in NAMES for site in "AB"]), max_size=30))
def test_titles_that_are_not_compared_are_shortened_too(titles: list[str]) -> None:
    with patch("pagekin.store.titles._SAMPLE", 7), patch("pagekin.store.merge._OBJECTS", 3):
        parts = common_parts(titles)
        assert shortened(*titles) == [without_parts(title, parts) for title in titles]


@given(st.lists(st.text(max_size=30)))
def test_a_short_title_is_a_part_of_its_title_and_empty_only_if_that_is(titles: list[str]) -> None:
    parts = common_parts(titles)
    for title in titles:
        assert without_parts(title, parts) in title
        assert bool(without_parts(title, parts)) == bool(title)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five pages with the same text, which link to each other."""
    folder = tmp_path_factory.mktemp("titles")
    links = " ".join(f"<a href=/{name}>{name}</a>" for name in NAMES)
    text = " ".join(f"the {k}th tree of the wood" for k in range(99))
    pages = [page(f"http://a.example/{n}", f"<title>{n} (The wood)</title><p>{n} {text} {links}") for n in NAMES]
    pagekin.build(write_jsonl(folder / "pages.jsonl", pages), folder / "x.kin", processes=1)
    return folder / "x.kin"


def test_titles_are_short_in_every_answer(store: Path, tmp_path: Path) -> None:
    collection = pagekin.open(store)
    details = collection.page("http://a.example/Oak")
    answer = collection.related("http://a.example/Oak", group_duplicates=False)
    (group,) = collection.duplicates()
    collection.export(tmp_path / "a.jsonl")
    exported = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    shown = {
        "page": [details.title, *(each.title for each in (*details.links_to, *details.linked_from))],
        "pages": [each.title for each in collection],
        "related": [each.title for each in answer],
        "duplicates": [group.anchor.title, *(member.page.title for member in group.members)],
        "export": [title for row in exported for title in (row["title"], row["query_title"])],
    }
    for what, titles in shown.items():
        assert titles, what
        assert set(titles) <= set(NAMES), what


@pytest.mark.parametrize("name", ["Oak", "Oak (The wood)", "oak the wood", "OAK (the  wood)"])
def test_a_page_is_found_by_its_short_and_its_full_title(store: Path, name: str) -> None:
    assert pagekin.open(store).page(name).url == "http://a.example/Oak"
