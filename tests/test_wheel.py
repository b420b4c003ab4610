"""The wheel: what it contains, and that the commands of the README run from it alone, without a compiler."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

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


class Installed:
    """A virtual environment with the wheel, and the dependencies of this one."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder / "venv", with_pip=False)
        (packages,) = (folder / "venv").glob("[Ll]ib/**/site-packages")
        zipfile.ZipFile(wheel).extractall(packages)
        (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
        self.folder, self.packages = folder, packages
        self.python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def run(self, *arguments: str) -> list[str]:
        """The output of a command; the last line says whether it has loaded numba."""
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PAGEKIN", "NUMBA"))
        }
        done = subprocess.run(
            [self.python, "-c", RUN, *arguments], cwd=self.folder, env=clean, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[-1] == f"{self.packages / 'pagekin' / '__init__.py'} {not usable()}", lines[-1]
        return lines[:-1]


def test_the_commands_of_the_readme_run_from_the_wheel_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    installed = Installed(tmp_path, wheel)
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
