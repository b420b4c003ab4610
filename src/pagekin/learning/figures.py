"""Figures 2 (validation measures during training) and 3 (weight curves) of the paper. They need matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.figures.plot_files import new_figure, save_figure
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.ranking import AP, BREAK_EVEN, ERROR, P10
from pagekin.model.arrays import Floats
from pagekin.model.weighting import Learned, Okapi, Size

_LINKLEARN: dict[str, Any] = {"color": "#c62828", "label": "LinkLearn"}
_OKAPI: dict[str, Any] = {"color": "#37474f", "linestyle": "--", "label": "OKAPI"}
_POINTS = 200


def draw_training(path: Path, kind: str, history: Sequence[Mapping[str, Any]], okapi: Mapping[str, float]) -> None:
    """Figure 2: each measure on the validation set by training steps, and that of OKAPI as a line."""
    figure = new_figure(12.0, 3.4)
    steps = [validation["steps"] for validation in history]
    for k, name in enumerate((ERROR, AP, P10, BREAK_EVEN), 1):
        axes = figure.add_subplot(1, 4, k)
        axes.plot(steps, [100 * validation[name] for validation in history], **_LINKLEARN)
        axes.axhline(100 * okapi[name], **_OKAPI)
        axes.set(title=f"{name}, %", xlabel="steps")
    axes.legend(frameon=False)
    save_figure(figure, path, kind)


def weight_curves(part: CorpusPart, learned: Learned, okapi: Okapi) -> dict[str, tuple[Floats, Floats, Floats]]:
    """For tf, df and length: values, and the LinkLearn and OKAPI weights there, with the other two at their medians.

    Weights are divided by their mean, since only their ratios matter.
    """
    counts, size = part.counts, Size(len(part), part.mean_length)
    medians = [
        int(np.median(each)) if len(each) else 1 for each in (counts.count, part.frequency[counts.term], part.lengths)
    ]
    maxima = [_quantile(each) for each in (counts.count, part.frequency, part.lengths)]
    curves = {}
    for k, name in enumerate(("tf", "df", "length")):
        values = np.unique(np.linspace(1, max(2, maxima[k]), _POINTS).astype(np.int64))
        inputs = [values if n == k else np.full(len(values), max(1, medians[n])) for n in range(3)]
        ours, theirs = (each.weigh(inputs[0], inputs[1], inputs[2], size) for each in (learned, okapi))
        curves[name] = (values.astype(np.float64), ours / ours.mean(), theirs / max(float(theirs.mean()), 1e-12))
    return curves


def _quantile(values: np.typing.NDArray[Any]) -> int:
    """The 99.9 % quantile; 1 if there are no values."""
    return int(np.quantile(values, 0.999)) if len(values) else 1


def draw_weights(path: Path, kind: str, part: CorpusPart, learned: Learned, okapi: Okapi) -> None:
    """Figure 3: the weight of a term as a function of tf, df and length."""
    figure = new_figure(12.0, 3.6)
    for k, (name, (values, ours, theirs)) in enumerate(weight_curves(part, learned, okapi).items(), 1):
        axes = figure.add_subplot(1, 3, k)
        axes.plot(values, ours, **_LINKLEARN)
        axes.plot(values, theirs, **_OKAPI)
        axes.set(xlabel=name, ylim=(0, None))
        axes.set_title("term weight, mean 1" if k == 1 else "")
    axes.legend(frameon=False)
    save_figure(figure, path, kind)
