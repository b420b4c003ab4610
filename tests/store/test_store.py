"""A store opened for reading: laws on every page, finding pages, and no need of any right to write."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pagekin.errors import MisuseError, NoPageError, StoreError
from pagekin.model.reading import NO_TARGET
from pagekin.pipeline import build
from pagekin.store.store import Store
from pagekin.urls import canonical_url, page_id
from store.builders import assert_sound, page, store_of, urls_of
from tools.sample_web import pages as source_pages
from tools.sample_web import write_folder


@pytest.fixture(scope="module")
def sample(sample_index: Path) -> Store:
    return Store.open(sample_index)


# --- laws, on every page of the sample web -------------------------------------------------------


def test_every_token_stands_in_the_text_where_its_place_says(sample: Store) -> None:
    forms = sample.reading.forms.all_raw()
    tokens = sample.reading.tokens
    for row in range(len(sample)):
        text = sample.text_bytes(row)
        stretch = tokens.row(row)
        last = 0
        places = sample.token_places(row, 0, stretch.stop - stretch.start).tolist()
        for form, place in zip(tokens.form[stretch].tolist(), places, strict=True):
            assert text[place : place + len(forms[form])] == forms[form]
            assert place >= last
            last = place


def test_anchors_lie_within_their_page_and_do_not_end_before_they_begin(sample: Store) -> None:
    anchors, lengths = sample.reading.anchors, sample.reading.tokens.lengths()
    for row in range(len(sample)):
        start, end = anchors.start[anchors.row(row)], anchors.end[anchors.row(row)]
        assert (start <= end).all()
        assert (end <= lengths[row]).all()
        assert len(sample.hrefs(row)) == len(start)


def test_starts_of_blocks_and_ends_of_sentences_ascend(sample: Store) -> None:
    blocks, sentences = sample.reading.blocks, sample.reading.sentences
    for row in range(len(sample)):
        assert (np.diff(blocks.place[blocks.row(row)].astype(np.int64)) > 0).all()
        assert (np.diff(blocks.token[blocks.row(row)].astype(np.int64)) >= 0).all()
        assert (np.diff(sentences.token[sentences.row(row)].astype(np.int64)) > 0).all()


def test_blocks_begin_at_the_lines_of_the_text(sample: Store) -> None:
    blocks = sample.reading.blocks
    for row in range(len(sample)):
        text = sample.text_bytes(row)
        lines = text.split(b"\n") if text else []
        begins = np.cumsum([0, *(len(line) + 1 for line in lines)])[:-1]
        assert blocks.place[blocks.row(row)].tolist() == begins.tolist()


def test_links_are_the_anchors_turned_round(sample: Store) -> None:
    anchors = sample.reading.anchors
    forward = [
        (int(sample.node_of_target[target]), row, k)
        for row in range(len(sample))
        for k, target in enumerate(anchors.target[anchors.row(row)].tolist())
        if target != NO_TARGET and sample.node_of_target[target] != row
    ]
    back = [
        (node, int(row), int(k))
        for node in range(len(sample.links.offsets) - 1)
        for row, k in zip(
            sample.links.page[sample.links.row(node)], sample.links.anchor[sample.links.row(node)], strict=True
        )
    ]
    assert back == sorted(forward)


def test_the_counts_of_forms_are_those_of_tokens_and_titles(sample: Store) -> None:
    numbers = np.concatenate([sample.reading.tokens.form, sample.reading.titles.form])
    assert np.bincount(numbers).tolist() == sample.form_counts.tolist()
    order = [(-count, form) for count, form in zip(sample.form_counts, sample.reading.forms.all_raw(), strict=True)]
    assert order == sorted(order)


def test_every_page_of_the_sample_web_is_there_once(sample: Store) -> None:
    urls = urls_of(sample)
    assert len(set(urls)) == len(urls)
    assert all(canonical_url(url) == url for url in urls)
    copies = {"http://oldweb.example/kitchen/damson-card.html"}  # calls another page canonical
    assert {page.url for page in source_pages()} - set(urls) == copies


def test_titles_and_ids_are_those_of_the_sample_web(sample: Store) -> None:
    for each in source_pages():
        facts = sample.page(sample.find(each.url))
        if facts["url"] == each.url and not each.file:
            assert facts["title"].replace("’", "'") == each.title
        assert facts["id"] == page_id(facts["url"])


# --- finding -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("library")
    files = {
        "index.html": "<title>The borough library</title><p>welcome",
        "birds/robin.html": "<title>The robin's winter song</title><p>robin",
        "birds/wren.html": "<title>The wren in winter</title><p>wren",
        "trees/wren.html": "<title>Not a tree</title><p>wren",
        "trees/100%_oak.html": "<title>Üppige Eiche</title><p>oak",
        "ants/antarctica.html": "<title>Antarctica</title><p>no ant at all",
        "ants/index.html": "<title>Ant</title><p>ant",
        "ants/colony.html": "<title>Life in a colony of ants: the ant queen</title><p>queen",
        "ants/anteater.html": "<title>Anteater</title><p>eater",
    }
    for name, html in files.items():
        path = folder / "web" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, "utf-8")
    return build([folder / "web"], folder / "library.kin", base_urls=["http://lib.example/"], processes=1).store


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("http://lib.example/birds/robin.html", "birds/robin.html"),
        ("HTTP://LIB.example:80/birds/./robin.html#song", "birds/robin.html"),
        ("lib.example/birds/robin.html", "birds/robin.html"),
        ("https://lib.example/birds/robin", "birds/robin.html"),
        ("lib.example", "index.html"),
        ("web/birds/robin.html", "birds/robin.html"),
        ("birds/robin.html", "birds/robin.html"),
        ("robin.html", "birds/robin.html"),
        ("trees/100%_oak.html", "trees/100%25_oak.html"),
        ("the robin's winter song", "birds/robin.html"),
        ("song robin", "birds/robin.html"),
        ("WINTER wre", "birds/wren.html"),
        ("uppige", "trees/100%25_oak.html"),
        ('"tree" ( * NOT', "trees/wren.html"),
        ("Ant", "ants/index.html"),
        (" aNT ", "ants/index.html"),
        ("ANT queen", "ants/colony.html"),
        ("antar", "ants/antarctica.html"),
    ],
)
def test_a_page_is_found_by_url_by_file_and_by_words_of_its_title(library: Store, name: str, url: str) -> None:
    assert library.reading.pages.url[library.find(name)] == "http://lib.example/" + url


def test_a_page_is_found_by_the_path_that_a_shell_completes(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    row = library.find("http://lib.example/birds/robin.html")
    assert library.find(str(library.root.parent / "web/birds/robin.html")) == row
    monkeypatch.chdir(library.root.parent)
    assert library.find("./web/birds/robin.html") == row
    monkeypatch.chdir(library.root.parent / "web")
    assert library.find("../web/birds/robin.html") == row


def test_a_name_of_several_pages_is_ambiguous_and_they_are_listed(library: Store) -> None:
    with pytest.raises(MisuseError) as by_file:
        library.find("wren.html")
    assert "http://lib.example/birds/wren.html" in str(by_file.value)
    assert "http://lib.example/trees/wren.html" in str(by_file.value)
    with pytest.raises(MisuseError, match="several pages") as by_title:
        library.find("winter")
    assert "http://lib.example/birds/robin.html  The robin's winter song" in str(by_title.value)


def test_an_unknown_page_is_answered_with_the_nearest(library: Store) -> None:
    with pytest.raises(MisuseError, match="no page") as by_words:
        library.find("http://elsewhere.example/wren.html")
    assert "http://lib.example/birds/wren.html" in str(by_words.value)
    with pytest.raises(MisuseError, match="no page") as by_beginning:
        library.find("http://lib.example/birds/zzz.html")
    assert "http://lib.example/birds/robin.html" in str(by_beginning.value)
    assert "http://lib.example/trees/wren.html" not in str(by_beginning.value)


@pytest.mark.parametrize(
    "name", ["", " ", "*", "''", "zzz", "http://", "\0", "%", "_", "a" * 5000, "\udcff", "x\ud800"]
)
def test_a_name_that_means_nothing_is_misuse(library: Store, name: str) -> None:
    with pytest.raises(MisuseError, match="no page"):
        library.find(name)


@pytest.mark.parametrize("name", ["a" * 60_000, "/a" * 30_000, "http://a.example/" + "a" * 60_000])
def test_a_name_that_is_too_long_is_misuse_not_damage(library: Store, name: str) -> None:
    with pytest.raises(NoPageError, match=r"^no page .{62}… in .* characters$"):
        library.find(name)


def test_what_anchors_say_is_told_the_commonest_first(tmp_path: Path) -> None:
    store = store_of(
        tmp_path,
        page("http://a.example/1", "<p><a href=3>the third, page</a> <a href=3>other</a>"),
        page("http://a.example/2", "<p>see un<a href=3>the</a>re <a href=3>the third – page</a> <a href=3></a>"),
        page("http://a.example/3", "<p>three"),
    )
    said = store.anchor_texts(store.page(2)["node"])
    assert said == [("the third, page", 2), ("other", 1), ("unthere", 1), ("", 1)]
    assert store.linked_from(2, 10) == [{"url": f"http://a.example/{k}", "title": ""} for k in (1, 2)]
    assert len(store.linked_from(2, 1)) == 1


def test_hrefs_are_as_the_page_has_them(tmp_path: Path) -> None:
    html = '<p><a href="A%28b.html?x=1&amp;y">a</a> <a href=" b\n.html ">b</a> <a href="">c</a> <a href="#d">d</a>'
    store = store_of(tmp_path, page("http://a.example/", html))
    assert store.hrefs(0) == ["A%28b.html?x=1&y", "b.html", "", "#d"]


# --- no right to write ---------------------------------------------------------------------------

READ_ALL = """
import os, sys
from pathlib import Path
from pagekin.store.manifest import damaged_files
from pagekin.store.store import Store
try:
    (Path(sys.argv[1]) / "mine").touch()
    print("writable")
    sys.exit()
except OSError:
    pass
store = Store.open(sys.argv[1])
assert damaged_files(store.root, store.manifest) == []
for row in range(len(store)):
    store.text(row), store.hrefs(row), store.page(row), store.links_to(row, 9)
    store.anchor_texts(store.page(row)["node"])
print(len(store), store.catalog.titled("robin", 1) != [])
"""


def without_root_rights() -> None:
    """Give up, for the program to come, root's right to pass over file modes (Linux)."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2, 3):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def frozen(root: Path) -> dict[str, tuple[int, int, int]]:
    every = [root, *sorted(root.rglob("*"))]
    return {str(p): (p.stat().st_mtime_ns, p.stat().st_size, p.stat().st_mode) for p in every}


@pytest.mark.slow
def test_a_store_is_read_from_a_folder_where_nothing_may_be_written(sample_index: Path, tmp_path: Path) -> None:
    root = tmp_path / "frozen.kin"
    shutil.copytree(sample_index, root)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = frozen(root)
    root_rights = hasattr(os, "geteuid") and os.geteuid() == 0 and sys.platform == "linux"
    answer = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(root)],
        capture_output=True,
        text=True,
        timeout=600,
        preexec_fn=without_root_rights if root_rights else None,
    )
    root.chmod(0o755)
    (root / "mine").unlink(missing_ok=True)
    if answer.stdout.startswith("writable"):
        pytest.skip("this machine does not let root give up its rights")
    assert (answer.stdout.split(), answer.stderr) == (["213", "True"], "")
    root.chmod(0o555)
    assert frozen(root) == before


def test_reading_a_store_changes_nothing_in_its_folder(sample_index: Path) -> None:
    before = frozen(sample_index)
    store = assert_sound(sample_index)
    for row in range(len(store)):
        store.text(row)
        store.links_to(row, 9)
        store.page(row)
    store.catalog.titled("robin", 5)
    store.close()
    assert frozen(sample_index) == before


def test_columns_cannot_be_written_to(sample: Store) -> None:
    with pytest.raises(ValueError, match="read-only"):
        sample.reading.tokens.form[0] = 1


def test_a_store_stays_open_while_the_next_generation_is_built(tmp_path: Path) -> None:
    old = store_of(tmp_path, page("http://a.example/", "<p>old words"))
    assert (old.reading.tokens.form.tolist(), old.page(0)["title"], old.text(0)) == ([0, 1], "", "old words")
    new = store_of(tmp_path, page("http://a.example/", "<title>new</title><p>other words here"))
    assert old.text(0) == "old words"
    assert new.text(0) == "other words here"


def test_an_old_handle_on_a_store_that_was_built_again_says_so(tmp_path: Path) -> None:
    store_of(tmp_path, page("http://a.example/", "<p>old words"))
    old = Store.open(tmp_path / "test.kin")
    store_of(tmp_path, page("http://a.example/", "<p>other words here"))
    for query in (old.text, old.page):
        with pytest.raises(StoreError, match="has been built again; open it again"):
            query(0)


def test_a_folder_and_an_archive_of_the_same_web_say_the_same(sample: Store, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "web")
    same = build([folder], tmp_path / "web.kin", base_urls=["http://"], processes=1).store
    loop = {f"http://oldweb.example/ring/{name}.html" for name in ("next", "random")}  # files that refresh in a ring
    here = {re.sub(r"/index\.html$", "/", url): row for row, url in enumerate(urls_of(same))}
    there = {url: row for row, url in enumerate(urls_of(sample))}
    assert here.keys() == there.keys() | loop
    # A file says nothing of its charset; where the page does not say it either, it is a guess.
    guessed = {page.url for page in source_pages() if page.declared in ("header", "nowhere")}
    assert [url for url in there if url not in guessed and same.text(here[url]) != sample.text(there[url])] == []
