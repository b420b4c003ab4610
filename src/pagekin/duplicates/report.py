"""The paper's pictures: near-duplicates as a list grows (figure 6), and a page against all others (figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.duplicates.filters import Floats
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.grouper import Grouper
from pagekin.duplicates.sets import Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import need
from pagekin.kernels.graph import join
from pagekin.model.arrays import Int64s

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
_BEST = "results, the best first"
_POINTS = 60  # of a curve
_COLORS = ("#b8de29", "#3cbb75", "#238a8d", "#39568c", "#440154")  # light to dark, also without color
_WIDTH = 64  # characters of a name over a picture


@dataclass(frozen=True)
class DuplicateCurve:
    """The share of pages that are in a group under another, among the first of a list."""

    threshold: float
    pages: list[int]
    shares: list[float]


@dataclass(frozen=True)
class Profile:
    """How much of a page is in each other page, in the order of the list."""

    name: str
    place: int  # of the page itself
    bits: list[float]  # the share of its set bits: the paper's measure
    chunks: list[float]  # the share of its chunks, as estimated


def growth(count: int, pairs: Int64s, similarity: Floats) -> list[DuplicateCurve]:
    """The curves of a list of so many pages, given all pairs of places that are similar by the least threshold.

    >>> [curve] = growth(4, np.array([[1, 0], [3, 2]]), np.array([0.55, 0.52]))[:1]
    >>> curve.pages, curve.shares
    ([1, 2, 3, 4], [0.0, 0.5, 0.3333, 0.5])
    """
    pairs = np.sort(pairs, axis=1)[:, ::-1]
    order = np.argsort(pairs[:, 0], kind="stable")
    points = np.unique(np.linspace(1, max(count, 1), _POINTS).astype(np.int64))
    curves = []
    for threshold in THRESHOLDS:
        near = order[similarity[order] >= threshold]
        joined = pairs[near, 0][join(np.arange(count), pairs[near])]  # a pair is complete when its later page has come
        grouped = np.searchsorted(np.sort(joined), points)
        curves.append(DuplicateCurve(threshold, points.tolist(), (grouped / points).round(4).tolist()))
    return curves


def profile_of(fingerprints: Fingerprints, name: str, page: int, order: Int64s) -> Profile:
    """The profile of a page against all, in this order."""
    pairs = np.column_stack([np.full(len(order), page), order])
    bits, chunks = fingerprints.directed(pairs)
    return Profile(name, int(np.flatnonzero(order == page)[0]), bits.round(4).tolist(), chunks.round(4).tolist())


def most_similar(count: int, pairs: Int64s, similarity: Floats, threshold: float) -> int:
    """The page that is in most pairs; the first of such."""
    near = pairs[similarity >= threshold]
    return int(np.argmax(np.bincount(near.ravel(), minlength=max(count, 1))))


@dataclass(frozen=True)
class DuplicateReport:
    """What the pictures show."""

    pages: int
    order: str  # in words
    curves: list[DuplicateCurve]
    profile: Profile | None  # none without pages


def report_of_list(
    chunks: Chunks, settings: GroupSettings, ranks: Sequence[float], names: Sequence[str], name: str | None
) -> DuplicateReport:
    """The report of a result list; without a name, the result that has most near-duplicates is held against all."""
    least = replace(settings, threshold=THRESHOLDS[0], link="complete")
    pairs, fingerprints = Grouper(least).add(chunks), Fingerprints(least, chunks)
    similarity = fingerprints.similarities(pairs)
    order = np.argsort(ranks, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    curves = growth(len(order), place[pairs], similarity)
    if not len(order):
        return DuplicateReport(0, _BEST, curves, None)
    row = most_similar(len(order), pairs, similarity, settings.threshold) if name is None else names.index(name)
    return DuplicateReport(len(order), _BEST, curves, profile_of(fingerprints, names[row], row, order))


def draw(path: Path, kind: str, title: str, report: DuplicateReport) -> None:
    """Draw both pictures beside each other into a file of this kind: png, svg or pdf."""
    need("matplotlib", what="a picture", extra="plots")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12 if report.profile else 6.5, 4.8), layout="constrained")
    figure.suptitle(_short(title))
    axes = figure.add_subplot(1, 2 if report.profile else 1, 1)
    for curve, color in zip(report.curves, _COLORS, strict=True):
        axes.plot(curve.pages, 100 * np.array(curve.shares), color=color, label=f"{curve.threshold:.0%}")
    axes.set(xlabel=report.order, ylabel="near-duplicates among them, %", ylim=(0, None))
    axes.legend(
        title="similar or more", ncols=len(_COLORS), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False
    )
    if report.profile:
        _draw_profile(figure.add_subplot(1, 2, 2), report.profile, report.order)
    with rc_context({"svg.hashsalt": "report"}):  # or every picture would have other names in it
        figure.savefig(path, format=kind, dpi=120, metadata={"Date": None} if kind == "svg" else None)


def _draw_profile(axes: Any, profile: Profile, order: str) -> None:
    places = np.delete(np.arange(1, len(profile.bits) + 1), profile.place)
    for values, mark, color, label in (
        (profile.bits, "+", "0.65", "set bits"),
        (profile.chunks, ".", "0.0", "chunks, as estimated"),
    ):
        axes.plot(places, 100 * np.delete(np.array(values), profile.place), mark, color=color, label=label)
    axes.set(xlabel=order, ylabel="share of it that is in the other page, %", ylim=(-3, 103))
    axes.legend(title=_short(profile.name), ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _short(name: str) -> str:
    """A name that fits over a picture."""
    return name if len(name) <= _WIDTH else f"{name[: _WIDTH // 2 - 1]} … {name[2 - _WIDTH // 2 :]}"
