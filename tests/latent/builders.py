"""Files of vectors, and a collection that is built with one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow.parquet import write_table

from pagekin.model.strategy import Strategy
from pagekin.pipeline import Built, build
from store.builders import page, write_jsonl

# The texts pair pages 0 and 1, 2 and 3; the vectors pair 0 and 2, 1 and 3. Page 4 has no vector.
TEXTS = ["oak elm fir", "oak elm yew", "snow rain hail", "snow rain fog", "tea"]
URLS = [f"http://w.example/{k}" for k in range(len(TEXTS))]
VECTORS = np.array([[3.0, 4.0], [4.0, -3.0], [3.0, 4.5], [4.0, -3.5]])
STRATEGY = Strategy(stemming="none", templates=True)


def write_npy(path: Path, vectors: Any, names: Sequence[str] = URLS[:4], suffix: str = ".urls") -> Path:
    np.save(path, np.asarray(vectors))
    path.with_suffix(suffix).write_text("".join(f"{name}\n" for name in names), "utf-8")
    return path


def write_parquet(path: Path, vectors: Any, names: Any = URLS[:4], kind: Any = None) -> Path:
    column = pyarrow.array([None if each is None else list(each) for each in vectors], kind)
    write_table(pyarrow.table({"url": names, "vector": column}), path)
    return path


def built(folder: Path, vectors: Path | None, strategy: Strategy = STRATEGY, texts: Sequence[str] = TEXTS) -> Built:
    rows = [page(f"http://w.example/{k}", f"<p>{text}") for k, text in enumerate(texts)]
    if not (folder / "w.jsonl").exists() or len((folder / "w.jsonl").read_text().splitlines()) != len(rows):
        write_jsonl(folder / "w.jsonl", rows)  # another time of the file is another source
    return build([folder / "w.jsonl"], folder / "w.kin", strategy=strategy, vectors=vectors, processes=1)
