"""A learned weighting on another collection of documents and queries."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from pagekin.errors import MisuseError
from pagekin.learning import transfer
from pagekin.learning.transfer import (
    TransferTask,
    evaluate_transfer,
    open_task,
    read_documents,
    read_qrels,
    read_topics,
)
from pagekin.model.weighting import Learned, Network, Okapi
from pagekin.pipeline import build

FLAT = Network(0.0, 1.0, (), (), (), 0.0)
TEXTS = {
    "D 1/x": "A robin in winter sings. Robins robin.",
    "D2": "A wren hides all winter, and wrens are small.",
    "D3": "The baker bakes bread for the borough.",
    "D4": "Small bread of the baker.",
}
TOPICS = "1\trobins in the winter\n2\tbread baker\n3\tunicorns\n4\twren\n"
QRELS = "1 0 {0} 1\n1 0 {1} 0\n2 0 {2} 1\n2 0 {3} 1\n2 0 nowhere 1\n3 0 {3} 1\n4 0 {1} 0\n"
TREC_TOPICS = """
<top>
<num> Number: 401
<title> foreign minorities, Germany
<desc> Description: What language ...
</top>
<top><num>402</num><title>behavioral &amp; genetics</title></top>
"""
TREC_DOCUMENTS = """<DOC>
<DOCNO> FT911-3 </DOCNO>
<DATE>910514</DATE>
<TEXT>
Robins &amp; wrens
in winter.
</TEXT>
</DOC>
<DOC><DOCNO>FT911-4</DOCNO><TEXT>Bakers</TEXT></DOC>
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    names = [name.split()[-1] for name in TEXTS]
    documents = "".join(f"<DOC>\n<DOCNO>{name.split()[-1]}</DOCNO>\n{text}\n</DOC>\n" for name, text in TEXTS.items())
    (tmp_path / "documents").write_text(documents)
    (tmp_path / "topics").write_text(TOPICS)
    (tmp_path / "qrels").write_text(QRELS.format(*names))
    return tmp_path


def opened(files: Path) -> TransferTask:
    return open_task(str(files / "documents"), str(files / "topics"), str(files / "qrels"))


def test_topics_of_trec_are_queries_for_its_documents(files: Path) -> None:
    """Topic 1 has robin and winter, topic 2 bread and baker; topic 3 shares no word, topic 4 has nothing relevant."""
    task = opened(files)
    assert task.topics == ["1", "2"]
    assert np.diff(task.queries.relevant_offsets).tolist() == [1, 2]
    assert np.diff(task.queries.counts.offsets).tolist() == [2, 2]
    assert task.left_out == {
        "topics_without_relevant_documents": 1,
        "topics_without_terms": 1,
        "judged_documents_not_found": 1,
    }
    assert task.statistics()["documents"] == 4
    found = task.ranker(Okapi()).measure()
    assert found[:, 3] == pytest.approx([1.0, 1.0])


def test_terms_of_queries_count_one_each(files: Path) -> None:
    """Whatever f_tf says of the query; a document scores log(2)^3 for each term that it shares."""
    task = opened(files)
    (_, scores), *_ = task.ranker(Learned(FLAT, FLAT, FLAT)).rows()
    assert sorted(scores[1].tolist()) == pytest.approx([0, 0, 2 * np.log(2) ** 3, 2 * np.log(2) ** 3], rel=1e-6)


def test_it_is_compared_with_okapi_of_the_paper_and_as_it_was_tuned(files: Path) -> None:
    task = opened(files)
    assert list(evaluate_transfer(task, Learned(FLAT, FLAT, FLAT))["okapi"]) == ["paper"]
    told = evaluate_transfer(task, Learned(FLAT, FLAT, FLAT, {"okapi": {"K": 3.0, "B": 0.5}}))["okapi"]
    assert {name: (of["K"], of["B"]) for name, of in told.items()} == {"paper": (1.5, 0.6), "tuned": (3.0, 0.5)}


def test_qrels_name_pages_of_a_store_by_url_or_file(tmp_path: Path, files: Path) -> None:
    web = tmp_path / "web"
    web.mkdir()
    for k, text in enumerate(TEXTS.values()):
        (web / f"{k}.html").write_text(f"<title>t</title><p>{text}")
    build([web], tmp_path / "web.kin", base_urls=["http://lib.example/"])
    (files / "qrels").write_text("1 0 http://lib.example/0.html 1\n2 0 3.html 1\n")
    task = open_task(str(tmp_path / "web.kin"), str(files / "topics"), str(files / "qrels"))
    assert [task.names[page] for page in task.queries.relevant.tolist()] == [
        "http://lib.example/0.html",
        "http://lib.example/3.html",
    ]


def test_data_sets_of_ir_datasets_are_read_if_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(**facts: object) -> SimpleNamespace:
        return SimpleNamespace(**facts, default_text=lambda: facts["text"])

    dataset = SimpleNamespace(
        docs_iter=lambda: iter([row(doc_id=name, text=text) for name, text in TEXTS.items()]),
        queries_iter=lambda: iter([row(query_id="q", text="bread")]),
        qrels_iter=lambda: iter([row(query_id="q", doc_id="D3", relevance=2, text="")]),
    )
    module = ModuleType("ir_datasets")
    module.load = {"toy": dataset}.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    task = open_task("irds:toy", None, None)
    assert task.topics == ["q"]
    assert len(task.part) == 4
    with pytest.raises(MisuseError, match="under 'none'"):
        open_task("irds:none", None, None)


def test_without_ir_datasets_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MisuseError, match="pip install ir_datasets"):
        open_task("irds:vaswani", None, None)


def test_misuse_is_told(files: Path) -> None:
    topics, qrels = str(files / "topics"), str(files / "qrels")
    with pytest.raises(MisuseError, match="--topics and --qrels"):
        open_task(str(files / "documents"), topics, None)
    with pytest.raises(MisuseError, match="name a store, or a file or folder of TREC documents"):
        open_task(str(files / "missing"), topics, qrels)
    with pytest.raises(MisuseError, match="has no documents"):
        open_task(topics, topics, qrels)
    (files / "strange").write_text("9 0 D2 1\n")
    with pytest.raises(MisuseError, match="no topic has"):
        open_task(str(files / "documents"), topics, str(files / "strange"))


def test_topics_as_trec_has_them_and_as_lines(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(TREC_TOPICS)
    (tmp_path / "lines").write_text("401\tforeign minorities\n\nq2\trobins\n")
    assert read_topics(tmp_path / "t") == {"401": "foreign minorities, Germany", "402": "behavioral & genetics"}
    assert read_topics(tmp_path / "lines") == {"401": "foreign minorities", "q2": "robins"}


def test_judgements(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("401 0 FT911-3 1\n401 0 FT911-4 0\n402\t0\tFT911-4\t2\n")
    assert read_qrels(tmp_path / "q") == {"401": {"FT911-3": 1, "FT911-4": 0}, "402": {"FT911-4": 2}}


def test_documents_of_a_file_of_a_packed_file_and_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    (folder / "a.sgml").write_text(TREC_DOCUMENTS)
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
        (read_topics, "no tab here", "line 1 is not a topic"),
        (read_topics, "<top><num>1</top>", "topic 1 has no <num> or no <title>"),
        (read_qrels, "", "has no judgements"),
        (read_qrels, "1 0 doc yes", "line 1 is not a judgement"),
        (read_qrels, "1 0 doc", "line 1 is not a judgement"),
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
    monkeypatch.setattr(transfer, "MAX_BYTES", 50)
    with pytest.raises(MisuseError, match="more than 50 bytes"):
        read_topics(tmp_path / "long")
    with pytest.raises(MisuseError, match="more than 50 bytes"):
        list(read_documents(tmp_path / "long"))
