"""See also sections: how they are found, and that a copy of a store without them is as if they had never been."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluation.builders import rows_of
from pagekin.errors import MisuseError
from pagekin.evaluation.evaluate_related import evaluate_related
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.options import RelatedEvaluationOptions
from pagekin.evaluation.see_also import HEADINGS, find_sections, hide_sections
from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from store.builders import page, write_jsonl

STRATEGY = Strategy(anchors=True, links=True, window_width=8, templates=True, template_links=True)
HOST = "http://garden.example"
SECTIONS = {
    "robin": '<h2>See also</h2><ul><li>The small <a href="/wren">wren</a> of hedges<li>An <a href="/oak">oak</a></ul>',
    "wren": '<h3><a href="#s">SEE ALSO:</a></h3><p>Robins: <a href="/robin">the redbreast</a>. Or <a href=/far>far</a>',
    "oak": "",
    "elm": '<h2>Siehe auch</h2><a href="/oak">Eiche</a> und <a href="/oak">noch einmal</a>',
}
BEFORE = {
    "robin": '<p>Robins sing all winter. They <a href="/elm">nest in elms</a>.',
    "wren": "<p>Wrens hide in hedges all winter.",
    "oak": '<h2>See also the elm</h2><p>Oaks grow slowly; an <a href="/elm">elm</a> grows fast.',
    "elm": "<p>Elms grew along roads.",
}
AFTER = {
    "robin": '<h2>Food</h2><p>Insects. In <a href="/oak">oaks</a> and <a href="/wren">with wrens</a>, berries.',
    "wren": "<h2>Notes</h2><p>A loud song.",
    "oak": "<h2>Wood</h2><p>Hard, and sold <a href=/far>far away</a>.",
    "elm": "",
}


def built(folder: Path, pages: dict[str, str], name: str, shards: int = 1) -> IndexedStore:
    rows = [page(f"{HOST}/{each}", f"<title>The {each}</title>{html}") for each, html in pages.items()]
    write_jsonl(folder / f"{name}.jsonl", rows)
    output = folder / f"{name}.kin"
    build([folder / f"{name}.jsonl"], output, strategy=STRATEGY, processes=1, shards=shards)
    return IndexedStore.open(output)


@pytest.fixture(params=[1, 3], ids=["whole", "three shards"])
def garden(tmp_path: Path, request: pytest.FixtureRequest) -> IndexedStore:
    pages = {name: BEFORE[name] + SECTIONS[name] + AFTER[name] for name in BEFORE}
    return built(tmp_path, pages, "garden", request.param)


def test_a_section_goes_from_its_heading_to_the_next(garden: IndexedStore) -> None:
    found = find_sections(garden)
    assert found.headings == {"See also": 2, "Siehe auch": 1}
    blocks = garden.reading.blocks
    counts = [int(found.blocks[blocks.row(row)].sum()) for row in range(4)]
    names = [url.rpartition("/")[2] for url in garden.reading.pages.url]
    # A heading and an item for each link; a heading and a paragraph; a heading and text.
    assert dict(zip(names, counts, strict=True)) == {"robin": 3, "wren": 2, "oak": 0, "elm": 2}


def test_every_heading_of_the_list_is_found(tmp_path: Path) -> None:
    pages = {f"p{k}": f"<p>some text<h2>{heading}</h2><a href=/p0>x</a>" for k, heading in enumerate(HEADINGS)}
    assert find_sections(built(tmp_path, pages, "all")).headings == dict.fromkeys(HEADINGS, 1)


def test_links_of_sections_are_pairs(garden: IndexedStore) -> None:
    notes = LeftOut()
    with hide_sections(garden, notes, 1, lambda _: None) as hidden:
        names = [garden.node_url(node).rpartition("/")[2] for node in range(4)]
        found = {(names[a], names[b]) for a, b in hidden.pairs}
    assert found == {("robin", "wren"), ("robin", "oak"), ("wren", "robin"), ("elm", "oak")}
    assert rows_of(notes) == [("links of sections to pages that are not in the collection", 1, "")]


def bags_by_name(indexed: IndexedStore) -> dict[str, dict[str, tuple[float, ...]]]:
    """The bag of each page, its terms by name; a term after the words is a citing node."""
    index, found = indexed.index, {}
    urls = [row[0] for row in indexed.catalog.each("SELECT url FROM nodes ORDER BY node")]
    for node in range(4):
        row = index.bags.row(node)
        terms = [
            index.terms.name[t] if t < index.words else urls[t - index.words] for t in index.bags.term[row].tolist()
        ]
        columns = (getattr(index.bags, name)[row].tolist() for name in ("weight", "content", "around"))
        found[urls[node]] = dict(zip(terms, zip(*columns, strict=True), strict=True))
    return found


def test_a_copy_is_as_if_the_sections_had_never_been(garden: IndexedStore, tmp_path: Path) -> None:
    without = built(tmp_path, {name: BEFORE[name] + AFTER[name] for name in BEFORE}, "without")
    with hide_sections(garden, LeftOut(), 1, lambda _: None) as hidden:
        copy = hidden.indexed
        ours, theirs = bags_by_name(copy), bags_by_name(without)
        assert ours.keys() == theirs.keys()
        for url, bag in ours.items():
            assert bag.keys() == theirs[url].keys()
            for term, values in bag.items():
                assert values == pytest.approx(theirs[url][term], rel=1e-6), (url, term)
        for part in ("tokens", "blocks", "sentences", "anchors"):
            mine, other = (getattr(each.reading, part) for each in (copy, without))
            assert np.array_equal(mine.offsets, other.offsets), part
            for column in {"start", "end", "flags", "token", "hash"} & vars(mine).keys():
                assert np.array_equal(getattr(mine, column), getattr(other, column)), (part, column)
        assert copy.links.page.tolist() == without.links.page.tolist()
        assert copy.links.anchor.tolist() == without.links.anchor.tolist()
        assert copy.anchor_texts(0) == without.anchor_texts(0)
        folder = copy.root
    assert not folder.exists()


def test_the_evaluation_ranks_without_the_sections_and_says_so(garden: IndexedStore) -> None:
    found = evaluate_related(garden, None, RelatedEvaluationOptions(resamples=10, against="tf-idf"))
    assert (found.related, found.pages, found.pairs) == ("See also sections", 4, 3)
    assert found.headings == {"See also": 2, "Siehe auch": 1}
    assert [each.system for each in found.systems] == [f"{garden.root}, sections hidden (blend)", "tf-idf cosine"]
    assert found.systems[0].sources == 4
    reasons = {each.reason: each.count for each in found.left_out}
    assert reasons["pairs that occur more than once, in either order"] == 2
    # The robin links to oak and wren in its text, too; only the elm and the oak would be related by the section alone,
    # but the oak links to the elm.
    with pytest.raises(MisuseError, match="in all 3 related pairs a page links to the other"):
        evaluate_related(garden, None, RelatedEvaluationOptions(unlinked=True))


def test_another_store_shows_what_is_to_be_found(garden: IndexedStore) -> None:
    with pytest.raises(MisuseError, match="contains the sections whose links are the answers"):
        evaluate_related(garden, None, RelatedEvaluationOptions(against=str(garden.root)))


def test_a_collection_without_sections_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="has a section such as 'See also' with links to other pages"):
        evaluate_related(built(tmp_path, BEFORE, "plain"), None, RelatedEvaluationOptions())
