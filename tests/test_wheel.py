"""The wheel: what it contains, and that the commands of the README run from it alone, without a compiler."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pagekin
from pagekin.kernels.compile import usable

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
OAK = "http://treeroom.example/oak.html"
DATA = {
    "pagekin/py.typed",
    "pagekin/bags/stopwords/en.txt",
    "pagekin/kernels/signatures.json",
    "pagekin/reading/letters.txt",
    "pagekin/sample_web/labels.tsv",
    "pagekin/sample_web/sample_web.warc.gz",
    "pagekin/serving/static/page.css",
    "pagekin/serving/templates/base.html",
}
RUN = "import sys; from pagekin.cli.main import cli; cli(sys.argv[1:], standalone_mode=False)"
RUN += "; import pagekin; print(pagekin.__file__, 'numba' in sys.modules)"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_a_wheel_has_the_package_with_its_data_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= DATA
    assert {name.partition("/")[0] for name in names} == {"pagekin", f"pagekin-{pagekin.__version__}.dist-info"}
    assert not [name for name in names if "test" in name or "__pycache__" in name]
    assert wheel.stat().st_size < 40e6


def test_the_index_of_packages_would_accept_the_wheel(wheel: Path) -> None:
    pytest.importorskip("twine", reason="twine comes with pagekin[release]")
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_sdist_has_what_building_compiling_and_testing_need(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (found,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {name.replace("pagekin/", "src/pagekin/", 1) for name in DATA}
    assert names >= {"pyproject.toml", "hatch_build.py", "conftest.py", "Makefile", "LICENSE", "CITATION.cff"}
    assert {"tools/machine_code/runtime.c", "tests/test_wheel.py"} <= names
    assert not [name for name in names if name.endswith((".so", ".pyd")) or "__pycache__" in name]


@pytest.mark.skipif(not usable(), reason="no machine code: python -m tools.machine_code")
def test_a_wheel_with_machine_code_is_one_for_a_platform(wheel: Path) -> None:
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name == f"pagekin-{pagekin.__version__}-cp311-abi3-{platform}.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if name.endswith((".so", ".pyd"))] == [
            "pagekin/kernels/machine.abi3.so"
        ]
        assert "Root-Is-Purelib: false" in archive.read(f"pagekin-{pagekin.__version__}.dist-info/WHEEL").decode()


def requirements(lines: Iterable[str]) -> set[str]:
    """The distributions that requirements without extras name, with those that they require."""
    found: set[str] = set()
    waiting = list(lines)
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            assert requirement.specifier.contains(metadata.version(name), prereleases=True)
            found.add(name)
            waiting += metadata.requires(name) or []
    return found


class Installed:
    """A virtual environment with the wheel, as pip installs it, and nothing else than what it requires."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        self.python = install(sys.executable, folder / "venv", wheel)
        (self.packages,) = (folder / "venv").glob("[Ll]ib/**/site-packages")
        (facts,) = metadata.distributions(name="pagekin", path=[str(self.packages)])
        for name in requirements(facts.requires or ()):
            files = metadata.files(name)
            assert files, f"{name} has no list of files"
            there = Path(str(metadata.distribution(name).locate_file("")))
            for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
                (self.packages / top).symlink_to(there / top)

    def run(self, *arguments: str) -> list[str]:
        """The output of a command."""
        return output(self.python.with_name("pagekin"), *arguments, folder=self.folder)


def install(python: str | Path, place: Path, wheel: Path) -> Path:
    """Install the wheel alone into a new virtual environment; return its Python."""
    subprocess.run([python, "-m", "venv", "--without-pip", place], check=True)
    created = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(created), "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return created


def output(*command: str | Path, folder: Path) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PAGEKIN", "NUMBA"))}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_commands_of_the_readme_run_from_the_wheel_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    installed = Installed(tmp_path, wheel)
    assert subprocess.run([installed.python, "-c", "import jinja2"], capture_output=True).returncode == 1  # an extra
    assert "213 pages of 22 hosts" in "\n".join(installed.run("demo", "--no-serve"))
    for block in re.finditer(r"^```console\n\$ pagekin (.*)\n((?:(?!```).*\n)*)```$", README, re.M):
        assert installed.run(*shlex.split(block[1])) == block[2].splitlines()
    store = "web.kin"
    labels = str(installed.packages / "pagekin" / "sample_web" / "labels.tsv")
    (tmp_path / "text.txt").write_text("Oaks and larches are trees with leaves and cones")
    assert installed.run("related", store, "--text", "text.txt")
    assert len(installed.run("export", store, "-o", "answers.tsv", "--limit", "2")) == 1
    assert installed.run("duplicates", store)
    assert installed.run("cluster", store, OAK, "--alpha", "0.25")
    assert installed.run("evaluate", store, "--hierarchy", labels)
    assert installed.run("learn", store, "-o", "weights.json", "--units", "2,2,2", "--steps", "5")
    assert installed.run("related", store, OAK, "--similarity", "linklearn", "--weights", "weights.json")
    where = output(installed.python, "-c", RUN, "related", store, OAK, folder=tmp_path)[-1]
    assert where == f"{installed.packages / 'pagekin' / '__init__.py'} {not usable()}"


def other_pythons() -> list[Path]:
    """Interpreters of other versions that pagekin supports, where pyenv or the system has them."""
    versions = sorted(Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python"))
    versions += [Path(found) for minor in range(11, 20) if (found := shutil.which(f"python3.{minor}", path="/usr/bin"))]
    code, by_version = "import sys, venv; print(*sys.version_info[:2])", {}
    for each in versions:
        done = subprocess.run([each, "-c", code], capture_output=True, text=True)
        if done.returncode == 0:
            by_version[done.stdout.strip()] = each
    del by_version["{} {}".format(*sys.version_info)]
    return list(by_version.values())


LOAD = """
import importlib.util
from importlib.metadata import entry_points, version
from importlib.machinery import ExtensionFileLoader

(command,) = entry_points(group="console_scripts", name="pagekin")
print(version("pagekin"), command.value)
file = importlib.util.find_spec("pagekin").submodule_search_locations[0] + "/kernels/machine.abi3.so"
spec = importlib.util.spec_from_file_location("machine", file, loader=ExtensionFileLoader("machine", file))
try:
    machine = importlib.util.module_from_spec(spec)
    print("FITS", machine.FITS)
except ImportError as error:
    print(error)
"""


@pytest.mark.skipif(not usable(), reason="no machine code: python -m tools.machine_code")
def test_the_wheel_can_be_installed_for_other_versions_of_python(wheel: Path, tmp_path: Path) -> None:
    """pip checks the tags of the wheel. Without dependencies, the machine code is loaded up to its import of numpy."""
    pythons = other_pythons()
    if not pythons:
        pytest.skip("there is no other version of Python")
    for k, each in enumerate(pythons):
        python = install(each, tmp_path / str(k), wheel)
        said = output(python, "-c", LOAD, folder=tmp_path)
        assert said[0] == f"{pagekin.__version__} pagekin.cli.main:main", each
        assert said[1] in ("FITS 1", "numpy._core.multiarray failed to import"), each
