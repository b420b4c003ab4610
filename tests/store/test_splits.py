"""A split is read on a machine that sees its source and the output, or the machine is named."""

import re
import socket
from pathlib import Path

import pytest

from pagekin.errors import SourceError, StoreError
from pagekin.model.capture import ReadingSettings
from pagekin.sources.jsonl import JsonlSource
from pagekin.store.splits import Split, read_split
from store.builders import page, write_jsonl

SETTINGS = ReadingSettings()


@pytest.fixture
def split(tmp_path: Path) -> Split:
    source = JsonlSource(write_jsonl(tmp_path / "pages.jsonl", [page("http://a.example/", "<p>a robin")]), SETTINGS)
    return Split("key", source)


def test_an_output_that_this_machine_does_not_see_is_named(split: Split, tmp_path: Path) -> None:
    sentence = (
        f"{tmp_path / 'my.kin'} cannot be seen on {socket.gethostname()}, where a part of the build runs; name an"
    )
    with pytest.raises(StoreError, match=f"^{re.escape(sentence)} output on a file system that the driver and all"):
        read_split(tmp_path / "my.kin" / "unfinished", SETTINGS, {}, split)
    assert not (tmp_path / "my.kin").exists()


def test_a_source_that_this_machine_does_not_see_is_named(split: Split, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").unlink()
    sentence = f"{tmp_path / 'pages.jsonl'} cannot be seen on {socket.gethostname()}, where a part of the build runs;"
    with pytest.raises(SourceError, match=f"^{re.escape(sentence)} .* put sources on a file system that all executors"):
        read_split(tmp_path, SETTINGS, {}, split)
    assert list(tmp_path.iterdir()) == []
