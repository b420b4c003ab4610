"""Which path is which source, and what is said of those that are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pagekin.errors import MisuseError
from pagekin.model.capture import ReadingSettings
from pagekin.sources.open import SourceSet, default_base, open_sources
from sources.walk import captures, file, json_lines
from sources.warcs import gz, page, response

SETTINGS = ReadingSettings()


def collection(*paths: Path, bases: tuple[str, ...] = ()) -> SourceSet:
    return open_sources(paths, bases, SETTINGS)


def folder(path: Path) -> Path:
    file(path / "a.html", page())
    return path


def urls(*paths: Path, bases: tuple[str, ...] = ()) -> list[str]:
    return [each.url for each in captures(*paths, bases=bases)]


def test_sources_of_all_kinds_come_together(tmp_path: Path) -> None:
    paths = [
        folder(tmp_path / "site"),
        file(tmp_path / "single.html", page()),
        file(tmp_path / "b.warc.gz", gz(response("http://b.example/"))),
        json_lines(tmp_path / "c.jsonl", {"url": "http://c.example/", "text": "c"}),
    ]
    found = urls(*paths, bases=("http://a.example/1/", "http://a.example/2/"))
    expected = ["http://a.example/1/a.html", "http://a.example/2/single.html", "http://b.example/", "http://c.example/"]
    assert sorted(found) == expected


def test_order_in_which_sources_are_named_does_not_matter(tmp_path: Path) -> None:
    paths = [json_lines(tmp_path / f"{name}.jsonl", {"url": f"http://{name}.example/", "text": name}) for name in "bca"]
    assert urls(*paths) == urls(*reversed(paths)) == [f"http://{name}.example/" for name in "abc"]
    assert collection(*paths).fingerprint() == collection(*reversed(paths)).fingerprint()


def test_size_is_that_of_all_files_that_are_read(tmp_path: Path) -> None:
    paths = [folder(tmp_path / "site"), file(tmp_path / "b.warc", response("http://b.example/"))]
    file(tmp_path / "site/image.png", bytes(1000))
    assert collection(*paths).size == len(page()) + len(response("http://b.example/"))


# --- base URLs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://a.example", "http://a.example/a.html"),
        ("http://a.example/", "http://a.example/a.html"),
        ("HTTPS://A.example:443/docs", "https://a.example/docs/a.html"),
        ("http://a.example/docs/?x=1#top", "http://a.example/docs/a.html"),
        ("http://a.example/ü b/", "http://a.example/%C3%BC%20b/a.html"),
        ("http://müller.example/", "http://xn--mller-kva.example/a.html"),
    ],
)
def test_base_url_is_taken_in_its_one_spelling(base: str, url: str, tmp_path: Path) -> None:
    assert urls(folder(tmp_path / "site"), bases=(base,)) == [url]


@pytest.mark.parametrize("scheme", ["http://", "https://"])
def test_base_without_a_host_takes_hosts_from_the_folders(scheme: str, tmp_path: Path) -> None:
    for name in ("www.a.example/x.html", "b.example:8080/y/z.html"):
        file(tmp_path / "mirror" / name, page())
    assert sorted(urls(tmp_path / "mirror", bases=(scheme,))) == [
        f"{scheme}b.example:8080/y/z.html",
        f"{scheme}www.a.example/x.html",
    ]


def test_one_base_is_for_all_folders(tmp_path: Path) -> None:
    paths = [folder(tmp_path / "one"), file(tmp_path / "b.html", page())]
    assert sorted(urls(*paths, bases=("http://a.example/",))) == ["http://a.example/a.html", "http://a.example/b.html"]


def test_many_bases_are_one_for_each_folder_in_order(tmp_path: Path) -> None:
    archive = file(tmp_path / "x.warc", response("http://x.example/"))
    paths = [folder(tmp_path / "two"), archive, folder(tmp_path / "one")]
    found = urls(*paths, bases=("http://2.example/", "http://1.example/"))
    assert sorted(found) == ["http://1.example/a.html", "http://2.example/a.html", "http://x.example/"]


def test_without_a_base_a_folder_is_a_host_of_its_own(tmp_path: Path) -> None:
    paths = [folder(tmp_path / "My Site"), file(tmp_path / "Other_Site" / "b.html", page())]
    assert sorted(urls(*paths)) == ["http://my-site.localhost/a.html", "http://other-site.localhost/b.html"]


@pytest.mark.parametrize("name", ["Ünï", "日本", "---", ".", "a.b.c", "x" * 80])
def test_every_folder_has_a_default_base_that_is_a_url(name: str, tmp_path: Path) -> None:
    assert urls(folder(tmp_path / "outer" / name)) == [default_base(tmp_path / "outer" / name) + "a.html"]


# --- what is said of misuse ----------------------------------------------------------------------


def refuses(sentence: str, *paths: Path, bases: tuple[str, ...] = ()) -> None:
    with pytest.raises(MisuseError, match=f"^{re.escape(sentence)}$"):
        collection(*paths, bases=bases)


def test_no_source_is_misuse() -> None:
    refuses("no source given; name a folder, an .html, .md, .warc, .warc.gz, .wacz or .jsonl file")


@pytest.mark.parametrize("name", ["a.warc.gz", "a.html", "folder", "a.jsonl", "a.unknown"])
def test_source_that_does_not_exist_is_misuse(name: str, tmp_path: Path) -> None:
    missing = tmp_path / name
    refuses(f"{missing} does not exist; check the path of the source", folder(tmp_path / "site"), missing)


@pytest.mark.parametrize("name", ["a", "a.png", "html", "a.sqlite"])
def test_source_of_unknown_kind_is_misuse(name: str, tmp_path: Path) -> None:
    path = file(tmp_path / name, page())
    refuses(
        f"{path} is no source that pagekin can read; it reads folders and .html, .htm, .xhtml, .shtml, .md, .markdown, "
        ".mdown, .mkd, .warc, .warc.gz, .warc.zst, .wacz, .arc, .arc.gz, .jsonl, .jsonl.gz, "
        ".ndjson, .jl, .cdxj, .parquet, .xml, "
        ".zim",
        path,
    )


@pytest.mark.parametrize("suffix", [".rst", ".adoc", ".asciidoc", ".org", ".tex"])
def test_other_markup_is_answered_with_the_way_by_html(suffix: str, tmp_path: Path) -> None:
    path = file(tmp_path / "docs" / f"a{suffix}", b"Title\n=====\n")
    advice = "build its HTML, for example with Sphinx, Asciidoctor or pandoc, and name the folder that this writes"
    refuses(f"{path} is no source that pagekin can read; {advice}", path)
    assert advice in collection(path.parent).without_pages()


def test_two_sources_of_one_name_are_misuse(tmp_path: Path) -> None:
    pairs = [
        (folder(tmp_path / "1" / "site"), folder(tmp_path / "2" / "site")),
        (file(tmp_path / "1" / "a.warc", b""), file(tmp_path / "2" / "a.warc", b"")),
        (file(tmp_path / "1" / "a.html", b""), file(tmp_path / "1" / "a.html", b"")),
    ]
    for one, two in pairs:
        refuses(f"{one} and {two} have the same name; rename one, or name a folder that has both", one, two)


@pytest.mark.parametrize("base", ["a.example", "ftp://a.example/", "/docs/", "", "http:///docs", "http://a b/"])
def test_base_that_is_no_url_is_misuse(base: str, tmp_path: Path) -> None:
    sentence = f"--base-url {base!r} is no http or https URL; write it like https://example.org/docs/"
    refuses(sentence, folder(tmp_path / "site"), bases=(base,))


@pytest.mark.parametrize("number", [2, 4])
def test_another_number_of_bases_than_of_folders_is_misuse(number: int, tmp_path: Path) -> None:
    paths = [folder(tmp_path / name) for name in ("a", "b", "c")]
    sentence = f"{number} base URLs for 3 folders; give one for all, or one each in order"
    refuses(sentence, *paths, bases=tuple(f"http://{k}.example/" for k in range(number)))


def test_base_for_archives_alone_is_misuse(tmp_path: Path) -> None:
    refuses(
        "--base-url is for folders and single pages; archives know the URLs of their pages",
        file(tmp_path / "a.warc", b""),
        bases=("http://a.example/",),
    )
