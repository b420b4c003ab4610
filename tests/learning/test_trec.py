"""Topics, qrels and documents in files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pagekin.errors import MisuseError
from pagekin.learning import trec
from pagekin.learning.trec import read_documents, read_qrels, read_topics

TOPICS = """
<top>
<num> Number: 401
<title> foreign minorities, Germany
<desc> Description: What language ...
</top>
<top><num>402</num><title>behavioral &amp; genetics</title></top>
"""
DOCUMENTS = """<DOC>
<DOCNO> FT911-3 </DOCNO>
<DATE>910514</DATE>
<TEXT>
Robins &amp; wrens
in winter.
</TEXT>
</DOC>
<DOC><DOCNO>FT911-4</DOCNO><TEXT>Bakers</TEXT></DOC>
"""


def test_topics_as_trec_has_them_and_as_lines(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(TOPICS)
    (tmp_path / "lines").write_text("401\tforeign minorities\n\nq2\trobins\n")
    assert read_topics(tmp_path / "t") == {"401": "foreign minorities, Germany", "402": "behavioral & genetics"}
    assert read_topics(tmp_path / "lines") == {"401": "foreign minorities", "q2": "robins"}


def test_judgements(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("401 0 FT911-3 1\n401 0 FT911-4 0\n402\t0\tFT911-4\t2\n")
    assert read_qrels(tmp_path / "q") == {"401": {"FT911-3": 1, "FT911-4": 0}, "402": {"FT911-4": 2}}


def test_documents_of_a_file_of_a_packed_file_and_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    (folder / "a.sgml").write_text(DOCUMENTS)
    (folder / "b.gz").write_bytes(gzip.compress(b"<DOC>\n<DOCNO>b</DOCNO>\nMoss\n</DOC>\n"))
    found = {name: text.split() for name, text in read_documents(folder)}
    assert found["FT911-3"] == ["910514", "Robins", "&", "wrens", "in", "winter."]
    assert found["FT911-4"] == ["Bakers"]
    assert found["b"] == ["Moss"]
    assert [name for name, _ in read_documents(folder / "a.sgml")] == ["FT911-3", "FT911-4"]


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (read_topics, "", "has no topics"),
        (read_topics, "no tab here", "line 1 is no topic"),
        (read_topics, "<top><num>1</top>", "topic 1 has no <num> or no <title>"),
        (read_qrels, "", "has no judgements"),
        (read_qrels, "1 0 doc yes", "line 1 is no judgement"),
        (read_qrels, "1 0 doc", "line 1 is no judgement"),
        (lambda file: list(read_documents(file)), "<DOC>\n</DOC>\n", "has no <DOCNO>"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, read: object, text: str, said: str) -> None:
    (tmp_path / "file").write_text(text)
    assert callable(read)
    with pytest.raises(MisuseError, match=said):
        read(tmp_path / "file")


def test_files_that_cannot_be_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad").write_bytes(b"\xff\xfe\xfd")
    (tmp_path / "torn.gz").write_bytes(gzip.compress(b"1\tx\n" * 1000)[:-20])
    (tmp_path / "long").write_text("<DOC>\n" + "x\n" * 100 + "</DOC>\n")
    for name, said in (("missing", "cannot be read"), ("bad", "is not UTF-8"), ("torn.gz", "cannot be read")):
        with pytest.raises(MisuseError, match=said):
            read_topics(tmp_path / name)
    with pytest.raises(MisuseError, match="cannot be read"):
        list(read_documents(tmp_path / "torn.gz"))
    monkeypatch.setattr(trec, "MAX_BYTES", 50)
    with pytest.raises(MisuseError, match="more than 50 bytes"):
        read_topics(tmp_path / "long")
    with pytest.raises(MisuseError, match="more than 50 bytes"):
        list(read_documents(tmp_path / "long"))
