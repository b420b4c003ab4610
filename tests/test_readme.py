"""The README and the docs: their commands run, their examples print what they say, their links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir
from dataclasses import fields
from pathlib import Path

import pytest

from cli.processes import in_this_process
from pagekin import GroupSettings, __version__, sample_web
from pagekin.cli.main import COMMANDS, command_named
from pagekin.evaluation.baselines import BASELINES
from pagekin.evaluation.measures import MEASURES
from pagekin.model.strategy import Strategy
from pagekin.search import evidence
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.store.store import Store
from tools.readme import with_outputs
from tools.sample_web import write_wacz

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
GUIDE = (ROOT / "docs" / "guide.md").read_text("utf-8")
ABOUT = "<title>About us</title><p>We mend <a href=/>bread bins</a>."


def blocks(language: str, page: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)


def shell_commands() -> list[str]:
    lines = [line.partition("  #")[0].strip() for block in blocks("sh", GUIDE) for line in block.splitlines()]
    return [line for line in lines if line.startswith("pagekin")]


def resource(url: str, html: str) -> bytes:
    body = html.encode()
    head = f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    head += "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\nContent-Type: text/html\r\n"
    return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body + b"\r\n\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files that the guide speaks of."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "public").mkdir()
    (folder / "public" / "about.html").write_text(ABOUT, "utf-8")
    (folder / "crawl-1.warc.gz").write_bytes(resource("https://example.org/about.html", ABOUT))
    write_wacz(folder / "crawl-2.wacz")
    (folder / "pages.jsonl").write_text(json.dumps({"url": "https://example.org/", "text": "Bread bins."}), "utf-8")
    trees = [f"http://treeroom.example/{name}.html" for name in ("oak", "birch")]
    (folder / "pairs.tsv").write_text("\t".join(trees), "utf-8")
    rows = [{"id": 1, "text": "Bread bins."}, {"id": 2, "text": "Bread bins."}]
    (folder / "results.json").write_text(json.dumps(rows), "utf-8")
    (folder / "hits.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return folder


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder: `pagekin` in this process, and what needs a shell in a shell."""
    program, *arguments = shlex.split(command)
    if program == "pagekin" and not set("*<>|") & set(command):
        done = in_this_process(*arguments, folder=folder)
        return subprocess.CompletedProcess(command, done.code, done.out, done.err)
    return in_a_shell(command, folder)


def in_a_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    return subprocess.run(
        command, shell=True, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )


def test_every_setting_of_a_strategy_is_documented() -> None:
    told = (ROOT / "docs" / "strategy.md").read_text("utf-8")
    for each in fields(Strategy):
        assert f"`{each.name}`" in told, each.name


def test_every_setting_of_groups_is_documented() -> None:
    told = (ROOT / "docs" / "duplicates.md").read_text("utf-8")
    for each in fields(GroupSettings):
        assert f"`{each.name}`" in told, each.name


@pytest.mark.slow
def test_every_command_of_the_guide_works_in_its_order(folder: Path) -> None:
    assert len(shell_commands()) >= 8
    for command in shell_commands():
        done = run(command, folder)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout, command


@pytest.mark.slow
def test_python_of_the_guide_works(folder: Path) -> None:
    (code,) = blocks("python", GUIDE)
    (folder / "snippet.py").write_text(code, "utf-8")
    done = run(f"{sys.executable} snippet.py", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("About us We mend bread bins.")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120
    (code,) = blocks("python", README)
    assert len([line for line in code.splitlines() if line]) <= 6


@pytest.mark.slow
def test_every_command_of_the_readme_prints_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert with_outputs(README, tmp_path) == README
    commands = re.findall(r"^\$ (pagekin .*)", README, re.M)
    assert len(commands) == len(blocks("console", README)) == 3
    assert not any(
        "pagekin " in line.partition("#")[0] for block in blocks("sh", README) for line in block.splitlines()
    )
    (code,) = blocks("python", README)
    with chdir(tmp_path):
        exec(code, {})
    first = re.search(r"^(0\.\d+)  (.*)\n +(http.*)$", README, re.M)
    assert first
    said = capsys.readouterr().out
    similarity, rest = said.split(maxsplit=1)
    assert (f"{float(similarity):.3f}", rest.startswith(f"{first[2]} {first[3]} ")) == (first[1], True)


def heading_anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.*)", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")], ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not anchor or anchor in heading_anchors(file), target


def test_the_evidence_of_the_docs_is_in_answers(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "strategy.md").read_text("utf-8"), re.M | re.S)
    monkeypatch.setattr(evidence, "_REGISTRY", dict(evidence._REGISTRY))
    exec(code, {})
    options = RelatedOptions(blend={"text": 0.8, "host": 0.2})
    first = IndexedStore.open(sample_index).related("http://treeroom.example/oak.html", options)[0]
    assert [part.name for part in first.why.parts] == ["text", "host"]
    assert first.why.details["host"] == {"host": "treeroom.example"}


def test_the_guide_names_every_command() -> None:
    assert [name for name in COMMANDS if f"pagekin {name}" not in GUIDE] == []


@pytest.mark.slow
def test_version_is_printed(folder: Path) -> None:
    assert in_a_shell("pagekin --version", folder).stdout == f"pagekin, version {__version__}\n"


def test_the_example_of_the_evaluation_is_what_is_said(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    labels, run_file = re.findall(r"^```tsv\n(.*?)^```", text, re.M | re.S)
    (command,) = [line for line in re.findall(r"^pagekin .*", text, re.M) if "queries.txt" in line]
    (said,) = re.findall(r"^```\n(5 pages.*?)^```", text, re.M | re.S)
    for name, content in (("labels.tsv", labels), ("run.tsv", run_file), ("queries.txt", "wren\n")):
        (tmp_path / name).write_text(content, "utf-8")
    assert run(command, tmp_path).stdout == said


def test_every_option_of_the_evaluation_is_documented() -> None:
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    for option in command_named("evaluate").params:
        assert option.opts[0] in text or option.name == "store", option.opts


def test_every_option_and_reference_of_a_sweep_is_documented() -> None:
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    for option in command_named("sweep").params:
        assert option.opts[0] in text or option.name in ("plan", "json"), option.opts
    for name in (*MEASURES, *BASELINES):
        assert name in text


def test_every_option_of_tuning_is_documented() -> None:
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    for option in command_named("tune").params:
        assert option.opts[0] in text or option.name == "store", option.opts


def test_every_option_of_learning_is_documented() -> None:
    text = (ROOT / "docs" / "learning.md").read_text("utf-8")
    for option in command_named("learn").params:
        names = option.opts if option.name != "output" else ["-o"]
        assert any(name in text for name in names) or option.name in ("store", "json"), option.opts


@pytest.mark.slow
def test_the_sweep_file_of_the_docs_works(sample_index: Path, tmp_path: Path) -> None:
    (sweep,) = re.findall(r"^```toml\n(.*?)^```", (ROOT / "docs" / "evaluation.md").read_text("utf-8"), re.M | re.S)
    shutil.copytree(sample_index, tmp_path / "crawl.kin")
    sample_web.copy_to(tmp_path)
    (tmp_path / "sweep.toml").write_text(sweep, "utf-8")
    done = run("pagekin sweep sweep.toml", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "window_width 16, stemming none" in done.stdout
    assert "contents, cosine" in done.stdout


@pytest.mark.slow
def test_python_of_the_evaluation_works(sample_index: Path, tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "evaluation.md").read_text("utf-8"), re.M | re.S)
    shutil.copytree(sample_index, tmp_path / "crawl.kin")
    sample_web.copy_to(tmp_path)
    (tmp_path / "snippet.py").write_text(code, "utf-8")
    done = run(f"{sys.executable} snippet.py", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "{'value': " in done.stdout


def test_format_names_every_file_of_a_store(sample_index: Path) -> None:
    text = (ROOT / "docs" / "format.md").read_text("utf-8")
    for path in Store.open(sample_index).manifest.all_files():
        stem = path.rpartition("/")[2].removesuffix(".npy")
        known = (stem, stem.removesuffix(".data"), stem.removesuffix(".offsets"))
        ragged = stem.endswith(".offsets") and f"`{stem.removesuffix('offsets')}" in text
        assert ragged or any(f"`{each}`" in text for each in known), path


@pytest.mark.slow
def test_json_shapes_are_written_down(tmp_path: Path) -> None:
    sample_web.copy_to(tmp_path)
    (tmp_path / "r.json").write_text('[{"id": 1, "text": "oak"}]', "utf-8")
    (tmp_path / "small.toml").write_text('store = "v.kin"\nhierarchy = "labels.tsv"\nreferences = ["tf-idf"]')
    (tmp_path / "pairs.tsv").write_text("http://treeroom.example/oak.html\thttp://treeroom.example/birch.html", "utf-8")
    text = (ROOT / "docs" / "json.md").read_text("utf-8")
    for command in (
        "pagekin build sample_web.warc.gz -o v.kin --json",
        "pagekin info v.kin --json",
        "pagekin show v.kin http://treeroom.example/oak.html --text --json",
        "pagekin related v.kin http://treeroom.example/oak.html --json",
        "pagekin cluster v.kin http://treeroom.example/oak.html --json",
        "pagekin graph v.kin --json",
        "pagekin check v.kin --json",
        "pagekin duplicates r.json --json",
        "pagekin evaluate v.kin --hierarchy labels.tsv --json",
        "pagekin evaluate v.kin --related pairs.tsv --json",
        "pagekin tune v.kin --hierarchy labels.tsv --folds 2 --sources 20 --json",
        "pagekin sweep small.toml --json",
        "pagekin learn v.kin --rate 0.1 --units 2,2,2 --steps 100 --json",
    ):
        shape = json.loads(run(command, tmp_path).stdout)
        section = text.partition(f"## `{' '.join(command.split()[:2])}")[2].partition("\n## ")[0]
        missing = [key for key in shape if f"`{key}`" not in section and f'"{key}"' not in section]
        assert missing == [], command
