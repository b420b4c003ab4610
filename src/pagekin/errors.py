"""The errors that pagekin raises, in one hierarchy.

    PagekinError
    ├── MisuseError        the call is wrong: a missing file, an unknown option value     (exit code 2)
    │   └── NoPageError    no page has this name, or several have
    └── FailureError       the call is right, but it cannot be carried out                (exit code 1)
        ├── SourceError    a source cannot be read at all
        └── StoreError     a store is missing, damaged, of another format, or busy

The message of an error says what is wrong, where, and what to do.
"""

from __future__ import annotations

from importlib import import_module


class PagekinError(Exception):
    """The base class of all errors of pagekin."""

    exit_code = 1


class MisuseError(PagekinError):
    """The call is wrong: a missing file, an unknown option value."""

    exit_code = 2


class NoPageError(MisuseError):
    """No page has this name, or several have."""


class FailureError(PagekinError):
    """The call is right, but it cannot be carried out."""


class SourceError(FailureError):
    """A source cannot be read."""


class StoreError(FailureError):
    """A store cannot be opened or written."""


def need(*modules: str, what: str, extra: str = "", otherwise: str = "") -> None:
    """Raise MisuseError, which says what to install, unless the optional modules that `what` needs can be imported.

    >>> need("nosuch", what="Parquet", extra="parquet")
    Traceback (most recent call last):
    pagekin.errors.MisuseError: Parquet needs nosuch (No module named 'nosuch'); pip install 'pagekin[parquet]'
    """
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            package = f"'pagekin[{extra}]'" if extra else module
            name = module.partition(".")[0]
            raise MisuseError(f"{what} needs {name} ({error}); pip install {package}{otherwise}") from error
