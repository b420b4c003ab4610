"""`Collection`: the public interface, and that it does what the commands do."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pagekin
from cli.conftest import Pagekin
from cli.conftest import library as library  # the fixtures
from cli.conftest import pagekin as command  # noqa: F401
from pagekin.errors import MisuseError, NoPageError

ROBIN = "http://lib.example/birds/robin.html"
WREN = "http://lib.example/birds/wren.html"


@pytest.fixture(scope="module")
def collection(library: Path) -> pagekin.Collection:
    return pagekin.open(library)


def test_a_collection_is_a_sized_iterable_of_pages(collection: pagekin.Collection) -> None:
    pages = list(collection)
    assert len(collection) == len(pages) == 3
    assert {page.url for page in pages} == {ROBIN, WREN, "http://lib.example/index.html"}
    assert repr(collection).endswith("library.kin of 3 pages>")


def test_a_page_can_be_named_by_url_file_title_or_page(collection: pagekin.Collection) -> None:
    robin = collection.search("robin")[0]
    for name in (ROBIN, "birds/robin.html", "The robin in winter", robin, collection.page(ROBIN)):
        assert collection.page(name).url == ROBIN
        assert collection.related(name)[0].url == WREN
    with pytest.raises(NoPageError, match="no page 'nonsense'"):
        collection.page("nonsense")


def test_several_pages_are_one_query(collection: pagekin.Collection) -> None:
    answer = collection.related([ROBIN, collection.page(WREN)], min_similarity=0.0)
    assert answer.query.pages == (ROBIN, WREN)
    assert not {ROBIN, WREN} & {page.url for page in answer}


def test_keywords_are_fields_of_the_options_and_replace_them(collection: pagekin.Collection) -> None:
    options = pagekin.RelatedOptions(limit=5, min_similarity=0.0)
    assert len(collection.related(ROBIN, options)) == 2
    assert len(collection.related(ROBIN, options, limit=1)) == 1
    with pytest.raises(MisuseError, match="there is no option 'limits'; there are limit, min_similarity,"):
        collection.related(ROBIN, limits=1)
    with pytest.raises(MisuseError, match="limit is 0; it must be at least 1"):
        collection.related(ROBIN, limit=0)
    with pytest.raises(MisuseError, match="limit is 'ten'; it must be a whole number"):
        collection.related(ROBIN, limit="ten")


def test_a_page_from_outside_is_html_or_text(collection: pagekin.Collection) -> None:
    text = "Wrens hide all winter, even at night."
    assert collection.related_to(text=text)[0].url == collection.related_to(html=f"<p>{text}")[0].url == WREN
    wrongs: list[dict[str, Any]] = [{}, {"html": "a", "text": "b"}]
    for wrong in wrongs:
        with pytest.raises(MisuseError, match="either html or text"):
            collection.related_to(**wrong)


@pytest.mark.parametrize(
    ("arguments", "method", "given"),
    [
        (["info"], "info", ()),
        (["check"], "check", ()),
        (["show", ROBIN], "page", (ROBIN,)),
        (["related", ROBIN], "related", (ROBIN,)),
        (["cluster", ROBIN], "clusters", (ROBIN,)),
        (["graph"], "graph", ()),
        (["duplicates"], "duplicates", ()),
    ],
)
def test_a_command_prints_the_json_of_a_method(
    command: Pagekin,  # noqa: F811
    library: Path,
    collection: pagekin.Collection,
    arguments: list[str],
    method: str,
    given: tuple[str, ...],
) -> None:
    said = command(arguments[0], library, *arguments[1:], "--json")
    assert (said.code, said.err) == (0, "")
    assert json.loads(said.out) == json.loads(json.dumps(pagekin.to_json(getattr(collection, method)(*given))))


def test_results_are_frozen(collection: pagekin.Collection) -> None:
    answer = collection.related(ROBIN)
    with pytest.raises(AttributeError):
        answer.related = []  # type: ignore[misc]
    with pytest.raises(AttributeError):
        answer[0].url = ""  # type: ignore[misc]


def test_dir_and_help_show_every_public_name() -> None:
    assert set(pagekin.__all__) <= set(dir(pagekin))
    for name in pagekin.__all__:
        assert getattr(pagekin, name).__doc__, name
    ran = subprocess.run(
        [sys.executable, "-c", "import pagekin; help(pagekin)"], capture_output=True, text=True, check=True
    )
    for name in ("class Collection", "class RelatedOptions", "class MisuseError", "group_results("):
        assert name in ran.stdout


def test_opening_and_asking_load_no_compiler(library: Path) -> None:
    program = f"import sys, pagekin; pagekin.open({str(library)!r}).related({ROBIN!r}); print('numba' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_results_are_shown_in_a_line(collection: pagekin.Collection, tmp_path: Path) -> None:
    found = collection.related(ROBIN, limit=3, min_similarity=0.0)
    assert repr(found).startswith("<RelatedPages of 2: 'The wren in winter', ")
    assert repr(found[0]) == f"<RelatedPage {found[0].similarity:.3f} 'The wren in winter' {WREN}>"
    assert repr(collection.page(ROBIN)) == f"<PageDetails 'The robin in winter' {ROBIN} of 12 words>"
    assert repr(collection.search("robin", limit=1)) == "<SearchResults of 1: 'The robin in winter'>"
    assert repr(collection.search("nonsense")) == "<SearchResults of 0>"
    assert repr(collection.search("robin")[0]) == f"<Page 'The robin in winter' {ROBIN}>"
    assert repr(collection.info()) == f"<CollectionInfo {collection.path} of 3 pages>"
    assert repr(collection.duplicates()) == "<DuplicateGroups of 0>"
    assert repr(collection.clusters(ROBIN)).startswith("<PageClusters around 'The robin in winter' by amsler: ")
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"{page.url}\tTop/{'AB'[page.url == WREN]}\n" for page in collection))
    measured = repr(collection.evaluate(labels, resamples=1))
    assert re.fullmatch(r"<Evaluation of 3 pages in 2 classes: P@10 \d\.\d{3}, nDCG@10 \d\.\d{3}>", measured)


def test_a_with_statement_closes_a_collection(library: Path) -> None:
    with pagekin.open(library) as opened:
        assert opened.related(ROBIN)
    with pytest.raises(pagekin.PagekinError, match="closed"):
        opened.related(ROBIN)


def test_the_options_of_related_pages_are_in_the_signature(collection: pagekin.Collection) -> None:
    for method in (collection.related, collection.related_to, collection.export):
        shown = inspect.signature(method).parameters
        assert shown["limit"].default == 10 and "min_similarity" in shown and "fields" not in shown


def test_a_collection_contains_its_pages(collection: pagekin.Collection) -> None:
    assert ROBIN in collection and "birds/robin.html" in collection and next(iter(collection)) in collection
    assert "nonsense" not in collection and 7 not in collection
