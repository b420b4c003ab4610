"""Reports on near-duplicates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from duplicates.builders import pages
from duplicates.test_result_list import prose
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.report import DuplicateReport, draw_report, growth, most_duplicated, profile_of
from pagekin.duplicates.result_list import group
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError
from pagekin.pipeline import build
from pagekin.search.duplicates import duplicate_report
from pagekin.search.indexed_store import IndexedStore


def test_a_pair_counts_from_its_later_page_on() -> None:
    """By hand: the third joins the first at 80 %, the fourth both at 60 %; then two of four, or one, are grouped."""
    pairs, similarity = np.array([[2, 0], [0, 3], [3, 2]]), np.array([0.8, 0.6, 0.65])
    curves = {curve.threshold: curve.shares for curve in growth(4, pairs, similarity)}
    assert curves[0.5] == curves[0.6] == [0.0, 0.0, 0.3333, 0.5]
    assert curves[0.7] == curves[0.8] == [0.0, 0.0, 0.3333, 0.25]
    assert curves[0.9] == [0.0, 0.0, 0.0, 0.0]


def test_the_page_in_most_pairs_is_found() -> None:
    pairs, similarity = np.array([[2, 0], [3, 1], [4, 1], [5, 0], [5, 2]]), np.array([0.9, 0.9, 0.9, 0.6, 0.6])
    assert most_duplicated(6, pairs, similarity, 0.7) == 1
    assert most_duplicated(6, pairs, similarity, 0.5) == 0


def test_a_profile_has_the_share_of_the_page_in_each_other_page() -> None:
    """By hand: all, half and none of its ten chunks; a page of twenty has all of it."""
    some = pages(range(10), range(5, 30), range(100, 110), range(20))
    profile = profile_of(Fingerprints(GroupSettings(), some), "it", 0, np.array([3, 2, 1, 0]))
    assert (profile.place, profile.chunks) == (3, [1.0, 0.0, 0.5, 1.0])
    assert profile.bits[0] == 1.0 and 0.0 <= profile.bits[1] < 0.2


def test_a_list_without_results_has_a_report() -> None:
    report = group([]).report()
    assert report.pages == 0 and report.profile is None


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_are_drawn(tmp_path: Path, kind: str) -> None:
    found = group([{"id": k, "text": prose(k % 3)} for k in range(8)])
    draw_report(tmp_path / "picture", kind, "a list", found.report())
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert (tmp_path / "picture").read_bytes().startswith(begins[kind])
    with pytest.raises(MisuseError, match="no result with the id '9'"):
        found.report("9")


def test_a_collection_has_a_report_in_the_order_of_links(tmp_path: Path) -> None:
    rows = [
        {"url": f"http://{name}.example/", "html": f"<p>{text}<a href=http://c.example/>c</a>"}
        for name, text in (("a", prose(1)), ("b", prose(2)), ("c", prose(1)))
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    build([tmp_path / "p.jsonl"], tmp_path / "p.kin")
    report: DuplicateReport = duplicate_report(
        IndexedStore.open(tmp_path / "p.kin"), GroupSettings(), "http://a.example/"
    )
    assert report.profile is not None
    assert (report.profile.place, report.profile.chunks) == (1, [1.0, 1.0, 0.0])  # c, a, b
    assert report.curves[0].shares == [0.0, 0.5, 0.3333]
