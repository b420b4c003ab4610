"""The layout of what pages say."""

from __future__ import annotations

import numpy as np
import pytest

from pagekin.model.capture import Capture, Origin
from pagekin.model.reading import RAGGED_PARTS, Ragged, Tokens

ORIGIN = Origin("a.warc", 10, 1000, 5)


def test_a_row_is_a_stretch_of_every_column() -> None:
    tokens = Tokens(np.array([0, 2, 2, 5]), np.arange(5, dtype=np.uint32))
    assert [tokens.form[tokens.row(k)].tolist() for k in range(3)] == [[0, 1], [], [2, 3, 4]]
    assert tokens.lengths().tolist() == [2, 0, 3]


def test_every_part_is_ragged() -> None:
    assert list(RAGGED_PARTS) == ["text", "hrefs", "tokens", "titles", "sentences", "blocks", "anchors"]
    assert all(issubclass(kind, Ragged) for kind in RAGGED_PARTS.values())


@pytest.mark.parametrize(
    ("capture", "weight"),
    [
        (Capture("http://a.example/", ORIGIN, body=b"12345"), 5),
        (Capture("http://a.example/", ORIGIN, path="a.html"), 1000),
        (Capture("http://a.example/", ORIGIN, body=b""), 0),
    ],
)
def test_a_capture_weighs_what_must_be_read(capture: Capture, weight: int) -> None:
    assert capture.weight == weight
