"""`--similarity okapi` and `--weights`, wherever pages are compared."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cli.conftest import Pagekin
from model.learned import DRAWN
from pagekin.model.weighting import save_weights

ROBIN = "http://lib.example/birds/robin.html"
HOME = "http://lib.example/index.html"
WREN = "http://lib.example/birds/wren.html"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    save_weights(tmp_path / "w.json", DRAWN)
    return tmp_path / "w.json"


def test_an_answer_tells_the_inner_product(pagekin: Pagekin, library: Path, weights: Path) -> None:
    for options, measure in (
        (["--similarity", "okapi"], "okapi"),
        (["--weights", weights], "linklearn"),
        (["--similarity", "linklearn", "--weights", weights], "linklearn"),
    ):
        answer = json.loads(pagekin("related", library, ROBIN, *options, "--json").out)
        assert answer["query"]["similarity"] == measure
        first = answer["related"][0]
        assert first["url"] == WREN
        assert 0 < first["similarity"] <= 1 and first["score"] > 0
        assert pagekin("related", library, ROBIN, *options).out.splitlines()[2].strip() == WREN


@pytest.mark.slow
def test_no_compiler_is_loaded_for_it_either(library: Path, weights: Path) -> None:
    for options in (["--similarity", "okapi"], ["--weights", str(weights)]):
        program = (
            "import sys; from pagekin.cli.main import main\n"
            f"sys.argv = ['pagekin', 'related', {str(library)!r}, {ROBIN!r}, *{options!r}]\n"
            "try: main()\n"
            "finally: print('numba' in sys.modules)"
        )
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert WREN in ran.stdout
        assert ran.stdout.splitlines()[-1] == "False"


def test_export_has_scores_where_there_are_any(pagekin: Pagekin, library: Path, weights: Path, tmp_path: Path) -> None:
    for kind in ("tsv", "trec", "jsonl"):
        assert pagekin("export", library, "-o", tmp_path / f"a.{kind}", "--weights", weights).code == 0
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    trec = [line.split(" ") for line in (tmp_path / "a.trec").read_text().splitlines()]
    tsv = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()]
    assert [f"{row['score']:.6f}" for row in rows] == [line[4] for line in trec]
    assert [f"{row['similarity']:.6f}" for row in rows] == [line[3] for line in tsv]
    assert pagekin("export", library, "-o", tmp_path / "b.jsonl").code == 0
    assert all("score" not in json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines())


def test_where_links_have_a_share_trec_tells_the_similarity_that_orders(
    pagekin: Pagekin, library: Path, tmp_path: Path
) -> None:
    save_weights(tmp_path / "w.json", replace(DRAWN, link_share=0.4))
    for kind, options in (("trec", ()), ("jsonl", ()), ("tsv", ("--links", "0.4")), ("csv", ("--links", "0"))):
        output = tmp_path / f"a.{kind}"
        assert pagekin("export", library, "-o", output, "--weights", tmp_path / "w.json", *options).code == 0
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    similarities = [f"{row['similarity']:.6f}" for row in rows]
    for kind, column in (("trec", 4), ("tsv", 3)):
        lines = (tmp_path / f"a.{kind}").read_text().splitlines()
        assert [line.split()[column] for line in lines] == similarities
    assert [line.split(",")[3] for line in (tmp_path / "a.csv").read_text().splitlines()] != similarities
    assert all(row["score"] > 0 for row in rows if (row["query"], row["url"]) == (ROBIN, WREN))


def test_every_command_takes_the_learned_share_of_links_or_another(
    pagekin: Pagekin, library: Path, tmp_path: Path
) -> None:
    save_weights(tmp_path / "w.json", replace(DRAWN, link_share=0.4))
    (tmp_path / "labels.tsv").write_text(f"{ROBIN}\tBirds/Small\n{WREN}\tBirds/Small\n{HOME}\tBooks/Old\n")
    for options, share in (((), 0.4), (("--links", "0.25"), 0.25), (("--links", "0"), 0.0)):
        given = ("--weights", tmp_path / "w.json", *options, "--json")
        first = json.loads(pagekin("related", library, ROBIN, *given).out)["related"][0]
        shares = {part["part"]: part["share"] for part in first["why"]["parts"]}
        assert shares.get("links", 0.0) == share
        judged = json.loads(pagekin("evaluate", library, "--hierarchy", tmp_path / "labels.tsv", *given).out)
        assert judged["systems"][0]["system"].endswith(f"(linklearn), {share:g} by links" if share else "(linklearn)")


def test_the_weights_of_a_blend_can_be_given_by_name(pagekin: Pagekin, library: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text(f"{ROBIN}\tBirds/Small\n{WREN}\tBirds/Small\n{HOME}\tBooks/Old\n")
    one, other = (("--blend", "text=0.75,links=0.25"), ("--links", "0.25"))
    for command in (("related", library, ROBIN), ("evaluate", library, "--hierarchy", tmp_path / "labels.tsv")):
        assert pagekin(*command, *one, "--json").out == pagekin(*command, *other, "--json").out
    for weights, told in (("text", "text=0.7"), ("text=much", "text=0.7"), ("smell=1", "no evidence 'smell'")):
        answer = pagekin("related", library, ROBIN, "--blend", weights)
        assert answer.code == 2
        assert told in answer.err


@pytest.mark.parametrize("share", ["2", "-0.1", "nan", "much", ""])
def test_a_share_of_links_that_is_none_is_misuse(pagekin: Pagekin, library: Path, share: str) -> None:
    for command in (
        ("related", library, ROBIN),
        ("export", library, "-o", "x.tsv"),
        ("evaluate", library, "--hierarchy", "path"),
    ):
        answer = pagekin(*command, "--links", share)
        assert (answer.code, answer.out) == (2, "")
        assert "it can be a number from 0 to 1, or auto" in answer.err


def test_parquet_has_a_column_for_them(pagekin: Pagekin, library: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for options, has in (([], False), (["--similarity", "okapi"], True)):
        assert pagekin("export", library, "-o", tmp_path / "a.parquet", *options).code == 0
        scores = parquet.read_table(tmp_path / "a.parquet")["score"].to_pylist()
        assert scores and all((score is not None) == has for score in scores)


def test_misuse_of_weights_is_told_and_exits_with_2(pagekin: Pagekin, library: Path, weights: Path) -> None:
    (weights.parent / "bad.json").write_text(DRAWN.as_text().replace('"version": 2', '"version": 7'))
    (weights.parent / "nan.json").write_text(DRAWN.as_text().replace('"last": 1.0', '"last": NaN'))
    for options, reason in (
        (["--similarity", "linklearn"], "linklearn needs weights"),
        (["--similarity", "okapi", "--weights", weights], "similarity is 'okapi', but the weights are for linklearn"),
        (["--weights", weights.parent / "none.json"], "none.json cannot be read"),
        (["--weights", weights.parent / "bad.json"], "version 7; this pagekin reads 'linklearn', versions 1 and 2"),
        (["--weights", weights.parent / "nan.json"], "last is nan; it must be finite"),
    ):
        for command in (["related", library, ROBIN], ["export", library, "-o", weights.parent / "x.tsv"]):
            answer = pagekin(*command, *options)
            assert (answer.code, answer.out) == (2, "")
            assert reason in answer.err


def test_they_are_judged_side_by_side(pagekin: Pagekin, weights: Path, library: Path) -> None:
    labels = weights.parent / "labels.tsv"
    labels.write_text(f"{ROBIN}\tTop/Birds\n{WREN}\tTop/Birds\nhttp://lib.example/\tTop/Lib\n")
    asked = ("evaluate", library, "--hierarchy", labels, "--resamples", "5", "--json")
    report = json.loads(pagekin(*asked, "--weights", weights, "--against", "okapi").out)
    assert [each["system"].rpartition(" ")[2] for each in report["systems"]] == ["(linklearn)", "(okapi)"]
    report = json.loads(pagekin(*asked, "--similarity", "okapi", "--strategy", "paper").out)
    assert [each["system"] for each in report["systems"]] == ["paper (okapi)"]


def test_a_strategy_of_learned_weights_can_be_built_on(pagekin: Pagekin, weights: Path) -> None:
    folder = weights.parent
    (folder / "pages").mkdir()
    for name, text in (("a", "oak birch"), ("b", "oak fir fir"), ("c", "cheese")):
        (folder / "pages" / f"{name}.html").write_text(f"<title>{name}</title><p>{text}")
    settings = 'similarity = "linklearn"\nfrequency_weight = "linklearn"\nweights = "w.json"\n'
    (folder / "my.toml").write_text(settings)
    assert pagekin("build", folder / "pages", "-o", folder / "s.kin", "--strategy", folder / "my.toml").code == 0
    weights.unlink()
    answer = json.loads(pagekin("related", folder / "s.kin", "a", "--json").out)
    assert answer["query"]["similarity"] == "linklearn"
    assert [each["url"].rpartition("/")[2] for each in answer["related"]] == ["b.html"]
