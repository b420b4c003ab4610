"""ZIM files, written by libzim: pages, redirects, titles and language come out."""

from __future__ import annotations

from pathlib import Path

import pytest
from libzim.reader import Archive

from pagekin.errors import MisuseError, SourceError
from pagekin.model.capture import Capture
from pagekin.sources.zim import _clusters
from sources.walk import file, items, redirects, skipped
from sources.zims import Page, write_zim

BASE = "http://trees-2024-05.localhost/"


@pytest.fixture(scope="module")
def zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = [Page(f"p/{k}", f"Page {k}", f"<p>{k} " + f"word{k} " * 200) for k in range(50)]
    pages += [Page("Oak", "The oak", "<p>An oak. <a href=p/1>one</a>"), Page("a.css", "", "b {}", "text/css")]
    return write_zim(tmp_path_factory.mktemp("zim") / "trees_2024.05.zim", iter(pages))


def test_what_was_written_comes_out(zim: Path) -> None:
    found = {item.url: item for item in items(zim) if isinstance(item, Capture)}
    assert set(found) == {BASE + "Oak", *(f"{BASE}p/{k}" for k in range(50))}
    oak = found[BASE + "Oak"]
    assert (oak.body, oak.title, oak.language) == (b"<p>An oak. <a href=p/1>one</a>", "The oak", "de")
    assert (BASE + "Quercus", BASE + "Oak") in redirects(items(zim))
    assert set(skipped(items(zim))) == {"not HTML"}


def test_every_cluster_is_read_once(zim: Path) -> None:
    """libzim writes pages of a cluster one after the other, so the clusters of the pages in our order ascend."""
    clusters = _clusters(zim, Archive(zim).all_entry_count)
    assert clusters is not None and len(set(clusters.tolist())) > 5
    order = [clusters[item.origin.offset] for item in items(zim) if isinstance(item, Capture)]
    assert order == sorted(order)


def test_a_split_file_is_named_by_its_first_part(zim: Path, tmp_path: Path) -> None:
    data = zim.read_bytes()
    for name, part in (("aa", data[: len(data) // 2]), ("ab", data[len(data) // 2 :])):
        file(tmp_path / f"trees_2024.05.zim{name}", part)
    assert {item.url for item in items(tmp_path / "trees_2024.05.zimaa") if isinstance(item, Capture)} >= {BASE + "Oak"}
    with pytest.raises(MisuseError, match="name the first part"):
        items(tmp_path / "trees_2024.05.zimab")
    (tmp_path / "trees_2024.05.zimab").unlink()
    with pytest.raises(SourceError, match="is no ZIM file that libzim can read"):
        items(tmp_path / "trees_2024.05.zimaa")


@pytest.mark.slow
def test_a_zim_of_20000_pages_is_read_completely(tmp_path: Path) -> None:
    pages = (Page(f"p/{k * 7919 % 20_000}", f"Page {k}", f"<p>{k} " + f"word{k % 50} " * 40) for k in range(20_000))
    found = items(write_zim(tmp_path / "a.zim", pages, cluster_size=1 << 18))
    bodies = {item.url: item.body for item in found if isinstance(item, Capture)}
    assert len(bodies) == 20_000
    for k in (0, 1, 777, 19_999):
        assert (bodies[f"http://a.localhost/p/{k * 7919 % 20_000}"] or b"").startswith(b"<p>%d word" % k)


@pytest.mark.parametrize("change", ["empty", "text", "cut", "version"])
def test_what_is_no_zim_is_refused(change: str, zim: Path, tmp_path: Path) -> None:
    data = zim.read_bytes()
    broken = {
        "empty": b"",
        "text": b"<html>" * 100,
        "cut": data[: len(data) // 2],
        "version": data[:4] + b"\x63\x00" + data[6:],
    }
    with pytest.raises(SourceError, match="is no ZIM file that libzim can read"):
        items(file(tmp_path / "a.zim", broken[change]))


def test_a_damaged_cluster_costs_its_own_pages(zim: Path, tmp_path: Path) -> None:
    """The pointers to clusters are at the place that is at byte 48 of the header."""
    page = next(item for item in items(zim) if isinstance(item, Capture) and item.url == BASE + "p/25")
    clusters = _clusters(zim, Archive(zim).all_entry_count)
    assert clusters is not None
    data = bytearray(zim.read_bytes())
    cluster = int(clusters[page.origin.offset])
    at = int.from_bytes(data[48:56], "little") + 8 * cluster
    begin = int.from_bytes(data[at : at + 8], "little")
    data[begin + 5 : begin + 15] = bytes(10)
    found = items(file(tmp_path / "a.zim", bytes(data)))
    lost = clusters.tolist().count(cluster)
    assert skipped(found)["damaged entry"] == lost < 50
    assert sum(isinstance(item, Capture) for item in found) == 51 - lost


def test_a_title_that_is_no_utf8_costs_its_own_page(zim: Path, tmp_path: Path) -> None:
    data = zim.read_bytes()
    found = items(file(tmp_path / "a.zim", data.replace(b"Page 25\0", b"Page \xb05\0")))
    assert skipped(found)["damaged entry"] == 1
    assert sum(isinstance(item, Capture) for item in found) == 50
