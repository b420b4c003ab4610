"""Files of labels and trees, and the pages that labels name."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.builders import rows_of
from pagekin.errors import MisuseError
from pagekin.evaluation.labels import LeftOut, join, path_labels, read_labels, read_tree
from pagekin.store.catalog import PageNames

ODP = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
  <Topic r:id="Top/Arts/Animation">
    <catid>423945</catid>
    <symbolic r:resource="Cartoons:Top/Arts/Comics"></symbolic>
    <link r:resource="http://www.awn.example/"></link>
  </Topic>
  <ExternalPage about="http://www.awn.example/">
    <d:Title>Animation &amp; more</d:Title>
    <d:Description>A <topic-like> thing</topic-like></d:Description>
    <priority>1</priority>
    <topic>Top/Arts/Animation</topic>
  </ExternalPage>
  <ExternalPage about="http://b.example/?a=1&amp;b=2">
    <topic>Top/Science/Math &amp; Logic/Sets</topic>
  </ExternalPage>
  <ExternalPage about="http://root.example/"><topic>Top</topic></ExternalPage>
  <ExternalPage about="http://soft.example/"><topic>Top/Arts/Comics@</topic></ExternalPage>
</RDF>
"""


@pytest.fixture
def notes() -> LeftOut:
    return LeftOut()


def reasons(notes: LeftOut) -> dict[str, int]:
    return {reason: count for reason, count, _ in rows_of(notes)}


def test_labels_are_lines_of_a_page_a_tab_and_a_class(tmp_path: Path, notes: LeftOut) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text("\ufeffhttp://a.example/\tNature/ Birds /Wren\r\n\nwp/A%28b%29.htm\t/Home\tmore\n", "utf-8")
    assert list(read_labels(file, notes)) == [
        ("http://a.example/", ("Nature", "Birds", "Wren")),
        ("wp/A%28b%29.htm", ("Home",)),
    ]
    assert rows_of(notes) == []


def test_lines_that_are_no_labels_are_counted(tmp_path: Path, notes: LeftOut) -> None:
    file = tmp_path / "labels.tsv"
    lines = [b"no tab", b"a\t/ /", b"b\tNature/Birds@", b"\xff\tNature", b"c\t" + b"x" * 100_000, b"d\tNature"]
    file.write_bytes(b"\n".join(lines))
    assert list(read_labels(file, notes)) == [("d", ("Nature",))]
    assert sorted(reasons(notes).values()) == [1] * 5
    assert ("lines without a tab", 1, f"line 1 of {file}") in rows_of(notes)
    assert ("soft links", 1, "b in Nature/Birds@") in rows_of(notes)


@pytest.mark.parametrize("name", ["content.rdf.u8", "content.rdf.u8.gz"])
def test_the_open_directory_is_read_below_its_root_and_without_soft_links(
    tmp_path: Path, notes: LeftOut, name: str
) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(ODP.encode()) if name.endswith(".gz") else ODP.encode())
    assert list(read_labels(file, notes)) == [
        ("http://www.awn.example/", ("Arts", "Animation")),
        ("http://b.example/?a=1&b=2", ("Science", "Math & Logic", "Sets")),
    ]
    assert reasons(notes) == {"labels without a class": 1, "soft links": 1}


def test_characters_of_a_dump_that_are_none_are_replaced_and_counted(tmp_path: Path, notes: LeftOut) -> None:
    file = tmp_path / "content.rdf.u8"
    file.write_bytes(ODP.encode().replace(b"Arts/Animation", b"Arts/Anim\xe9\x03tion"))
    first, *_ = read_labels(file, notes)
    assert first == ("http://www.awn.example/", ("Arts", "Anim\ufffd\ufffdtion"))
    assert ("characters of the dump that are none", 4, str(file)) in rows_of(notes)  # two in the topic, two in the page


@pytest.mark.slow
def test_a_dump_is_read_with_little_memory(tmp_path: Path, notes: LeftOut) -> None:
    file = tmp_path / "content.rdf.u8"
    with file.open("w", encoding="utf-8") as out:
        out.write("<RDF>")
        for k in range(60_000):
            description = f"<d:Description>{'page ' * 20}</d:Description>"
            out.write(
                f'<ExternalPage about="http://{k}.example/">{description}<topic>Top/A/{k % 7}</topic></ExternalPage>\n'
            )
        out.write("</RDF>")
    tracemalloc.start()
    count = sum(1 for _ in read_labels(file, notes))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 60_000
    assert peak < 2_000_000 < file.stat().st_size


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ODP.removesuffix("</RDF>\n"), "not well-formed XML: no element found"),
        ("<RDF><a></b></RDF>", "not well-formed XML: mismatched tag in line 1"),
        ('<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><RDF>&b;</RDF>', "declares an entity, 'a'"),
        ("<RDF><ExternalPage about='" + "x" * 2_000_000, "a tag of more than"),
    ],
)
def test_a_broken_dump_is_told(tmp_path: Path, notes: LeftOut, text: str, said: str) -> None:
    file = tmp_path / "content.rdf.u8"
    file.write_text(text, "utf-8")
    with pytest.raises(MisuseError, match=said):
        list(read_labels(file, notes))


def test_files_that_cannot_be_read_are_told(tmp_path: Path, notes: LeftOut) -> None:
    (tmp_path / "labels.tsv.gz").write_bytes(b"no gzip")
    (tmp_path / "cut.tsv.gz").write_bytes(gzip.compress(b"a\tb\n" * 100)[:-9])
    for name in ("labels.tsv.gz", "cut.tsv.gz", "missing.tsv"):
        with pytest.raises(MisuseError, match=f"{name} cannot be read"):
            list(read_labels(tmp_path / name, notes))


def test_folders_of_urls_are_classes_below_what_all_have_in_common(notes: LeftOut) -> None:
    urls = ["http://a.example/en/x/1.html?q=/y/", "http://a.example/en/x/y%20z/2.html", "http://a.example/en/top.html"]
    assert list(path_labels(urls, notes)) == [(urls[0], ("x",)), (urls[1], ("x", "y z"))]
    assert reasons(notes) == {"pages outside all folders": 1}


def test_several_hosts_are_tops(notes: LeftOut) -> None:
    urls = ["http://a.example/1.html", "http://b.example/x/2.html"]
    assert [path for _, path in path_labels(urls, notes)] == [("a.example",), ("b.example", "x")]


def test_a_tree_gives_classes_their_paths(tmp_path: Path, notes: LeftOut) -> None:
    (tmp_path / "tree.tsv").write_text("wren\tbirds\nbirds\tnature\nhome\t\ntools\n")
    (tmp_path / "labels.tsv").write_text("a\twren\nb\thome\nc\tcheese\nd\tnature\n")
    tree = read_tree(tmp_path / "tree.tsv", notes)
    assert tree == {
        "nature": ("nature",),
        "birds": ("nature", "birds"),
        "wren": ("nature", "birds", "wren"),
        "home": ("home",),
        "tools": ("tools",),
    }
    found = dict(read_labels(tmp_path / "labels.tsv", notes, tree))
    assert found == {"a": ("nature", "birds", "wren"), "b": ("home",), "d": ("nature",)}
    assert reasons(notes) == {"labels with a class that is not in the tree": 1}


def test_a_cyclic_tree_and_one_with_two_parents_are_refused(tmp_path: Path, notes: LeftOut) -> None:
    (tmp_path / "cycle.tsv").write_text("a\tb\nb\tc\nc\ta\n")
    with pytest.raises(MisuseError, match="has a cycle: "):
        read_tree(tmp_path / "cycle.tsv", notes)
    (tmp_path / "two.tsv").write_text("a\tb\na\tc\n")
    with pytest.raises(MisuseError, match="line 2: 'a' has two parents, 'b' and 'c'"):
        read_tree(tmp_path / "two.tsv", notes)


def test_pages_are_found_by_url_in_any_spelling_and_by_the_path_of_their_file() -> None:
    known = PageNames(
        [("http://a.example/x.html", 0), ("http://site.localhost/wp/A%2528b%2529.htm", 1), ("http://a.example/", 2)],
        [
            ("site/wp/A%28b%29.htm", 1),
            ("site/x.html", 3),
            ("other/x.html", 4),
            ("crawl.warc.gz", 5),
            ("crawl.warc.gz", 6),
        ],
    )
    found = {key: known.find(key) for key in (
        "HTTP://A.example:80/x.html#top", "https://a.example/x.html", "a.example/x.html", "http://a.example/index.html",
        "wp/A%28b%29.htm", "./wp/A%28b%29.htm", "site/wp/A%28b%29.htm", "wp/A(b).htm",
        "other/x.html", "x.html", "crawl.warc.gz", "",
    )}  # fmt: skip
    assert list(found.values()) == [0, 0, 0, 2, 1, 1, 1, None, 4, None, None, None]


def test_labels_that_meet_no_page_are_counted_and_others_kept(notes: LeftOut) -> None:
    def labels() -> Iterator[tuple[str, tuple[str, ...]]]:
        yield "here", ("A", "B")
        yield "nowhere", ("A",)
        yield "here", ("C",)
        yield "elsewhere", ("A",)

    assert join(labels(), {"here": 7}.get, notes) == {7: {("A", "B"), ("C",)}}
    assert rows_of(notes) == [("labels that name no page of the collection", 2, "nowhere")]
