"""A strategy is checked when made, and comes back from TOML as it was."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.learned import BY_COUNT, DRAWN
from pagekin.errors import MisuseError
from pagekin.model.strategy import PRESETS, Strategy, strategy_named
from pagekin.model.weighting import Learned, Okapi, save_weights

SHARES = st.floats(0, 1)
PATTERNS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\[](){}*+?|^$"), max_size=8)
SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "blend": st.sampled_from(["text=1", "text=0.5, title=1", "latent=1, links=0"]),
    "damping": st.floats(1.0, 1e9),
    "popularity": st.floats(0.0, 100.0),
    "content": st.booleans(),
    "anchors": st.booleans(),
    "links": st.booleans(),
    "mix": st.sampled_from(["sum", "shares"]),
    "anchor_share": SHARES,
    "link_share": SHARES,
    "window": st.sampled_from(["basic", "syntactic", "topical"]),
    "window_width": st.integers(-1, 1_000_000),
    "stemming": st.sampled_from(["none", "stem", "stopstem"]),
    "language": st.sampled_from(["en", "de", "ru"]),
    "lead": st.just(0.0) | st.floats(1, 1_000_000),
    "distance_weight": st.booleans(),
    "frequency_weight": st.sampled_from(["none", "log", "sqrt", "nmdf", "okapi", "linklearn"]),
    "nmdf_center": st.none() | st.floats(0, 30),
    "nmdf_width": st.none() | st.floats(0.05, 30),
    "okapi_k": st.floats(0, 1000),
    "okapi_b": SHARES,
    "weights": st.none() | st.just(DRAWN.as_text()),
    "voters": st.sampled_from(["all", "other-hosts"]),
    "silent": st.lists(PATTERNS, max_size=3).map(tuple),
    "templates": st.booleans(),
    "template_links": st.booleans(),
    "template_share": SHARES,
    "navigation": st.booleans(),
    "sequences": st.booleans(),
    "signature_length": st.integers(1, 1024),
    "seed": st.integers(0, 2**63 - 1),
    "outside": st.booleans(),
    "evidence": st.floats(0, 1_000_000),
    "min_in_links": st.integers(0, 1_000_000),
    "similarity": st.sampled_from(["jaccard", "cosine", "okapi", "linklearn"]),
}


def possible(settings: dict[str, Any]) -> bool:
    """Whether there are terms and what weighs them, and the shares are no more than the whole."""
    terms = settings["content"] or settings["anchors"] or settings["links"]
    return bool(terms) and can_weigh(settings) and settings["anchor_share"] + settings["link_share"] <= 1


def can_weigh(settings: dict[str, Any]) -> bool:
    """Whether there are the contents and the weights that are asked for."""
    context = {settings["frequency_weight"], settings["similarity"]}
    learned = settings["weights"] is not None or "linklearn" not in context
    return learned and (settings["content"] or not context & {"okapi", "linklearn"})


STRATEGIES = st.fixed_dictionaries(SETTINGS).filter(possible).map(lambda settings: Strategy(**settings))


def test_every_setting_is_tried_here() -> None:
    assert {each.name for each in fields(Strategy)} == SETTINGS.keys()


@given(STRATEGIES)
def test_a_strategy_comes_back_from_a_table(strategy: Strategy) -> None:
    assert Strategy.from_dict(strategy.as_dict()) == strategy
    assert hash(Strategy.from_dict(strategy.as_dict())) == hash(strategy)


def test_a_table_has_every_setting_in_order_except_those_that_the_collection_decides() -> None:
    names = [each.name for each in fields(Strategy) if not each.name.startswith(("nmdf", "weights"))]
    assert list(Strategy().as_dict()) == names
    assert Strategy(nmdf_center=4.5, nmdf_width=1).as_dict().items() >= {("nmdf_center", 4.5), ("nmdf_width", 1)}


def test_what_toml_does_not_say_is_as_in_the_default() -> None:
    assert Strategy.from_toml("") == Strategy()
    assert Strategy.from_toml('anchor_share = 0.5\nsilent = ["x"]') == Strategy(anchor_share=0.5, silent=("x",))


def test_a_whole_number_may_stand_for_a_share() -> None:
    assert Strategy.from_toml("anchor_share = 1\nlink_share = 0") == Strategy(anchor_share=1.0, link_share=0.0)


def test_a_strategy_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Strategy().mix = "sum"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("windw = 3", r"my\.toml: there is no setting 'windw'; there are content, anchors, links, mix"),
        ("[content]\nx = 1", r"my\.toml: content = \{'x': 1\} should be bool"),
        ("content = 1", r"my\.toml: content = 1 should be bool"),
        ('content = "yes"', r"my\.toml: content = 'yes' should be bool"),
        ("window_width = 4.0", r"my\.toml: window_width = 4\.0 should be int"),
        ("window_width = true", r"my\.toml: window_width = True should be int"),
        ("anchor_share = true", r"my\.toml: anchor_share = True should be float"),
        ('anchor_share = "0.2"', r"my\.toml: anchor_share = '0\.2' should be float"),
        ('nmdf_center = "auto"', r"my\.toml: nmdf_center = 'auto' should be float"),
        ("mix = 3", r"my\.toml: mix = 3 should be str"),
        ('silent = "x"', r"my\.toml: silent = 'x' should be"),
        ("silent = [1]", r"my\.toml: silent = \[1\] should be"),
        ("mix =", r"my\.toml is not valid TOML: "),
        ("mix = 'sum'\nmix = 'sum'", r"my\.toml is not valid TOML: "),
    ],
)
def test_an_unknown_setting_and_a_value_of_the_wrong_kind_are_misuse(toml: str, sentence: str) -> None:
    with pytest.raises(MisuseError, match=sentence):
        Strategy.from_toml(toml, "my.toml")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("anchor_share", (-0.01, 1.01, float("nan"), float("inf"))),
        ("link_share", (-0.01, 1.01)),
        ("lead", (-0.1, 1_000_001.0)),
        ("template_share", (-0.01, 1.01)),
        ("window_width", (-2, 1_000_001)),
        ("nmdf_center", (-0.1, 30.1, float("nan"))),
        ("nmdf_width", (0.0, 0.04, 31.0)),
        ("signature_length", (0, 1025)),
        ("min_in_links", (-1, 1_000_001)),
        ("seed", (-1, 2**63)),
    ],
)
def test_a_number_out_of_range_is_misuse(name: str, values: tuple[float, ...]) -> None:
    for value in values:
        with pytest.raises(MisuseError, match=f"{name} is .*; it must be from .* to "):
            replace(Strategy(), **{name: value})  # type: ignore[arg-type]
        with pytest.raises(MisuseError, match=f"{name} is .*; it must be from .* to "):
            Strategy.from_toml(f"{name} = {value}")


@pytest.mark.parametrize(
    "wrong",
    [
        {"window_width": "4"},
        {"window_width": 4.5},
        {"anchor_share": "0.2"},
        {"content": "no"},
        {"silent": "one.example"},
    ],
)
def test_a_value_of_the_wrong_kind_is_misuse_in_python_too(wrong: dict[str, Any]) -> None:
    with pytest.raises(MisuseError, match=next(iter(wrong))):
        Strategy(**wrong)


@pytest.mark.parametrize("name", ["mix", "window", "stemming", "frequency_weight", "voters", "similarity"])
def test_a_choice_that_there_is_not_is_misuse(name: str) -> None:
    with pytest.raises(MisuseError, match=f"{name} is 'sideways'; it can be "):
        replace(Strategy(), **{name: "sideways"})  # type: ignore[arg-type]


def test_a_strategy_without_terms_is_misuse() -> None:
    with pytest.raises(MisuseError, match="a strategy needs terms: content, anchors or links"):
        Strategy(content=False, anchors=False, links=False)


def test_a_pattern_that_is_none_is_misuse() -> None:
    with pytest.raises(MisuseError, match=r"silent: '\(' is not a regular expression \(missing \)"):
        Strategy(silent=("x", "("))


def test_shares_of_more_than_the_whole_are_misuse() -> None:
    with pytest.raises(MisuseError, match="anchor_share"):
        Strategy(links=True, anchor_share=0.8, link_share=0.5)


def test_a_name_is_a_preset_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("window_width = 4\n", "utf-8")
    assert strategy_named("paper") is PRESETS["paper"]
    assert strategy_named("default") == Strategy()
    assert strategy_named(str(path)) == Strategy(window_width=4)


def test_a_name_that_is_neither_is_misuse() -> None:
    with pytest.raises(
        MisuseError,
        match=r"'papper' is not a strategy: neither a preset \(default, paper, text-only, fast\) nor a TOML",
    ):
        strategy_named("papper")


@pytest.mark.parametrize("raw", [b"mix = '\xff'", b"\xff\xfe"])
def test_a_file_that_is_no_text_is_misuse(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(raw)
    with pytest.raises(MisuseError, match="is not valid TOML"):
        strategy_named(str(path))


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_come_back_from_toml(preset: Strategy) -> None:
    assert Strategy.from_dict(preset.as_dict()) == preset


def test_the_presets_are_what_the_paper_and_the_readme_say() -> None:
    paper = PRESETS["paper"]
    assert (paper.mix, paper.window, paper.window_width, paper.stemming) == ("sum", "basic", 32, "stem")
    assert (paper.distance_weight, paper.frequency_weight, paper.similarity) == (True, "nmdf", "jaccard")
    assert (PRESETS["default"].mix, PRESETS["default"].anchor_share) == ("shares", 0.2)


def test_a_lead_of_less_than_a_word_is_misuse() -> None:
    with pytest.raises(MisuseError, match=r"lead is 0\.5; it must be at least 1, or 0 for none"):
        Strategy(lead=0.5)


# --- weightings ----------------------------------------------------------------------------------


def test_a_strategy_keeps_what_its_file_of_weights_holds(tmp_path: Path) -> None:
    """So that an index does not depend on the file; a TOML file names it as seen from its own folder."""
    save_weights(tmp_path / "learned.json", DRAWN)
    (tmp_path / "my.toml").write_text('similarity = "linklearn"\nweights = "learned.json"\n', "utf-8")
    strategy = strategy_named(str(tmp_path / "my.toml"))
    assert strategy == Strategy(similarity="linklearn", weights=str(tmp_path / "learned.json"))
    (tmp_path / "learned.json").unlink()
    assert Strategy.from_dict(strategy.as_dict()).weighting_named("linklearn") == DRAWN


def test_an_index_can_be_asked_by_what_it_has_weights_and_counts_for() -> None:
    assert Strategy().measures() == ["jaccard", "cosine", "okapi"]
    assert Strategy(weights=DRAWN.as_text()).measures() == ["jaccard", "cosine", "okapi", "linklearn"]
    assert Strategy(content=False).measures() == ["jaccard", "cosine"]


def test_a_weighting_is_that_of_its_settings() -> None:
    strategy = Strategy(okapi_k=1.2, okapi_b=0.75)
    assert strategy.weighting_named("okapi") == Okapi(1.2, 0.75)
    assert strategy.weighting_named("jaccard") is None


@pytest.mark.parametrize("name", ["similarity", "frequency_weight"])
def test_a_way_to_weigh_needs_contents_and_weights(name: str) -> None:
    with pytest.raises(MisuseError, match=f"{name} is 'okapi', which weighs contents; set content = true"):
        replace(Strategy(), content=False, **{name: "okapi"})  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match="linklearn needs weights, which `pagekin learn` writes into a file"):
        replace(Strategy(), **{name: "linklearn"})  # type: ignore[arg-type]


def test_a_broken_file_of_weights_is_misuse_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text("{}", "utf-8")
    for weights, reason in (
        (str(tmp_path / "w.json"), r"w\.json holds no weights"),
        ("{}", "weights holds no weights"),
    ):
        with pytest.raises(MisuseError, match=reason):
            Strategy(weights=weights)
    with pytest.raises(MisuseError, match=r"missing\.json cannot be read"):
        Strategy(weights=str(tmp_path / "missing.json"))


def test_bags_are_the_same_if_only_what_they_do_not_depend_on_differs() -> None:
    other = Learned(BY_COUNT, BY_COUNT, BY_COUNT).as_text()
    assert Strategy().has_bags_of(Strategy(similarity="okapi", okapi_k=2.0, weights=other))
    okapi = Strategy(frequency_weight="okapi")
    assert okapi.has_bags_of(replace(okapi, weights=other))
    assert not okapi.has_bags_of(replace(okapi, okapi_b=0.1))
    learned = Strategy(frequency_weight="linklearn", weights=DRAWN.as_text())
    assert learned.has_bags_of(replace(learned, okapi_b=0.1))
    assert not learned.has_bags_of(replace(learned, weights=other))
