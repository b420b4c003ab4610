"""What to do with a source that pagekin cannot read: the ways from other formats to one that it reads."""

import re
import shlex
from collections import Counter
from pathlib import Path

from pagekin.figures import counted

_WEB_ADDRESS = re.compile(r"(https?|ftp):/+(.+)", re.IGNORECASE)  # a Path has lost one of the slashes
_JSONL = 'write it as a line {"url": ..., "text": ...} of a .jsonl file'
_BY_SUFFIX = {
    (
        ".rst",
        ".adoc",
        ".asciidoc",
        ".org",
        ".tex",
    ): "build its HTML, for example with Sphinx, Asciidoctor or pandoc, and name the folder that this writes",
    (".txt", ".text"): _JSONL,
    (".pdf",): f"extract its text, for example with pdftotext, and {_JSONL}",
    (".doc", ".docx", ".odt", ".epub"): "convert it to HTML, for example with pandoc",
    (".json",): "write its pages as lines of a .jsonl file: `jq -c '.[]' {name} > {lines}`; each needs url, and html"
    " or text",
    (".zip", ".tar", ".tgz", ".7z", ".gz", ".bz2", ".xz"): "unpack it, and name the folder",
}


def advice_on_address(path: Path) -> str:
    """What to do if a path is the address of a web page; "" if it is a path.

    >>> advice_on_address(Path("https://example.org/docs/"))[:72]
    'https://example.org/docs is a URL; fetch the site with `pagekin crawl ht'
    """
    found = _WEB_ADDRESS.match(path.as_posix())
    if found is None:
        return ""
    url = f"{found[1]}://{found[2]}"
    command = f"pagekin crawl {shlex.quote(url)} -o site.warc.gz"
    return f"{url} is a URL; fetch the site with `{command}`, and name site.warc.gz"


def advice_on_file(path: Path) -> str:
    """What to do with a file, by its suffix; "" if that is not known.

    >>> advice_on_file(Path("dump.json"))[:76]
    "write its pages as lines of a .jsonl file: `jq -c '.[]' dump.json > dump.jso"
    """
    advice = next((text for suffixes, text in _BY_SUFFIX.items() if path.suffix.lower() in suffixes), "")
    names = (("{name}", shlex.quote(path.name)), ("{lines}", shlex.quote(f"{path.stem}.jsonl")))
    for mark, name in names:
        advice = advice.replace(mark, name)
    return advice


def advice_on_folder(suffixes: Counter[str]) -> str:
    """What a folder without pages has instead, and what to do; `suffixes` are those of its files.

    >>> advice_on_folder(Counter({".png": 12, "": 1}))
    'it has 13 files, but no HTML or Markdown (.png 12, no suffix 1)'
    """
    if not suffixes:
        return "it has no files"
    common = sorted(suffixes.items(), key=lambda item: (-item[1], item[0]))[:3]
    shown = ", ".join(f"{suffix or 'no suffix'} {count:,}" for suffix, count in common)
    advice = advice_on_file(Path(f"FILE{common[0][0]}"))
    return f"it has {counted(suffixes.total(), 'file')}, but no HTML or Markdown ({shown})" + (
        f"; for each file: {advice}" if advice else ""
    )
