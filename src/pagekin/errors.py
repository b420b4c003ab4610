"""Everything that can go wrong, as one family tree.

    PagekinError
    ├── MisuseError        the call is wrong: a missing file, an unknown option value     (exit code 2)
    │   └── NoPageError    no page has this name, or several have
    └── FailureError       the call is right, and still it cannot be done                 (exit code 1)
        ├── SourceError    a source cannot be read at all
        └── StoreError     a store is missing, damaged, of another format, or busy

The sentence of an error says what, where, and what to do.
"""

from __future__ import annotations


class PagekinError(Exception):
    """The root: whoever catches this catches all of ours."""

    exit_code = 1


class MisuseError(PagekinError):
    """The user asked for something that makes no sense."""

    exit_code = 2


class NoPageError(MisuseError):
    """A name that means no page of a collection, or several."""


class FailureError(PagekinError):
    """A sensible wish that could not be fulfilled."""


class SourceError(FailureError):
    """A source that cannot be read."""


class StoreError(FailureError):
    """A store that cannot be opened or written."""
