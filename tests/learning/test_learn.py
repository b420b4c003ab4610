"""The curves of figure 3."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from learning.builders import topical
from pagekin.learning.corpus import split
from pagekin.learning.learn import draw_training, draw_weights, weight_curves
from pagekin.learning.ranking import MEASURES
from pagekin.model.weighting import Learned, Network, Okapi

FLAT = Network(0.0, 1.0, (), (), (), 0.0)


def test_curves_have_mean_one_and_follow_the_functions() -> None:
    part = split(*topical(), seed=1)["train"]
    falling = Network(0.0, 1.0, (0.1,), (0.0,), (-3.0,), 0.0)
    found = weight_curves(part, Learned(FLAT, FLAT, falling), Okapi(1.0, 0.0))
    assert list(found) == ["tf", "df", "length"]
    for _, ours, theirs in found.values():
        assert ours.mean() == pytest.approx(1.0)
        assert theirs.mean() == pytest.approx(1.0)
    assert found["tf"][1] == pytest.approx(1.0)
    assert (np.diff(found["length"][1]) <= 0).all()
    assert (np.diff(found["tf"][2]) > 0).all()
    assert (np.diff(found["df"][2]) < 0).all()
    assert found["length"][2] == pytest.approx(1.0)  # B is 0


def test_the_same_figure_has_the_same_bytes(tmp_path: Path) -> None:
    part = split(*topical(), seed=1)["train"]
    history = [{"steps": k, **dict.fromkeys(MEASURES, 0.1 * k)} for k in range(3)]
    for name in ("a", "b"):
        draw_training(tmp_path / f"{name}2", "svg", history, dict.fromkeys(MEASURES, 0.2))
        draw_weights(tmp_path / f"{name}3", "svg", part, Learned(FLAT, FLAT, FLAT), Okapi())
    for figure in "23":
        assert (tmp_path / f"a{figure}").read_bytes() == (tmp_path / f"b{figure}").read_bytes()
    assert "LinkLearn" in (tmp_path / "a3").read_text()
