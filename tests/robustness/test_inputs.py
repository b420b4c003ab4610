"""Inputs that are too much: each takes bounded time and memory. More of them are in `malformed.py`."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from pagekin.model.capture import Capture, Origin, ReadingSettings
from pagekin.pipeline import build
from pagekin.reading.batch import read_captures
from pagekin.sources.open import open_sources
from sources.measure import peak_megabytes, within
from store.builders import page, write_jsonl

pytestmark = pytest.mark.slow

GIGABYTES = 2 << 30
WARCINFO = b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"


def test_a_page_of_two_gigabytes_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    """A hole in a file takes no room on the disk. For the like in archives see `sources/test_bounds.py`."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "good.html").write_text("<p>good")
    web, output = str(tmp_path / "web"), str(tmp_path / "test.kin")
    peak, said = peak_megabytes(
        "import os; from pagekin.pipeline import build",
        f"build([{web!r}], {output!r}, processes=1)",
        f"os.truncate(os.open({web + '/huge.html'!r}, os.O_RDWR | os.O_CREAT), {GIGABYTES})\n"
        f"store = build([{web!r}], {output!r}, processes=1).store\n"
        "print(list(store.reading.pages.url), store.manifest.skipped)",
    )
    assert said == "['http://web.localhost/good.html'] {'page too large': 1}"
    assert peak < 100


def text_of(body: bytes, charset: str = "") -> str:
    import zstandard

    reading = read_captures(
        [Capture("http://a.example/", Origin("x", 0, 0, 0), body=body, charset=charset)], ReadingSettings()
    )
    return zstandard.ZstdDecompressor().decompress(reading.text.data.tobytes()).decode()


def test_entities_that_stand_for_entities_are_not_unfolded() -> None:
    """The billion laughs. HTML knows no entities but its own; the declarations end with the first ">"."""
    laughs = "".join(f'<!ENTITY lol{k} "{f"&lol{k - 1};" * 10}">' for k in range(1, 10))
    body = f'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">{laughs}]><html><body><p>&lol9;</p></body></html>'
    with within():
        text = text_of(body.encode())
    assert text.endswith("&lol9;")
    assert len(text) < len(body)


def test_a_page_in_several_encodings_keeps_what_can_be_read() -> None:
    """What is no UTF-8 becomes U+FFFD, and the rest is read (Encoding standard)."""
    body = "<meta charset=utf-8><p>Äpfel ".encode() + "Äpfel ".encode("latin-1") + "木 ".encode("shift_jis") + b"end"
    words = text_of(body).split()
    assert words[:2] == ["Äpfel", "\ufffdpfel"]
    assert words[-1] == "end"


def test_a_redirect_without_end_is_followed_to_its_end(tmp_path: Path) -> None:
    """Every page sends its visitors to the next of 20,000; the last to the first."""
    count = 20_000
    rows = [
        page(f"http://a.example/{k}", f'<meta http-equiv="refresh" content="0; url=/{(k + 1) % count}">')
        for k in range(count)
    ]
    with within():
        store = build([write_jsonl(tmp_path / "a.jsonl", rows)], tmp_path / "test.kin", processes=1).store
    assert len(store) + store.manifest.counts["aliases"] == count


def test_a_zip_that_claims_more_than_it_has_is_read_to_its_end(tmp_path: Path) -> None:
    """Behind the member stands a record that ends with the file, before the end that the zip claims for the member."""
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("archive/a.warc", WARCINFO)
        package.comment = WARCINFO
    data = bytearray(path.read_bytes())
    struct.pack_into("<II", data, data.index(b"PK\1\2") + 20, 100_000, 100_000)  # sizes in the list of members
    path.write_bytes(data)
    with within():
        items = list(open_sources([path], (), ReadingSettings()).items(lambda _: False))
    assert [getattr(item, "reason", "") for item in items] == ["damaged record", "truncated record"]
