"""Where there is no machine code, the kernels of a command are compiled in parallel before it runs, and once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.processes import PAGEKIN
from pagekin import sample_web
from pagekin.cli.main import COMMANDS
from pagekin.kernels.compile import machine, usable
from pagekin.kernels.signatures import known, used_by

needs_machine = pytest.mark.skipif(not usable(), reason="no machine code: python -m tools.machine_code")

PROGRAM = """
import numpy as np
from pagekin.kernels import precompile
from pagekin.kernels.graph import roots

precompile.used_by = lambda command: {"graph.roots", "graph.degrees"}
for _ in range(2):
    print("prepare")
    precompile.prepare("cluster", print)
precompile.load("cluster")
print(roots(np.array([0, 0, 1])).tolist(), sum(roots.stats.cache_hits.values()), sum(roots.stats.cache_misses.values()))
"""


def run_by_numba(program: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a program whose kernels are compiled by numba and kept in a folder."""
    environment = {"PAGEKIN_KERNELS": "numba", "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    return subprocess.run([sys.executable, "-c", program], env=os.environ | environment, capture_output=True, text=True)


@pytest.mark.slow
def test_kernels_are_compiled_once_and_then_loaded(tmp_path: Path) -> None:
    done = run_by_numba(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("prepare\n")[1:]
    assert first.startswith(f"compiling 2 of {len(known())} kernels, once (PAGEKIN_KERNELS=numba is set)\n")
    assert first.endswith("  2 of 2\n")
    assert second == "[0, 0, 0] 1 0\n"


# Changes the machine code of every process of a command before it is used. Python imports this module when it starts.
CHANGED = """
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location

name, file = "pagekin.kernels.machine", {file!r}
import numpy  # the module needs it
machine = module_from_spec(spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file)))
machine.__spec__.loader.exec_module(machine)
sys.modules[name] = machine
{change}
"""
UNFIT = "machine.FITS = 0"
SHOW = [*PAGEKIN, "show", "sample_web.kin", "http://treeroom.example/oak.html", "--text"]
SAY = """
from pagekin.kernels import precompile

precompile._compile_in_parallel = lambda names, report: None
precompile.prepare("show", print)
"""


def run_with_changed_machine_code(command: list[str], change: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with other machine code than the tree has."""
    (folder / "sitecustomize.py").write_text(CHANGED.format(file=machine.__file__, change=change))
    environment = {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), "NUMBA_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)


@pytest.mark.slow
@needs_machine
def test_on_a_processor_that_machine_code_does_not_fit_kernels_are_compiled_once_and_that_is_said_once(
    sample_index: Path, tmp_path: Path
) -> None:
    (tmp_path / "sample_web.kin").symlink_to(sample_index)
    first, second = (run_with_changed_machine_code(SHOW, UNFIT, tmp_path) for _ in range(2))
    assert (first.returncode, first.stdout) == (
        0,
        subprocess.run(SHOW, cwd=tmp_path, capture_output=True, text=True).stdout,
    )
    lines = first.stderr.splitlines()
    assert lines[0] == (
        f"compiling 1 of {len(known())} kernels, once (this processor lacks instructions of {machine.TARGET})"
    )
    assert lines[-1] == "  1 of 1"
    assert (second.stdout, second.stderr) == (first.stdout, "")


@pytest.mark.slow
@needs_machine
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (UNFIT, f"this processor lacks instructions of {getattr(machine, 'TARGET', '')}"),
        ("machine.DIGESTS['words'] = ''", "their sources have changed since the machine code was compiled"),
        ("sys.modules[name] = None", "no machine code came with the package"),
    ],
)
def test_why_kernels_are_compiled_is_said(change: str, why: str, tmp_path: Path) -> None:
    done = run_with_changed_machine_code([sys.executable, "-c", SAY], change, tmp_path)
    assert (done.stdout, done.stderr) == (f"compiling 1 of {len(known())} kernels, once ({why})\n", "")


STALE = """
import numpy as np
from pagekin.kernels import precompile, signatures
from pagekin.kernels.graph import roots

listed = signatures._listed()
listed["signatures"] |= {"graph.gone": ["si8"], "gone.kernel": ["si8"]}
listed["signatures"]["graph.roots"] = [
    "(kernels.query.CandidateLimits si8)", "(kernels.query.Gone si8)", "(kernels.gone.Limits si8)", "ai81Cw"
]
listed["commands"]["cluster"] = ["graph.gone", "gone.kernel", "graph.roots"]
precompile.load("cluster")
print(len(roots.signatures), roots(np.array([0, 0, 1])).tolist())
"""


@pytest.mark.slow
def test_signatures_that_no_longer_fit_the_sources_are_not_compiled(tmp_path: Path) -> None:
    done = run_by_numba(STALE, tmp_path)
    assert (done.stdout, done.stderr) == ("1 [0, 0, 0]\n", "")


WITHOUT_STORE = {"completion", "crawl"}
ELSEWHERE = {"demo", "serve"}  # they call what several commands call; tests/serving/test_server.py asks the server
OAK = "http://treeroom.example/oak.html"
# Nine pages where all pages are read or answered, and the sample web for the rest: nothing is compiled.
CALLS = [
    "build pages -o new.kin --processes 1",
    "answers nine.kin --limit 3",
    "export nine.kin -o run.tsv --similarity okapi",
    "sweep nine.kin --hierarchy nine.tsv --threads 1",
    "site pages",
    f"related sample_web.kin {OAK}",
    "related sample_web.kin --text text.txt",
    "learn sample_web.kin --units 2,2,2 --steps 1 --rate 0.1 --start okapi",
    f"related sample_web.kin {OAK} --similarity linklearn --weights sample_web.weights.json",
    "duplicates sample_web.kin",
    f"cluster sample_web.kin {OAK}",
    "graph sample_web.kin",
    "evaluate sample_web.kin --hierarchy labels.tsv",
    "tune sample_web.kin --hierarchy labels.tsv --folds 2",
    f"gaps sample_web.kin {OAK}",
    "search sample_web.kin oak",
    f"show sample_web.kin {OAK} --text",
    "info sample_web.kin",
    "check sample_web.kin",
    "mcp sample_web.kin",
]
RUN_COMMANDS = "import sys; from tools.machine_code.record import run_commands; run_commands(sys.argv[1:])"


@pytest.mark.slow
def test_all_kernels_that_a_command_calls_are_compiled_before_it_runs(
    sample_index: Path, example_folder: Path, tmp_path: Path
) -> None:
    assert {call.split()[0] for call in CALLS} == set(COMMANDS) - WITHOUT_STORE - ELSEWHERE
    shutil.copytree(sample_index, tmp_path / "sample_web.kin")
    shutil.copytree(example_folder / "site.kin", tmp_path / "nine.kin")
    shutil.copytree(example_folder / "pages", tmp_path / "pages")
    sample_web.copy_to(tmp_path)
    kinds = {"birds": ("robin", "wren", "finch"), "trees": ("oak", "birch", "elm")}
    rows = [f"http://site.example/{kind}/{name}.html\tLife/{kind}\n" for kind in kinds for name in kinds[kind]]
    (tmp_path / "nine.tsv").write_text("".join(rows))
    (tmp_path / "text.txt").write_text("Oaks and larches are trees")
    recorded = tmp_path / "kernels.tsv"
    environment = {
        "NUMBA_DISABLE_JIT": "1",
        "PAGEKIN_RECORD_KERNELS": str(recorded),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]),
        "PYTHONWARNINGS": "ignore",  # hashes overflow, and should
    }
    command = [sys.executable, "-c", RUN_COMMANDS, *CALLS]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    called: dict[str, set[str]] = {}
    for line in recorded.read_text().splitlines():
        name, _, by = line.split("\t")
        called.setdefault(by, set()).add(name)
    assert called.keys() >= {"learn", "answers", "gaps", "site", "search", "mcp"}
    assert {by: sorted(names - used_by(by)) for by, names in called.items() if names - used_by(by)} == {}


def test_commands_and_kernels_in_the_list_exist() -> None:
    assert set(used_by("build")) and set(used_by("demo")) > set(used_by("build"))
    for command in COMMANDS:
        assert used_by(command) <= set(known())
