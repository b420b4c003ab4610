"""The door: help, exit codes, settings from three places, and no traceback for a mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

import pagekin as package
from cli.conftest import Pagekin
from cli.processes import PAGEKIN, in_a_process
from pagekin.cli.main import COMMANDS, cli, command_named
from pagekin.store.store import Store

HEAVY = {"numba", "numpy", "fastwarc", "resiliparse", "zstandard", "brotli", "sqlite3", "llvmlite"}


# --- help ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_command(pagekin: Pagekin, flag: str) -> None:
    answer = pagekin(flag)
    assert (answer.code, answer.err) == (0, "")
    for name in COMMANDS:
        assert f"\n  {name} " in answer.out


def test_the_list_of_commands_has_a_whole_sentence_for_each(pagekin: Pagekin) -> None:
    lines = pagekin("--help").out.partition("Commands:\n")[2].splitlines()
    sentences = dict(line.strip().split(maxsplit=1) for line in lines)
    assert sentences.keys() == COMMANDS.keys()
    assert [name for name, text in sentences.items() if not text.endswith(".") or text.endswith("...")] == []
    assert {name: text for name, text in sentences.items() if len(text) >= 45} == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained_by_sentences(name: str) -> None:
    for option in command_named(name).params:
        if isinstance(option, click.Option):
            assert option.help and option.help[0] == option.help[0].upper() and option.help.endswith("."), option.opts
            record = option.get_help_record(click.Context(command_named(name)))
            assert record and "None" not in record[1], option.opts


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_names_every_option(pagekin: Pagekin, name: str) -> None:
    answer = pagekin(name, "--help")
    assert answer.code == 0
    assert f"pagekin {name} " in answer.out.splitlines()[0]
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None and command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{parameter.name} is not explained"
            assert all(option in answer.out for option in parameter.opts)


def test_every_command_is_in_a_module_of_cli() -> None:
    files = {path.stem for path in (Path(package.__file__).parent / "cli").glob("*.py")}
    assert files - {"__init__", "options", "output", "progress"} == set(COMMANDS.values())


def test_the_version_is_told(pagekin: Pagekin) -> None:
    assert pagekin("--version").out == f"pagekin, version {package.__version__}\n"


@pytest.mark.slow
@pytest.mark.parametrize("program", ["import pagekin", "import pagekin.cli.main", "import pagekin.errors"])
def test_importing_loads_nothing_heavy(program: str) -> None:
    loaded = f"{program}; import sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True, timeout=600)
    assert set(done.stdout.split()) & HEAVY == set()


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["build", "--help"], ["show", "-h"], ["nonsense"]])
def test_asking_for_help_loads_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys, atexit; sys.argv = ['pagekin', *sys.argv[1:]]; "
        "atexit.register(lambda: print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)); "
        "from pagekin.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=600)
    assert "click" in done.stderr.split()
    assert set(done.stderr.split()) & HEAVY == set()


# --- mistakes ------------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[list[str], int, str]] = {
    "no such command": (["nonsense"], 2, "No such command"),
    "a misspelt command": (["relatd"], 2, "No such command 'relatd'. Did you mean 'related'?"),
    "no such option": (["build", "web", "-o", "x.kin", "--nonsense"], 2, "No such option"),
    "no source": (["build", "-o", "x.kin"], 2, "Missing argument"),
    "no output": (["build", "web"], 2, "Missing option"),
    "source that is not there": (["build", "nothing.warc", "-o", "x.kin"], 2, "nothing.warc does not exist"),
    "source of another kind": (["build", "note.txt", "-o", "x.kin"], 2, "note.txt is no source that pagekin can read"),
    "a URL as a source": (
        ["build", "https://example.org/a?b=1&c=2", "-o", "x.kin"],
        2,
        "`pagekin crawl 'https://example.org/a?b=1&c=2' -o site.warc.gz`, and name site.warc.gz",
    ),
    "AsciiDoc as a source": (["build", "note.adoc", "-o", "x.kin"], 2, "build its HTML, for example with Sphinx"),
    "a PDF as a source": (["build", "note.pdf", "-o", "x.kin"], 2, "extract its text, for example with pdftotext"),
    "JSON as a source": (["build", "a b.json", "-o", "x.kin"], 2, "`jq -c '.[]' 'a b.json' > 'a b.jsonl'`"),
    "the same source twice": (["build", "web", "web/", "-o", "x.kin"], 2, "have the same name"),
    "archive that is none": (["build", "bad.wacz", "-o", "x.kin"], 1, "bad.wacz is no WACZ"),
    "base that is no URL": (["build", "web", "-o", "x.kin", "--base-url", "ftp://x/"], 2, "no http or https URL"),
    "too many bases": (["build", "web", "-o", "x", "--base-url", "http://a/", "--base-url", "http://b/"], 2, "2 base"),
    "no processes": (["build", "web", "-o", "x.kin", "--processes", "0"], 2, "at least 1"),
    "processes that are no number": (["build", "web", "-o", "x.kin", "--processes", "many"], 2, "'many'"),
    "a bound of nothing": (["build", "web", "-o", "x.kin", "--max-links", "0"], 2, "max-links"),
    "a page beyond all bounds": (["build", "web", "-o", "x.kin", "--max-page-size", "1025"], 2, "max-page-size"),
    "output that is a file": (["build", "web", "-o", "note.txt"], 2, "note.txt is a file"),
    "output with other things": (["build", "web", "-o", "web/birds"], 2, "holds other files"),
    "output below a file": (["build", "web", "-o", "note.txt/x.kin"], 1, "cannot be written"),
    "no store": (["info", "x.kin"], 2, "x.kin is no store"),
    "a folder that is no store": (["show", "web", "page"], 2, "web is no store"),
    "a file that is no store": (["check", "note.txt"], 2, "note.txt is no store"),
    "a shell that is none": (["completion", "tcsh"], 2, "'tcsh'"),
    "demo on a file": (["demo", "--output", "note.txt"], 2, "note.txt"),
}


@pytest.mark.parametrize(("arguments", "code", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_answered_with_a_sentence_and_a_code(
    pagekin: Pagekin, web: Path, arguments: list[str], code: int, sentence: str
) -> None:
    for name in ("note.txt", "note.adoc", "note.pdf", "a b.json"):
        Path(name).write_text("a note")
    Path("bad.wacz").write_text("not a zip file")
    answer = pagekin(*arguments)
    assert (answer.code, answer.out) == (code, "")
    assert sentence in answer.err
    assert "Traceback" not in answer.err
    assert Path("note.txt").read_text() == "a note"


@pytest.mark.slow
@pytest.mark.parametrize("name", [b"\xff", b"a\xffb c", b"web/\xfe.html"])
def test_a_name_in_another_encoding_is_no_mistake_of_ours(library: Path, name: bytes) -> None:
    answer = in_a_process("show", library, name)
    assert "Traceback" not in answer.err
    assert answer.code == 2
    assert "no page" in answer.err


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(library: Path) -> None:
    """`pagekin info my.kin | head -0`."""
    process = subprocess.Popen([*PAGEKIN, "info", str(library)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(600), said) == (0, b"")


# --- settings from three places ------------------------------------------------------------------


def max_links(store: str = "x.kin") -> int:
    return Store.open(store).settings.max_links


def test_a_flag_comes_before_the_environment_and_that_before_the_file(
    pagekin: Pagekin, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = ["build", "web", "-o", "x.kin", "-q"]
    assert pagekin(*build).code == 0
    assert max_links() == 50_000
    Path("pagekin.toml").write_text("[build]\nmax-links = 11\n")
    assert pagekin(*build).code == 0
    assert max_links() == 11
    monkeypatch.setenv("PAGEKIN_BUILD_MAX_LINKS", "22")
    assert pagekin(*build).code == 0
    assert max_links() == 22
    assert pagekin(*build, "--max-links", "33").code == 0
    assert max_links() == 33


def test_the_file_may_hold_everything(pagekin: Pagekin, web: Path) -> None:
    Path("pagekin.toml").write_text(
        '[build]\nsources = ["web"]\noutput = "y.kin"\nchop_host = true\nquiet = true\n[info]\n[show]\ntext = true\n'
    )
    assert pagekin("build") == (0, "", "")
    assert Store.open("y.kin").settings.chop_host
    assert pagekin("show", "y.kin", "robin").out.startswith("Robins sing all winter, even at night.")


def options() -> list[tuple[str, str]]:
    """(command, long name without dashes) of every option."""
    found = []
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                found += [(name, option[2:]) for option in parameter.opts if option.startswith("--")]
    return found


@pytest.mark.parametrize(("command", "name"), options())
def test_a_setting_in_the_file_is_called_as_its_option(pagekin: Pagekin, command: str, name: str) -> None:
    value = "true" if name not in ("base-url", "output") else '["http://a.example/"]' if name == "base-url" else '"x"'
    value = "3" if name in ("processes", "max-page-size", "max-links", "max-url-length") else value
    Path("pagekin.toml").write_text(f"[{command}]\n{name} = {value}\n")
    assert "has no setting" not in pagekin(command, "nothing").err


def test_a_setting_in_the_environment_is_called_as_its_option(
    pagekin: Pagekin, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGEKIN_BUILD_BASE_URL", "http://env.example/")
    monkeypatch.setenv("PAGEKIN_BUILD_JSON", "1")
    assert json.loads(pagekin("build", "web", "-o", "x.kin").out)["read"] == 4
    assert Store.open("x.kin").reading.pages.url[0].startswith("http://env.example/")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[build]\nnonsense = 1\n", "[build] has no setting 'nonsense'"),
        ("[export]\nqueries = true\n", "[export] queries should be the name of a file or folder"),
        ("[nonsense]\na = 1\n", "[nonsense] is not a command"),
        ("build = 1\n", "[build] is not a command"),
        ("processes = 2\n", "[processes] is not a command"),
        ("[build\n", "pagekin.toml cannot be read"),
        ("[build]\nprocesses = 'many'\n", "many"),
        ("[build]\nmax-links = 0\n", "max-links"),
        ("[build]\nquiet = 'perhaps'\n", "perhaps"),
    ],
)
def test_a_wrong_file_of_settings_is_misuse(pagekin: Pagekin, web: Path, text: str, sentence: str) -> None:
    Path("pagekin.toml").write_text(text)
    answer = pagekin("build", "web", "-o", "x.kin")
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert not Path("x.kin").exists()


def test_settings_in_another_encoding_are_misuse(pagekin: Pagekin, web: Path) -> None:
    Path("pagekin.toml").write_bytes(b"[build]\n# caf\xe9\n")
    answer = pagekin("build", "web", "-o", "x.kin")
    assert answer.code == 2
    assert "pagekin.toml cannot be read" in answer.err


def test_help_is_there_when_the_file_of_settings_is_wrong(pagekin: Pagekin) -> None:
    """The sentence about a wrong setting says "see `pagekin build --help`"."""
    Path("pagekin.toml").write_text("[build]\nnonsense = 1\n")
    answer = pagekin("build", "--help")
    assert answer.code == 0
    assert "--max-links" in answer.out


def test_a_wrong_value_in_the_environment_is_misuse(
    pagekin: Pagekin, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGEKIN_BUILD_PROCESSES", "many")
    answer = pagekin("build", "web", "-o", "x.kin")
    assert answer.code == 2
    assert "many" in answer.err


@pytest.mark.slow
def test_the_package_can_be_run() -> None:
    run = subprocess.run([sys.executable, "-m", "pagekin", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == package.__version__


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments", [["related", "sample_web.kin", "http://larder.example/"], ["--help"], ["--version"]]
)
def test_output_that_cannot_be_written_is_one_sentence(sample_folder: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PAGEKIN, *arguments], cwd=sample_folder, stdout=full, stderr=subprocess.PIPE, text=True)
    said = "pagekin: a file or the output cannot be read or written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_library_that_cannot_be_loaded_is_one_sentence(
    pagekin: Pagekin, monkeypatch: pytest.MonkeyPatch, sample_folder: Path
) -> None:
    def fail(_: str) -> None:
        raise ImportError("/a/b.so: cannot open shared object file: Too many open files", path="/a/b.so")

    monkeypatch.setattr("pagekin.cli.main.import_module", fail)
    answer = pagekin("related", "sample_web.kin", "x")
    assert (answer.code, answer.err) == (1, "pagekin: /a/b.so cannot be read or written: Too many open files\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of addresses")
@pytest.mark.parametrize("megabytes", [40, 90, 140, 170])
@pytest.mark.parametrize("command", ["related", "build"])
def test_want_of_memory_is_one_sentence(sample_folder: Path, tmp_path: Path, command: str, megabytes: int) -> None:
    import resource

    arguments = {
        "related": ["sample_web.kin", "http://larder.example/"],
        "build": ["sample_web.warc.gz", "-q", "--processes", "1", "-o", str(tmp_path / "x.kin")],
    }
    limit = megabytes << 20
    done = subprocess.run(
        [*PAGEKIN, command, *arguments[command]],
        cwd=sample_folder,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    if done.returncode or command == "build":
        said = "pagekin: there is not enough memory; raise the limit, or end other programs\n"
        assert (done.returncode, done.stderr) == (1, said)
        assert not list(tmp_path.glob("x.kin/store-*"))
