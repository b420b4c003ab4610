"""Matplotlib figures as files. Matplotlib is an optional dependency and loaded on use."""

from pathlib import Path
from typing import TYPE_CHECKING

from pagekin.errors import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOT_FORMATS = ("svg", "png", "pdf")
_NO_DATE = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same figure has the same bytes


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of this size in inches."""
    need("matplotlib", what="a picture", extra="plots")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path, kind: str) -> None:
    """Write a figure in one of PLOT_FORMATS; text of an SVG stays text."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "pagekin", "svg.fonttype": "none"}):
        figure.savefig(path, format=kind, dpi=130, metadata=_NO_DATE.get(kind))
