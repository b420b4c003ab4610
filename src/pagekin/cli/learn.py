"""`pagekin learn`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.output import clean, counted, json_option, progress_bar, say_json, say_table
from pagekin.errors import MisuseError, need
from pagekin.model.files import write_lines, written_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from pagekin.learning.learn import LearnResult
    from pagekin.learning.networks import Units
    from pagekin.pipeline import Progress

_TITLES = {
    "error": "Error rate",
    "P@10": "Precision at top 10",
    "break-even": "Break-even point",
    "AP": "Average precision",
}
_UNFINISHED = ".unfinished"


@click.command("learn")
@click.argument("store", required=False, type=click.Path(), metavar="[STORE]")
@click.option("-o", "--output", default="weights.json", show_default=True, metavar="FILE", help="Where the weights go.")
@click.option("--seed", default=2005, show_default=True, type=click.IntRange(0), help="For all that is drawn by lot.")
@click.option(
    "--start",
    type=click.Choice(["flat", "okapi"]),
    help="Where descent begins: all weights alike, or near OKAPI; by default both are tried, and valid decides.",
)
@click.option("--rate", type=float, help="Of descent; by default valid decides.")
@click.option("--units", metavar="TF,IDF,LENGTH", help="Of the three networks, such as 5,10,10; likewise.")
@click.option("--steps", default=54_000, show_default=True, type=click.IntRange(1), help="Of a descent, at most.")
@click.option(
    "--projection",
    is_flag=True,
    help="Learn a linear projection on top, too, which is kept in a file beside the weights; it needs pagekin[lsa].",
)
@click.option("--figures", metavar="FOLDER", help="Draw figures 2 and 3 of the paper into this folder.")
@click.option("--trec", metavar="FOLDER", help="Write qrels and runs of the test into this folder.")
@click.option(
    "--transfer",
    metavar="DOCUMENTS",
    help="Learn nothing, but try --weights on another collection with queries: a store, documents of TREC (a file or a"
    " folder), or irds:NAME of ir_datasets.",
)
@click.option("--weights", metavar="FILE", help="What was learned, for --transfer.")
@click.option(
    "--topics", metavar="FILE", help="Queries, for --transfer: as TREC has them, or lines of id, tab and words."
)
@click.option("--qrels", metavar="FILE", help="Judgements, for --transfer.")
@json_option
def command(store: str | None, json: bool, **options: Any) -> None:
    """Learn from the links of STORE how much terms should weigh (LinkLearn), and compare it with OKAPI.

    Pages with links are shared out to train, valid and test. `related --similarity linklearn --weights FILE` uses what
    was learned, in this or another collection: the weights, and how much links should count beside words. Interrupted
    learning goes on where it was.
    """
    with progress_bar(json) as show:
        report = _transfer(options, _teller(show)) if options["transfer"] else _learn(store, options, _teller(show))
    if json:
        say_json(report)
    elif options["transfer"]:
        _say_transfer(report)
    else:
        _say(report)


def _teller(show: Callable[[Progress], None]) -> Callable[[str], None]:
    from pagekin.pipeline import Progress

    return lambda stage: show(Progress(clean(stage)))


def _units(text: str | None) -> Units | None:
    if text is None:
        return None
    try:
        tf, idf, length = (int(each) for each in text.split(","))
    except ValueError as error:
        raise MisuseError(f"--units is {text!r}; write three numbers such as 5,10,10") from error
    return tf, idf, length


def _learn(store: str | None, options: dict[str, Any], progress: Callable[[str], None]) -> dict[str, Any]:
    from pagekin.learning.hyperparameters import Checkpoint
    from pagekin.learning.learn import LearnOptions, learn
    from pagekin.learning.projection import need_projection
    from pagekin.model.weights import save_weights
    from pagekin.search.indexed_store import IndexedStore

    if store is None:
        raise MisuseError("name a STORE to learn from, or a collection to try weights on with --transfer")
    if options["figures"]:
        need("matplotlib", what="a picture", extra="plots")
    if options["projection"]:
        need_projection()
    units = _units(options["units"])
    chosen = {"start": options["start"], "rate": options["rate"], "units": units, "max_steps": options["steps"]}
    settings = LearnOptions(options["seed"], **chosen, projection=options["projection"])
    settings.grid()  # what is wrong with it is told before work begins
    output = Path(options["output"])
    checkpoint = Checkpoint(output.with_name(output.name + _UNFINISHED))
    outcome = learn(IndexedStore.open(store), settings, checkpoint, progress)
    save_weights(output, outcome.weighting)
    if options["figures"]:
        _draw(outcome, Path(options["figures"]))
    if options["trec"]:
        _write_trec(outcome, Path(options["trec"]))
    checkpoint.remove()
    return {"store": store, "weights": str(output), **outcome.report}


def _folder(path: Path) -> Path:
    from pagekin.errors import FailureError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailureError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def _draw(outcome: LearnResult, folder: Path) -> None:
    from pagekin.learning.figures import draw_training, draw_weights

    with written_whole(_folder(folder) / "training.svg") as path:
        draw_training(path, "svg", outcome.run.history, outcome.okapi_validation)
    with written_whole(folder / "weights.svg") as path:
        draw_weights(path, "svg", outcome.parts["train"], outcome.weighting, outcome.okapi)


def _write_trec(outcome: LearnResult, folder: Path) -> None:
    from pagekin.evaluation.runs import qrel_lines, run_lines, untie
    from pagekin.learning.ranking import Ranker, page_queries
    from pagekin.learning.report import qrels_of, rankings_of

    test, names = outcome.parts["test"], outcome.names
    queries = page_queries(test)
    query_names = [names[page] for page in queries.pages.tolist()]
    write_lines(_folder(folder) / "qrels.txt", qrel_lines(qrels_of(queries, query_names, names)))
    for name, weighting in (("okapi", outcome.okapi), ("linklearn", outcome.weighting)):
        rankings = rankings_of(Ranker(test, weighting, queries), query_names, names)
        write_lines(folder / f"{name}.run", run_lines(untie(rankings), tag=name))


def _transfer(options: dict[str, Any], progress: Callable[[str], None]) -> dict[str, Any]:
    from pagekin.learning.transfer import evaluate_transfer, open_task
    from pagekin.model.weights import load_weights

    if not options["weights"]:
        raise MisuseError("name what was learned with --weights; `pagekin learn STORE` writes it")
    weighting = load_weights(Path(options["weights"]))
    task = open_task(options["transfer"], options["topics"], options["qrels"], progress)
    return {"documents": options["transfer"], "weights": options["weights"], **evaluate_transfer(task, weighting)}


def _say(report: dict[str, Any]) -> None:
    parts, okapi, ours = report["parts"], report["okapi"], report["linklearn"]
    click.echo(f"{report['weights']}: a weighting learned from {counted(int(parts['train']['pages']), 'page')}")
    rows = [("", *parts)]
    for key in parts["train"]:
        rows.append((key.replace("_", " "), *(_number(part[key]) for part in parts.values())))
    say_table(rows)
    units = ",".join(map(str, ours["units"]))
    click.echo("Chosen on valid:")
    say_table(
        [
            ("OKAPI", f"K {okapi['K']:g}, B {okapi['B']:g}"),
            ("LinkLearn", f"from {ours['start']}, units {units}, rate {ours['rate']:g}, {ours['steps']:,} steps"),
            ("Links", f"a share of {report['links']['share']:g} in the similarity"),
        ]
    )
    click.echo(f"On test, {counted(report['test']['pages'], 'page')} as queries:")
    _say_measures(report["test"]["measures"])
    mixed = report["links"]["test"]
    if report["links"]["share"] and mixed["pages"]:
        click.echo(f"Half of the links of test hidden, {counted(mixed['pages'], 'page')} as queries for them:")
        _say_measures(mixed["measures"], {"words": "LinkLearn", "words_and_links": "With links"})
    if "projection" in report:
        _say_projection(report["projection"])


def _say_projection(report: dict[str, Any]) -> None:
    if not report["dimensions"]:
        click.echo("No projection was better on valid than none.")
        return
    size = f"{report['dimensions']} dimensions for {counted(report['terms'], 'term')}"
    click.echo(f"A projection of {size}; on test, {counted(report['test']['pages'], 'page')} as queries:")
    _say_measures(report["test"]["measures"], {"without": "LinkLearn", "with": "Projected"})


def _say_transfer(report: dict[str, Any]) -> None:
    say_table([(key.replace("_", " "), _number(value)) for key, value in report["collection"].items()])
    for name, beside in report["okapi"].items():
        click.echo(f"Beside OKAPI of K {beside['K']:g}, B {beside['B']:g} ({name}):")
        _say_measures(beside["measures"])
    left = [(count, reason.replace("_", " ")) for reason, count in report["left_out"].items() if count]
    if left:
        click.echo("Left out:")
        say_table(left)


def _say_measures(measures: dict[str, Any], titles: dict[str, str] | None = None) -> None:
    """A table of two systems, by their names in the report and what people call them."""
    (one, before), (other, after) = (titles or {"okapi": "OKAPI", "linklearn": "LinkLearn"}).items()
    rows = [("", before, after, "", "Wilcoxon")]
    for name, of in measures.items():
        change = "" if of["change"] is None else f"{of['change']:+.0%}"
        verdict = f"p {of['p']:.2g}{' *' if of['significantly_better'] else ''}"
        rows.append((_TITLES[name], f"{of[one]:.1%}", f"{of[other]:.1%}", change, verdict))
    say_table(rows)
    if any(of["significantly_better"] for of in measures.values()):
        click.echo(f"  * {after} is better, with 95 % confidence.")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
