"""Options of learning."""

from collections.abc import Callable
from dataclasses import dataclass

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, option

FLAT, OKAPI = STARTS = ("flat", "okapi")  # initial weights
Log = Callable[[str], None]  # called with what is being done
Units = tuple[int, int, int]  # hidden units of the networks of tf, idf and length


def parse_units(text: str) -> Units:
    """The units of the three networks.

    >>> parse_units("5,10,10")
    (5, 10, 10)
    """
    try:
        tf, idf, length = (int(each) for each in text.split(","))
    except ValueError as error:
        raise MisuseError(f"--units is {text!r}; write three numbers such as 5,10,10") from error
    return tf, idf, length


@dataclass(frozen=True)
class LearnOptions:
    """How term weights are learned. What is None is chosen on the validation part.

    >>> LearnOptions(start="okapi").start
    'okapi'
    """

    seed: int = option(2005, "Seed of all random choices.", minimum=0)
    start: str | None = option(
        None,
        "Initial weights: all equal, or near OKAPI. Default: the better on validation pages.",
        choices=STARTS,
    )
    rate: float | None = option(
        None, "Learning rate: the step size of gradient descent. Default: the best on validation pages."
    )
    units: tuple[int, int, int] | None = option(
        None,
        "Hidden units of the networks that weight term frequency, document frequency and page length, such as 5,10,10."
        " Default: the best on validation pages.",
        metavar="TF,IDF,LENGTH",
        parse=parse_units,
    )
    max_steps: int = option(54_000, "Stop a training run after this number of gradient steps.", name="steps", minimum=1)
    projection: bool = option(
        False, "Also learn a linear projection, kept in a file beside the weights; needs pagekin[lsa]."
    )

    def __post_init__(self) -> None:
        check_options(self)
