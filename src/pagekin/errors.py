"""The exceptions of pagekin, with one root. The exit code of a command is that of the exception that ended it.

    PagekinError                                                                                  raised by
    ├── MisuseError        the call is wrong (exit code 2)                                        all packages
    │   └── NoPageError    a name means no page, or several                                       store, serving
    └── FailureError       the call is right, but failed (exit code 1)                            any output
        ├── SourceError    a source cannot be read at all                                         sources
        └── StoreError     a store is missing, damaged, in use, or of another format              store, search, serving

A message says what, where, and what to do. What can be skipped is not an exception but a `Skip` in the result.
"""

import errno
import re
from importlib import import_module

# What the loader of shared objects and Python's threads say.
_NO_MEMORY = ("failed to map segment", "cannot map zero-fill pages", "annot allocate memory", "can't start new thread")


_LOADING = re.compile(r"cannot (?:open|read).*: ([A-Z][a-z/ ]+)$")  # what the loader of shared objects says


class PagekinError(Exception):
    """The root of all exceptions of this package."""

    exit_code = 1


class MisuseError(PagekinError):
    """The call is wrong: a missing file, an unknown or contradictory option value."""

    exit_code = 2


class NoPageError(MisuseError):
    """No page has this name, or several have."""


class FailureError(PagekinError):
    """The call is right, but could not be completed."""


class SourceError(FailureError):
    """A source cannot be read."""


class StoreError(FailureError):
    """A store cannot be opened or written."""


def is_want_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, says that there is not enough memory.

    >>> is_want_of_memory(MemoryError()), is_want_of_memory(OSError(errno.ENOMEM, "")), is_want_of_memory(KeyError())
    (True, True, False)
    """
    if error is None:
        return False
    told = isinstance(error, ImportError | RuntimeError) and any(each in str(error) for each in _NO_MEMORY)
    told = told or isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
    return told or is_want_of_memory(error.__cause__ or error.__context__)


def refused_by_system(error: BaseException | None) -> OSError | None:
    """The error of the system that an error is, or is caused by; also of a library that could not be loaded.

    >>> refused_by_system(OSError(errno.EIO, "Input/output error")), refused_by_system(KeyError())
    (OSError(5, 'Input/output error'), None)
    """
    if error is None or isinstance(error, OSError):
        return error
    if isinstance(error, ImportError) and error.path and (reason := _LOADING.search(str(error))):
        return OSError(0, reason[1], error.path)
    return refused_by_system(error.__cause__ or (error.__context__ if isinstance(error, ImportError) else None))


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
            if is_want_of_memory(error) or refused_by_system(error):
                raise
            package = f"'pagekin[{extra}]'" if extra else module
            name = module.partition(".")[0]
            raise MisuseError(f"{what} needs {name} ({error}); pip install {package}{otherwise}") from error
