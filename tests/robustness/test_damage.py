"""`pagekin check` finds every damage; a question to a damaged index gets an answer or a sentence, never a crash."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pagekin.cli.main import cli
from pagekin.errors import PagekinError
from pagekin.pipeline import build
from pagekin.store.manifest import NAME
from pagekin.store.store import Store
from robustness.damage import Damage, ask_after
from tools.sample_web import write_folder

pytestmark = pytest.mark.campaign

# Their numbers lead into other arrays; a header of 128 bytes comes first.
LEADING = {
    "bags.offsets": 8,
    "bags.content": 4,
    "bags.term": 4,
    "buckets": 4,
    "chunks.offsets": 8,
    "contents.frequency": 8,
    "contents.length": 8,
    "heads.term": 4,
    "latent.lists.offsets": 8,
    "latent.pages.norm": 4,
    "latent.pages.row": 1,
    "latent.terms.term": 4,
    "postings": 4,
    "terms.name.offsets": 8,
    "terms.shown.offsets": 8,
    "anchors.counting": 1,
    "anchors.offsets": 8,
    "anchors.start": 4,
    "anchors.target": 4,
    "links.anchor": 4,
    "links.offsets": 8,
    "links.page": 4,
    "nodes.coupling_norm": 4,
    "nodes.in_degree": 4,
    "nodes.offsets": 8,
    "pages.url.offsets": 8,
    "targets.node": 4,
    "text.offsets": 8,
    "vectors.lists.offsets": 8,
    "vectors.pages.norm": 4,
    "vectors.pages.row": 1,
    "tokens.form": 4,
    "tokens.offsets": 8,
}
HEADER = 128
HOSTS = ("larder.example", "nightsky.example", "skydiary.example", "mirror.example")
RANDOM = 25  # more of them: `python -m benchmarks.fuzz`


@pytest.fixture(scope="module")
def copy(sample_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(sample_index, tmp_path_factory.mktemp("damage") / "copy.kin"))


@pytest.fixture(scope="module")
def with_vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some hosts of the sample web, with vectors of their pages. In few pages a query meets most damages."""
    folder = tmp_path_factory.mktemp("vectors")
    web = write_folder(folder / "web", HOSTS)
    urls = list(build([web], folder / "v.kin", base_urls=["http://"], processes=1).store.reading.pages.url)
    np.save(folder / "v.npy", np.random.default_rng(1).standard_normal((len(urls), 8)))
    (folder / "v.urls").write_text("\n".join(urls), "utf-8")
    return build([web], folder / "v.kin", base_urls=["http://"], vectors=folder / "v.npy", processes=1).store.root


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data())
def test_check_finds_every_damage_and_names_the_file(copy: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(Store.open(copy).manifest.all_files())))
    size = (copy / name).stat().st_size
    offset = data.draw(st.integers(0, size - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "missing"]))
    with Damage(name, kind, offset, data.draw(st.integers(1, 255))).done_to(copy):
        answer = CliRunner().invoke(cli, ["check", str(copy)])
    lines = answer.output.splitlines()
    assert (answer.exit_code, lines[0]) == (1, f"{copy} is damaged; build it again:")
    assert [line.split()[0] for line in lines[1:]] == [name]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(share=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255), kind=st.sampled_from(["flip", "cut"]))
@example(share=0.0, bits=1, kind="cut")
def test_a_damaged_manifest_is_told(copy: Path, share: float, bits: int, kind: str) -> None:
    """Its own damage must be found, too: it says what the other files should be."""
    offset = int(share * (copy / NAME).stat().st_size)
    with Damage(NAME, kind, offset, bits).done_to(copy), pytest.raises(PagekinError, match=NAME):
        Store.open(copy)


def damages(store: Path) -> list[Damage]:
    """Numbers that lead far away, backwards, or a little too far; headers; and a few at random."""
    dice = random.Random(4711)
    sizes = {name: facts["bytes"] for name, facts in sorted(Store.open(store).manifest.all_files().items())}
    chosen = []
    for path, size in sizes.items():
        name = path.partition("/")[2].removesuffix(".npy")
        if name in LEADING:
            count = (size - HEADER) // LEADING[name]
            for byte in (LEADING[name] - 1, 2):
                at = HEADER + dice.randrange(count) * LEADING[name] + byte
                chosen.append(Damage(path, "flip", at, dice.choice([1, 64, 128])))
            last = HEADER + (count - 1) * LEADING[name]
            chosen.append(Damage(path, "flip", last, 1))
    for path in dice.choices(list(sizes), k=RANDOM):
        kind = dice.choice(["flip", "flip", "cut", "missing"])
        size = min(sizes[path], dice.choice([HEADER, 1 << 40]))
        chosen.append(Damage(path, kind, dice.randrange(size), 1 << dice.randrange(8)))
    return chosen


def test_a_question_to_a_damaged_index_is_answered_or_refused_with_a_sentence(
    with_vectors: Path, tmp_path: Path
) -> None:
    wrong = {
        damage: went - {"answered", "told"}
        for damage, went in ask_after(with_vectors, damages(with_vectors), tmp_path / "damaged.kin")
    }
    assert len(wrong) > 50
    assert {damage: bad for damage, bad in wrong.items() if bad} == {}
