"""The parts of an answer: related pages, and why they are related."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from pagekin.duplicates.filters import Overlap
from pagekin.figures import counted
from pagekin.model.jsons import json_field
from pagekin.model.tables import Tabular, scalars

T = TypeVar("T")
_SHOWN_TITLES = 3
_OVERLAP = {"text_similarity": "similarity", "contains": "b_in_a", "contained": "a_in_b"}


class ResultSequence(Sequence[T], Tabular):
    """A result that can be used as the sequence of its items, and as a table with a row for each."""

    @property
    @abstractmethod
    def items(self) -> Sequence[T]: ...

    def table(self) -> list[dict[str, Any]]:
        """The items as rows of numbers and strings."""
        return [scalars(each) for each in self.items]

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self.items[place]

    def __repr__(self) -> str:
        """The number of items and the titles of the first, since all of it would fill a screen."""
        titles = [repr(each.title) for each in self.items[:_SHOWN_TITLES] if hasattr(each, "title")]
        more = ["…"] if len(self) > len(titles) > 0 else []
        return f"<{type(self).__name__} of {len(self):,}{': ' if titles else ''}{', '.join(titles + more)}>"


@dataclass(frozen=True)
class PageLink:
    """The URL and the title of a page."""

    url: str
    title: str


@dataclass(frozen=True)
class Contribution:
    """One evidence in a similarity, which is the sum of similarity times share over all evidences."""

    name: str = json_field(key="part")  # of the evidence: text, links, ...
    similarity: float = json_field(digits=6)  # the score of the evidence
    share: float = json_field(digits=4)


@dataclass(frozen=True)
class Explanation:
    """Why a page is related: the terms that both have, the pages that link to both, and the parts of the similarity."""

    # Terms with their share of the similarity.
    terms: list[tuple[str, float]] = json_field(default_factory=list, columns=("term", "share"), digits=4)
    cited_by: list[str] = field(default_factory=list)  # pages that link to both; those with the closest links first
    apart: list[int] = field(default_factory=list)  # words between the two links, for each of `cited_by`
    parts: list[Contribution] = field(default_factory=list)
    # What other evidences state, by their names; in JSON only if there are any.
    details: dict[str, dict[str, Any]] = json_field(default_factory=dict, omit={})

    @property
    def reasons(self) -> list[str]:
        """Everything in words, for people.

        >>> Explanation(terms=[("oak", 0.25)], cited_by=["http://a.example/"], apart=[1]).reasons
        ['shares oak 25%', 'cited together by http://a.example/ (1 word apart)']
        """
        found = [f"shares {', '.join(f'{term} {share:.0%}' for term, share in self.terms)}"] if self.terms else []
        if len(self.parts) > 1:
            found.append(f"by {', '.join(f'{name} {share:.0%}' for name, share in self.shares)}")
        if self.cited_by:
            places = zip(self.cited_by[:_SHOWN_CITING], self.apart, strict=False)
            pages = ", ".join(f"{url} ({counted(apart, 'word')} apart)" for url, apart in places)
            found.append(f"cited together by {pages}")
        return found + self.sentences

    @property
    def sentences(self) -> list[str]:
        """What the evidences of the package state in `details`, without those that add less than 5 % to the similarity.

        >>> Explanation(details={"title": {"words": ["oak"]}, "link": {"links": 2, "share": 0.25}}).sentences
        ['titles share oak', 'the page links to it: 25% of its links by weight']
        """
        shares = dict(self.shares)
        silent = {part.name for part in self.parts if shares.get(part.name, 0.0) < _LEAST_STATED}
        told = {name: facts for name, facts in self.details.items() if facts and name not in silent}
        return [sentence(told[name]) for name, sentence in _SENTENCES.items() if name in told]

    @property
    def shares(self) -> list[tuple[str, float]]:
        """The share of every evidence in the similarity, the largest first, from one percent on.

        >>> Explanation(parts=[Contribution("text", 0.2, 0.5), Contribution("links", 0.8, 0.5)]).shares
        [('links', 0.8), ('text', 0.2)]
        """
        added = sorted(((part.similarity * part.share, part.name) for part in self.parts), reverse=True)
        total = sum(one for one, _ in added)
        return [(name, one / total) for one, name in added if one > 0.0 and one / total >= _LEAST_SHARE]


_LEAST_SHARE, _LEAST_STATED = 0.01, 0.05
_SHOWN_CITING = 2
_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "title": lambda told: f"titles share {', '.join(told['words'])}",
    "link": lambda told: f"the page links to it: {told['share']:.0%} of its links by weight",
    "coupling": lambda told: f"both link to {', '.join(told['shared_links'])}",
    "latent": lambda told: f"also speaks of {', '.join(told['related_words'])}",
    "neighbours": lambda told: f"both are similar to {', '.join(told['shared_neighbours'])}",
}


@dataclass(frozen=True)
class NearDuplicate:
    """A near-duplicate of a better result. In `overlap`, A is this page and B the better result."""

    url: str
    title: str
    similarity: float = json_field(digits=6)  # to the query
    score: float | None = json_field(digits=6, omit=None)
    overlap: Overlap = json_field(expand=_OVERLAP, digits=4)


@dataclass(frozen=True, repr=False)
class RelatedPage:
    """A related page and its near-duplicates."""

    url: str
    title: str
    similarity: float = json_field(digits=6)
    # With okapi and linklearn: the inner product that the similarity of the words comes from.
    score: float | None = json_field(default=None, digits=6, omit=None)
    pinned: bool = False
    is_duplicate: bool = json_field(key="duplicate_of_query", default=False)  # as are its `duplicates`
    duplicates: list[NearDuplicate] = field(default_factory=list)
    why: Explanation = field(default_factory=Explanation)

    def __repr__(self) -> str:
        return f"<RelatedPage {self.similarity:.3f} {self.title!r} {self.url}>"


_NO_REASONS = Explanation()


def unexplained(rows: Iterable[tuple[str, str, float]]) -> list[RelatedPage]:
    """Related pages by URL, title and similarity, without reasons. The constructor takes ten times as long.

    >>> unexplained([("http://a.example/", "A", 0.5)]) == [RelatedPage("http://a.example/", "A", 0.5)]
    True
    """
    pages = []
    for url, title, similarity in rows:
        fields = {
            "url": url,
            "title": title,
            "similarity": similarity,
            "score": None,
            "pinned": False,
            "is_duplicate": False,
            "duplicates": [],
            "why": _NO_REASONS,
        }
        page = object.__new__(RelatedPage)
        object.__setattr__(page, "__dict__", fields)
        pages.append(page)
    return pages


@dataclass(frozen=True)
class RelatedQuery:
    """The pages that a request was understood to mean, by URL and title, and the similarity measure."""

    pages: tuple[str, ...]
    titles: tuple[str, ...]
    similarity: str


@dataclass(frozen=True, repr=False)
class RelatedPages(ResultSequence[RelatedPage]):
    """The answer to a request: a sequence of related pages, the most similar first."""

    query: RelatedQuery
    related: list[RelatedPage]

    @property
    def items(self) -> Sequence[RelatedPage]:
        return self.related

    def table(self) -> list[dict[str, Any]]:
        """The related pages as rows, with the reasons in words."""
        rows = [{**scalars(each), "why": "; ".join(each.why.reasons)} for each in self.related]
        return [{"rank": rank, **row} for rank, row in enumerate(rows, 1)]
