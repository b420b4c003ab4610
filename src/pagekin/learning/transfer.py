"""A learned weighting, unchanged, on another collection with queries and relevance judgements (paper, table 5).

Formats of TREC: topics are `<top> <num> Number: 401 <title> words ... </top>`, or lines of a number, a tab and words;
qrels are lines of `topic 0 document relevance`; documents are `<DOC> <DOCNO> id </DOCNO> ... </DOC>`.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.parse import quote

import numpy as np

from pagekin.bags.stemming import terms_of
from pagekin.errors import MisuseError, need
from pagekin.learning.corpus import CorpusCounts, CorpusLinks, CorpusPart, part_of
from pagekin.learning.learn import COUNTING, count_terms
from pagekin.learning.options import Log
from pagekin.learning.ranking import Ranker, RankingQueries, compare_measures
from pagekin.model.arrays import Int64s, Strings, UInt32s, offsets_of, word_of
from pagekin.model.capture import Capture, Origin, PageFormat, ReadingSettings
from pagekin.model.files import open_unpacked
from pagekin.model.weighting import Learned, Okapi, Weighting
from pagekin.pipeline import build
from pagekin.reading.batch import read_captures
from pagekin.store.store import Store

IR_DATASETS = "irds:"  # prefix of the name of a data set
_DOCUMENTS = "http://documents.localhost/"
_TOPICS = "http://topics.localhost/"
MAX_BYTES = 1 << 26  # of a file of topics or qrels, and of one document
_TOPIC = re.compile(r"<top>(.*?)</top>", re.S | re.I)
_NUMBER = re.compile(r"<num>\s*(?:number:)?\s*([^<\s]+)", re.I)
_TITLE = re.compile(r"<title>\s*(?:topic:)?\s*([^<]*)", re.I)
_DOCNO = re.compile(r"<docno>\s*([^<\s]+)\s*</docno>", re.I)
_HEAD = re.compile(r"<(docno|dochdr|docid|fileid)>.*?</\1>", re.S | re.I)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")

Qrels = dict[str, dict[str, int]]  # topic -> document -> relevance


@dataclass(frozen=True)
class TransferTask:
    """The term frequencies of documents, queries with relevant documents, and counts of what was left out."""

    part: CorpusPart
    names: list[str]  # of the documents
    queries: RankingQueries
    topics: list[str]  # names of the queries
    left_out: dict[str, int]

    def statistics(self) -> dict[str, float]:
        """Table 2."""
        queries = max(1, len(self.queries))
        return {
            "documents": len(self.part),
            "terms_per_document": self.part.mean_length,
            "vocabulary": len(self.part.terms),
            "queries": len(self.queries),
            "terms_per_query": len(self.queries.counts.term) / queries,
            "relevant_per_query": len(self.queries.relevant) / queries,
        }

    def ranker(self, weighting: Weighting) -> Ranker:
        return Ranker(self.part, weighting, self.queries, binary=True)


def evaluate_transfer(task: TransferTask, weighting: Learned) -> dict[str, Any]:
    """Table 5: LinkLearn compared with OKAPI, with the paper's K and B and with those stored beside the weights."""
    tuned = weighting.learned_from.get("okapi", {})
    baselines = {"paper": Okapi()}
    if isinstance(tuned, dict) and {"K", "B"} <= tuned.keys():
        baselines["tuned"] = Okapi(float(tuned["K"]), float(tuned["B"]))
    ours = task.ranker(weighting).measure()
    okapi = {
        name: {"K": each.k, "B": each.b, "measures": compare_measures(task.ranker(each).measure(), ours)}
        for name, each in baselines.items()
    }
    return {"collection": task.statistics(), "okapi": okapi, "left_out": task.left_out}


def open_task(documents: str, topics: str | None, qrels: str | None, progress: Log = lambda _: None) -> TransferTask:
    """A collection with queries: a store or TREC documents, with topics and qrels; or a data set of ir_datasets."""
    if documents.startswith(IR_DATASETS):
        return _from_ir_datasets(documents.removeprefix(IR_DATASETS), progress)
    if topics is None or qrels is None:
        raise MisuseError(f"{documents} needs queries and judgements: name them with --topics and --qrels")
    titles, judged = read_topics(Path(topics)), read_qrels(Path(qrels))
    path = Path(documents)
    if (path / "manifest.json").is_file():
        store = Store.open(path)
        return _task(store, store.catalog.page_names().find, titles, judged, progress)
    if not path.exists():
        raise MisuseError(f"there is no {documents}; name a store, or a file or folder of TREC documents")
    return _from_documents(read_documents(path), documents, titles, judged, progress)


def _from_ir_datasets(name: str, progress: Log) -> TransferTask:
    need("ir_datasets", what=f"{IR_DATASETS}{name}", otherwise=", or name files of your own")
    import ir_datasets

    try:
        dataset = ir_datasets.load(name)
        titles = {str(each.query_id): each.default_text() for each in dataset.queries_iter()}
        judged: Qrels = {}
        for each in dataset.qrels_iter():
            judged.setdefault(str(each.query_id), {})[str(each.doc_id)] = int(each.relevance)
        documents = ((str(each.doc_id), each.default_text()) for each in dataset.docs_iter())
    except (AttributeError, KeyError) as error:
        raise MisuseError(f"ir_datasets has no documents, queries and judgements under {name!r} ({error})") from error
    return _from_documents(documents, name, titles, judged, progress)


def _from_documents(
    documents: Iterable[tuple[str, str]], where: str, titles: dict[str, str], judged: Qrels, progress: Log
) -> TransferTask:
    """Documents are read as pages of plain text into a temporary store."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "documents.jsonl"
        progress("reading documents")
        with file.open("w", encoding="utf-8") as out:
            for name, text in documents:
                out.write(json.dumps({"url": _url(name), "text": text, "language": COUNTING.language}) + "\n")
        if not file.stat().st_size:
            raise MisuseError(f"{where} has no documents; one is <DOC> <DOCNO> id </DOCNO> ... </DOC>")
        store = build([file], Path(folder) / "documents.kin").store
        find = store.catalog.page_names().find
        return _task(store, lambda name: find(_url(name)), titles, judged, progress)


def _url(name: str) -> str:
    return _DOCUMENTS + quote(name, safe="")


def _task(
    store: Store, find: Callable[[str], int | None], titles: dict[str, str], judged: Qrels, progress: Log
) -> TransferTask:
    progress("counting words")
    counts, term_names = count_terms(store)
    nothing = np.zeros(0, np.int64)
    part = part_of(np.arange(len(counts)), counts, CorpusLinks(nothing, nothing))
    not_found = 0
    relevant: dict[str, list[int]] = {}
    for topic in titles:
        nodes = [find(name) for name, relevance in judged.get(topic, {}).items() if relevance > 0]
        not_found += nodes.count(None)
        relevant[topic] = sorted({node for node in nodes if node is not None})
    terms = _topic_terms(titles, term_names, part)
    topics = [topic for topic in titles if relevant[topic] and terms[topic]]
    if not topics:
        raise MisuseError(
            "no topic has both a term of the documents and a relevant document; check that the topics and the"
            " judgements belong to these documents"
        )
    left_out = {
        "topics_without_relevant_documents": sum(not relevant[topic] for topic in titles),
        "topics_without_terms": sum(bool(relevant[topic]) and not terms[topic] for topic in titles),
        "judged_documents_not_found": not_found,
    }
    term_offsets, term = _ragged([terms[topic] for topic in topics])
    ones = np.ones(len(term), np.uint32)
    relevant_columns = _ragged([relevant[topic] for topic in topics])
    queries = RankingQueries(CorpusCounts(term_offsets, term, ones), np.full(len(topics), -1), *relevant_columns)
    urls = store.reading.pages.url
    names = [urls[int(store.nodes[node])] for node in range(len(counts))]
    return TransferTask(part, names, queries, topics, left_out)


def _ragged(rows: list[list[int]]) -> tuple[Int64s, UInt32s]:
    lengths = np.array([len(row) for row in rows], np.int64)
    return offsets_of(lengths), np.array([each for row in rows for each in row], np.uint32)


def _topic_terms(titles: dict[str, str], terms: Strings, part: CorpusPart) -> dict[str, list[int]]:
    bodies = [text.encode("utf-8", "replace") for text in titles.values()]
    captures = [
        Capture(f"{_TOPICS}{k}", Origin("topics", k, len(body), 0), body=body, format=PageFormat.TEXT)
        for k, body in enumerate(bodies)
    ]
    reading = read_captures(captures, ReadingSettings())
    numbers = {name: number for number, name in enumerate(terms)}
    places = {term: place for place, term in enumerate(part.terms.tolist())}
    stems = terms_of([word_of(form) for form in reading.forms], COUNTING.stemming, COUNTING.language)
    place = [places.get(numbers.get(stem, -1), -1) if stem is not None else -1 for stem in stems]
    rows: dict[str, list[int]] = {topic: [] for topic in titles}
    topics = list(titles)
    for k, url in enumerate(reading.pages.url):
        forms = reading.tokens.form[reading.tokens.row(k)].tolist()
        rows[topics[int(url.removeprefix(_TOPICS))]] = sorted({place[form] for form in forms} - {-1})
    return rows


def read_topics(file: Path) -> dict[str, str]:
    """The title of each topic, which is closest to what people type."""
    text = _read_text(file)
    found = _TOPIC.findall(text)
    topics: dict[str, str] = {}
    for number, body in enumerate(found, 1):
        name, title = _NUMBER.search(body), _TITLE.search(body)
        if name is None or title is None:
            raise MisuseError(f"{file}: topic {number} has no <num> or no <title>")
        topics[name[1]] = " ".join(html.unescape(title[1]).split())
    for number, line in enumerate([] if found else text.splitlines(), 1):
        topic, tab, words = line.partition("\t")
        if line.strip() and not (tab and topic.strip()):
            raise MisuseError(f"{file}, line {number} is not a topic: a number, a tab and words; or <top> ... </top>")
        if line.strip():
            topics[topic.strip()] = words.strip()
    if not topics:
        raise MisuseError(f"{file} has no topics; a topic is a line of a number, a tab and words, or <top> ... </top>")
    return topics


def read_qrels(file: Path) -> Qrels:
    qrels: Qrels = {}
    for number, line in enumerate(_read_text(file).splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            topic, _, document, relevance = fields
            qrels.setdefault(topic, {})[document] = int(relevance)
        except ValueError as error:
            raise MisuseError(f"{file}, line {number} is not a judgement: topic, 0, document and relevance") from error
    if not qrels:
        raise MisuseError(f"{file} has no judgements; a line is a topic, 0, a document and its relevance")
    return qrels


def read_documents(path: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of each document of a file, or of all files of a folder in the order of their names."""
    for file in sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]:
        with open_unpacked(file) as stream:
            yield from _documents(stream, file)


def _documents(stream: IO[bytes], file: Path) -> Iterator[tuple[str, str]]:
    lines: list[bytes] = []
    size = 0
    inside = False
    for line in iter(lambda: stream.readline(MAX_BYTES), b""):
        lower = line.lower()
        if b"<doc>" in lower:
            lines, size, inside = [], 0, True
        if inside:
            lines.append(line)
            size += len(line)
            if size > MAX_BYTES:
                raise MisuseError(f"{file}: a document has more than {MAX_BYTES:,} bytes; is a </DOC> missing?")
        if inside and b"</doc>" in lower:
            inside = False
            text = b"".join(lines).decode("utf-8", "replace")
            name = _DOCNO.search(text)
            if name is None:
                raise MisuseError(f"{file}: a document has no <DOCNO>; every <DOC> needs one")
            yield name[1], html.unescape(_TAG.sub(" ", _HEAD.sub(" ", text)))


def _read_text(file: Path) -> str:
    with open_unpacked(file) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise MisuseError(f"{file} has more than {MAX_BYTES:,} bytes, too many for topics or judgements")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MisuseError(f"{file} is not UTF-8 ({error}); convert it") from error
