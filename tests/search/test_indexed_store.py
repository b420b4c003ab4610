"""Answers on the sample web, and on a few pages whose kin can be told by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pagekin import sample_web
from pagekin.errors import MisuseError, StoreError
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import PRESETS, TEXT_ONLY, Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import query_of_nodes
from pagekin.search.results import RelatedPage
from pagekin.search.text import Jaccard
from pagekin.store.manifest import write_manifest
from store.builders import page, write_jsonl

OAK = "http://treeroom.example/oak.html"


@pytest.fixture(scope="module")
def web(sample_index: Path) -> IndexedStore:
    return IndexedStore.open(sample_index)


@pytest.mark.slow
def test_answers_are_the_same_where_there_are_many_pages(
    web: IndexedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H and I of many pages are kept in more bits; here any number counts as many."""
    few = web.index  # opened while it counts as few
    monkeypatch.setattr("pagekin.index.index._MAX_SHORT", 0)
    build([sample_web.copy_to(tmp_path)], tmp_path / "sample_web.kin", processes=1)
    many = IndexedStore.open(tmp_path / "sample_web.kin")
    assert few.signatures.itemsize == 2 and many.index.signatures.itemsize == 4
    assert many.index.inverted.postings.nbytes == 2 * few.inverted.postings.nbytes
    for url in list(web.reading.pages.url)[::10]:
        assert many.related(url) == web.related(url)
    assert many.related_to(b"<p>oak and birch in the wood") == web.related_to(b"<p>oak and birch in the wood")


def labels() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for url, label in sample_web.labels():
        found.setdefault(url, set()).add(label)
    return found


def tops(labels: set[str]) -> set[str]:
    return {label.partition("/")[0] for label in labels}


def urls(neighbors: list[RelatedPage]) -> list[str]:
    return [each.url for each in neighbors]


# --- by hand -------------------------------------------------------------------------------------

HAND = Strategy(
    anchors=False,
    links=False,
    stemming="none",
    lead=0.0,
    frequency_weight="none",
    templates=True,
    mix="sum",
    blend=TEXT_ONLY,
)


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    """Bags, by hand: a {oak 1/2, birch 1/2}, b {oak 1/2, fir 1/2}, c {oak 1/4, birch 3/4}, d {cheese 1}."""
    folder = tmp_path_factory.mktemp("garden")
    rows = [
        page("http://g.example/a", "<p>oak birch"),
        page("http://g.example/b", "<p>oak fir"),
        page("http://g.example/c", "<p>oak birch birch birch"),
        page("http://g.example/d", '<p>cheese <a href="a"></a><a href="c"></a>'),
    ]
    build([write_jsonl(folder / "g.jsonl", rows)], folder / "g.kin", strategy=HAND, processes=1)
    return IndexedStore.open(folder / "g.kin")


def test_similarity_is_the_exact_jaccard(garden: IndexedStore) -> None:
    # a and c: minima 1/4 + 1/2, maxima 1/2 + 3/4; a and b: minima 1/2, maxima 1/2 + 1/2 + 1/2.
    answer = garden.related("http://g.example/a", RelatedOptions(min_similarity=0.01))
    assert urls(answer) == ["http://g.example/c", "http://g.example/b"]
    assert [each.similarity for each in answer] == pytest.approx([3 / 5, 1 / 3])


def test_cosine_is_the_exact_cosine(garden: IndexedStore) -> None:
    # a (1, 1, 0) and c (1, 3, 0): 4 / (sqrt 2 sqrt 10); a and b (1, 0, 1): 1 / 2.
    answer = garden.related("http://g.example/a", RelatedOptions(similarity="cosine"))
    assert [each.similarity for each in answer] == pytest.approx([4 / 20**0.5, 1 / 2])


def test_reasons_are_shared_terms_with_their_share_and_pages_that_cite_both(garden: IndexedStore) -> None:
    (first, *_) = garden.related("http://g.example/a")
    # Of the 3/4 that a and c share, birch is 1/2 and oak 1/4.
    assert [term for term, _ in first.why.terms] == ["birch", "oak"]
    assert [share for _, share in first.why.terms] == pytest.approx([2 / 3, 1 / 3])
    assert first.why.cited_by == ["http://g.example/d"]


def test_several_pages_are_asked_for_by_the_mean_of_their_bags(garden: IndexedStore) -> None:
    # b and c: oak 3/8, birch 3/8, fir 1/4. With a: minima 3/8 + 3/8, maxima 1/2 + 1/2 + 1/4.
    answer = garden.related(["http://g.example/b", "http://g.example/c"])
    assert urls(answer) == ["http://g.example/a"]
    assert answer[0].similarity == pytest.approx(3 / 5)


def test_a_page_that_is_not_in_the_collection_can_be_asked_for(garden: IndexedStore) -> None:
    # {oak 1/2, birch 1/2}: the bag of a, whose kin are a itself and those of a; "quince" no page knows.
    for body, plain in ((b"<p>Birch quince <b>oak</b>", False), (b"birch, quince & oak", True)):
        answer = garden.related_to(body, plain=plain)
        assert urls(answer) == [f"http://g.example/{name}" for name in "acb"]
        assert [each.similarity for each in answer] == pytest.approx([1, 3 / 5, 1 / 3])
    with pytest.raises(MisuseError, match="cannot be read: empty page"):
        garden.related_to(b" ")


def test_a_page_that_shares_nothing_has_no_kin(garden: IndexedStore) -> None:
    assert garden.related("http://g.example/d", RelatedOptions(min_similarity=0)) == []


# --- on the sample web ---------------------------------------------------------------------------


def test_kin_are_of_the_same_leaf_before_they_are_unrelated(web: IndexedStore) -> None:
    known = labels()
    same = other = 0
    for url in known:
        nearest = [each for each in urls(web.related(url, RelatedOptions(explain=False))) if each in known][:3]
        same += sum(bool(known[url] & known[each]) for each in nearest)
        other += sum(not tops(known[url]) & tops(known[each]) for each in nearest)
    assert same > 5 * other


def test_a_mirror_is_the_first_kin_of_its_original_and_much_like_it(web: IndexedStore) -> None:
    for name in ("birdnotes/robin", "joinery/dovetail", "larder/sauerkraut", "nightsky/perseids", "threadworks/indigo"):
        host, _, path = name.partition("/")
        mirror, original = f"http://mirror.example/{name}.html", f"http://{host}.example/{path}.html"
        for one, other in ((mirror, original), (original, mirror)):
            first, second = web.related(one, RelatedOptions(limit=2))
            assert first.url == other
            assert first.similarity > 0.75
            assert 1.0 - second.similarity > 2.0 * (1.0 - first.similarity)


def test_a_page_is_never_its_own_kin(web: IndexedStore) -> None:
    for url in labels():
        assert url not in urls(web.related(url, RelatedOptions(min_similarity=0, explain=False)))


def test_answers_are_those_of_an_exhaustive_search(web: IndexedStore) -> None:
    found = wanted = 0
    everything = np.arange(len(web))
    text = Jaccard(web.index, web.scorers)
    for node in range(len(web)):
        query = query_of_nodes(web.index, [node])
        scores = text.scores(query, everything)
        answer = set(text.candidates(query, 10).tolist())
        best = [each for each in np.argsort(-scores, kind="stable").tolist() if each != node][:10]
        wanted += len(best)
        found += sum(each in answer for each in best)
    assert found >= 0.95 * wanted


def test_filters_keep_what_they_should(web: IndexedStore) -> None:
    host = "http://treeroom.example/"
    assert [url for url in urls(web.related(OAK, RelatedOptions(exclude_host=True))) if url.startswith(host)] == []
    linked = {each["url"] for each in web.links_to(web.find(OAK), 100)}
    assert linked
    assert not linked & set(urls(web.related(OAK, RelatedOptions(exclude_linked=True))))
    assert all("fieldclub" in url for url in urls(web.related(OAK, RelatedOptions(include=("fieldclub",)))))
    assert all("fieldclub" not in url for url in urls(web.related(OAK, RelatedOptions(exclude=("fieldclub",)))))
    all_of_them = web.related(OAK)
    assert all(each.similarity >= 0.1 for each in web.related(OAK, RelatedOptions(min_similarity=0.1)))
    assert urls(web.related(OAK, RelatedOptions(limit=3))) == urls(all_of_them)[:3]


def test_pins_come_first_and_never_is_never(web: IndexedStore) -> None:
    first = urls(web.related(OAK))[0]
    pinned = "http://curdhouse.example/kefir.html"
    answer = web.related(OAK, RelatedOptions(pin=(pinned,), never=(first,)))
    assert (answer[0].url, answer[0].pinned) == (pinned, True)
    assert first not in urls(answer)
    assert len(answer) == 10


def test_a_page_that_is_known_only_from_links_has_an_answer(web: IndexedStore) -> None:
    outside = [row["url"] for row in web.catalog.rows("SELECT url FROM nodes WHERE first_row IS NULL")]
    assert any(web.related(url, RelatedOptions(min_similarity=0)) for url in outside)
    for url in labels():
        assert not set(outside) & set(urls(web.related(url, RelatedOptions(explain=False))))
    with pytest.raises(MisuseError, match="outside = true"):
        web.related(OAK, RelatedOptions(outside=True))


def test_a_page_that_is_known_only_from_links_appears_where_it_is_wished(tmp_path: Path) -> None:
    rows = [
        page("http://a.example/1", '<p><a href="http://b.example/gone">oak birch</a>'),
        page("http://a.example/2", "<p>oak birch"),
    ]
    source = write_jsonl(tmp_path / "a.jsonl", rows)
    settings = {"stemming": "none", "frequency_weight": "none"}
    build([source], tmp_path / "a.kin", strategy=Strategy.from_dict({"outside": True, **settings}), processes=1)
    indexed = IndexedStore.open(tmp_path / "a.kin")
    assert urls(indexed.related("http://a.example/2")) == ["http://a.example/1"]
    assert urls(indexed.related("http://a.example/2", RelatedOptions(outside=True))) == [
        "http://a.example/1",
        "http://b.example/gone",
    ]


def test_an_unknown_page_is_told_with_the_nearest(web: IndexedStore) -> None:
    with pytest.raises(MisuseError, match=r"no page .*oaks.html.*\n.*http://treeroom.example/oak.html"):
        web.related("http://treeroom.example/oaks.html")


@pytest.mark.parametrize(
    "wrong", [{"limit": 0}, {"min_similarity": 2.0}, {"similarity": "feeling"}, {"include": ("(",)}]
)
def test_wishes_that_make_no_sense_are_misuse(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError):
        RelatedOptions(**wrong)  # type: ignore[arg-type]


# --- strategies ----------------------------------------------------------------------------------


def test_another_strategy_makes_another_index_over_the_same_store(web: IndexedStore, tmp_path: Path) -> None:
    source = web.root.parent / sample_web.ARCHIVE
    first = build([source], tmp_path / "v.kin", processes=1)
    again = build([source], tmp_path / "v.kin", processes=1)
    paper = build([source], tmp_path / "v.kin", strategy=PRESETS["paper"], processes=1)
    assert [built.changed for built in (first, again, paper)] == [True, False, True]
    assert (paper.read, paper.store.manifest.generation) == (0, first.store.manifest.generation)
    assert IndexedStore.open(tmp_path / "v.kin").index.strategy == PRESETS["paper"]
    assert sorted(path.name for path in (tmp_path / "v.kin").iterdir()) == [
        "index-2",
        "lock",
        "manifest.json",
        "store-1",
    ]
    assert urls(IndexedStore.open(tmp_path / "v.kin").related(OAK))


def test_an_index_of_an_old_format_says_so_and_the_next_build_makes_a_new_one(
    web: IndexedStore, tmp_path: Path
) -> None:
    source = web.root.parent / sample_web.ARCHIVE
    built = build([source], tmp_path / "v.kin", processes=1)
    manifest = built.store.manifest
    assert manifest.index is not None
    write_manifest(tmp_path / "v.kin", replace(manifest, index={**manifest.index, "version": 1}))
    with pytest.raises(StoreError, match=r"format version 1, this pagekin reads version \d+; build it again"):
        IndexedStore.open(tmp_path / "v.kin").related(OAK)
    assert build([source], tmp_path / "v.kin", processes=1).changed
    assert urls(IndexedStore.open(tmp_path / "v.kin").related(OAK))


# --- words and links -----------------------------------------------------------------------------


def test_links_can_be_a_part_of_similarity(garden: IndexedStore) -> None:
    """By links a and c: both are cited by d, of {d, a, c}: 1/3. By words 3/5."""
    (first, *_) = garden.related("http://g.example/a", RelatedOptions(link_share=0.25))
    assert first.url == "http://g.example/c"
    assert first.similarity == pytest.approx(0.75 * 3 / 5 + 0.25 * 1 / 3)
    assert [(part.name, part.share) for part in first.why.parts] == [("text", 0.75), ("links", 0.25)]
    assert [part.similarity for part in first.why.parts] == pytest.approx([3 / 5, 1 / 3])


def test_a_page_that_shares_no_word_can_be_kin_by_links(garden: IndexedStore) -> None:
    """d links to a: one link, of {a, d, c}."""
    answer = {
        each.url: each.similarity for each in garden.related("http://g.example/a", RelatedOptions(link_share=0.5))
    }
    assert answer["http://g.example/d"] == pytest.approx(0.5 * 1 / 3)


def test_without_links_the_words_are_the_only_part(garden: IndexedStore) -> None:
    (first, *_) = garden.related("http://g.example/a")
    (part,) = first.why.parts
    assert (part.name, part.similarity, part.share) == ("text", first.similarity, 1.0)


def test_pages_that_cite_both_are_told_with_the_words_between(garden: IndexedStore) -> None:
    (first, *_) = garden.related("http://g.example/a")
    assert (first.why.cited_by, first.why.apart) == (["http://g.example/d"], [0])


def test_a_page_from_elsewhere_has_no_links_and_is_answered_by_words(garden: IndexedStore) -> None:
    both = [garden.related_to(b"birch oak", RelatedOptions(link_share=share), plain=True) for share in (0.0, 0.5)]
    assert both[0] == both[1]


def test_links_are_believed_as_far_as_they_agree_with_words(web: IndexedStore) -> None:
    answer = web.related(OAK, RelatedOptions(link_share="auto"))
    shares = {part.share for each in answer for part in each.why.parts if part.name == "links"}
    assert len(shares) == 1
    assert 0.0 < shares.pop() < 1.0
    scores = [each.similarity for each in answer]
    assert scores == sorted(scores, reverse=True)
    sums = [sum(part.share * part.similarity for part in each.why.parts) for each in answer]
    assert scores == pytest.approx(sums, abs=1e-6)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_of_links_out_of_range_is_misuse(share: float) -> None:
    with pytest.raises(MisuseError, match="link_share"):
        RelatedOptions(link_share=share)


# --- near-duplicates -----------------------------------------------------------------------------

POOL = [f"{a}{b}" for a in ("wren", "oak", "bread", "clay", "star", "moss") for b in "abcdefgh"]


def prose(seed: int, words: int = 500) -> str:
    return " ".join(np.random.default_rng(seed).choice(POOL, words).tolist())


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    """A page with three copies, another with two, and twelve by themselves; each on a host of its own."""
    folder = tmp_path_factory.mktemp("copied")
    texts = [*[prose(1)] * 4, *[prose(2)] * 3, *map(prose, range(10, 22))]
    rows = [page(f"http://h{k:02}.example/", f"<title>Page {k}</title><p>{text}") for k, text in enumerate(texts)]
    build([write_jsonl(folder / "c.jsonl", rows)], folder / "c.kin", strategy=HAND, processes=1)
    return IndexedStore.open(folder / "c.kin")


def test_near_duplicates_stand_under_the_best_and_none_is_dropped(copied: IndexedStore) -> None:
    options = RelatedOptions(min_similarity=0, limit=50)
    grouped = copied.related("http://h00.example/", options)
    plain = copied.related("http://h00.example/", replace(options, group_duplicates=False))
    assert len(plain) == 18 and not any(each.duplicates for each in plain)
    members = [[each.url, *(member.url for member in each.duplicates)] for each in grouped]
    assert sorted(url for group in members for url in group) == sorted(urls(plain))
    assert sorted(map(len, members)) == [1] * 12 + [3, 3]
    order = urls(plain)
    assert all(group == sorted(group, key=order.index) for group in members)
    assert urls(grouped) == sorted(urls(grouped), key=order.index)


def test_copies_of_the_page_that_is_asked_for_take_one_line(copied: IndexedStore) -> None:
    first, *others = copied.related("http://h00.example/", RelatedOptions(min_similarity=0, limit=5))
    assert (first.url, first.is_duplicate) == ("http://h01.example/", True)
    assert [each.url for each in first.duplicates] == ["http://h02.example/", "http://h03.example/"]
    assert all(each.overlap.a_in_b and each.overlap.b_in_a for each in first.duplicates)
    assert len(others) == 4 and not any(each.is_duplicate for each in others)


def test_the_limit_counts_groups(copied: IndexedStore) -> None:
    for limit in (1, 2, 5, 13, 14, 15):
        answer = copied.related("http://h00.example/", RelatedOptions(min_similarity=0, limit=limit))
        assert len(answer) == min(limit, 14)


def test_what_is_pinned_stands_by_itself(copied: IndexedStore) -> None:
    pins = ("http://h02.example/", "http://h05.example/", "http://h06.example/")
    answer = copied.related("http://h00.example/", RelatedOptions(min_similarity=0, limit=20, pin=pins))
    assert urls(answer)[:3] == list(pins)
    assert [[member.url for member in each.duplicates] for each in answer[:3]] == [[], ["http://h04.example/"], []]
    assert [each.url for each in answer if each.is_duplicate and not each.pinned] == ["http://h01.example/"]


def test_a_page_from_elsewhere_knows_its_copies(copied: IndexedStore) -> None:
    answer = copied.related_to(f"<p>{prose(2)}".encode(), RelatedOptions(min_similarity=0, limit=30))
    assert answer[0].is_duplicate and answer[0].url == "http://h04.example/"
    assert [member.url for member in answer[0].duplicates] == ["http://h05.example/", "http://h06.example/"]
    assert not any(each.is_duplicate for each in answer[1:])


def test_several_pages_that_are_asked_for_have_copies_together(copied: IndexedStore) -> None:
    answer = copied.related(["http://h00.example/", "http://h04.example/"], RelatedOptions(min_similarity=0, limit=30))
    same = [each for each in answer if each.is_duplicate]
    assert len(same) == 1 and len(same[0].duplicates) == 4  # the other three and two, but the one that they stand under


def test_a_host_that_counts_as_one_page_is_in_no_group(tmp_path: Path) -> None:
    rows = [page(f"http://h{k}.example/{part}", f"<p>{prose(part)}") for k in range(3) for part in (1, 2)]
    write_jsonl(tmp_path / "h.jsonl", rows)
    chopped = ReadingSettings(chop_host=True)
    build([tmp_path / "h.jsonl"], tmp_path / "h.kin", settings=chopped, strategy=HAND, processes=1)
    answer = IndexedStore.open(tmp_path / "h.kin").related("http://h0.example/", RelatedOptions(min_similarity=0))
    assert len(answer) == 2 and not any(each.duplicates or each.is_duplicate for each in answer)
