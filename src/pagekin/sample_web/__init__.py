"""The sample web: 213 pages of 22 hosts in an archive, with a topic hierarchy. `tools/sample_web` builds it."""

from importlib.resources import files
from pathlib import Path

ARCHIVE, LABELS = "sample_web.warc.gz", "labels.tsv"


def copy_to(folder: Path) -> Path:
    """Copy the archive and `labels.tsv` into an existing folder; return the path of the archive."""
    for name in (LABELS, ARCHIVE):
        (folder / name).write_bytes((files(__name__) / name).read_bytes())
    return folder / ARCHIVE


def labels() -> list[tuple[str, str]]:
    """Return the topic hierarchy as sorted (URL, label) pairs. A page can have several labels.

    >>> labels()[0]
    ('http://almanac.example/june.html', 'Nature/Trees/Fruit trees')
    """
    rows = (files(__name__) / LABELS).read_text("utf-8").splitlines()
    return [(url, label) for url, _, label in (row.partition("\t") for row in rows)]
