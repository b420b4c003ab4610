"""Kernels that were compiled ahead of time: what they accept, what they return, and when numba takes over."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pagekin
from pagekin.kernels import compile as kernels
from pagekin.kernels.all_pairs import BagPostings, invert
from pagekin.kernels.characters import is_utf8
from pagekin.kernels.digests import digest as digest_of
from pagekin.kernels.fnv import hash_spans
from pagekin.kernels.minhash import sign
from pagekin.kernels.shared_elements import FilterRows, make_filter_rows
from pagekin.kernels.signatures import is_known, known, merged, plain, signature

SOURCE = Path(pagekin.__file__).parent
needs_machine = pytest.mark.skipif(not kernels.usable(), reason="no machine code: python -m tools.machine_code")

# From the authors' own list of test vectors: FNV-1a, 64 bits, of "a" and "foobar".
FNV = [0xAF63DC4C8601EC8C, 0x85944171F73967E8]
WORDS = np.frombuffer(b"afoobar", np.uint8)
STARTS, ENDS = np.array([0, 1]), np.array([1, 7])


class CalledError(Exception):
    """The fallback was called."""


def compiled(name: str) -> Any:
    def fallback(*_: object, **__: object) -> None:
        raise CalledError

    return kernels.machine.Kernel(name, fallback, None)


@needs_machine
def test_all_signatures_that_the_package_uses_are_compiled_from_these_sources() -> None:
    there = {(name, each.replace("r", "w")) for name, each in kernels.machine.ENTRIES}
    listed = {(name, plain(each).replace("r", "w")) for name, some in known().items() for each in merged(some)}
    assert there == listed
    for module, digest in kernels.machine.DIGESTS.items():
        assert digest == digest_of(SOURCE / "kernels" / f"{module}.py"), f"{module}: python -m tools.machine_code"


@needs_machine
def test_other_threads_run_while_a_kernel_does() -> None:
    """Another thread sees what a running kernel has written so far; were the lock held, it would see all or nothing."""
    bags, terms = 20_000, 200
    offsets = np.arange(0, bags * terms + 1, terms)
    term, weight = np.zeros(bags * terms, np.uint32), np.full(bags * terms, 1 / terms, np.float32)
    keys = np.full(1, 0x9E3779B97F4A7C15, np.uint64)
    signatures = np.zeros((bags, 80), np.uint32)
    for _ in range(100):  # the kernel may be at its end before this thread has a processor
        signatures[:] = 0
        thread = threading.Thread(target=sign, args=(offsets, term, weight, keys, 1000, signatures))
        thread.start()
        partly = False
        while thread.is_alive() and not partly:
            time.sleep(0.001)
            partly = bool(signatures[0].any()) and not signatures[-1].any()
        thread.join()
        assert signatures[0].any() and signatures[-1].any()
        if partly:
            return
    pytest.fail("no thread ran during a kernel")


SIGN = """
import sys, numpy as np
from pagekin.kernels.minhash import sign
random = np.random.default_rng(7)
lengths = random.integers(0, 60, 300)
offsets = np.concatenate([[0], np.cumsum(lengths)])
term = random.integers(0, 900, offsets[-1]).astype(np.uint32)
weight = (random.random(offsets[-1]) / 20).astype(np.float32)
signatures = np.empty((300, 80), np.uint32)
sign(offsets, term, weight, random.integers(0, 2**63, 900).astype(np.uint64), 480, signatures)
print(signatures.tobytes().hex(), "numba" in sys.modules)
"""


@needs_machine
@pytest.mark.slow
def test_code_for_better_processors_gives_the_same_results_as_that_for_all() -> None:
    def signed(kernels: str) -> str:
        environment = os.environ | {"PAGEKIN_KERNELS": kernels}
        return subprocess.run(
            [sys.executable, "-c", SIGN], env=environment, check=True, stdout=subprocess.PIPE
        ).stdout.decode()

    best = signed("")
    assert best.endswith(" False\n") and len(set(best)) > 16
    assert signed("baseline") == best


@needs_machine
def test_arrays_of_other_types_and_places_go_to_the_fallback() -> None:
    kernel = compiled("fnv.hash_spans")
    assert kernel(WORDS, STARTS, ENDS).tolist() == FNV
    for wrong in (
        (WORDS.astype(np.int8), STARTS, ENDS),  # kind
        (WORDS, STARTS.astype(np.int32), ENDS),  # size
        (WORDS.reshape(1, -1), STARTS, ENDS),  # dimensions
        (np.repeat(WORDS, 2)[::2], STARTS, ENDS),  # layout
        (WORDS, STARTS.astype(">i8"), ENDS),  # byte order
        (WORDS, np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.int64), ENDS),  # alignment
        (WORDS, [0, 1], ENDS),
        (WORDS, STARTS),
        (WORDS, STARTS, ENDS, ENDS),
        (),
    ):
        with pytest.raises(CalledError):
            kernel(*wrong)
    with pytest.raises(CalledError):
        kernel(WORDS, STARTS, ends=ENDS)


@needs_machine
def test_an_array_that_is_written_must_be_writeable() -> None:
    kernel = compiled("query.products")
    query, offsets, nodes = np.ones(3, np.float32), np.array([0, 2]), np.array([0])
    term, weight = np.array([0, 2], np.uint32), np.array([0.5, 0.25], np.float32)
    shared, squares = np.zeros(1), np.zeros(1)
    for each in (query, offsets, nodes, term, weight):
        each.flags.writeable = False
    kernel(query, offsets, term, weight, nodes, shared, squares)
    assert (shared.tolist(), squares.tolist()) == ([0.75], [0.3125])
    shared.flags.writeable = False
    with pytest.raises(CalledError):
        kernel(query, offsets, term, weight, nodes, shared, squares)


@needs_machine
def test_numbers_have_the_types_that_numba_gives_them() -> None:
    kernel, columns = compiled("all_pairs.invert"), (np.array([0, 1]), np.zeros(1, np.uint32), np.ones(1, np.float32))
    for right in (1, np.int64(1)):
        assert kernel(*columns, right)[0].tolist() == [0, 1]
    for wrong in (1.0, True, np.uint64(1), np.int32(1), 2**63, None, "1"):
        with pytest.raises(CalledError):
            kernel(*columns, wrong)


def test_results_are_python_objects_and_named_tuples() -> None:
    found = invert(np.array([0, 1, 3]), np.array([1, 0, 1], np.uint32), np.array([1, 0.5, 0.5], np.float32), 2)
    assert isinstance(found, BagPostings)
    assert [each.tolist() for each in found] == [[0, 1, 3], [1, 0, 1], [0.5, 1.0, 0.5]]
    assert is_utf8(WORDS, WORDS[:0].view(np.uint64)) is True


def test_an_argument_that_is_returned_is_the_argument() -> None:
    words = np.array([[1, 2, 4, 8]], np.uint64)
    zeros, powers, small = np.ones(1), np.ones(1), np.ones(1, np.bool_)
    rows = make_filter_rows(words, zeros, powers, small)
    assert isinstance(rows, FilterRows)
    assert rows.words is words and rows.zeros is zeros and rows.small is small
    assert rows.sketches.tolist() == [[15]]


def test_a_result_lives_as_long_as_it_is_used() -> None:
    found = hash_spans(WORDS, STARTS, ENDS)
    view, owner = found[1:], weakref.ref(found)
    del found
    gc.collect()
    assert owner() is not None  # the view needs it
    assert view.tolist() == FNV[1:]
    view[0] = 5
    del view
    assert owner() is None


def test_errors_in_kernels_are_raised() -> None:
    with pytest.raises(ValueError, match="negative dimensions"):
        invert(np.array([0]), np.empty(0, np.uint32), np.empty(0, np.float32), -5)


def test_a_signature_is_known_if_arrays_are_the_same_or_less_protected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.kernels.signatures.known", lambda: {"a.b": ["au11Cr ai81Cw", "si8"]})
    assert is_known("a.b", [WORDS, STARTS]) and is_known("a.b", [WORDS.copy(), STARTS]) and is_known("a.b", [3])
    assert not is_known("a.b", [WORDS, WORDS]) and not is_known("a.b", [3.0]) and not is_known("a.c", [3])
    STARTS.flags.writeable = False
    try:
        assert signature([STARTS]) == "ai81Cr"
        assert not is_known("a.b", [WORDS, STARTS])
    finally:
        STARTS.flags.writeable = True


@needs_machine
@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "environment", "loaded"),
    [
        ("", {}, "False"),
        ("\n# changed", {}, "True"),
        ("", {"PAGEKIN_KERNELS": "numba"}, "True"),
        ("", {"NUMBA_DISABLE_JIT": "1"}, "True"),
    ],
)
def test_numba_compiles_what_was_changed_or_when_it_is_told_to(
    tmp_path: Path, change: str, environment: dict[str, str], loaded: str
) -> None:
    copy = tmp_path / "pagekin"
    shutil.copytree(SOURCE / "kernels", copy / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(SOURCE / "model", copy / "model", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOURCE / "__init__.py", copy)
    with (copy / "kernels" / "query.py").open("a") as file:
        file.write(change)
    program = "import sys, numpy as np; from pagekin.kernels.query import fill_buckets as f\n"
    program += "b = np.zeros(3, np.uint16); f(np.array([1, 2, 3], np.uint16), 1, b); print(b, 'numba' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=os.environ | environment | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (f"[0 1 3] {loaded}\n", "")
