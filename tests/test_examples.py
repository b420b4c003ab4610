"""The scripts in `examples`, with an encoder that tests can do without the weights of."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pagekin
from pagekin.latent.given import open_vector_file
from pagekin.model.arrays import Float32s

SCRIPT = Path(__file__).parent.parent / "examples" / "encode_pages.py"


class LetterCounts:
    """An encoder: the number of each letter."""

    @classmethod
    def load(cls, config: str, **options: Any) -> LetterCounts:
        assert options["disable_download"]
        return cls()

    def embed(self, texts: list[str], norm: bool) -> Float32s:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return np.array([[text.lower().count(letter) for letter in letters] for text in texts], np.float32)


def test_encoded_pages_are_vectors_for_a_build(
    sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = SimpleNamespace(WordLlama=LetterCounts, __file__=str(tmp_path / "wordllama" / "__init__.py"))
    monkeypatch.setitem(sys.modules, "wordllama", encoder)
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(sample_index), str(tmp_path / "pages.npy")])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    file = open_vector_file(tmp_path / "pages.npy")
    assert (file.rows, file.dimensions) == (len(pagekin.open(sample_index)), 26)
    (names, vectors), *_ = file.batches()
    assert (np.abs(vectors.mean(axis=0)) < 0.1).all()  # what all pages have in common is subtracted
    pages = [pagekin.open(sample_index).page(name, text=True) for name in names[:2]]
    one, other = LetterCounts().embed([f"{page.title}\n{(page.text or '')[:4000]}" for page in pages], norm=False)
    assert vectors[0] - vectors[1] == pytest.approx(one - other, abs=0.3)  # float16
