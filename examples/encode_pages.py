"""Vectors of the pages of a store, by a small encoder whose weights are in its wheel (`pip install wordllama`).

    pagekin build SOURCE -o my.kin
    python examples/encode_pages.py my.kin pages.npy
    pagekin build SOURCE -o my.kin --vectors pages.npy

Writes `pages.npy`, a row for each page, and `pages.urls`, a line for each row. For another encoder, replace `encoder`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pagekin

CHARACTERS = 4000  # of each page; its beginning says what it is about
AT_ONCE = 64  # pages


def encoder() -> Callable[[list[str]], Any]:
    """A function from texts to a matrix with a row for each."""
    import wordllama

    # The wheel has the weights and the tokenizer of this model; as a cache, its folder is found without a download.
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load("l2_supercat", cache_dir=folder, dim=256, disable_download=True)
    return lambda texts: model.embed(texts, norm=False)


def main(store: str, output: str) -> None:
    encode = encoder()
    with pagekin.open(store) as collection:
        urls = [page.url for page in collection]
        rows = []
        for begin in range(0, len(urls), AT_ONCE):
            pages = [collection.page(url, text=True) for url in urls[begin : begin + AT_ONCE]]
            rows.append(encode([f"{page.title}\n{(page.text or '')[:CHARACTERS]}" for page in pages]))
    vectors = np.concatenate(rows)
    vectors -= vectors.mean(axis=0)  # what all pages have in common says nothing
    np.save(output, vectors.astype(np.float16))
    Path(output).with_suffix(".urls").write_text("".join(f"{url}\n" for url in urls), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
