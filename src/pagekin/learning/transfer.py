"""A learned weighting on another collection with queries and judgements, unchanged (paper, table 5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import numpy as np

from pagekin.bags.stemming import terms_of
from pagekin.errors import MisuseError, need
from pagekin.evaluation.labelled import addresses_of
from pagekin.learning.corpus import CorpusCounts, CorpusLinks, CorpusPart, offsets_of, part_of
from pagekin.learning.learn import COUNTING, counted
from pagekin.learning.ranking import Ranker, RankingQueries
from pagekin.learning.report import compared
from pagekin.learning.trec import Judgements, read_documents, read_qrels, read_topics
from pagekin.model.capture import Capture, Origin
from pagekin.model.settings import ReadingSettings
from pagekin.model.strings import Strings, word_of
from pagekin.model.weighting import Learned, Okapi, Weighting
from pagekin.pipeline import build
from pagekin.reading.batch import read_captures
from pagekin.store.store import Store

IR_DATASETS = "irds:"  # before the name of a data set
_DOCUMENTS = "http://documents.localhost/"
_NOWHERE = "http://topics.localhost/"


@dataclass(frozen=True)
class TransferTask:
    """Documents as counted, what is asked of them, and what was left out."""

    part: CorpusPart
    names: list[str]  # of the documents
    queries: RankingQueries
    asking: list[str]  # the topics
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
            "relevant_per_query": len(self.queries.right) / queries,
        }


def transferred(task: TransferTask, weighting: Learned) -> dict[str, Any]:
    """Table 5: LinkLearn beside OKAPI as the paper has it and, if the weights tell it, as it was tuned beside them.

    Terms of queries count one each.
    """
    tuned = weighting.learned_from.get("okapi", {})
    rivals: dict[str, Okapi] = {"paper": Okapi()}
    if isinstance(tuned, dict) and {"K", "B"} <= tuned.keys():
        rivals["tuned"] = Okapi(float(tuned["K"]), float(tuned["B"]))
    ours = ranker(task, weighting).measured()
    beside = {
        name: {"K": each.k, "B": each.b, "measures": compared(ranker(task, each).measured(), ours)}
        for name, each in rivals.items()
    }
    return {"collection": task.statistics(), "okapi": beside, "left_out": task.left_out}


def ranker(task: TransferTask, weighting: Weighting) -> Ranker:
    """The documents in the order of a weighting."""
    return Ranker(task.part, weighting, task.queries, binary=True)


def open_task(
    documents: str, topics: str | None, qrels: str | None, progress: Callable[[str], None] = lambda _: None
) -> TransferTask:
    """A collection with queries: a store or documents of TREC, with topics and judgements; or one of ir_datasets."""
    if documents.startswith(IR_DATASETS):
        return _of_ir_datasets(documents.removeprefix(IR_DATASETS), progress)
    if topics is None or qrels is None:
        raise MisuseError(f"{documents} needs queries and judgements: name them with --topics and --qrels")
    asked, judged = read_topics(Path(topics)), read_qrels(Path(qrels))
    path = Path(documents)
    if (path / "manifest.json").is_file():
        return _asked(Store.open(path), addresses_of(Store.open(path)).find, asked, judged, progress)
    if not path.exists():
        raise MisuseError(f"there is no {documents}: neither a store nor documents of TREC")
    return _of_documents(read_documents(path), documents, asked, judged, progress)


def _of_ir_datasets(name: str, progress: Callable[[str], None]) -> TransferTask:
    need("ir_datasets", what=f"{IR_DATASETS}{name}", otherwise=", or name files of your own")
    import ir_datasets

    try:
        dataset = ir_datasets.load(name)
        asked = {str(each.query_id): each.default_text() for each in dataset.queries_iter()}
        judged: Judgements = {}
        for each in dataset.qrels_iter():
            judged.setdefault(str(each.query_id), {})[str(each.doc_id)] = int(each.relevance)
        documents = ((str(each.doc_id), each.default_text()) for each in dataset.docs_iter())
    except (AttributeError, KeyError) as error:
        raise MisuseError(f"ir_datasets has no documents, queries and judgements under {name!r} ({error})") from error
    return _of_documents(documents, name, asked, judged, progress)


def _of_documents(
    documents: Iterable[tuple[str, str]],
    where: str,
    asked: dict[str, str],
    judged: Judgements,
    progress: Callable[[str], None],
) -> TransferTask:
    """Documents are read as pages of plain text, into a store that is gone afterwards."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "documents.jsonl"
        progress("reading documents")
        with file.open("w", encoding="utf-8") as out:
            for name, text in documents:
                out.write(json.dumps({"url": _url(name), "text": text, "language": COUNTING.language}) + "\n")
        if not file.stat().st_size:
            raise MisuseError(f"{where} has no documents; one is <DOC> <DOCNO> id </DOCNO> ... </DOC>")
        store = build([file], Path(folder) / "documents.kin").store
        find = addresses_of(store).find
        return _asked(store, lambda name: find(_url(name)), asked, judged, progress)


def _url(name: str) -> str:
    return _DOCUMENTS + quote(name, safe="")


def _asked(
    store: Store,
    find: Callable[[str], int | None],
    asked: dict[str, str],
    judged: Judgements,
    progress: Callable[[str], None],
) -> TransferTask:
    progress("counting words")
    counts, terms = counted(store)
    nothing = np.zeros(0, np.int64)
    part = part_of(np.arange(len(counts)), counts, CorpusLinks(nothing, nothing))
    left_out = {"topics_without_relevant_documents": 0, "topics_without_terms": 0, "judged_documents_not_found": 0}
    right: dict[str, list[int]] = {}
    for topic in asked:
        places = {name: find(name) for name, relevance in judged.get(topic, {}).items() if relevance > 0}
        left_out["judged_documents_not_found"] += sum(place is None for place in places.values())
        right[topic] = sorted({place for place in places.values() if place is not None})
    rows = _terms_of_topics(asked, terms, part)
    kept = [topic for topic in asked if right[topic] and rows[topic]]
    left_out["topics_without_relevant_documents"] = sum(not right[topic] for topic in asked)
    left_out["topics_without_terms"] = sum(bool(right[topic]) and not rows[topic] for topic in asked)
    if not kept:
        raise MisuseError("no topic has terms of the documents and a relevant document among them")
    urls = store.reading.pages.url
    names = [urls[int(store.nodes[node])] for node in range(len(counts))]
    return TransferTask(
        part, names, _queries([rows[topic] for topic in kept], [right[topic] for topic in kept]), kept, left_out
    )


def _queries(rows: list[list[int]], right: list[list[int]]) -> RankingQueries:
    terms = np.array([term for row in rows for term in row], np.uint32)
    counts = CorpusCounts(offsets_of(np.array(list(map(len, rows)), np.int64)), terms, np.ones(len(terms), np.uint32))
    pages = np.array([page for row in right for page in row], np.uint32)
    return RankingQueries(counts, np.full(len(rows), -1), offsets_of(np.array(list(map(len, right)), np.int64)), pages)


def _terms_of_topics(asked: dict[str, str], terms: Strings, part: CorpusPart) -> dict[str, list[int]]:
    """The terms of each topic that documents have, each once."""
    captures = [
        Capture(f"{_NOWHERE}{k}", Origin("topics", k, len(text), 0), body=text.encode("utf-8", "replace"), plain=True)
        for k, text in enumerate(asked.values())
    ]
    reading = read_captures(captures, ReadingSettings())
    of_name = {name: number for number, name in enumerate(terms)}
    of_part = {term: place for place, term in enumerate(part.terms.tolist())}
    stems = terms_of([word_of(form) for form in reading.forms], COUNTING.stemming, COUNTING.language)
    place = [of_part.get(of_name.get(stem, -1), -1) if stem is not None else -1 for stem in stems]
    rows: dict[str, list[int]] = {topic: [] for topic in asked}
    names = list(asked)
    for k, url in enumerate(reading.pages.url):
        said = reading.tokens.form[reading.tokens.row(k)].tolist()
        rows[names[int(url.removeprefix(_NOWHERE))]] = sorted({place[form] for form in said} - {-1})
    return rows
