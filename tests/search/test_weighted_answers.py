"""Okapi and LinkLearn, all the way from pages to answers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import islice, permutations
from pathlib import Path

import numpy as np
import pytest

from model.learned import BY_COUNT, DRAWN
from pagekin.errors import MisuseError, StoreError
from pagekin.model.projection import Projection
from pagekin.model.strategy import TEXT_ONLY, Strategy
from pagekin.model.weighting import Learned, Okapi, save_weights
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.results import RelatedPage
from reference import weighing as reference
from store.builders import page, write_jsonl

PLAIN = Strategy(stemming="none", lead=7.0, frequency_weight="none", templates=True, blend=TEXT_ONLY)
TEXTS = {
    "a": "oak birch",
    "b": "oak fir",
    "c": "oak birch birch birch",
    "d": "cheese cheese rennet oak oak oak oak oak oak",
    "e": "cheese rennet milk birch",
}
WORDS = sorted({word for text in TEXTS.values() for word in text.split()})
NUMBER = {word: number for number, word in enumerate(WORDS)}
TREES = ["ash", "beech", "cedar", "elm", "fir", "larch", "lime", "pine", "rowan", "yew"]
KINDS = pytest.mark.parametrize("kind", [Okapi(), Okapi(1.2, 0.75), DRAWN], ids=["okapi", "other okapi", "learned"])
ALL = RelatedOptions(limit=50, min_similarity=0.0)


def built(folder: Path, strategy: Strategy) -> IndexedStore:
    """The pages above; d links to a and c, in words that are no contents of theirs."""
    links = '<a href="a">milk</a> <a href="c">rennet</a>'
    rows = [page(url(name), f"<title>cheese</title><p>{text}") for name, text in TEXTS.items() if name != "d"]
    rows.append(page(url("d"), f"<title>fir</title><p>{TEXTS['d']} {links}"))
    build([write_jsonl(folder / "g.jsonl", rows)], folder / "g.kin", strategy=strategy, processes=1)
    return IndexedStore.open(folder / "g.kin")


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    return built(tmp_path_factory.mktemp("garden"), PLAIN)


def url(name: str) -> str:
    return f"http://g.example/{name}"


def counts(text: str) -> dict[int, int]:
    return {NUMBER[word]: count for word, count in Counter(text.split()).items()}


def collection() -> reference.Collection:
    """The contents alone: neither titles nor anchors of others count, but the words of one's own links."""
    return reference.Collection(
        [counts(text if name != "d" else f"{text} milk rennet") for name, text in TEXTS.items()], 10
    )


def scores(answer: list[RelatedPage]) -> dict[str, float]:
    return {each.url: each.score or 0.0 for each in answer}


def expected(asked: reference.Page, kind: Okapi | Learned, *but: str) -> dict[str, float]:
    whole = collection()
    found = {url(name): whole.score(asked, page, kind) for name, page in zip(TEXTS, whole.pages, strict=True)}
    return {each: score for each, score in found.items() if each not in but}


@KINDS
def test_scores_are_those_of_the_definition_whatever_bags_are(garden: IndexedStore, kind: Okapi | Learned) -> None:
    for k, name in enumerate(TEXTS):
        asked = collection().pages[k]
        answer = garden.related(url(name), replace(ALL, weighting=kind))
        every = expected(asked, kind, url(name))
        assert scores(answer) == pytest.approx({each.url: every[each.url] for each in answer})
        assert [each.score for each in answer] == sorted(scores(answer).values(), reverse=True)
        own = collection().score(asked, asked, kind)
        assert [each.similarity for each in answer] == pytest.approx(
            [min(1.0, (each.score or 0.0) / own) for each in answer], abs=1e-8
        )
        found = {each.url for each in answer}
        assert found >= {each for each, score in every.items() if score > 0.25 * own}


@KINDS
def test_a_text_from_elsewhere_is_weighed_as_a_page_would_be(garden: IndexedStore, kind: Okapi | Learned) -> None:
    """`quince` no page knows; the title of a page is none of its contents."""
    for body, plain in ((b"birch quince oak birch", True), (b"<title>milk</title><p>birch oak quince birch", False)):
        answer = garden.related_to(body, replace(ALL, weighting=kind), plain=plain)
        every = expected(counts("birch oak birch"), kind)
        assert scores(answer) == pytest.approx({each.url: every[each.url] for each in answer})
        assert answer[0].url == max(every, key=lambda each: every[each])


def test_the_minimum_acts_on_the_similarity(garden: IndexedStore) -> None:
    options = replace(ALL, similarity="okapi", explain=False)
    similar = [each.similarity for each in garden.related(url("a"), options)]
    assert similar[0] > similar[-1] > 0.0
    least = (similar[0] + similar[-1]) / 2
    some = garden.related(url("a"), replace(options, min_similarity=least))
    assert [each.similarity for each in some] == [each for each in similar if each >= least]


def test_reasons_and_links_go_with_every_measure(garden: IndexedStore) -> None:
    """By links, a and c are cited by d, of {d, a, c}: 1/3. By words c is more like a than a is: 1."""
    (first, *_) = garden.related(url("a"), RelatedOptions(similarity="okapi", link_share=0.25))
    assert (first.url, first.why.cited_by) == (url("c"), [url("d")])
    weights = collection().weights(collection().pages[2], Okapi())
    total = sum(weights.values())
    assert [word for word, _ in first.why.terms] == ["birch", "oak"]
    assert [share for _, share in first.why.terms] == pytest.approx(
        [weights[NUMBER[word]] / total for word in ("birch", "oak")]
    )
    assert [(part.name, part.similarity, part.share) for part in first.why.parts] == [
        ("text", 1.0, 0.75),
        ("links", pytest.approx(1 / 3), 0.25),
    ]
    assert first.similarity == pytest.approx(0.75 + 0.25 / 3)
    assert first.score == pytest.approx(expected(counts("oak birch"), Okapi())[url("c")])


def test_the_share_of_links_is_that_which_was_learned_unless_another_is_wished_for(tmp_path: Path) -> None:
    """By links, a and c are cited by d, of {d, a, c}: 1/3."""
    learned = replace(DRAWN, link_share=0.25)
    indexed = built(tmp_path, replace(PLAIN, similarity="linklearn", weights=learned.as_text()))
    for options, share in (
        (RelatedOptions(), 0.25),
        (RelatedOptions(link_share=0.5), 0.5),
        (RelatedOptions(link_share=0.0), 0.0),
        (RelatedOptions(weighting=DRAWN), 0.0),
        (RelatedOptions(weighting=replace(DRAWN, link_share=0.75)), 0.75),
        (RelatedOptions(similarity="okapi"), 0.0),
    ):
        (found,) = [each for each in indexed.related(url("a"), options) if each.url == url("c")]
        links = [(part.similarity, part.share) for part in found.why.parts if part.name == "links"]
        assert [each for _, each in links] == ([share] if share else [])
        assert [each for each, _ in links] == pytest.approx([1 / 3] if share else [])
        assert indexed.weights(options) == {"text": 1.0 - share, "links": share}
    (first, *_) = indexed.related_to(
        b"birch oak", RelatedOptions(), plain=True
    )  # what is not in the collection has no links here
    assert [part.name for part in first.why.parts] == ["text"]


@pytest.mark.parametrize("asked", [("a",), ("a", "e")])
def test_a_projection_adds_the_inner_product_of_what_it_makes_of_pages(
    garden: IndexedStore, asked: tuple[str, ...]
) -> None:
    """Of words that it does not know it makes nothing; of `quince`, which no page has, neither."""
    known = ["oak", "milk", "birch", "quince"]
    matrix = np.array([[1.0, 0.5], [2.0, -1.0], [0.0, 3.0], [9.0, 9.0]], np.float32)
    weighting = replace(DRAWN, projection=Projection(tuple(known), matrix))

    def score(one: dict[int, float], other: dict[int, float]) -> float:
        inside = [sum(of.get(NUMBER[w], 0.0) * matrix[known.index(w)] for w in known[:3]) for of in (one, other)]
        return sum(one[w] * other.get(w, 0.0) for w in one) + float(inside[0] @ inside[1])

    whole = collection()
    weights = {name: whole.weights(page, DRAWN) for name, page in zip(TEXTS, whole.pages, strict=True)}
    answer = garden.related([url(name) for name in asked], replace(ALL, weighting=weighting))
    wanted = {url(name): np.mean([score(weights[each], weights[name]) for each in asked]) for name in TEXTS}
    assert len(answer) == len(TEXTS) - len(asked)
    assert scores(answer) == pytest.approx({each.url: wanted[each.url] for each in answer}, rel=1e-6)
    own = np.mean([score(weights[each], weights[each]) for each in asked])
    assert [each.similarity for each in answer] == pytest.approx(
        [min(1.0, max(0.0, (each.score or 0.0) / own)) for each in answer], abs=1e-6
    )
    words = {word for name in asked for word in TEXTS[name].split()}
    assert all({term for term, _ in each.why.terms} <= words for each in answer)  # only what both have is shared
    assert not {each.url for each in answer} & {url(name) for name in asked}


def test_near_duplicates_stand_under_the_best_with_their_scores(tmp_path: Path) -> None:
    text = " ".join(" ".join(order) for order in islice(permutations(TREES), 200))
    rows = [page(url("w"), "<p>cheese"), *(page(url(name), f"<p>{text} {name * 3}") for name in "xyz")]
    build([write_jsonl(tmp_path / "g.jsonl", rows)], tmp_path / "g.kin", strategy=PLAIN, processes=1)
    answer = IndexedStore.open(tmp_path / "g.kin").related(url("x"), replace(ALL, similarity="okapi"))
    (first,) = answer
    (second,) = first.duplicates
    assert first.is_duplicate
    assert (first.url, second.url) == (url("y"), url("z"))
    assert first.score is not None and second.score is not None and first.score >= second.score > 0


def test_measures_of_bags_have_no_score(garden: IndexedStore) -> None:
    assert {each.score for each in garden.related(url("a"))} == {None}


def test_an_index_keeps_the_weights_that_it_was_built_on(tmp_path: Path) -> None:
    save_weights(tmp_path / "w.json", DRAWN)
    indexed = built(tmp_path, replace(PLAIN, similarity="linklearn", weights=str(tmp_path / "w.json")))
    (tmp_path / "w.json").unlink()
    indexed = IndexedStore.open(indexed.root)
    options = replace(ALL, explain=False)
    assert indexed.related(url("a"), options) == indexed.related(url("a"), replace(options, weighting=DRAWN))
    assert build([tmp_path / "g.jsonl"], indexed.root, strategy=indexed.index.strategy, processes=1).changed is False
    other = replace(indexed.index.strategy, weights=Learned(BY_COUNT, BY_COUNT, BY_COUNT).as_text())
    assert build([tmp_path / "g.jsonl"], indexed.root, strategy=other, processes=1).changed is True


@KINDS
def test_bags_can_be_made_of_the_weights(tmp_path: Path, kind: Okapi | Learned) -> None:
    """A bag sums to one, so that its weights are shares of the page's."""
    learned = DRAWN.as_text() if isinstance(kind, Learned) else None
    k, b = (kind.k, kind.b) if isinstance(kind, Okapi) else (1.5, 0.6)
    strategy = replace(PLAIN, anchors=False, links=False, weights=learned, okapi_k=k, okapi_b=b)
    indexed = built(tmp_path, replace(strategy, frequency_weight=kind.kind, similarity=kind.kind))
    for name, asked in zip(TEXTS, collection().pages, strict=True):
        weights = collection().weights(asked, kind)
        total = sum(weights.values())
        shares = {WORDS[word]: weight / total for word, weight in weights.items()}
        assert dict(indexed.top_terms(indexed.find_node(url(name)))) == pytest.approx(shares, rel=1e-5, abs=1e-7)
        assert indexed.related(url(name), replace(ALL, weighting=kind)) == indexed.related(url(name), ALL)
    body = TEXTS["c"].encode()
    assert indexed.related_to(body, ALL, plain=True)[0].score == pytest.approx(
        max(expected(counts(TEXTS["c"]), kind).values())
    )


def test_lengths_and_frequencies_are_those_of_contents(garden: IndexedStore) -> None:
    contents = garden.index.contents
    assert contents.size.pages == 5
    assert contents.length[[garden.find_node(url(name)) for name in TEXTS]].tolist() == [2, 2, 4, 11, 4]
    frequency = dict(zip(garden.index.terms.name, contents.frequency.tolist(), strict=True))
    assert frequency == {"oak": 4, "birch": 3, "cheese": 2, "rennet": 2, "milk": 2, "fir": 1}


def test_words_on_too_many_pages_weigh_nothing_and_are_not_counted(tmp_path: Path) -> None:
    """Of 20 pages 11 have `oak`, which is more than ten, and more than 6.6 %."""
    rows = [page(url(f"p{k}"), f"<p>{'oak ' * (k < 11)}{TREES[k // 2]} {TREES[k // 2]}") for k in range(20)]
    build([write_jsonl(tmp_path / "g.jsonl", rows)], tmp_path / "g.kin", strategy=PLAIN, processes=1)
    indexed = IndexedStore.open(tmp_path / "g.kin")
    assert set(indexed.index.contents.length.tolist()) == {2}
    (first,) = [each for each in indexed.related(url("p0"), replace(ALL, similarity="okapi")) if each.score]
    # The other page that has ash, twice: ndl 1, so 2.5 * 2 ln(20 / 2) / 3.5, as of p0 with itself.
    assert (first.url, first.similarity) == (url("p1"), 1.0)
    assert first.score == pytest.approx(2.5 * 2 * math.log(10) / 3.5)


def test_what_cannot_be_weighed_is_misuse(garden: IndexedStore, tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="linklearn needs weights"):
        garden.related(url("a"), RelatedOptions(similarity="linklearn"))
    with pytest.raises(MisuseError, match="similarity is 'jaccard', but the weights are for linklearn"):
        RelatedOptions(similarity="jaccard", weighting=DRAWN)
    indexed = built(tmp_path, replace(PLAIN, content=False))
    with pytest.raises(MisuseError, match="okapi weighs contents, but the bags of this index have none"):
        indexed.related(url("a"), RelatedOptions(similarity="okapi"))


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("contents.frequency", 6, "a number is not below 6"),
        ("contents.frequency", -1, "a number is not below 6"),
        ("contents.length", -1, "a number is not below 1,099,511,627,776"),
    ],
)
def test_damaged_numbers_are_told(tmp_path: Path, name: str, value: int, wrong: str) -> None:
    indexed = built(tmp_path, PLAIN)
    path = next(indexed.root.glob("index-*")) / f"{name}.npy"
    np.save(path, np.full_like(np.load(path), value))
    with pytest.raises(StoreError, match=rf"{name}\.npy is damaged \({wrong}\)"):
        IndexedStore.open(indexed.root).related(url("a"))


@pytest.mark.parametrize(("name", "value"), [("bags.content", 2**32 - 1), ("contents.length", 2**39)])
def test_numbers_that_cannot_be_are_borne(tmp_path: Path, name: str, value: int) -> None:
    indexed = built(tmp_path, PLAIN)
    path = next(indexed.root.glob("index-*")) / f"{name}.npy"
    np.save(path, np.full_like(np.load(path), value))
    for kind in (Okapi(), DRAWN):
        answer = IndexedStore.open(indexed.root).related(url("a"), replace(ALL, weighting=kind))
        assert all(0.0 <= each.similarity <= 1.0 for each in answer)
