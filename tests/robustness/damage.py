"""Files of a store, damaged one at a time, and questions asked of what is left.

`python -m robustness.damage STORE < damages` asks after each damage, and prints how that went. A process that dies
or hangs is then known by what it printed last.
"""

from __future__ import annotations

import faulthandler
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from pagekin.collection.info import describe_page, describe_store
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import PagekinError
from pagekin.search.duplicates import find_duplicates
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.store.store import Store

HANGING = 600  # seconds for questions that take a tenth of one
MEMORY = 4 << 30  # bytes of addresses; numba alone takes one
OUTSIDE = b"<p>cheese and stars and oak <a href=x>y</a>"
ASKED = ("http://larder.example/", "http://nightsky.example/")


@dataclass(frozen=True)
class Damage:
    """What happens to a file: its bytes from `offset` on are gone, or one of them has other bits, or all is gone."""

    file: str
    kind: str  # flip, cut, missing
    offset: int = 0
    bits: int = 0

    @contextmanager
    def done_to(self, store: Path) -> Iterator[None]:
        """Damage it, and mend it afterwards."""
        path = store / self.file
        whole = path.read_bytes()
        path.unlink()  # a map of the old file, if somebody has one, stays what it is
        if self.kind == "flip":
            at = self.offset
            path.write_bytes(whole[:at] + bytes([whole[at] ^ self.bits]) + whole[at + 1 :])
        elif self.kind == "cut":
            path.write_bytes(whole[: self.offset])
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            path.write_bytes(whole)


def queries(store: Path) -> Iterator[Callable[[], object]]:
    """All that can be asked, in the way of every command and of a server, which asks one opened collection."""
    yield lambda: describe_store(IndexedStore.open(store))
    everything = RelatedOptions(
        min_similarity=0.0, limit=500, similarity="cosine", exclude_linked=True, exclude_host=True
    )
    weighed = RelatedOptions(min_similarity=0.0, limit=500, similarity="okapi")
    blended = RelatedOptions(min_similarity=0.0, limit=500)
    vectors = RelatedOptions(min_similarity=0.0, limit=500, blend={"text": 0.5, "vectors": 0.5})
    given = (vectors,) if "vectors" in (Store.open(store).manifest.index or {}) else ()
    opened = cache(partial(IndexedStore.open, store))
    for name in ASKED:
        yield lambda name=name: opened().related(name)  # type: ignore[misc]
    for options in (everything, weighed, blended, *given):
        yield lambda options=options: opened().related(list(ASKED), options)  # type: ignore[misc]
    yield lambda: opened().related_to(OUTSIDE)
    reopened = cache(partial(IndexedStore.open, store))
    yield lambda: find_duplicates(reopened())
    yield lambda: find_duplicates(reopened(), GroupSettings(link_weight=0.3, chunk_bytes=128))
    for row in (0, 40, -1):
        yield lambda row=row: every_word(reopened(), row)  # type: ignore[misc]


def every_word(indexed: IndexedStore, row: int) -> object:
    """What `show` tells of a page, and `show --text`."""
    row %= len(indexed)
    return describe_page(indexed, row), indexed.text(row), indexed.hrefs(row)


def outcome(query: Callable[[], object]) -> str:
    """How a question went: answered, an error that says so, or a complaint."""
    try:
        query()
    except PagekinError as error:
        return "told" if "build" in str(error) or "no page" in str(error) else f"unclear: {error}"
    except Exception as error:
        import traceback

        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"traceback: {type(error).__name__}: {error} at {Path(where.filename).name}:{where.lineno}"
    return "answered"


def main(store: Path, damages: Sequence[Damage]) -> None:
    """Ask after each damage; a line for each says how all questions went."""
    import resource

    faulthandler.enable()
    for query in queries(store):  # compile everything
        assert outcome(query) == "answered"
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for damage in damages:
        print(json.dumps(asdict(damage)), flush=True)
        with damage.done_to(store):
            for query in queries(store):
                faulthandler.dump_traceback_later(HANGING, exit=True)
                print(json.dumps(outcome(query)), flush=True)
                faulthandler.cancel_dump_traceback_later()
    print("done", flush=True)


def ask_after(store: Path, damages: Sequence[Damage], scratch: Path) -> Iterator[tuple[Damage, set[str]]]:
    """For each damage how the questions went, asked in another process; and in a new one after one that died."""
    left = list(damages)
    while left:
        shutil.rmtree(scratch, ignore_errors=True)  # whoever died did not mend it
        done = subprocess.run(
            [sys.executable, "-m", "robustness.damage", str(shutil.copytree(store, scratch))],
            input="".join(json.dumps(asdict(each)) + "\n" for each in left),
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line != "done"]
        begins = [k for k, line in enumerate(lines) if isinstance(line, dict)]
        assert begins, done.stderr
        for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
            died = end == len(lines) and not done.stdout.endswith("done\n")
            last = {f"died with {done.returncode}: {done.stderr[-3000:]}"} if died else set()
            yield Damage(**lines[begin]), {*lines[begin + 1 : end], *last}
        left = left[len(begins) :]


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Damage(**json.loads(line)) for line in sys.stdin])
