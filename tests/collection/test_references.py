"""The reference pages are complete and current, and an option costs one field."""

from __future__ import annotations

from dataclasses import dataclass

import click
import pytest
from click.testing import CliRunner

import pagekin
from pagekin.cli.options import options_from
from pagekin.model.options import option
from pagekin.search.options import RelatedOptions
from pagekin.serving.api.params import params_of
from pagekin.serving.api.schema import openapi
from pagekin.serving.middleware import RequestError
from pagekin.serving.settings import RequestLimits, ServerSettings
from tools import api_reference, reference


def test_the_reference_of_commands_is_current() -> None:
    assert reference.PAGE.read_text("utf-8") == reference.reference(), "run python -m tools.reference"


def test_the_reference_of_the_interface_is_current_and_complete() -> None:
    text = api_reference.PAGE.read_text("utf-8")
    assert text == api_reference.api_reference(), "run python -m tools.api_reference"
    for name in pagekin.__all__:
        assert f"### `pagekin.{name}`\n" in text


@pytest.mark.parametrize("name", ["Collection", "build", "open", "group_results", "evaluate_run", "sweep"])
def test_the_interface_has_examples(name: str) -> None:
    value = getattr(pagekin, name)
    members = api_reference.public_members(value) if isinstance(value, type) else []
    for each, document in [(name, value.__doc__), *((each, member.__doc__) for each, member in members)]:
        assert document and ">>> " in document, each


@dataclass(frozen=True)
class MoreOptions(RelatedOptions):
    """One option more than `RelatedOptions`."""

    patience: int = option(3, "Wait for this number of minutes.", minimum=1, maximum=9)


@click.command("more")
@options_from(MoreOptions)
def more(options: MoreOptions) -> None:
    """Print the patience."""
    click.echo(options.patience)


def test_an_option_costs_one_field() -> None:
    assert CliRunner().invoke(more, []).output == "3\n"
    assert CliRunner().invoke(more, ["--patience", "5"]).output == "5\n"
    assert CliRunner().invoke(more, ["--patience", "10"]).exit_code == 2
    shown = CliRunner().invoke(more, ["--help"]).output
    assert "--patience" in shown and "Wait for this number of minutes." in shown
    section = reference.command_section(more, click.Context(more, info_name="more", show_default=True))
    assert "| `--patience INTEGER` | Wait for this number of minutes. [default: 3; 1<=x<=9] |" in section
    assert "| `patience` | `int` | Wait for this number of minutes. Default: `3`. |" in "\n".join(
        api_reference.section("MoreOptions", MoreOptions)
    )
    [param] = [each for each in params_of(MoreOptions, RequestLimits()) if each.name == "patience"]
    assert param.check(param.convert("5")) == 5
    with pytest.raises(RequestError, match="patience"):
        param.check(10)
    parameters = openapi(ServerSettings(), MoreOptions)["paths"]["/api/related"]["get"]["parameters"]
    [found] = [each for each in parameters if each["name"] == "patience"]
    assert found["schema"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}
    assert found["description"] == "Wait for this number of minutes."
