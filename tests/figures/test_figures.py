"""Charts, sentences and report pages."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from pagekin.figures.charts import (
    Bar,
    Curve,
    Gap,
    Section,
    Table,
    curve_chart,
    interval_chart,
    page,
    sentence,
    ticks,
    trend,
)

BARS = [Bar("a", 0.2, 0.1, 0.3), Bar("b", 0.5, 0.4, 0.6), Bar("c", None)]


def attributes(svg: str, kind: str) -> list[dict[str, str]]:
    return [each.attrib for each in ElementTree.fromstring(svg).iter() if each.get("class") == kind]


def test_a_dot_lies_within_its_interval_and_a_larger_value_further_right() -> None:
    svg = interval_chart(BARS, "Gamma")
    dots = [float(each["cx"]) for each in attributes(svg, "dot")]
    ranges = [(float(each["x1"]), float(each["x2"])) for each in attributes(svg, "range")]
    assert len(dots) == len(ranges) == 2  # there is nothing to draw of c
    assert dots[0] < dots[1]
    assert [(low + high) / 2 for low, high in ranges] == pytest.approx(dots, abs=0.1)


def test_the_best_is_marked_and_every_value_is_written() -> None:
    root = ElementTree.fromstring(interval_chart(BARS, "Gamma", best="b"))
    (best,) = [each for each in root.iter() if each.get("class") == "best"]
    assert [each.text for each in best] == ["b: .500 [.400, .600]", "b", None, None, ".500"]
    assert [each.text for each in root.iter() if each.get("class") == "value"] == [".200", ".500", "none"]


def test_names_from_a_crawl_are_text_not_markup() -> None:
    name = '<script>"&'
    for svg in (interval_chart([Bar(name, 1.0)], name), curve_chart([Curve(name, [(0.0, 1.0)])], name, 1)):
        assert name in [each.text for each in ElementTree.fromstring(svg).iter()]
    html = page(name, [name], [Section(name, [name], tables=[Table((name,), [(name,)], name)])])
    assert "<script" not in html


@pytest.mark.parametrize("low, high", [(0, 1), (-0.3, 0.9), (0.6061, 0.6062), (0.5, 0.5), (-1, 1), (0, 1e-9)])
def test_ticks_span_the_range_and_are_few(low: float, high: float) -> None:
    found = ticks(low, high)
    assert found[0] <= low + 1e-12 and found[-1] >= high - 1e-12
    assert 2 <= len(found) <= 7
    assert found == sorted(set(found))


def test_a_curve_goes_through_its_points_from_left_to_right() -> None:
    svg = curve_chart([Curve("bell", [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)])], "weights", 0)
    (line,) = [each for each in ElementTree.fromstring(svg).iter() if each.get("points")]
    points = [tuple(map(float, each.split(","))) for each in line.attrib["points"].split()]
    assert points[0][0] < points[1][0] < points[2][0]
    assert points[1][1] < points[0][1] == points[2][1]  # y grows downwards


def test_a_sentence_says_whether_the_lead_is_significant() -> None:
    bars = [Bar("a", 0.3), Bar("b", 0.31), Bar("c", 0.1)]
    gaps = {("b", "a"): Gap(0.01, -0.02, 0.04), ("b", "c"): Gap(0.21, 0.2, 0.22)}
    assert sentence("P@10", bars, lambda x, y: gaps[x, y]) == (
        "By P@10 b (.310) and a (.300) come first and cannot be told apart (.010 [-.020, .040]); last is c (.100),"
        " .210 [.200, .220] away."
    )
    gaps = {("c", "a"): Gap(-0.2, -0.3, -0.1), ("c", "b"): Gap(-0.21, -0.3, 0.1)}
    assert sentence("ties", bars, lambda x, y: gaps[x, y], less_is_better=True) == (
        "By ties c (.100) is best, .200 [.100, .300] from a (.300); last is b (.310), which may be chance."
    )


def test_a_sentence_about_nothing_says_so() -> None:
    assert sentence("P@10", [Bar("a", None)], lambda x, y: Gap(0, 0, 0)) == "There is nothing to measure by P@10."
    assert "nothing to compare" in sentence("P@10", [Bar("a", 0.5)], lambda x, y: Gap(0, 0, 0))


def test_a_trend_needs_three_values() -> None:
    assert trend("D", [Bar("0", 0.3), Bar("4", 0.2), Bar("8", 0.1)]) == "D falls all the way from 0 to 8."
    assert trend("D", BARS) == trend("D", BARS[:2]) == ""


def test_the_page_has_no_external_resources() -> None:
    html = page(
        "A title", ["facts"], [Section("One", ["Said."], [("Gamma", interval_chart(BARS, "Gamma"))], folded=True)]
    )
    assert html.startswith("<!doctype html>") and html.endswith("</html>\n")
    assert re.findall(r"(?:src|href|url\()\s*=?", html) == []
    assert "prefers-color-scheme: dark" in html and "width=device-width" in html


def test_columns_of_numbers_are_aligned_right() -> None:
    html = page("T", [], [Section("S", tables=[Table(("n", "w"), [(1200, "x"), (0.5, "y")])])])
    assert '<td class="n">1,200</td><td>x</td>' in html and '<td class="n">0.500</td><td>y</td>' in html
