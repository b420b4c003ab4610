"""Vectors from files: every format gives the same, and what is not a vector is refused with a sentence."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

from latent.builders import URLS, VECTORS, built, write_npy, write_parquet
from pagekin.engines.local import WorkerPool
from pagekin.errors import MisuseError
from pagekin.latent import vectors as limits
from pagekin.latent.given import open_vector_file, write_given_vectors
from pagekin.latent.lists import FEWEST_PAGES
from pagekin.latent.vectors import PageVectors, open_page_vectors
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.stage_files import Stages

_F = pyarrow.float32()
WRITERS: dict[str, Callable[[Path], Path]] = {
    "float16": lambda folder: write_npy(folder / "v.npy", VECTORS.astype(np.float16)),
    "float32": lambda folder: write_npy(folder / "v.npy", VECTORS.astype(np.float32)),
    "float64": lambda folder: write_npy(folder / "v.npy", VECTORS, suffix=".txt"),
    "big-endian": lambda folder: write_npy(folder / "v.npy", VECTORS.astype(">f4")),
    "columns first": lambda folder: write_npy(folder / "v.npy", np.asfortranarray(VECTORS)),
    "file version 2": lambda folder: version_2(write_npy(folder / "v.npy", VECTORS)),
    "Windows lines": lambda folder: windows(write_npy(folder / "v.npy", VECTORS)),
    "lists": lambda folder: write_parquet(folder / "v.parquet", VECTORS),
    "large lists": lambda folder: write_parquet(folder / "v.parquet", VECTORS, kind=pyarrow.large_list(_F)),
    "fixed lists": lambda folder: write_parquet(folder / "v.parquet", VECTORS, kind=pyarrow.list_(_F, 2)),
    "names once": lambda folder: write_parquet(
        folder / "v.parquet", VECTORS, pyarrow.array(URLS[:4]).dictionary_encode()
    ),
}


def version_2(path: Path) -> Path:
    with path.open("wb") as file:
        np.lib.format.write_array(file, VECTORS, version=(2, 0))
    return path


def windows(path: Path) -> Path:
    names = path.with_suffix(".urls")
    names.write_bytes(b"\xef\xbb\xbf" + names.read_bytes().replace(b"\n", b"\r\n"))
    return path


def written(folder: Path, file: Path, pages: int = 5) -> tuple[dict[str, Any], PageVectors]:
    """The vectors of pages w.example/0, 1, ... as an index has them."""
    index = folder / "index"
    index.mkdir()
    nodes = {f"http://w.example/{k}": k for k in range(pages)}
    facts = write_given_vectors(index, open_vector_file(file), nodes.get, pages, Stages(WorkerPool(1), index))
    return facts, open_page_vectors(index, "vectors", pages)


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_same_integers(tmp_path: Path, kind: str) -> None:
    """The largest component becomes 127; three quarters of it are 95, two thirds 85, and seven eighths 111."""
    facts, found = written(tmp_path, WRITERS[kind](tmp_path))
    assert found.rows.row.tolist() == [[95, 127], [127, -95], [85, 127], [127, -111], [0, 0]]
    facts.pop("sha256")
    assert facts == {"dimensions": 2, "pages": 4, "without": 1, "unknown": 0, "repeated": 0}


def test_rows_may_come_in_any_order_and_in_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_AT_ONCE", 4)  # two vectors at a time
    file = write_npy(tmp_path / "v.npy", VECTORS[::-1], URLS[3::-1])
    assert written(tmp_path, file)[1].rows.row[:4].tolist() == [[95, 127], [127, -95], [85, 127], [127, -111]]


def test_vectors_of_other_pages_and_of_the_same_page_are_counted(tmp_path: Path) -> None:
    """The first vector of a page counts."""
    names = [URLS[0], "http://elsewhere.example/", "/0", URLS[1]]
    index = tmp_path / "index"
    index.mkdir()
    nodes = {URLS[0]: 0, "/0": 0, URLS[1]: 1}
    facts = write_given_vectors(
        index,
        open_vector_file(write_npy(tmp_path / "v.npy", VECTORS, names)),
        nodes.get,
        3,
        Stages(WorkerPool(1), index),
    )
    assert (facts["pages"], facts["without"], facts["unknown"], facts["repeated"]) == (2, 1, 1, 1)
    assert open_page_vectors(index, "vectors", 3).rows.row.tolist() == [[95, 127], [127, -111], [0, 0]]


def test_many_vectors_of_many_dimensions_get_lists(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    vectors = dice.standard_normal((FEWEST_PAGES, 1100)).astype(np.float32)
    names = [f"http://w.example/{k}" for k in range(FEWEST_PAGES)]
    _, found = written(tmp_path, write_npy(tmp_path / "v.npy", vectors, names), FEWEST_PAGES)
    assert np.sort(found.lists.page).tolist() == list(range(FEWEST_PAGES))
    query = found.take(np.array([7]))
    assert 7 in found.search(query)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = np.array([7, 0, 1, 2])
    assert found.cosines(query, near)[:, 0] == pytest.approx(unit[near] @ unit[7], abs=0.01)


def test_the_largest_dimension_is_exact(tmp_path: Path) -> None:
    vectors = np.full((4, 4096), 2.0, np.float16)
    vectors[1, :2048] = -2.0
    vectors[2, 0] = -2.0
    _, found = written(tmp_path, write_npy(tmp_path / "v.npy", vectors))
    rows = np.arange(5)
    cosines = found.cosines(found.take(rows), rows)
    assert cosines[0, :3] == pytest.approx([1.0, 0.0, 4094 / 4096], abs=1e-7)


def nan(vectors: Any) -> Any:
    wrong = vectors.copy()
    wrong[2, 1] = np.nan
    return wrong


MISUSE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no file": (lambda path: None, "v.npy cannot be read: No such file"),
    "a folder": (lambda path: path.mkdir(), "cannot be read"),
    "nothing": (lambda path: path.write_bytes(b""), "is not a .npy file of floats"),
    "text": (lambda path: path.write_text("oak 1 2 3"), "is not a .npy file of floats"),
    "deep brackets": (
        lambda path: path.write_bytes(b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"(" * 9000),
        "is not a .npy file of floats",
    ),
    "a pickle": (lambda path: path.write_bytes(pickle.dumps(VECTORS)), "is not a .npy file of floats"),
    "objects": (lambda path: np.save(path, np.array([[None, 1]])), "is not a .npy file of floats"),
    "integers": (lambda path: write_npy(path, VECTORS.astype(np.int64)), "2 dimensions of int64; it must be a matrix"),
    "one row": (lambda path: write_npy(path, VECTORS[0]), "1 dimensions of float64; it must be a matrix"),
    "too long": (lambda path: path.write_bytes(write_npy(path, VECTORS).read_bytes() + b"x"), "its size is not what"),
    "cut": (lambda path: path.write_bytes(write_npy(path, VECTORS).read_bytes()[:-8]), "is not a .npy file of floats"),
    "no rows": (lambda path: write_npy(path, VECTORS[:0], []), "v.npy"),
    "no columns": (lambda path: write_npy(path, VECTORS[:, :0]), "v.npy"),
    "too many columns": (
        lambda path: write_npy(path, np.zeros((4, 4097), np.float16)),
        "has 4,097 dimensions; .* 4,096",
    ),
    "not a number": (lambda path: write_npy(path, nan(VECTORS)), r"w.example/2 \(row 3\) has numbers that are not"),
    "infinite": (lambda path: write_npy(path, VECTORS.astype(np.float16) * np.float16(6e4)), "row 1"),
    "huge": (lambda path: write_npy(path, VECTORS * 1e300), "larger than 1e.30"),
    "no names": (lambda path: np.save(path, VECTORS), "v.npy needs a file v.urls or v.txt beside it"),
    "few names": (lambda path: write_npy(path, VECTORS, URLS[:3]), "v.urls has 3 lines, but .*v.npy has 4 rows"),
    "many names": (lambda path: write_npy(path, VECTORS, URLS), "v.urls has more lines than the 4 rows"),
    "an empty name": (lambda path: write_npy(path, VECTORS, ["a", " ", "b", "c"]), "line 2 of .*v.urls is empty"),
    "a long name": (lambda path: write_npy(path, VECTORS, ["a", "b" * 70000, "c", "d"]), "line 2 of .* is too long"),
    "not UTF-8": (
        lambda path: write_npy(path, VECTORS).with_suffix(".urls").write_bytes(b"a\nb\n\xff\nd\n"),
        "line 3 of .*v.urls is not UTF-8",
    ),
    "twice": (lambda path: write_npy(path, VECTORS, ["a", "b", "a", "c"]), "row 3 is a second vector of a"),
}


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("wrong", MISUSE)
def test_what_is_not_a_matrix_with_names_is_misuse(tmp_path: Path, wrong: str) -> None:
    write, said = MISUSE[wrong]
    write(tmp_path / "v.npy")
    with pytest.raises(MisuseError, match=said):
        open_vector_file(tmp_path / "v.npy")


PARQUET: dict[str, tuple[Callable[[Path], object], str]] = {
    "no file": (lambda path: None, "v.parquet"),
    "text": (lambda path: path.write_text("oak 1 2 3"), "cannot be read as Parquet"),
    "cut": (
        lambda path: path.write_bytes(write_parquet(path, VECTORS).read_bytes()[:-20]),
        "cannot be read as Parquet",
    ),
    "no list": (lambda path: write_parquet(path, [[1]] * 4, kind=pyarrow.list_(pyarrow.int8())), "url .* and vector"),
    "no vector": (lambda path: write_parquet(path, [*VECTORS[:3], None]), "missing values in rows 1 to 4"),
    "no number": (lambda path: write_parquet(path, [*VECTORS[:3], [1.0, None]]), "missing values in rows 1 to 4"),
    "no name": (lambda path: write_parquet(path, VECTORS, [*URLS[:3], None]), "missing values in rows 1 to 4"),
    "an empty name": (lambda path: write_parquet(path, VECTORS, [*URLS[:3], " "]), "row 4 has an empty url"),
    "twice": (lambda path: write_parquet(path, VECTORS, [*URLS[:3], URLS[0]]), "row 4 is a second vector of"),
    "lengths": (lambda path: write_parquet(path, [*VECTORS[:3], [1.0]]), "rows 1 to 4 differ in length"),
    "no numbers": (lambda path: write_parquet(path, [[]] * 4, kind=pyarrow.list_(_F)), "has 0 dimensions"),
    "too many": (lambda path: write_parquet(path, np.zeros((4, 4097))), "has 4,097 dimensions"),
    "not a number": (lambda path: write_parquet(path, nan(VECTORS)), r"w.example/2 \(row 3\) has numbers that are not"),
    "no rows": (lambda path: write_parquet(path, [], [], pyarrow.list_(_F)), "has no vectors"),
}


@pytest.mark.parametrize("wrong", PARQUET)
def test_what_is_not_a_table_of_vectors_is_misuse(tmp_path: Path, wrong: str) -> None:
    write, said = PARQUET[wrong]
    write(tmp_path / "v.parquet")
    with pytest.raises(MisuseError, match=said):
        open_vector_file(tmp_path / "v.parquet")


def test_a_file_of_another_kind_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"v.csv is neither .npy nor .parquet"):
        open_vector_file(tmp_path / "v.csv")


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_parquet(tmp_path / "v.parquet", VECTORS)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MisuseError, match=r"needs pyarrow .*pip install 'pagekin\[parquet\]', or give a .npy file"):
        open_vector_file(file)


def test_damaged_bytes_are_refused_or_read_as_other_numbers(tmp_path: Path) -> None:
    """Whatever byte of a file is damaged, there is no other error than a MisuseError."""
    for file in (write_npy(tmp_path / "v.npy", VECTORS), write_parquet(tmp_path / "v.parquet", VECTORS)):
        whole, refused = file.read_bytes(), 0
        for place in range(0, len(whole), 3):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
            try:
                open_vector_file(file)
            except MisuseError:
                refused += 1
        assert refused


def test_a_file_that_names_no_page_of_the_collection_is_misuse(tmp_path: Path) -> None:
    file = write_npy(tmp_path / "v.npy", VECTORS, [f"http://other.example/{k}" for k in range(4)])
    with pytest.raises(MisuseError, match=r"no vector of a page .* such as 'http://other.example/0'"):
        built(tmp_path, file)


def test_pages_may_be_named_by_their_files(tmp_path: Path) -> None:
    from pagekin.pipeline import build

    for name in ("a", "b"):
        (tmp_path / "web").mkdir(exist_ok=True)
        (tmp_path / "web" / f"{name}.html").write_text(f"<p>{name}")
    file = write_npy(tmp_path / "v.npy", VECTORS[:2], ["b.html", "web/a.html"])
    build([tmp_path / "web"], tmp_path / "w.kin", vectors=file, processes=1)
    assert IndexedStore.open(tmp_path / "w.kin").vectors.rows.row.tolist() == [[127, -95], [95, 127]]
