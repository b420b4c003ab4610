"""Vectors of pages as evidence: answers, candidates, explanations, and builds that keep them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pagekin
from latent.builders import STRATEGY, TEXTS, URLS, VECTORS, built, write_npy
from pagekin.errors import MisuseError
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.see_also import hide_sections
from pagekin.model.strategy import BLEND, PRESETS
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import Query, query_of_nodes
from pagekin.search.vectors import VectorEvidence
from store.builders import page, write_jsonl

COSINES = VECTORS @ VECTORS.T / np.outer(*[np.linalg.norm(VECTORS, axis=1)] * 2)
ALONE = RelatedOptions(blend={"vectors": 1.0}, min_similarity=0.0, group_duplicates=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    folder = tmp_path_factory.mktemp("vectors")
    built(folder, write_npy(folder / "v.npy", VECTORS))
    return IndexedStore.open(folder / "w.kin")


def asked(store: IndexedStore, *nodes: int) -> Query:
    return query_of_nodes(store.index, nodes)


def first(store: IndexedStore, page: str, options: RelatedOptions | None = None) -> str:
    return store.related(page, options or RelatedOptions(min_similarity=0.0))[0].url


def test_scores_are_the_cosines_and_none_below_zero(store: IndexedStore) -> None:
    evidence = VectorEvidence(store.vectors)
    for node in range(4):
        scores = evidence.scores(asked(store, node), np.arange(5))
        assert scores[:4] == pytest.approx(np.maximum(COSINES[node], 0.0), abs=0.01)
        assert scores[4] == 0.0


def test_the_score_of_several_pages_is_the_mean_of_their_scores(store: IndexedStore) -> None:
    evidence, nodes = VectorEvidence(store.vectors), np.arange(5)
    one, other = (evidence.scores(asked(store, node), nodes) for node in (0, 1))
    assert evidence.scores(asked(store, 0, 1), nodes) == pytest.approx((one + other) / 2)


def test_a_page_without_a_vector_has_no_candidates_and_is_none(store: IndexedStore) -> None:
    evidence = VectorEvidence(store.vectors)
    assert evidence.candidates(asked(store, 4), 5).tolist() == []
    assert evidence.scores(asked(store, 4), np.arange(5)).tolist() == [0.0] * 5
    assert evidence.candidates(asked(store, 0), 5).tolist() == [2]
    assert store.related(URLS[4], ALONE) == []


def test_all_pairs_score_as_one_query_after_the_other(store: IndexedStore) -> None:
    evidence, nodes = VectorEvidence(store.vectors), np.array([3, -1, 0, 2])
    rows = evidence.pair_scores(nodes, lambda node: asked(store, node)).scores(np.array([2, 1]))
    assert rows[0, [0, 2, 3]].tolist() == evidence.scores(asked(store, 0), nodes[[0, 2, 3]]).tolist()
    assert rows[1].tolist() == [0.0] * 4


def test_vectors_change_the_answers(store: IndexedStore, tmp_path: Path) -> None:
    """Page 0 shares words with page 1, but has the direction of page 2."""
    built(tmp_path, None)
    assert first(IndexedStore.open(tmp_path / "w.kin"), URLS[0]) == URLS[1]
    assert first(store, URLS[0], ALONE) == URLS[2]
    strong = replace(STRATEGY, blend="text=0.1, vectors=5")
    built(tmp_path, store.root.parent / "v.npy", strong)
    assert first(IndexedStore.open(tmp_path / "w.kin"), URLS[0]) == URLS[2]


def test_the_blend_of_the_manifest_names_vectors_and_has_their_scale(store: IndexedStore) -> None:
    facts = store.manifest.index
    assert facts is not None
    assert facts["strategy"]["blend"] == f"{BLEND}, vectors=1"
    near = np.maximum(COSINES - np.eye(4), 0.0)
    assert facts["blend"]["scales"]["vectors"] == pytest.approx(near[near > 0].mean(), abs=0.01)
    assert {key: facts["vectors"][key] for key in ("dimensions", "pages", "without")} == {
        "dimensions": 2,
        "pages": 4,
        "without": 1,
    }


def test_the_explanation_is_the_cosine(store: IndexedStore) -> None:
    found = {each.url: each.why for each in store.related(URLS[0], RelatedOptions(min_similarity=0.0))}
    assert found[URLS[2]].details["vectors"]["cosine"] == pytest.approx(COSINES[0, 2], abs=0.001)
    assert "vectors" in [part.name for part in found[URLS[2]].parts]


def test_a_text_from_outside_has_no_vector(store: IndexedStore) -> None:
    options = RelatedOptions(min_similarity=0.0)
    found = store.related_to(b"<p>oak elm fir", options)
    assert found[0].url == URLS[0]
    assert "vectors" not in [part.name for part in found[0].why.parts]
    assert found[0].why.details.get("vectors") is None
    assert store.related_to(b"<p>oak elm fir", ALONE)[0].url == URLS[0]  # by text, there being nothing else


def test_an_index_without_vectors_says_so(sample_index: Path) -> None:
    with pytest.raises(MisuseError, match=r"has no vectors from a file; build it with --vectors FILE"):
        IndexedStore.open(sample_index).related("http://treeroom.example/oak.html", ALONE)


# --- builds --------------------------------------------------------------------------------------


def test_a_blend_that_names_vectors_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"names vectors; give a file of them with --vectors FILE"):
        built(tmp_path, None, replace(STRATEGY, blend="text=1, vectors=0.5"))
    assert not (tmp_path / "w.kin").exists()


def test_a_weight_in_the_blend_is_kept(tmp_path: Path) -> None:
    built(tmp_path, write_npy(tmp_path / "v.npy", VECTORS), replace(STRATEGY, blend="text=1, vectors=0.5"))
    assert IndexedStore.open(tmp_path / "w.kin").index.strategy.blend == "text=1, vectors=0.5"


def test_a_build_without_the_file_keeps_vectors_if_nothing_has_changed(tmp_path: Path) -> None:
    file = write_npy(tmp_path / "v.npy", VECTORS)
    assert built(tmp_path, file).changed
    assert not built(tmp_path, file).changed
    assert not built(tmp_path, None).changed
    named = replace(STRATEGY, blend=f"{BLEND}, vectors=1")
    assert not built(tmp_path, None, named).changed
    assert first(IndexedStore.open(tmp_path / "w.kin"), URLS[0], ALONE) == URLS[2]


@pytest.mark.parametrize("what", ["pages", "strategy", "settings"])
def test_a_build_that_would_lose_vectors_is_refused_and_changes_nothing(tmp_path: Path, what: str) -> None:
    built(tmp_path, write_npy(tmp_path / "v.npy", VECTORS))
    before = (tmp_path / "w.kin" / "manifest.json").read_bytes()
    with pytest.raises(MisuseError, match=r"was built with vectors of its pages.* --vectors FILE"):
        if what == "pages":
            built(tmp_path, None, texts=[*TEXTS, "new"])
        elif what == "strategy":
            built(tmp_path, None, replace(STRATEGY, lead=10.0))
        else:
            from pagekin.model.capture import ReadingSettings

            chosen = ReadingSettings(chop_host=True)
            build([tmp_path / "w.jsonl"], tmp_path / "w.kin", strategy=STRATEGY, settings=chosen, processes=1)
    assert (tmp_path / "w.kin" / "manifest.json").read_bytes() == before
    assert first(IndexedStore.open(tmp_path / "w.kin"), URLS[0], ALONE) == URLS[2]


def test_other_vectors_or_other_names_make_a_new_index(tmp_path: Path) -> None:
    built(tmp_path, write_npy(tmp_path / "v.npy", VECTORS))
    assert built(tmp_path, write_npy(tmp_path / "v.npy", VECTORS[[0, 2, 1, 3]])).changed
    assert first(IndexedStore.open(tmp_path / "w.kin"), URLS[0], ALONE) == URLS[1]
    again = built(tmp_path, write_npy(tmp_path / "v.npy", VECTORS[[0, 2, 1, 3]], [URLS[k] for k in (0, 2, 1, 3)]))
    assert (again.changed, again.read) == (True, 0)
    assert first(IndexedStore.open(tmp_path / "w.kin"), URLS[0], ALONE) == URLS[2]


def test_a_build_with_new_pages_takes_the_file_given_with_it(tmp_path: Path) -> None:
    file = write_npy(tmp_path / "v.npy", VECTORS)
    built(tmp_path, file)
    assert built(tmp_path, file, texts=[*TEXTS, "new"]).changed
    assert len(IndexedStore.open(tmp_path / "w.kin").vectors.rows.row) == 6


def test_the_same_vectors_give_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        built(tmp_path / name, write_npy(tmp_path / name / f"{name}.npy", VECTORS))
    manifests = [(tmp_path / name / "w.kin" / "manifest.json") for name in ("a", "b")]
    indexes = [IndexedStore.open(each.parent).manifest.index for each in manifests]
    assert indexes[0] == indexes[1]


def test_a_collection_can_be_built_from_python(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "w.jsonl", [page(url, f"<p>{text}") for url, text in zip(URLS, TEXTS, strict=True)])
    file = write_npy(tmp_path / "v.npy", VECTORS)
    collection = pagekin.build(tmp_path / "w.jsonl", tmp_path / "w.kin", vectors=file, processes=1)
    assert collection.built is not None
    assert collection.built.vectors == collection.info().vectors
    assert [each.url for each in collection.related(URLS[3], ALONE)] == [URLS[1]]


def test_a_strategy_of_text_alone_gets_vectors_too(tmp_path: Path) -> None:
    built(tmp_path, write_npy(tmp_path / "v.npy", VECTORS), PRESETS["text-only"])
    assert IndexedStore.open(tmp_path / "w.kin").index.strategy.blend == "text=1, vectors=1"


def test_where_sections_are_hidden_vectors_are_left_out(tmp_path: Path) -> None:
    """They may be made of the text of the sections."""
    texts = ["oak <h2>See also</h2><a href=/1>elm</a>", *TEXTS[1:]]
    built(tmp_path, write_npy(tmp_path / "v.npy", VECTORS), texts=texts)
    notes = LeftOut()
    with hide_sections(IndexedStore.open(tmp_path / "w.kin"), notes, 1, lambda _: None) as hidden:
        assert hidden.pairs == [(0, 1)]
        assert hidden.indexed.index.strategy.weights_of_evidences().keys() == STRATEGY.weights_of_evidences().keys()
    assert notes.example("evidences left out, since they may know the sections") == "vectors"
