"""`pagekin tune`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pagekin as library
from cli.conftest import Pagekin
from evaluation.builders import build_titled

QUICK = ("--folds", "2", "--resamples", "100")


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_titled(tmp_path_factory.mktemp("titled"), 60)


@pytest.mark.slow
def test_the_gain_on_held_out_pages_is_told_and_build_takes_the_strategy_file(pagekin: Pagekin, titled: Path) -> None:
    labels, pages = titled.with_name("labels.tsv"), titled.with_name("titled.jsonl")
    answer = pagekin("tune", titled, "--hierarchy", labels, *QUICK, "-o", "tuned.toml")
    assert (answer.code, answer.err) == (0, "")
    for words in ("60 sources among 60 pages, 2 folds", "On held-out pages:", "The gain is significant.", "damping"):
        assert words in answer.out
    assert "tuned.toml is written" in answer.out
    assert Path("tuned.toml").read_text().startswith("# P@10 on held-out pages: +0.")
    assert pagekin("build", pages, "-o", "tuned.kin", "--strategy", "tuned.toml").code == 0
    report = json.loads(pagekin("tune", titled, "--hierarchy", labels, *QUICK, "--json").out)
    assert report == library.to_json(library.open(titled).tune(labels, folds=2, resamples=100))
    strategy = library.open("tuned.kin").strategy
    assert (report["blend"], report["damping"], report["output"]) == (strategy.blend, strategy.damping, None)
    compared = pagekin("evaluate", titled, "--hierarchy", labels, "--strategy", "tuned.toml", "--resamples", "10")
    assert (compared.code, compared.err) == (0, "")


@pytest.mark.slow
def test_it_is_told_that_nothing_was_gained(pagekin: Pagekin, titled: Path) -> None:
    """The class of a page is whether its number is prime. Nothing in the pages tells it."""
    prime = {k for k in range(2, 60) if all(k % d for d in range(2, k))}
    lines = [f"http://p.example/{k}\t{'prime' if k in prime else 'composite'}\n" for k in range(60)]
    Path("labels.tsv").write_text("".join(lines))
    answer = pagekin("tune", titled, "--hierarchy", "labels.tsv", *QUICK)
    assert "The gain is not significant" in answer.out or "Tuning makes the ranking worse" in answer.out
    assert list(Path().iterdir()) == [Path("labels.tsv")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give one of --hierarchy, --related and --see-also"),
        (("--hierarchy", "path", "--see-also"), "give one of"),
        (("--hierarchy", "path", "--unlinked"), "--unlinked is for related pairs"),
        (("--related", "pairs.tsv", "--depth", "2"), "--depth is for a hierarchy"),
        (("--related", "missing.tsv"), "missing.tsv cannot be read"),
        (("--hierarchy", "path"), "lie in one folder"),
        (("--see-also",), "no page of"),
        (("--hierarchy", "path", "-o", "nowhere/tuned.toml"), "there is no folder for nowhere/tuned.toml"),
        (("--hierarchy", "path", "--folds", "1"), "--folds"),
    ],
)
def test_misuse_is_told(pagekin: Pagekin, titled: Path, arguments: tuple[str, ...], said: str) -> None:
    answer = pagekin("tune", titled, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert list(Path().iterdir()) == []
