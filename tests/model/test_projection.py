"""Projections in files, beside the weights that they belong to."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model.learned import DRAWN
from pagekin.errors import FailureError, MisuseError
from pagekin.model.projection import SUFFIX, Projection, projection
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import load_weights, save_weights

SMALL = Projection(("oak", "öl", "fir"), np.array([[1, 2], [3, 4], [-5, 0.5]], np.float32))
PROJECTED = replace(DRAWN, projection=SMALL)


def same(one: Projection | None, other: Projection | None) -> bool:
    assert one is not None and other is not None
    return one.terms == other.terms and bool((one.matrix == other.matrix).all())


def test_a_projection_comes_back_from_its_bytes() -> None:
    assert same(projection(SMALL.as_bytes(), "x"), SMALL)


def test_weights_come_back_with_the_projection_beside_them(tmp_path: Path) -> None:
    save_weights(tmp_path / "w.json", PROJECTED)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.json", f"w.json{SUFFIX}"]
    back = load_weights(tmp_path / "w.json")
    assert back == DRAWN
    assert same(back.projection, SMALL)


def test_names_are_found_among_its_terms() -> None:
    names, terms = SMALL.places(["fir", "elm", "oak"])
    assert (names.tolist(), terms.tolist()) == ([0, 2], [2, 0])
    assert [each.tolist() for each in SMALL.places([])] == [[], []]


def test_a_strategy_keeps_the_weights_alone(tmp_path: Path) -> None:
    save_weights(tmp_path / "w.json", PROJECTED)
    weighting = Strategy(similarity="linklearn", weights=str(tmp_path / "w.json")).weighting_named("linklearn")
    assert weighting == DRAWN
    assert weighting.projection is None


def test_a_projection_of_other_weights_is_refused_and_so_is_a_missing_one(tmp_path: Path) -> None:
    save_weights(tmp_path / "w.json", PROJECTED)
    other = replace(SMALL, terms=("ash", "elm", "fir"))
    (tmp_path / f"w.json{SUFFIX}").write_bytes(other.as_bytes())
    with pytest.raises(MisuseError, match=r"w\.json\.projection belongs to other weights"):
        load_weights(tmp_path / "w.json")
    (tmp_path / f"w.json{SUFFIX}").unlink()
    with pytest.raises(MisuseError, match=r"w\.json\.projection cannot be read"):
        load_weights(tmp_path / "w.json")


def test_weights_without_a_projection_do_not_take_one_that_lies_there(tmp_path: Path) -> None:
    save_weights(tmp_path / "w.json", PROJECTED)
    save_weights(tmp_path / "w.json", DRAWN)
    assert load_weights(tmp_path / "w.json").projection is None


def test_where_the_projection_cannot_be_written_the_weights_are_not_either(tmp_path: Path) -> None:
    (tmp_path / f"w.json{SUFFIX}.next").mkdir()
    with pytest.raises(FailureError, match="cannot be written"):
        save_weights(tmp_path / "w.json", PROJECTED)
    assert [path.name for path in tmp_path.iterdir()] == [f"w.json{SUFFIX}.next"]


def test_a_projection_that_cannot_replace_the_old_one_is_told_and_found(tmp_path: Path) -> None:
    (tmp_path / f"w.json{SUFFIX}").mkdir()
    with pytest.raises(FailureError, match=r"w\.json\.projection cannot be written"):
        save_weights(tmp_path / "w.json", PROJECTED)
    assert same(load_weights(tmp_path / "w.json").projection, SMALL)


@pytest.mark.parametrize("steps", range(4))
def test_a_save_that_is_stopped_leaves_the_old_or_the_new_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Stopped before each of its three renames, and not at all."""
    save_weights(tmp_path / "w.json", PROJECTED)
    other = replace(DRAWN, link_share=0.5, projection=replace(SMALL, terms=("ash", "elm", "fir")))
    left, rename = [steps], Path.replace

    def stop(path: Path, target: Path) -> Path:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return rename(path, target)

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(Path, "replace", stop)
        save_weights(tmp_path / "w.json", other)
    expected = PROJECTED if steps < 2 else other
    found = load_weights(tmp_path / "w.json")
    assert (found.link_share, same(found.projection, expected.projection)) == (expected.link_share, True)
    save_weights(tmp_path / "w.json", other)
    assert same(load_weights(tmp_path / "w.json").projection, other.projection)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.json", f"w.json{SUFFIX}"]


def head(**changed: object) -> bytes:
    facts = {"format": "pagekin projection", "version": 1, "dimensions": 2, "terms": ["oak"]}
    return json.dumps({**facts, **changed}).encode() + b"\n"


EIGHT = np.array([1.0, 2.0], "<f4").tobytes()
BROKEN = {
    "nothing": (b"", "does not begin with JSON"),
    "deep": (b"[" * 100_000, "does not begin with JSON"),
    "a list": (b"[]\n", "holds no projection of version 1"),
    "a later version": (head(version=2) + EIGHT, "holds no projection of version 1"),
    "no terms": (head(terms=3) + EIGHT, "terms should be words"),
    "numbers for terms": (head(terms=[3]) + EIGHT, "terms should be words"),
    "a truth for a number": (head(dimensions=True) + EIGHT, "dimensions a number"),
    "cut off": (head() + EIGHT[:-1], "7 bytes of numbers for 1 terms; it is damaged"),
    "too long": (head() + EIGHT + b"x", "it is damaged"),
    "fewer than none": (head(dimensions=-2) + EIGHT, "it is damaged"),
    "no dimensions": (head(dimensions=0), "x: "),
    "NaN": (head() + np.array([1.0, np.nan], "<f4").tobytes(), "not finite"),
    "infinity": (head() + np.array([1.0, -np.inf], "<f4").tobytes(), "not finite"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_projections_are_refused_with_the_reason(name: str) -> None:
    data, reason = BROKEN[name]
    with pytest.raises(MisuseError) as refusal:
        projection(data, "x")
    assert reason in str(refusal.value)
