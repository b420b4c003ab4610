"""The errors of pagekin, in one hierarchy.

    PagekinError
    ├── MisuseError        the call is wrong: a missing file, an unknown option value     (exit code 2)
    │   └── NoPageError    no page has this name, or several have
    └── FailureError       the call is right but cannot be completed                      (exit code 1)
        ├── SourceError    a source cannot be read at all
        └── StoreError     a store is missing, damaged, of another format, or busy

A message states what is wrong, where, and what to do.
"""

from __future__ import annotations


class PagekinError(Exception):
    """The root of all errors of pagekin."""

    exit_code = 1


class MisuseError(PagekinError):
    """The call is wrong: a missing file, an unknown option value."""

    exit_code = 2


class NoPageError(MisuseError):
    """No page of the collection has this name, or several have."""


class FailureError(PagekinError):
    """The call is right but cannot be completed."""


class SourceError(FailureError):
    """A source cannot be read at all."""


class StoreError(FailureError):
    """A store is missing, damaged, of another format, or busy."""
