"""The exceptions of pagekin, with one root. The exit code of a command is that of the exception that ended it.

    PagekinError                                                                                  raised by
    ├── MisuseError        the call is wrong (exit code 2)                                        all packages
    │   └── NoPageError    a name means no page, or several                                       store, serving
    └── FailureError       the call is right, but failed (exit code 1)                            any output
        ├── SourceError    a source cannot be read at all                                         sources
        └── StoreError     a store is missing, damaged, in use, or of another format              store, search, serving

A message says what, where, and what to do. What can be skipped is not an exception but a `Skip` in the result.
"""


class PagekinError(Exception):
    """The root of all exceptions of this package."""

    exit_code = 1


class MisuseError(PagekinError):
    """The call is wrong: a missing file, an unknown or contradictory option value."""

    exit_code = 2


class NoPageError(MisuseError):
    """A name that means no page of a collection, or several."""


class FailureError(PagekinError):
    """The call is right, but could not be completed."""


class SourceError(FailureError):
    """A source cannot be read."""


class StoreError(FailureError):
    """A store cannot be opened or written."""
