"""Search by words of texts, compared with hand calculations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import pagekin
from pagekin.model.strategy import Strategy
from store.builders import page, write_jsonl

Search = Callable[[str], list[str]]
TEXTS = {
    "table": ("en", "A hash table has buckets. A bucket is a list."),
    "map": ("en", "The map is a hash map: buckets, buckets and buckets."),
    "sea": ("en", "A map of the sea. The sea has an island."),
    "häuser": ("de", "Die Häuser der Stadt und ein Haus am Meer."),
}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> pagekin.Collection:
    folder: Path = tmp_path_factory.mktemp("words")
    pages = [
        page(f"http://a.example/{k}", f"<html lang={language}><title>{k}</title><p>{text}")
        for k, (name, (language, text)) in enumerate(TEXTS.items())
    ]
    return pagekin.build(write_jsonl(folder / "a.jsonl", pages), folder / "a.kin", processes=1)


@pytest.fixture(scope="module")
def search(collection: pagekin.Collection) -> Search:
    names = {f"http://a.example/{k}": name for k, name in enumerate(TEXTS)}
    return lambda words: [names[each.url] for each in collection.search(words)]


def test_pages_with_all_words_are_found_whatever_their_endings(search: Search) -> None:
    assert search("hash map buckets") == ["map"]
    assert search("bucket lists") == ["table"]


def test_a_page_with_more_of_a_rare_word_comes_first(search: Search) -> None:
    """Both pages are about equally long; buckets occurs three times in one and twice in the other."""
    assert search("buckets") == ["map", "table"]


def test_without_a_page_that_has_all_words_those_with_most_are_found(search: Search) -> None:
    assert search("hash table island nowhere") == ["table"]
    assert search("nowhere") == []


def test_words_are_stemmed_as_in_the_languages_of_the_pages(search: Search) -> None:
    assert search("Stadt haus") == search("HÄUSER städte haus") == ["häuser"]


def test_stop_words_and_signs_find_nothing(search: Search) -> None:
    assert search("the of") == search("?!") == search("") == []


def test_a_page_with_the_words_in_its_title_comes_before_others(tmp_path: Path) -> None:
    pages = [
        page("http://a.example/much", "<title>Much</title><p>finch finch finch finch sings"),
        page("http://a.example/finch", "<title>The finch</title><p>It is a bird."),
    ]
    collection = pagekin.build(write_jsonl(tmp_path / "a.jsonl", pages), tmp_path / "a.kin", processes=1)
    assert [each.title for each in collection.search("finch")] == ["The finch", "Much"]
    assert len(collection.search("finch", limit=1)) == 1


def test_an_index_without_contents_finds_pages_by_title_alone(tmp_path: Path) -> None:
    pages = [page("http://a.example/finch", "<title>The finch</title><p>It is a bird <a href=/x>of the</a> air")]
    strategy = Strategy(content=False, anchors=True, blend="text=1")
    source = write_jsonl(tmp_path / "a.jsonl", pages)
    collection = pagekin.build(source, tmp_path / "a.kin", strategy=strategy, processes=1)
    assert [each.title for each in collection.search("finch")] == ["The finch"]
    assert len(collection.search("bird")) == 0


def test_a_long_text_is_searched_by_its_first_words(collection: pagekin.Collection) -> None:
    assert collection.search("island" * 100_000).pages == []
    assert collection.search("island " + "word " * 100_000)[0].url == "http://a.example/2"


def test_a_name_that_no_title_has_is_answered_with_pages_by_their_texts(collection: pagekin.Collection) -> None:
    with pytest.raises(pagekin.NoPageError) as told:
        collection.related("hash table")
    first, *suggested = str(told.value).splitlines()
    assert first.endswith("did you mean:")
    assert [line.split()[0] for line in suggested] == ["http://a.example/0"]
