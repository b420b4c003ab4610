"""Bodies come out of their encodings as they went in, and never larger than the bound."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.sources.record import PayloadError, dechunk, decode_payload
from sources.measure import peak_megabytes
from sources.warcs import chunked, page

LIMIT = 1 << 20
DAMAGED = "compressed body damaged"


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


# what a server does: (what it says, how it packs)
WAYS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate with a zlib header": ("deflate", zlib.compress),
    "deflate without": ("deflate", bare_deflate),
    "brotli": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "identity": ("identity", bytes),
}
PACKED = [name for name in WAYS if name != "identity"]


@settings(deadline=None)
@given(st.binary(max_size=3000), st.lists(st.sampled_from(PACKED), max_size=4), st.integers(0, 50))
def test_every_combination_of_encodings_is_undone(body: bytes, context: list[str], chunk: int) -> None:
    data = body
    for way in context:
        data = WAYS[way][1](data)
    said = ", ".join(WAYS[way][0] for way in context)
    assert decode_payload(data, "", said, LIMIT) == body
    if chunk:
        assert decode_payload(chunked(data, chunk), "chunked", said, LIMIT) == body


@pytest.mark.parametrize("way", WAYS)
def test_names_of_encodings_have_no_case(way: str) -> None:
    name, pack = WAYS[way]
    assert decode_payload(chunked(pack(page())), "Chunked", f" {name.upper()} ", LIMIT) == page()


def test_identity_changes_nothing_among_others() -> None:
    assert decode_payload(gzip.compress(page()), "", "identity, gzip", LIMIT) == page()


def test_chunks_may_carry_extensions_and_trailers() -> None:
    assert dechunk(b'3;name="a"\r\nkin\r\n00A \r\n0123456789\r\n0\r\nExpires: now\r\n\r\n') == b"kin0123456789"


def test_compression_of_the_transfer_is_undone() -> None:
    assert decode_payload(chunked(gzip.compress(page())), "gzip, chunked", "", LIMIT) == page()


BEGINNINGS = {
    "doctype": b"<!doctype html><title>a</title>",
    "comment": b"<!-- a --><html>",
    "capitals": b"<HTML><HEAD>",
    "a paragraph": b"<p>a",
    "white space first": b"\r\n\t <html>",
    "byte order mark first": b"\xef\xbb\xbf<!doctype html>",
}


@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize("way", PACKED)
def test_encoding_that_is_announced_but_not_done_is_no_encoding(way: str, beginning: str) -> None:
    body = BEGINNINGS[beginning] + b"<p>some words of the page"
    assert decode_payload(body, "", WAYS[way][0], LIMIT) == body


def test_chunking_that_is_announced_but_not_done_is_none() -> None:
    for body in (page(), b"", b"\r\n<html>", b"-3\r\nkin", b"no number\r\n"):
        assert decode_payload(body, "chunked", "", LIMIT) == body


@pytest.mark.parametrize("name", ["utf-8", "none", "8bit"])
def test_page_is_read_whatever_its_server_takes_for_an_encoding(name: str) -> None:
    assert decode_payload(page(), "", name, LIMIT) == page()


def test_unknown_encoding_is_a_reason() -> None:
    with pytest.raises(PayloadError, match=r"^unknown content encoding$"):
        decode_payload(b"\x1f\x9d\x90<p>", "", "compress", LIMIT)


def test_number_of_encodings_is_bounded() -> None:
    body = page()
    for _ in range(5):
        body = gzip.compress(body)
    with pytest.raises(PayloadError, match=r"^too many content encodings$"):
        decode_payload(body, "", "gzip, gzip, gzip, gzip, gzip", LIMIT)


def with_checksum(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


@pytest.mark.parametrize(
    ("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", with_checksum)]
)
def test_body_that_does_not_match_its_checksum_is_damaged(name: str, pack: Callable[[bytes], bytes]) -> None:
    data = bytearray(pack(page()))
    data[-5 if name == "gzip" else -1] ^= 0xFF  # gzip ends with the checksum and, in four bytes, the size
    with pytest.raises(PayloadError, match=f"^{DAMAGED}$"):
        decode_payload(bytes(data), "", name, LIMIT)


@pytest.mark.parametrize("way", PACKED)
def test_body_that_is_cut_short_is_damaged(way: str) -> None:
    name, pack = WAYS[way]
    data = pack(b"".join(page(f"words {i * i}") for i in range(200)))
    with pytest.raises(PayloadError, match=f"^{DAMAGED}$"):
        decode_payload(data[: len(data) // 2], "", name, LIMIT)


@pytest.mark.parametrize("way", ["gzip", "x-gzip", "zstd"])
def test_body_of_several_members_is_read_whole(way: str) -> None:
    name, pack = WAYS[way]
    assert decode_payload(pack(b"<p>one ") + pack(b"") + pack(b"two"), "", name, LIMIT) == b"<p>one two"


@pytest.mark.parametrize("way", PACKED)
def test_body_is_cut_just_beyond_the_limit(way: str) -> None:
    name, pack = WAYS[way]
    for size, result in ((99, 99), (100, 100), (101, 101), (102, 101), (100_000, 101)):
        assert decode_payload(pack(b"x" * size), "", name, 100) == b"x" * result


@pytest.mark.slow
@pytest.mark.parametrize("bomb", ["gzip", "br", "zstd"])
def test_bomb_of_a_gigabyte_costs_no_more_than_the_limit(bomb: str) -> None:
    peak, answer = peak_megabytes(
        "from pagekin.sources.record import decode_payload; from sources.bombs import BOMBS",
        f"data = BOMBS[{bomb!r}]()",
        f"print(len(decode_payload(data, '', {bomb!r}, 16 << 20)))",
    )
    assert int(answer) == (16 << 20) + 1
    # The limit twice over, since a result may be put together from pieces, and what the decoder looks back on.
    assert peak < 100


@pytest.mark.slow
def test_bomb_in_a_bomb_costs_no_more_than_the_limit() -> None:
    peak, answer = peak_megabytes(
        "import zlib; from pagekin.sources.record import decode_payload; from sources.bombs import gzip_bomb",
        "data = zlib.compress(zlib.compress(gzip_bomb()))",
        "print(len(decode_payload(data, '', 'gzip, deflate, deflate', 16 << 20)))",
    )
    assert int(answer) == (16 << 20) + 1
    assert peak < 100
