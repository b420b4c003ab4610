"""Record with what types the package calls kernels, into `src/pagekin/kernels/signatures.json`.

`python -m tools.machine_code.record` runs commands on nine pages and on the sample web, and compiles nothing for them.
With the name of a file it adds what that file has: any command or test that runs with PAGEKIN_RECORD_KERNELS=FILE
appends to it.
"""

import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from pagekin.kernels import signatures

SIGNATURES = Path(signatures.__file__).with_suffix(".json")
PAGE = "http://site.example/birds/robin.html"
OAK = "http://treeroom.example/oak.html"
LABELS = {"birds": ("robin", "wren", "finch"), "trees": ("oak", "birch", "elm")}
STRATEGIES, SIMILARITIES = ("default", "paper", "text-only", "fast"), ("jaccard", "cosine", "okapi")
MEASURES = ("co-citation", "coupling", "amsler", "proximity")
COMMANDS = [
    "build pages.jsonl -o pages.kin --processes 1",
    *(f"build pages -o {name}.kin --base-url http://site.example/ --strategy {name}" for name in STRATEGIES),
    *(f"related {name}.kin {PAGE}" for name in STRATEGIES),
    *(f"related default.kin {PAGE} --similarity {name}" for name in SIMILARITIES),
    *(f"related default.kin --text text.txt --similarity {name}" for name in SIMILARITIES),
    "related default.kin --html pages/birds/robin.html",
    "export default.kin -o run.tsv",
    *(f"export default.kin -o run.tsv --similarity {name}" for name in SIMILARITIES),
    "duplicates default.kin",
    "duplicates default.kin --link-weight 0.3 --complete-link --whole-text",
    "duplicates pages/birds/copy.html pages/birds/robin.html",
    "duplicates pages/birds/copy.html pages/birds/robin.html --query 'robin winter'",
    *(f"cluster default.kin {PAGE} --measure {name} --alpha 0.3" for name in MEASURES),
    f"cluster default.kin {PAGE} --most 2",
    "cluster default.kin --cross-topic",
    *(f"graph default.kin --measure {name}" for name in MEASURES),
    *(f"evaluate default.kin --hierarchy labels.tsv --similarity {name}" for name in SIMILARITIES),
    "evaluate default.kin --hierarchy labels.tsv --distance tree --against paper",
    "evaluate default.kin --related pairs.tsv",
    "tune default.kin --hierarchy labels.tsv --folds 2",
    "tune default.kin --related pairs.tsv --folds 2",
    "sweep default.kin --hierarchy labels.tsv",
    f"show default.kin {PAGE} --text",
    "gaps default.kin",
    f"gaps default.kin {PAGE}",
    "search default.kin 'robin winter'",
    "info default.kin",
    "check default.kin",
    "mcp default.kin",
    "answers default.kin --limit 3",
    f"related default.kin {PAGE} --limit 3",
    "export default.kin -o run.tsv --limit 3",
    "mcp default.kin",
    "site pages --index site.kin",
    "site pages --revert --index site.kin",
]
# `learn` needs more than nine pages.
OF_SAMPLE_WEB = [
    f"related web/sample_web.kin {OAK}",
    "related web/sample_web.kin --text text.txt",
    "learn web/sample_web.kin --units 2,2,2 --steps 1 --rate 0.1 --start okapi",
    f"related web/sample_web.kin {OAK} --similarity linklearn --weights web/sample_web.weights.json",
    "related web/sample_web.kin --text text.txt --similarity linklearn --weights web/sample_web.weights.json",
    "duplicates web/sample_web.kin",
    f"cluster web/sample_web.kin {OAK}",
    "graph web/sample_web.kin",
    "evaluate web/sample_web.kin --hierarchy web/labels.tsv",
    "tune web/sample_web.kin --hierarchy web/labels.tsv --folds 2",
    "gaps web/sample_web.kin",
    "search web/sample_web.kin oak",
    f"show web/sample_web.kin {OAK} --text",
    "info web/sample_web.kin",
    "check web/sample_web.kin",
    "mcp web/sample_web.kin",
]


def write_sources() -> None:
    """Write what the commands read into the current directory, but for the sample web."""
    from conftest import write_pages  # type: ignore[attr-defined] # that of the root, not that of tests

    write_pages(Path("pages"))
    urls = {kind: [f"http://site.example/{kind}/{name}.html" for name in names] for kind, names in LABELS.items()}
    classes = [(url, f"Life/{kind}/{k > 1}") for kind, some in urls.items() for k, url in enumerate(some)]
    Path("labels.tsv").write_text("".join(f"{url}\t{name}\n" for url, name in classes))
    Path("pairs.tsv").write_text("".join(f"{some[0]}\t{some[1]}\n{some[1]}\t{some[2]}\n" for some in urls.values()))
    Path("text.txt").write_text("Robins sing in winter gardens")
    pages = [{"url": "http://a.example/1", "html": "<p>Äpfel 木の家 <a href=/2>zwei</a>"}]
    pages.append({"url": "http://a.example/2", "text": "A"})
    Path("pages.jsonl").write_text("".join(json.dumps(each) + "\n" for each in pages))


def build_sample_web() -> None:
    """Build the index of the sample web, compiled: reading it takes minutes otherwise."""
    from pagekin import sample_web

    Path("web").mkdir()
    program = f"import pagekin; pagekin.build('{sample_web.copy_to(Path('web'))}', 'web/sample_web.kin')"
    recording = ("NUMBA_DISABLE_JIT", "PAGEKIN_RECORD_KERNELS")
    compiled = {name: value for name, value in os.environ.items() if name not in recording}
    subprocess.run([sys.executable, "-c", program], env=compiled, check=True)


def run_commands(commands: Iterable[str]) -> None:
    """Run commands in the current directory, as if each had a process of its own."""
    from pagekin.cli.main import cli

    for command in commands:
        sys.argv = ["pagekin", *shlex.split(command)]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            if sys.argv[1] == "mcp":
                call_tools(sys.argv[2])
            else:
                cli(sys.argv[1:], standalone_mode=False)


def call_tools(store: str) -> None:
    """Call what `pagekin mcp` serves."""
    from pagekin.integrations.mcp import CollectionTools

    tools = CollectionTools(store)
    page = tools.find("robin oak")["pages"][0]["url"]
    tools.related(page)
    tools.related(page, hide_linked=True)
    tools.show(page)
    tools.gaps(page)
    tools.gaps()
    tools.duplicates()


def add(recorded: Path) -> None:
    """Add lines of a kernel, a signature and a command."""
    listed = json.loads(SIGNATURES.read_text("utf-8"))
    found = {(name, each) for name, some in listed["signatures"].items() for each in some}
    used = {(command, name) for command, names in listed["commands"].items() for name in names}
    found = {(name, each) for name, each in found if _exists(name) and signatures.is_current(each)}
    used = {(command, name) for command, name in used if _exists(name)}
    before = len(found)
    for line in recorded.read_text("utf-8").splitlines():
        name, each, command = f"{line}\t".split("\t")[:3]
        found.add((name, each))
        used |= {(command, name)} if command else set()
    listed = {"signatures": grouped(found), "commands": grouped(used)}
    SIGNATURES.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    print(f"{len(found) - before} new signatures, {len(found)} in total")


def _exists(name: str) -> bool:
    module, _, function = name.partition(".")
    source = SIGNATURES.with_name(f"{module}.py")
    return source.is_file() and f"\ndef {function}(" in source.read_text("utf-8")


def grouped(pairs: set[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key, value in sorted(pairs):
        groups.setdefault(key, []).append(value)
    return groups


def main() -> None:
    if len(sys.argv) > 1:
        return add(Path(sys.argv[1]))
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before numba is imported
    warnings.simplefilter("ignore")  # hashes overflow, and should
    with tempfile.TemporaryDirectory() as folder:
        recorded = Path(folder, "recorded.tsv")
        os.environ["PAGEKIN_RECORD_KERNELS"] = str(recorded)  # before any kernel is imported
        add(Path(os.devnull))  # forget kernels that are gone
        os.chdir(folder)
        write_sources()
        build_sample_web()
        run_commands([*COMMANDS, *OF_SAMPLE_WEB])
        return add(recorded)


if __name__ == "__main__":
    main()
