"""The lines of run files: in TREC `query Q0 result rank score tag`, in TSV `query<TAB>rank<TAB>result<TAB>score`."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from pagekin.errors import MisuseError

TAG = "pagekin"  # of the lines of a TREC run
_SEPARATORS = {"trec": re.compile(r"\s"), "tsv": re.compile(r"[\t\r\n]")}


class RunLine(NamedTuple):
    """A line of a run."""

    query: str
    rank: int
    result: str
    score: float


def run_lines(lines: Iterable[RunLine], kind: str = "trec", tag: str = TAG, score_format: str = ".9g") -> Iterator[str]:
    for query, rank, result, score in lines:
        first, second, value = run_field(query, kind), run_field(result, kind), format(score, score_format)
        yield f"{first} Q0 {second} {rank} {value} {tag}" if kind == "trec" else f"{first}\t{rank}\t{second}\t{value}"


@lru_cache(1 << 16)  # a page is in many answers
def run_field(name: str, kind: str = "trec") -> str:
    """A name as a field of a line: characters that separate fields are percent-encoded.

    >>> run_field("http://a.example/a page.html"), run_field("a page", "tsv")
    ('http://a.example/a%20page.html', 'a page')
    """
    if not name.strip():
        raise MisuseError("a page without a name cannot be written into a run; give it a URL")
    return _SEPARATORS[kind].sub(lambda found: quote(found[0]), name)
