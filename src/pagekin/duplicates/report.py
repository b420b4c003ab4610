"""Figures 6 and 3 of the paper: near-duplicates as a list grows, and one page compared with all others."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.figures.charts import new_figure, save_figure
from pagekin.kernels.graph import join
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.jsons import json_field

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
_CURVE_POINTS = 60
_COLORS = ("#b8de29", "#3cbb75", "#238a8d", "#39568c", "#440154")  # light to dark, readable without colour
_TITLE_LENGTH = 64


@dataclass(frozen=True)
class DuplicateCurve:
    """The share of near-duplicates of earlier pages among the first pages of a list."""

    threshold: float
    pages: list[int]
    shares: list[float]


@dataclass(frozen=True)
class Profile:
    """The share of one page that is in each page of a list."""

    name: str
    place: int  # of the page itself in the list
    bits: list[float]  # share of its set bits: the paper's measure
    chunks: list[float]  # estimated share of its chunks


@dataclass(frozen=True)
class DuplicateReport:
    """The data of both figures."""

    pages: int
    order: str = json_field(expand={})  # a description for the axes; not in JSON
    curves: list[DuplicateCurve] = json_field()
    profile: Profile | None = json_field()  # None without pages


def growth(count: int, pairs: Int64s, similarity: Floats) -> list[DuplicateCurve]:
    """The curves of a list, from all its pairs of positions with similarity of at least THRESHOLDS[0].

    >>> [curve] = growth(4, np.array([[1, 0], [3, 2]]), np.array([0.55, 0.52]))[:1]
    >>> curve.pages, curve.shares
    ([1, 2, 3, 4], [0.0, 0.5, 0.3333, 0.5])
    """
    pairs = np.sort(pairs, axis=1)[:, ::-1]
    order = np.argsort(pairs[:, 0], kind="stable")
    points = np.unique(np.linspace(1, max(count, 1), _CURVE_POINTS).astype(np.int64))
    curves = []
    for threshold in THRESHOLDS:
        near = order[similarity[order] >= threshold]
        joined = pairs[near, 0][join(np.arange(count), pairs[near])]  # a pair counts from its later page on
        grouped = np.searchsorted(np.sort(joined), points)
        curves.append(DuplicateCurve(threshold, points.tolist(), (grouped / points).round(4).tolist()))
    return curves


def profile_of(fingerprints: Fingerprints, name: str, page: int, order: Int64s) -> Profile:
    overlaps = fingerprints.overlaps(np.column_stack([np.full(len(order), page), order]))
    bits, chunks = np.array([(each.bits_of_a, each.share_of_a) for each in overlaps]).round(4).T.tolist()
    return Profile(name, int(np.flatnonzero(order == page)[0]), bits, chunks)


def most_duplicated(count: int, pairs: Int64s, similarity: Floats, threshold: float) -> int:
    return int(np.argmax(np.bincount(pairs[similarity >= threshold].ravel(), minlength=max(count, 1))))


def build_report(
    fingerprints: Fingerprints,
    pairs: Int64s,
    similarity: Floats,
    order: tuple[str, Int64s],
    name_of: Callable[[int], str],
    page: int | None = None,
) -> DuplicateReport:
    """The report of pages in a described order, from all pairs with similarity of at least THRESHOLDS[0].

    Without a page, the one with most near-duplicates is profiled.
    """
    description, pages = order
    curves = growth(len(pages), np.argsort(pages)[pairs], similarity)
    if not len(pages):
        return DuplicateReport(0, description, curves, None)
    if page is None:
        page = most_duplicated(len(pages), pairs, similarity, fingerprints.settings.threshold)
    return DuplicateReport(len(pages), description, curves, profile_of(fingerprints, name_of(page), page, pages))


def draw_report(path: Path, kind: str, title: str, report: DuplicateReport) -> None:
    """Draw both figures side by side into a file of this format: svg, png or pdf."""
    figure = new_figure(12 if report.profile else 6.5, 4.8)
    figure.suptitle(_shorten(title))
    axes = figure.add_subplot(1, 2 if report.profile else 1, 1)
    for curve, color in zip(report.curves, _COLORS, strict=True):
        axes.plot(curve.pages, 100 * np.array(curve.shares), color=color, label=f"{curve.threshold:.0%}")
    axes.set(xlabel=report.order, ylabel="near-duplicates among them, %", ylim=(0, None))
    legend = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False}
    axes.legend(title="least similarity", ncols=len(_COLORS), **legend)
    if (profile := report.profile) is not None:
        axes = figure.add_subplot(1, 2, 2)
        x = np.delete(np.arange(1, len(profile.bits) + 1), profile.place)
        series = (profile.bits, "+", "0.65", "set bits"), (profile.chunks, ".", "0.0", "chunks, estimated")
        for values, marker, color, label in series:
            axes.plot(x, 100 * np.delete(np.array(values), profile.place), marker, color=color, label=label)
        axes.set(xlabel=report.order, ylabel="share of it that is in the other page, %", ylim=(-3, 103))
        axes.legend(title=_shorten(profile.name), ncols=2, **legend)
    save_figure(figure, path, kind)


def _shorten(name: str) -> str:
    half = _TITLE_LENGTH // 2
    return name if len(name) <= _TITLE_LENGTH else f"{name[: half - 1]} … {name[2 - half :]}"
