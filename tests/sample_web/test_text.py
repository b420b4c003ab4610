"""The source text of the sample web, and what the format refuses."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

from pagekin.errors import SourceError
from tools.sample_web import hosts, labels, pages
from tools.sample_web.assemble import read_hosts
from tools.sample_web.edits import edited, read_edits
from tools.sample_web.prose import Emphasis, Image, Link, Words, read_blocks
from tools.sample_web.sections import Line, Place
from tools.sample_web.text import Page, read_host

from .dom import page_of

HEAD = "name: Owls\nabout: All of them.\nnav: / Home\nstyle: list\n\n=== /\ntitle: Owls\ndate: 2020-02-02\n"


def source_of(page: Page) -> str:
    return "\n\n".join(block.source for block in page.blocks)


def lines(text: str) -> list[Line]:
    return [Line(row, Place("owls.txt", number)) for number, row in enumerate(text.splitlines(), 1)]


def test_the_sample_web_is_as_large_as_promised() -> None:
    assert len(pages()) >= 150
    assert len(hosts()) >= 15
    assert len({page.url for page in pages()}) == len(pages())


def test_the_hierarchy_has_three_full_levels() -> None:
    found = {tuple(label.split("/")) for _, label in labels()}
    assert {len(label) for label in found} == {3}
    assert len({label[:1] for label in found}) >= 4
    assert len({label[:2] for label in found}) >= 12
    assert len(found) >= 30


def test_every_leaf_has_pages_on_at_least_two_hosts() -> None:
    where: dict[str, set[str]] = {}
    for url, label in labels():
        where.setdefault(label, set()).add(page_of(url).host)
    assert min(map(len, where.values())) >= 2


def test_labels_are_sorted_and_only_lists_of_links_have_none() -> None:
    assert labels() == sorted(set(labels()))
    bare = [page for page in pages() if not page.labels]
    assert all(page.path == "/" or page.host == "villagelibrary.example" or "contents" in page.path for page in bare)


def test_some_pages_belong_to_two_topics() -> None:
    tops = [{label.split("/")[0] for label in page.labels} for page in pages()]
    assert sum(len(top) == 2 for top in tops) >= 5


def test_pages_are_prose() -> None:
    own = [page for page in pages() if page.blocks and page.lang not in ("ja", "zh")]
    assert min(len(source_of(page).split()) for page in own) >= 60


def test_other_languages_and_charsets_are_spoken() -> None:
    assert {"de", "fr", "es", "pl", "ru", "el", "ja", "zh"} <= {page.lang for page in pages()}
    assert len({page.charset for page in pages()}) >= 5
    japanese = next(page for page in pages() if page.lang == "ja")
    assert " " not in japanese.blocks[0].source


def test_every_entry_of_a_navigation_bar_is_a_page_of_its_host() -> None:
    for host in hosts():
        assert {path for path, _ in host.nav} <= {page.path for page in host.pages}


def test_mirrors_are_their_originals_with_small_edits() -> None:
    copies = [page for page in pages() if page.copy]
    assert len(copies) == 5
    for copy in copies:
        original = page_of(copy.copy)
        assert copy.labels == original.labels
        here, there = source_of(copy).split(), source_of(original).split()
        assert 0.85 < SequenceMatcher(None, here, there, autojunk=False).ratio() < 1


def test_links_of_a_mirror_still_lead_to_the_original_host() -> None:
    assert "](/" not in source_of(page_of("http://mirror.example/birdnotes/robin.html"))


def test_one_page_holds_another_whole() -> None:
    container = source_of(page_of("http://almanac.example/october.html"))
    contained = source_of(page_of("http://skydiary.example/gale.html")).replace("](/", "](http://skydiary.example/")
    assert container.index(contained) > 0
    assert not container.endswith(contained)


def test_the_package_data_stays_small() -> None:
    def size(item: Traversable) -> int:
        return sum(map(size, item.iterdir())) if item.is_dir() else len(item.read_bytes())

    assert size(files("pagekin.sample_web")) < 600_000


def test_a_paragraph_is_read_into_its_pieces() -> None:
    (block,) = read_blocks(lines("An *old* [oak](/oak.html) and [![its leaf](/leaf.png)](/leaf.html)."))
    assert block.rows == (
        (
            (
                Words("An "),
                Emphasis("old"),
                Words(" "),
                Link(Words("oak"), "/oak.html"),
                Words(" and "),
                Link(Image("its leaf", "/leaf.png"), "/leaf.html"),
                Words("."),
            ),
        ),
    )


def test_blocks_are_told_apart_by_how_their_lines_begin() -> None:
    text = "words\n\n## head\n\n- one\n- two\n\n| a | b |\n| c | d |\n\n> said"
    assert [(block.kind, len(block.rows)) for block in read_blocks(lines(text))] == [
        ("paragraph", 1),
        ("heading", 1),
        ("list", 2),
        ("table", 2),
        ("quote", 1),
    ]


BROKEN = {
    "unknown key": (HEAD.replace("about:", "colour:"), 2),
    "missing style": (HEAD.replace("style: list\n", ""), 1),
    "unknown style": (HEAD.replace("list", "modern"), 4),
    "nav without words": (HEAD.replace("/ Home", "/"), 3),
    "text before pages": (HEAD.replace("\n=== /\n", "\nHello.\n\n=== /\n"), 6),
    "path without slash": (HEAD.replace("=== /", "=== owls"), 6),
    "path with a space": (HEAD.replace("=== /", "=== / x"), 6),
    "no title": (HEAD.replace("title: Owls\n", ""), 6),
    "two titles": (HEAD.replace("title: Owls\n", "title: Owls\ntitle: Owls\n"), 8),
    "no date": (HEAD.replace("2020-02-02", "2020-02-31"), 8),
    "flat label": (HEAD + "label: Birds\n", 9),
    "unknown charset": (HEAD + "charset: morse\n", 9),
    "unknown declaration": (HEAD + "declared: maybe\n", 9),
    "no home page": (HEAD.replace("=== /", "=== /owl.html"), 1),
    "page twice": (HEAD + "\n" + HEAD[HEAD.index("===") :], 6),
    "file with text": (HEAD + "file: x.html\n\nHello.\n", 6),
    "raw html": (HEAD + "\nHello.\nSome <b>bold</b> words.\n", 11),
    "bold": (HEAD + "\nSome **bold** words.\n", 10),
    "half a link": (HEAD + "\nSee [this page.\n", 10),
    "code": (HEAD + "\nSay `hello`.\n", 10),
    "other heading": (HEAD + "\n### Deep\n", 10),
    "nested list": (HEAD + "\n- one\n  - two\n", 11),
    "list in a paragraph": (HEAD + "\nwords\n- one\n", 11),
    "heading with text": (HEAD + "\n## Head\n## More\n", 11),
    "ragged table": (HEAD + "\n| a | b |\n| c |\n", 11),
    "last line broken": (HEAD + "\nwords\\\n", 10),
    "edit without a mark": (HEAD + "copy: http://owls.example/\n\nwords\n", 11),
    "replacement without an arrow": (HEAD + "copy: http://owls.example/\n\n~ words\n", 11),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_source_is_refused_with_file_and_line(name: str) -> None:
    text, line = BROKEN[name]
    with pytest.raises(SourceError, match=rf"^owls\.example\.txt, line {line}: .*README\.md$"):
        read_host("owls.example.txt", text)


@pytest.mark.parametrize(
    "body", ["copy: http://nobody.example/\n", "copy: http://owls.example/\n", "\n<<< http://nobody.example/\n"]
)
def test_text_that_is_taken_from_nowhere_is_refused(tmp_path: Path, body: str) -> None:
    (tmp_path / "owls.example.txt").write_text(HEAD + body, "utf-8")
    with pytest.raises(SourceError, match=r"^owls\.example\.txt, line 6: "):
        read_hosts(tmp_path)


def test_edits_replace_drop_and_add() -> None:
    before = read_blocks(lines("one owl\n\ntwo owls\n\nthree owls"))
    after = edited(before, read_edits(lines("~ one -> no\n- two\n^ first\n+ last")))
    assert [block.source for block in after] == ["first", "no owl", "three owls", "last"]
    assert Counter(block.source for block in edited(before, ())) == Counter(block.source for block in before)


@pytest.mark.parametrize("edit", ["~ owls -> owl", "~ four -> five", "- four"])
def test_an_edit_that_does_not_fit_exactly_once_is_refused(edit: str) -> None:
    before = read_blocks(lines("two owls\n\nthree owls"))
    with pytest.raises(SourceError, match=r"^owls\.txt, line 1: .* times"):
        edited(before, read_edits(lines(edit)))
