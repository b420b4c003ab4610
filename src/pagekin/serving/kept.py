"""Answers that the index keeps, as JSON: looked up so quickly that a request for one needs no thread."""

from json.encoder import encode_basestring_ascii as encoded
from sqlite3 import Row

from pagekin.model.jsons import encode_json, to_json
from pagekin.search.answer import weighted_text_of
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.results import RelatedPage, RelatedPages, RelatedQuery
from pagekin.store.catalog import Catalog

_NODE = "SELECT node, url, title FROM nodes WHERE url = ? LIMIT 1"
_BETWEEN = "\n"  # URL and title of a kept name


def rounded(similarity: float) -> str:
    """The JSON of a similarity, as `to_json` rounds it; in a third of the time.

    >>> rounded(0.5), rounded(0.1234567), rounded(1.0), rounded(0.00001)
    ('0.5', '0.123457', '1.0', '1e-05')
    """
    return f"{similarity:.6f}".rstrip("0") if 0.001 < similarity < 0.999 else repr(round(similarity, 6))


class AnswerLookup:
    """Looks up the answers to requests without filters and explanations. Used by the event loop only.

    The catalogue is opened once more, since requests in threads may keep their connection busy.
    """

    def __init__(self, indexed: IndexedStore) -> None:
        self._indexed = indexed
        with_scores = weighted_text_of(indexed.blend(RelatedOptions())) is not None  # which are not kept
        self._kept = None if with_scores else indexed.kept_answers
        if self._kept is None:
            return
        self._catalog = Catalog(indexed.folder)
        similarity = indexed.index.strategy.similarity
        # The JSON of a related page and of an answer, with marks for what differs.
        page = RelatedPage("%s", "%s", 0.5)
        answer = RelatedPages(RelatedQuery(("%s",), ("%s",), similarity), [page])
        line, whole = (encode_json(to_json(each)).decode() for each in (page, answer))
        self._answer = whole.replace(line, "%s").replace('"%s"', "%s")
        self._line = line.replace('"%s"', "%s").replace("0.5", "%s").split("%s")

    def body(self, name: str, options: RelatedOptions) -> bytes | None:
        """The JSON of the answer for the page with this URL; None if it must be computed."""
        kept = self._kept
        if kept is None or options.explain or not options.has_default_ranking:
            return None
        found = self._found(name)
        if found is None or not kept.has(found["node"], options.limit):
            return None
        node = found["node"]
        if options.group_duplicates and not kept.separate[node]:
            return None
        begin, after_url, after_title, end = self._line
        near = kept.nearest(node, options.limit, options.min_similarity)
        names = kept.names_of([other for _, other in near])
        lines = [
            f"{begin}{name.replace(_BETWEEN, after_url)}{after_title}{rounded(similarity)}{end}"
            for name, (similarity, _) in zip(names, near, strict=True)
        ]
        answer = self._answer % (encoded(found["url"]), encoded(found["title"]), ",".join(lines))
        return answer.encode("ascii", "replace")

    def _found(self, name: str) -> Row | None:
        for url in self._indexed.urls_meant(name):
            for row in self._catalog.rows(_NODE, url):
                return row
        return None
