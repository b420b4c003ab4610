"""Notes: Markdown becomes pages, and wiki links lead to notes by name, wherever the notes are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.evaluation.labels import LeftOut, read_labels
from pagekin.model.capture import Capture, ReadingSettings
from pagekin.model.notes import FrontMatter, note_href, split_front_matter
from pagekin.pipeline import build
from pagekin.reading.bodies import Body, load_body
from pagekin.reading.markdown import markdown_as_html
from pagekin.store.store import Store
from pagekin.urls import resolve_url
from sources.measure import within
from sources.walk import file, items, redirects, skipped

BASE = "http://vault.localhost/"
OAK = """---
title: The oak
aliases: [Quercus, "English oak"]
tags:
  - trees/broadleaf
  - forest
date: 2024-05-01
---
An oak is a [[Trees|tree]]. See [birches](deep/Birch.md), [[deep/Birch#Bark]] and ![[Acorn]]. ![[oak.png]]
"""


def vault(root: Path, **notes: str) -> Path:
    """A folder `vault`; `deep__Birch` is the note deep/Birch.md."""
    for name, text in notes.items():
        file(root / "vault" / (name.replace("__", "/") + ".md"), text.encode())
    return root / "vault"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    root = tmp_path_factory.mktemp("notes")
    birch = "# Birch\n\n## Bark\n\nWhite as [[quercus]] is not. #trees #forest/white `#code`\n"
    folder = vault(root, Oak=OAK, deep__Birch=birch, Trees="Both [[OAK]] and [[Missing note]].", Acorn="Small.")
    file(folder / ".obsidian/plugins/x/README.md", b"not a note")
    file(folder / ".git/a.md", b"not a note")
    file(folder / "_drafts/later.md", b"not yet")
    file(folder / "soon.md", b"+++\ndraft = true\n+++\nnot yet")
    file(folder / "oak.png", b"\x89PNG")
    return build([folder], root / "vault.kin", processes=1).store


def test_notes_are_pages_and_what_is_no_note_is_counted(store: Store) -> None:
    assert set(store.reading.pages.url) == {BASE + name for name in ("Oak.md", "deep/Birch.md", "Trees.md", "Acorn.md")}
    assert store.manifest.skipped == {
        "draft": 2,
        "folder of a program, such as .git and .obsidian": 2,
        "not HTML": 1,
    }


def test_title_is_that_of_the_front_matter_or_the_heading_or_the_file(store: Store) -> None:
    titles = dict(zip(store.reading.pages.url, store.reading.pages.title, strict=True))
    assert titles == {
        BASE + "Oak.md": "The oak",
        BASE + "deep/Birch.md": "Birch",
        BASE + "Trees.md": "Trees",
        BASE + "Acorn.md": "Acorn",
    }


def test_text_has_the_words_of_links_and_no_front_matter(store: Store) -> None:
    assert store.text(store.find(BASE + "Oak.md")) == "An oak is a tree. See birches, deep/Birch > Bark and Acorn."


def test_names_lead_to_notes_whatever_their_case_and_folder(store: Store) -> None:
    for name in ("oak", "quercus", "english%20oak"):
        assert store.find(f"{BASE}?note={name}") == store.find(BASE + "Oak.md")
    for name in ("birch", "deep/birch"):
        assert store.find(f"{BASE}?note={name}") == store.find(BASE + "deep/Birch.md")


def test_links_by_name_are_links_between_pages(store: Store) -> None:
    """Oak -> Trees, Birch (twice), Acorn; Birch -> Oak, by its alias; Trees -> Oak, and a note that is missing."""
    pages = {row: url.removeprefix(BASE) for row, url in enumerate(store.reading.pages.url)}
    degrees = {pages[row]: int(degree) for row, degree in zip(store.nodes[:-1], store.in_degrees(), strict=False)}
    assert degrees == {"Oak.md": 2, "Trees.md": 1, "Acorn.md": 1, "deep/Birch.md": 1}
    assert BASE + "?note=missing%20note" in set(store.reading.targets)


def test_date_of_a_note_is_that_of_its_front_matter(tmp_path: Path) -> None:
    folder = vault(tmp_path, Oak=OAK, Plain="words")
    os.utime(folder / "Plain.md", (1, 86_400))
    found = {each.url: each.captured for each in items(folder) if isinstance(each, Capture)}
    assert found == {BASE + "Oak.md": 1_714_521_600, BASE + "Plain.md": 86_400}  # date -ud 2024-05-01 +%s


def test_tags_are_a_hierarchy(tmp_path: Path) -> None:
    code = "~~~\n#not-in-code\n~~~\n#white/bark # heading, a#b, #12, `#code`"
    folder = vault(tmp_path, Oak=OAK, deep__Birch=code, Acorn="no tags")
    assert list(read_labels(folder, LeftOut())) == [
        ("Oak.md", ("trees", "broadleaf")),
        ("Oak.md", ("forest",)),
        ("deep/Birch.md", ("white", "bark")),
    ]


def test_of_two_notes_with_one_name_the_one_with_the_shorter_path_is_meant(tmp_path: Path) -> None:
    folder = vault(tmp_path, a__b__Oak="1", z__Oak="2", Elm="---\naliases: oak\n---\n3")
    found = items(folder)
    assert dict(redirects(found))[BASE + "?note=oak"] == BASE + "z/Oak.md"
    assert dict(redirects(found))[BASE + "?note=a/b/oak"] == BASE + "a/b/Oak.md"
    assert skipped(found) == {"note with the name of another (kept; links by that name lead to the other)": 1}


def test_a_note_that_moves_takes_its_links_along_and_no_other_is_read_again(tmp_path: Path) -> None:
    folder = vault(tmp_path, Oak="An oak.", Elm="See [[Oak]].")
    build([folder], tmp_path / "vault.kin", processes=1)
    (folder / "deep").mkdir()
    (folder / "Oak.md").rename(folder / "deep/Oak.md")
    built = build([folder], tmp_path / "vault.kin", processes=1)
    assert (built.read, built.reused) == (1, 1)
    assert built.store.find(BASE + "?note=oak") == built.store.find(BASE + "deep/Oak.md")


def test_markdown_of_a_built_site_is_not_read(tmp_path: Path) -> None:
    file(tmp_path / "vault/a.html", b"<p>a")
    folder = vault(tmp_path, a="a")
    found = items(folder)
    assert [each.url for each in found if isinstance(each, Capture)] == [BASE + "a.html"]
    assert skipped(found) == {"Markdown in a folder that has as much HTML": 1}


def test_link_out_of_the_vault_is_not_followed(tmp_path: Path) -> None:
    secret = file(tmp_path / "secret.md", b"secret")
    folder = vault(tmp_path, Oak="An oak.")
    (folder / "link.md").symlink_to(secret)
    assert skipped(items(folder)) == {"link out of the source folder": 1}


def test_a_single_note_is_a_vault_of_one(tmp_path: Path) -> None:
    (found, *names) = items(vault(tmp_path, Oak=OAK) / "Oak.md")
    assert isinstance(found, Capture)
    assert (found.url, found.title, len(names)) == (BASE + "Oak.md", "The oak", 3)


# --- front matter --------------------------------------------------------------------------------

MATTERS = {
    "---\ntitle: 'A: b'  # c\ntags: a, b c\n---\n": FrontMatter("A: b", ("a", "b", "c")),
    "---\r\ntags: [a/b, '#c']\r\n---\r\n": FrontMatter(tags=("a/b", "c")),
    "+++\ntitle = 'T'\ntags = ['a']\ndate = 2024-05-01\n+++\n": FrontMatter("T", ("a",), date="2024-05-01"),
    "---\nlang: de\nnested:\n  title: no\nalias: x\n...\n": FrontMatter(aliases=("x",), language="de"),
    "---\ntitle: |\n---\n": FrontMatter(),
    "---\nno end": FrontMatter(),
    "+++\n= broken\n+++\n": FrontMatter(),
}


@pytest.mark.parametrize("text", MATTERS)
def test_front_matter_means_what_it_says(text: str) -> None:
    assert split_front_matter(text.replace("\r\n", "\n"))[0] == MATTERS[text]


def test_front_matter_cannot_expand() -> None:
    levels = "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 30))
    with within():
        matter, body = split_front_matter(f"---\n{levels}tags: [*a29, *a29]\n---\nbody")
    assert (matter.tags, body) == (("*a29",), "body")


def test_aliases_of_a_note_are_bounded() -> None:
    names = ", ".join(map(str, range(9000)))
    assert len(split_front_matter(f"---\naliases: [{names}]\n---\n")[0].aliases) == 100


@given(st.text(st.sampled_from("-+.:[]'\"# \nabtitlegs|>,="), max_size=200))
def test_any_text_has_front_matter_or_none(text: str) -> None:
    matter, body = split_front_matter("---\n" + text)
    assert ("---\n" + text).endswith(body)
    assert matter == FrontMatter() or len(body) < len(text)


# --- Markdown ------------------------------------------------------------------------------------

WIKI_LINKS = {
    "[[A]]": '<a href="/?note=a">A</a>',
    "[[A|b]]": '<a href="/?note=a">b</a>',
    "[[A#B]]": '<a href="/?note=a">A &gt; B</a>',
    "[[#B]]": "B",
    "[[a/B.md|c]]": '<a href="/?note=a/b">c</a>',
    "![[A]]": '<a href="/?note=a">A</a>',
    "![[a.PNG|100]]": "",
    "![[Version 2.0 of it]]": '<a href="/?note=version%202.0%20of%20it">Version 2.0 of it</a>',
    "[[A]": "[[A]",
    "[[]]": "[[]]",
    "`[[A]]`": "<code>[[A]]</code>",
    "[x](B%20c.md)": '<a href="B%20c.md">x</a>',
}


@pytest.mark.parametrize("text", WIKI_LINKS)
def test_wiki_links_are_links_by_name(text: str) -> None:
    assert markdown_as_html(text) == f"<p>{WIKI_LINKS[text]}</p>\n"


@given(st.text(max_size=30))
def test_a_link_by_name_is_canonical(name: str) -> None:
    assert resolve_url(BASE + "a/b.md", note_href(name)) == BASE.rstrip("/") + note_href(name)


def test_brackets_in_a_tag_are_no_link() -> None:
    assert markdown_as_html("<i title='[[A]] [b'>c</i>") == "<p><i title='[[A]] [b'>c</i></p>\n"


def test_a_link_in_a_table_may_have_words() -> None:
    assert '<td><a href="/?note=a">b</a></td>' in markdown_as_html("|x|\n|-|\n|[[A\\|b]]|\n")


@pytest.mark.parametrize("unit", ["[", "![[", "> ", "- ", "*a_", "`a``", "<a", "[[a|", "|a|b\n|-|-\n", "&"])
def test_repeated_markup_takes_bounded_time(unit: str) -> None:
    with within():
        markdown_as_html(unit * (20_000 // len(unit)))


def test_markdown_that_is_too_long_is_skipped(tmp_path: Path) -> None:
    (folder := tmp_path / "vault").mkdir()
    file(folder / "long.md", b"word " * 500_000)
    found = next(each for each in items(folder) if isinstance(each, Capture))
    loaded = load_body(found, ReadingSettings())
    assert not isinstance(loaded, Body) and loaded.reason == "Markdown of more than 2 MiB"
