"""Figure 2 of the paper, valid during training, and figure 3, what a term weighs. They need matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pagekin.errors import need
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.ranking import AP, BREAK_EVEN, ERROR, P10
from pagekin.model.arrays import Floats
from pagekin.model.weighting import Learned, Okapi, Size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("svg", "png", "pdf")
_LEARNED, _OKAPI = "#c62828", "#37474f"
_POINTS = 200


def draw_training(path: Path, kind: str, history: Sequence[Mapping[str, Any]], okapi: Mapping[str, float]) -> None:
    """The measures on valid after so many steps, beside those of OKAPI."""
    figure = _figure(12.0, 3.4)
    steps = [look["steps"] for look in history]
    for k, name in enumerate((ERROR, AP, P10, BREAK_EVEN), 1):
        axes = figure.add_subplot(1, 4, k)
        axes.plot(steps, [100 * look[name] for look in history], color=_LEARNED, label="LinkLearn")
        axes.axhline(100 * okapi[name], color=_OKAPI, linestyle="--", label="OKAPI")
        axes.set(title=f"{name}, %", xlabel="steps")
    axes.legend(frameon=False)
    _save(figure, path, kind)


def curves(part: CorpusPart, learned: Learned, okapi: Okapi) -> dict[str, tuple[Floats, Floats, Floats]]:
    """For tf, df and length: values, and the weights by LinkLearn and OKAPI there, the other two at their medians.

    Weights are divided by their mean, since only their proportions matter.
    """
    counts, size = part.counts, Size(len(part), part.mean_length)
    middle = [
        int(np.median(each)) if len(each) else 1 for each in (counts.count, part.frequency[counts.term], part.lengths)
    ]
    tops = [_top(counts.count), _top(part.frequency), _top(part.lengths)]
    result = {}
    for k, name in enumerate(("tf", "df", "length")):
        values = np.unique(np.linspace(1, max(2, tops[k]), _POINTS).astype(np.int64))
        inputs = [values if n == k else np.full(len(values), max(1, middle[n])) for n in range(3)]
        ours, theirs = (each.weigh(inputs[0], inputs[1], inputs[2], size) for each in (learned, okapi))
        result[name] = (values.astype(np.float64), ours / ours.mean(), theirs / max(float(theirs.mean()), 1e-12))
    return result


def _top(values: np.typing.NDArray[Any]) -> int:
    """What nearly all values are below."""
    return int(np.quantile(values, 0.999)) if len(values) else 1


def draw_weights(path: Path, kind: str, part: CorpusPart, learned: Learned, okapi: Okapi) -> None:
    """The weight of a term as a function of tf, df and length."""
    figure = _figure(12.0, 3.6)
    for k, (name, (values, ours, theirs)) in enumerate(curves(part, learned, okapi).items(), 1):
        axes = figure.add_subplot(1, 3, k)
        axes.plot(values, ours, color=_LEARNED, label="LinkLearn")
        axes.plot(values, theirs, color=_OKAPI, linestyle="--", label="OKAPI")
        axes.set(xlabel=name, ylim=(0, None))
        axes.set_title("weight of a term, mean 1" if k == 1 else "")
    axes.legend(frameon=False)
    _save(figure, path, kind)


def _figure(width: float, height: float) -> Figure:
    need("matplotlib", what="a picture", extra="plots")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Figure, path: Path, kind: str) -> None:
    import matplotlib

    # The same figure has the same bytes.
    dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context({"svg.hashsalt": "pagekin", "svg.fonttype": "none"}):
        figure.savefig(path, format=kind, dpi=130, metadata=dates.get(kind))
